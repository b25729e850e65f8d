// SPDX-License-Identifier: GPL-2.0
/*
 * Open exports of a path: registered with its device when it opens them, taken
 * back when it closes them.
 */
#include <linux/delay.h>
#include <linux/slab.h>
#include "server.h"

/* Return: false if the device did not take back a key; it is good as long as the queue pairs. */
static bool rblk_srv_unregister(struct rblk_srv_path *path, struct rblk_srv_open *open)
{
	bool all = true;

	while (open->nr_mrs) {
		if (rblk_mr_release(&open->mrs[--open->nr_mrs], path->dev))
			continue;
		/* Lost rather than written to by a peer when it is somebody else's. */
		kref_get(&open->export->ref);
		all = false;
	}
	kvfree(open->mrs);
	open->mrs = NULL;
	return all;
}

static void rblk_srv_open_free(struct rblk_srv_path *path, struct rblk_srv_open *open)
{
	rblk_srv_unregister(path, open);
	/* The reference goes last: no key reaches the memory any more. */
	rblk_srv_export_unuse(open, path);
	kfree(open);
}

static int rblk_srv_register_with(struct rblk_srv_path *path, struct rblk_srv_open *open)
{
	const u32 per_extent = 1U << (open->plan.extent_shift - RBLK_BLOCK_SHIFT);
	struct rblk_srv_export *export = open->export;
	u32 i, first, nr;
	int err;

	nr = DIV_ROUND_UP(export->nr_blocks, per_extent);
	open->mrs = kvcalloc(nr, sizeof(*open->mrs), GFP_KERNEL);
	if (!open->mrs)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		/* Once the path ends, what is made here only has to be undone. */
		if (READ_ONCE(path->state) == RBLK_SRV_ENDING)
			return -ESHUTDOWN;
		first = i * per_extent;
		err = rblk_mr_register(&open->mrs[i], &path->control, path->pd,
				       export->blocks + first,
				       min(per_extent, export->nr_blocks - first), &open->plan,
				       (u64)first << RBLK_BLOCK_SHIFT, open->read_only);
		/* One that hangs counts: it is released with the path. */
		if (!err || err == -EINPROGRESS)
			open->nr_mrs++;
		if (err)
			return err;
	}
	return 0;
}

static enum rblk_status rblk_srv_register(struct rblk_srv_path *path, struct rblk_srv_open *open)
{
	bool small_pages = false;
	const char *why;
	int err;

	do {
		if (rblk_plan_export(&path->dev->caps, RBLK_EXTENT_SHIFT, small_pages,
				     &open->plan, &why)) {
			pr_warn_ratelimited("rblk: %s cannot register exports: %s\n",
					    path->dev->ib->name, why);
			return RBLK_DEVICE;
		}
		err = rblk_srv_register_with(path, open);
		if (!err)
			return RBLK_OK;
		/*
		 * What hangs in the device goes after the queue pair, not before. Where the
		 * path ended meanwhile, the device is not to blame.
		 */
		if (err == -EINPROGRESS)
			return READ_ONCE(path->control.error) == -ETIMEDOUT ?
				RBLK_DEVICE : RBLK_SHUTDOWN;
		rblk_srv_unregister(path, open);
		/*
		 * Not every device that says it takes large pages does in the end.
		 * An error of the connection is no such case.
		 */
		small_pages = !small_pages && open->plan.page_shift > RBLK_MR_PAGE_SHIFT &&
			err == -EINVAL;
	} while (small_pages);
	return err == -ENOMEM ? RBLK_NO_MEMORY : err == -ESHUTDOWN ? RBLK_SHUTDOWN : RBLK_DEVICE;
}

/**
 * rblk_srv_open - a client opens an export
 * @path: the path it asks on, ready
 * @msg: what it asks
 * @reply: what it gets
 *
 * Context: Process context. Sleeps. The caller holds the path's lock.
 * Return: RBLK_OK, or why not.
 */
enum rblk_status rblk_srv_open(struct rblk_srv_path *path, const struct rblk_msg_open *msg,
			       struct rblk_msg_open_reply *reply)
{
	struct rblk_srv_export *export;
	struct rblk_srv_open *open;
	enum rblk_status status;

	lockdep_assert_held(&path->lock);
	if (path->nr_opens >= RBLK_SRV_OPENS_MAX)
		return RBLK_LIMIT;
	open = kzalloc(sizeof(*open), GFP_KERNEL);
	if (!open)
		return RBLK_NO_MEMORY;
	open->read_only = msg->flags & RBLK_OPEN_READ_ONLY;
	status = rblk_srv_export_use(msg, path, open);
	if (status == RBLK_BUSY && msg->flags & RBLK_OPEN_STEAL)
		status = rblk_srv_steal(msg, path, open);
	if (status != RBLK_OK) {
		kfree(open);
		return status;
	}
	path->nr_opens++;
	status = rblk_srv_register(path, open);
	/* On a path that ends, its end frees the open too. */
	if (status != RBLK_OK && READ_ONCE(path->state) != RBLK_SRV_ENDING) {
		path->nr_opens--;
		rblk_srv_open_free(path, open);
	}
	if (status != RBLK_OK)
		return status;
	/* 0 is never a handle; nor is one that is still in use after 2^32 opens. */
	do {
		open->handle = ++path->next_handle;
	} while (!open->handle || rblk_srv_open_find(path, open->handle) != open);

	export = open->export;
	*reply = (struct rblk_msg_open_reply) {
		.handle		= open->handle,
		.flags		= (open->read_only ? RBLK_OPEN_READ_ONLY : 0) |
				  (export->shared ? RBLK_OPEN_SHARED : 0),
		.size		= export->size,
		.incarnation	= export->incarnation,
		.block_size	= 1U << SECTOR_SHIFT,
		.extent_shift	= open->plan.extent_shift,
		.backing	= RBLK_WIRE_MEMORY,
		.extents	= open->nr_mrs,
		.writer_epoch	= rblk_srv_export_written(open, path),
	};
	return RBLK_OK;
}

/**
 * rblk_srv_open_find - find an open export of a path
 * @path: the path
 * @handle: its name there
 *
 * Context: Process context. The caller holds the path's lock.
 * Return: the open, or NULL.
 */
struct rblk_srv_open *rblk_srv_open_find(struct rblk_srv_path *path, u32 handle)
{
	struct rblk_srv_open *open;

	lockdep_assert_held(&path->lock);
	list_for_each_entry(open, &path->opens, entry)
		if (open->handle == handle)
			return open;
	return NULL;
}

/**
 * rblk_srv_close - a client closes an export
 * @path: the path it asks on
 * @handle: the name of the open
 *
 * The client has nothing in flight on it. One that has anyway loses its queue
 * pair to an access error, and nothing else happens.
 *
 * Context: Process context. Sleeps. The caller holds the path's lock.
 * Return: RBLK_OK or RBLK_MALFORMED; RBLK_INTERNAL if a key is left, and the path ends.
 */
enum rblk_status rblk_srv_close(struct rblk_srv_path *path, u32 handle)
{
	struct rblk_srv_open *open = rblk_srv_open_find(path, handle);

	if (!handle || !open)
		return RBLK_MALFORMED;
	/* It counts as open, for who waits for its end, until the queue pairs are gone. */
	if (!rblk_srv_unregister(path, open)) {
		rblk_srv_path_error(path, -EIO, "the device did not take back a key");
		return RBLK_INTERNAL;
	}
	path->nr_opens--;
	rblk_srv_open_free(path, open);
	return RBLK_OK;
}

/**
 * rblk_srv_revoke - tell the client to close what was withdrawn
 * @path: the path
 *
 * Context: Process context. Sleeps. The caller holds the path's lock.
 * Return: 0, or a negative errno and the path has to end.
 */
int rblk_srv_revoke(struct rblk_srv_path *path)
{
	struct rblk_msg msg = { .type = RBLK_MSG_REVOKE };
	struct rblk_srv_open *open;
	bool due;
	int err = 0, tries = 50;

	lockdep_assert_held(&path->lock);
	list_for_each_entry(open, &path->opens, entry) {
		mutex_lock(&rblk_srv_lock);
		due = open->withdrawn && !open->revoked;
		open->revoked |= due;
		msg.revoke.reason = open->reason;
		mutex_unlock(&rblk_srv_lock);
		if (!due)
			continue;
		msg.revoke.handle = open->handle;
		/* Half of the buffers are for answers and pings, which cannot wait. */
		while (tries > 0 && READ_ONCE(path->state) == RBLK_SRV_READY &&
		       rblk_conn_tx_free(&path->control) <= RBLK_CTL_TX / 2) {
			tries--;
			msleep(20);
		}
		err = rblk_conn_send(&path->control, &msg);
		if (err)
			break;
	}
	return err;
}

/**
 * rblk_srv_close_all - take back all that a path has open
 * @path: the path, whose queue pairs are gone
 *
 * Context: Process context. Sleeps. The caller holds the path's lock.
 */
void rblk_srv_close_all(struct rblk_srv_path *path)
{
	struct rblk_srv_open *open, *next;

	lockdep_assert_held(&path->lock);
	list_for_each_entry_safe(open, next, &path->opens, entry)
		rblk_srv_open_free(path, open);
	path->nr_opens = 0;
}
