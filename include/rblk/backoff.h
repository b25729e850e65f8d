/* SPDX-License-Identifier: GPL-2.0 */
/* How long to wait before the next attempt. */
#ifndef _RBLK_BACKOFF_H
#define _RBLK_BACKOFF_H

#include <linux/types.h>

#define RBLK_BACKOFF_MIN_MS	100
#define RBLK_BACKOFF_MAX_MS	10000

u32 rblk_backoff_ms(u32 attempt, u32 random);

#endif /* _RBLK_BACKOFF_H */
