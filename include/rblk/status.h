/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What one side tells the other when it cannot do what was asked. Each reason
 * has a code of its own on the wire, an errno for the caller and a text for the
 * person, all in one table.
 */
#ifndef _RBLK_STATUS_H
#define _RBLK_STATUS_H

#include <linux/types.h>

/* Values are on the wire: add at the end, never renumber. */
enum rblk_status {
	RBLK_OK = 0,
	RBLK_MALFORMED,		/* a message or a field of it makes no sense */
	RBLK_VERSION,		/* the two sides speak no common version */
	RBLK_FEATURE,		/* a mandatory feature is unknown to the peer */
	RBLK_DENIED,		/* this client may not open this export */
	RBLK_NO_EXPORT,		/* nothing is exported under that name */
	RBLK_BUSY,		/* another session has it open for writing */
	RBLK_READ_ONLY,		/* write access to a read-only export */
	RBLK_LIMIT,		/* a limit of the server is reached */
	RBLK_NO_MEMORY,		/* the server is out of memory */
	RBLK_SHUTDOWN,		/* the server or the export is going away */
	RBLK_NO_SESSION,	/* session, path, generation or token unknown */
	RBLK_DUPLICATE,		/* this connection or open exists already */
	RBLK_DEVICE,		/* the server's RDMA device cannot do it */
	RBLK_INTERNAL,		/* anything else that failed at the server */
	RBLK_WRITTEN,		/* another session had it open for writing meanwhile */
	RBLK_STATUS_NR
};

bool rblk_status_known(u16 code);
int rblk_status_errno(enum rblk_status status);
bool rblk_status_transient(enum rblk_status status);
const char *rblk_status_name(enum rblk_status status);
const char *rblk_status_text(enum rblk_status status);
enum rblk_status rblk_status_from_errno(int err);

#endif /* _RBLK_STATUS_H */
