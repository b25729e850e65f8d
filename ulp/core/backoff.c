// SPDX-License-Identifier: GPL-2.0
/* How long to wait before the next attempt. */
#include <linux/export.h>
#include <linux/minmax.h>

#include <rblk/backoff.h>

/**
 * rblk_backoff_ms - the pause before an attempt to connect
 * @attempt: failed attempts so far, 0 for the first
 * @random: a number by chance, each as likely as any other
 *
 * The pause doubles from attempt to attempt up to a limit. Half of it is chance, so
 * that those who lost the same server at the same moment do not come back in one.
 *
 * Context: Any.
 * Return: milliseconds, RBLK_BACKOFF_MIN_MS / 2 to RBLK_BACKOFF_MAX_MS.
 */
u32 rblk_backoff_ms(u32 attempt, u32 random)
{
	u32 most = RBLK_BACKOFF_MAX_MS;

	/* Beyond this the shift could only be greater than the limit. */
	if (attempt < 16)
		most = min_t(u32, RBLK_BACKOFF_MIN_MS << attempt, RBLK_BACKOFF_MAX_MS);
	/* 0 to half of it, both included. */
	return most - (u32)(((u64)random * (most / 2 + 1)) >> 32);
}
EXPORT_SYMBOL_GPL(rblk_backoff_ms);
