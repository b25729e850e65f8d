/* SPDX-License-Identifier: GPL-2.0 */
/* A fixed number of numbered slots: buffers, tags. The caller holds the lock. */
#ifndef _RBLK_SLOTS_H
#define _RBLK_SLOTS_H

#include <linux/bitmap.h>
#include <linux/types.h>

#define RBLK_SLOTS_MAX	64

/**
 * struct rblk_slots - which of the slots are taken
 * @used: a bit for each
 * @nr: how many there are
 * @taken: how many are taken
 */
struct rblk_slots {
	DECLARE_BITMAP(used, RBLK_SLOTS_MAX);
	u32	nr;
	u32	taken;
};

int rblk_slots_init(struct rblk_slots *slots, u32 nr);
int rblk_slots_get(struct rblk_slots *slots);
int rblk_slots_put(struct rblk_slots *slots, u32 slot);

#endif /* _RBLK_SLOTS_H */
