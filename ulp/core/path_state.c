// SPDX-License-Identifier: GPL-2.0
/* Which state of a path may follow which, as a table that a test can read. */
#include <linux/array_size.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/export.h>

#include <rblk/path_state.h>

/*
 * A path that failed takes no requests before it is LIVE again, and to be so it has to
 * connect, which the server lets it only after all of the older generation is gone; what
 * was in flight waits for that. FENCED is where another path has asked the server
 * for as much: then the requests need not wait for this one to connect. From REMOVED
 * only a path with another route begins, which has its number.
 */
static const u32 rblk_path_next[] = {
	[RBLK_PATH_NEW] = BIT(RBLK_PATH_CONNECTING) | BIT(RBLK_PATH_REMOVED),
	[RBLK_PATH_CONNECTING] = BIT(RBLK_PATH_LIVE) | BIT(RBLK_PATH_FAILED) |
				 BIT(RBLK_PATH_REMOVED),
	[RBLK_PATH_LIVE] = BIT(RBLK_PATH_FAILED) | BIT(RBLK_PATH_REMOVED),
	[RBLK_PATH_FAILED] = BIT(RBLK_PATH_FENCED) | BIT(RBLK_PATH_BACKOFF) |
			     BIT(RBLK_PATH_REMOVED),
	[RBLK_PATH_FENCED] = BIT(RBLK_PATH_BACKOFF) | BIT(RBLK_PATH_CONNECTING) |
			     BIT(RBLK_PATH_REMOVED),
	[RBLK_PATH_BACKOFF] = BIT(RBLK_PATH_FENCED) | BIT(RBLK_PATH_CONNECTING) |
			      BIT(RBLK_PATH_REMOVED),
	[RBLK_PATH_REMOVED] = BIT(RBLK_PATH_NEW),
};

/* As in Documentation/netlink/specs/rblk-client.yaml. */
static const char * const rblk_path_names[] = {
	[RBLK_PATH_NEW] = "new",
	[RBLK_PATH_CONNECTING] = "connecting",
	[RBLK_PATH_LIVE] = "live",
	[RBLK_PATH_FAILED] = "failed",
	[RBLK_PATH_FENCED] = "fenced",
	[RBLK_PATH_BACKOFF] = "backoff",
	[RBLK_PATH_REMOVED] = "removed",
};

static_assert(ARRAY_SIZE(rblk_path_next) == RBLK_PATH_STATES);
static_assert(ARRAY_SIZE(rblk_path_names) == RBLK_PATH_STATES);

/* Compilers differ in the sign of an enum. */
static bool rblk_path_state_ok(enum rblk_path_state state)
{
	return (unsigned int)state < RBLK_PATH_STATES;
}

/**
 * rblk_path_state_allowed - may a path change from one state to another?
 * @from: the state it is in
 * @to: the state it would be in; the same state again is no change
 *
 * Context: Any.
 * Return: true if the change is allowed.
 */
bool rblk_path_state_allowed(enum rblk_path_state from, enum rblk_path_state to)
{
	if (!rblk_path_state_ok(from) || !rblk_path_state_ok(to))
		return false;
	return rblk_path_next[from] & BIT(to);
}
EXPORT_SYMBOL_GPL(rblk_path_state_allowed);

/**
 * rblk_path_state_name - the name of a state, as in netlink and sysfs
 * @state: any value
 *
 * Context: Any.
 * Return: a constant string; "unknown" if @state is out of range.
 */
const char *rblk_path_state_name(enum rblk_path_state state)
{
	if (!rblk_path_state_ok(state))
		return "unknown";
	return rblk_path_names[state];
}
EXPORT_SYMBOL_GPL(rblk_path_state_name);
