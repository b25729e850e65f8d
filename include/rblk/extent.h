/* SPDX-License-Identifier: GPL-2.0 */
/* Extents: the pieces of a memory export, each behind one key. */
#ifndef _RBLK_EXTENT_H
#define _RBLK_EXTENT_H

#include <linux/types.h>

/**
 * struct rblk_extents - how an export is cut
 * @size: bytes of the export
 * @shift: log2 of the bytes of an extent; the last one may be shorter
 * @nr: extents
 */
struct rblk_extents {
	u64	size;
	u32	nr;
	u8	shift;
};

int rblk_extents_init(struct rblk_extents *ext, u64 size, u8 shift);
int rblk_extent_find(const struct rblk_extents *ext, u64 offset, u32 len, u32 *index);
u64 rblk_extent_start(const struct rblk_extents *ext, u32 index);
u32 rblk_extent_len(const struct rblk_extents *ext, u32 index);

#endif /* _RBLK_EXTENT_H */
