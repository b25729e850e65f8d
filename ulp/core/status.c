// SPDX-License-Identifier: GPL-2.0
/* The one table that says what each status of the wire means. */
#include <linux/array_size.h>
#include <linux/bug.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/export.h>

#include <rblk/status.h>

struct rblk_status_info {
	const char *name;
	const char *text;
	int err;
	bool transient;
};

/*
 * Each errno is here once: the server fails with the errno, the client gets the
 * same errno back. Transient is what may be different in a moment without
 * anybody changing a configuration; only that is worth an automatic retry.
 */
static const struct rblk_status_info rblk_statuses[] = {
	[RBLK_OK] = {
		"ok", "no error", 0, false
	},
	[RBLK_MALFORMED] = {
		"malformed", "a message made no sense to the server", -EBADMSG, false
	},
	[RBLK_VERSION] = {
		"version", "the server speaks another version of the protocol",
		-EPROTONOSUPPORT, false
	},
	[RBLK_FEATURE] = {
		"feature", "a feature that one side insists on is unknown to the other",
		-EOPNOTSUPP, false
	},
	[RBLK_DENIED] = {
		"denied", "the server's access list does not name this client",
		-EACCES, false
	},
	[RBLK_NO_EXPORT] = {
		"no-export", "the server exports nothing under that name", -ENOENT, false
	},
	[RBLK_BUSY] = {
		"busy", "another client has the export open for writing", -EBUSY, false
	},
	[RBLK_READ_ONLY] = {
		"read-only", "the server exports it for reading only", -EROFS, false
	},
	[RBLK_LIMIT] = {
		"limit", "a limit of the server is reached", -EUSERS, false
	},
	[RBLK_NO_MEMORY] = {
		"no-memory", "the server is out of memory", -ENOMEM, true
	},
	[RBLK_SHUTDOWN] = {
		"shutdown", "the server or the export is shutting down", -ESHUTDOWN, true
	},
	[RBLK_NO_SESSION] = {
		"no-session", "the server does not know this session or path", -ESTALE, true
	},
	[RBLK_DUPLICATE] = {
		"duplicate", "the server has this connection or open already",
		-EEXIST, false
	},
	[RBLK_DEVICE] = {
		"device", "the server's RDMA device cannot do it", -ENODEV, false
	},
	[RBLK_INTERNAL] = {
		"internal", "something failed inside the server", -EREMOTEIO, true
	},
	[RBLK_WRITTEN] = {
		"written",
		"content lost: another client had the export open for writing meanwhile",
		-ENODATA, false
	},
};

static_assert(ARRAY_SIZE(rblk_statuses) == RBLK_STATUS_NR);

/* For a code that got past rblk_status_known(): a bug, but not worth a crash. */
static const struct rblk_status_info rblk_status_unknown = {
	"unknown", "the server gave a reason unknown to this version", -EREMOTEIO, false
};

static const struct rblk_status_info *rblk_status_info(enum rblk_status status)
{
	/* Compilers differ in the sign of an enum. */
	if ((unsigned int)status >= RBLK_STATUS_NR)
		return &rblk_status_unknown;
	return &rblk_statuses[status];
}

/**
 * rblk_status_known - does this version know a status code?
 * @code: as on the wire
 *
 * Context: Any.
 * Return: true if @code is an enum rblk_status.
 */
bool rblk_status_known(u16 code)
{
	return code < RBLK_STATUS_NR;
}
EXPORT_SYMBOL_GPL(rblk_status_known);

/**
 * rblk_status_errno - the errno that stands for a status
 * @status: any value
 *
 * Context: Any.
 * Return: 0 for RBLK_OK, a negative errno for all others; -EREMOTEIO if @status
 * is out of range.
 */
int rblk_status_errno(enum rblk_status status)
{
	return rblk_status_info(status)->err;
}
EXPORT_SYMBOL_GPL(rblk_status_errno);

/**
 * rblk_status_transient - may the same request succeed a moment later?
 * @status: any value
 *
 * Context: Any.
 * Return: true if an automatic retry makes sense.
 */
bool rblk_status_transient(enum rblk_status status)
{
	return rblk_status_info(status)->transient;
}
EXPORT_SYMBOL_GPL(rblk_status_transient);

/**
 * rblk_status_name - a short name, for traces and counters
 * @status: any value
 *
 * Context: Any.
 * Return: a constant string without spaces.
 */
const char *rblk_status_name(enum rblk_status status)
{
	return rblk_status_info(status)->name;
}
EXPORT_SYMBOL_GPL(rblk_status_name);

/**
 * rblk_status_text - what a status says to a person at the client
 * @status: any value
 *
 * Context: Any.
 * Return: a constant string, lower-case and without a full stop.
 */
const char *rblk_status_text(enum rblk_status status)
{
	return rblk_status_info(status)->text;
}
EXPORT_SYMBOL_GPL(rblk_status_text);

/**
 * rblk_status_from_errno - the status by which the server reports an errno
 * @err: 0 or a negative errno
 *
 * Context: Any.
 * Return: the status that rblk_status_errno() maps to @err, RBLK_INTERNAL if
 * there is none.
 */
enum rblk_status rblk_status_from_errno(int err)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rblk_statuses); i++) {
		if (rblk_statuses[i].err == err)
			return i;
	}
	return RBLK_INTERNAL;
}
EXPORT_SYMBOL_GPL(rblk_status_from_errno);
