/* SPDX-License-Identifier: GPL-2.0 */
/* The life of a path, as a table. */
#ifndef _RBLK_PATH_STATE_H
#define _RBLK_PATH_STATE_H

#include <linux/types.h>

/* As enum rblk_client_path_state of the netlink ABI. */
enum rblk_path_state {
	RBLK_PATH_NEW,
	RBLK_PATH_CONNECTING,
	RBLK_PATH_LIVE,
	RBLK_PATH_FAILED,	/* no new requests; the old ones are being drained */
	RBLK_PATH_FENCED,	/* the server told another path that nothing of it lives */
	RBLK_PATH_BACKOFF,	/* drained; waits before it connects again */
	RBLK_PATH_REMOVED,	/* its place may be given to another one */
	RBLK_PATH_STATES
};

bool rblk_path_state_allowed(enum rblk_path_state from, enum rblk_path_state to);
const char *rblk_path_state_name(enum rblk_path_state state);

#endif /* _RBLK_PATH_STATE_H */
