// SPDX-License-Identifier: GPL-2.0
/*
 * Open exports of a path: registered with its device when it opens them, taken
 * back when it closes them.
 */
#include <linux/blkdev.h>
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include "server.h"

/**
 * rblk_srv_extent_release - take back the registration of an extent
 * @path: the path
 * @extent: the extent, which is freed
 *
 * Context: Process context. Sleeps. The caller holds the path's lock.
 * Return: false if the device did not take back the key, which is good as long as the queue
 * pairs. Then its memory is never freed.
 */
bool rblk_srv_extent_release(struct rblk_srv_path *path, struct rblk_srv_extent *extent)
{
	bool released = rblk_mr_release(&extent->mr, path->dev);

	lockdep_assert_held(&path->lock);
	kfree(extent);
	return released;
}

/**
 * rblk_srv_replaced_release - take back those registrations that were replaced
 * @path: the path
 * @open: the open
 *
 * Context: Process context. Sleeps. The caller holds the path's lock.
 * Return: as of rblk_srv_extent_release().
 */
bool rblk_srv_replaced_release(struct rblk_srv_path *path, struct rblk_srv_open *open)
{
	struct rblk_srv_extent *extent, *next;
	bool all = true;

	list_for_each_entry_safe(extent, next, &open->replaced, entry)
		all &= rblk_srv_extent_release(path, extent);
	INIT_LIST_HEAD(&open->replaced);
	return all;
}

/* Return: as of rblk_srv_extent_release(). */
static bool rblk_srv_unregister(struct rblk_srv_path *path, struct rblk_srv_open *open)
{
	bool all = rblk_srv_replaced_release(path, open);

	while (open->nr_extents)
		all &= rblk_srv_extent_release(path, open->extents[--open->nr_extents]);
	kvfree(open->extents);
	open->extents = NULL;
	return all;
}

static void rblk_srv_open_free(struct rblk_srv_path *path, struct rblk_srv_open *open)
{
	rblk_srv_unregister(path, open);
	/* The reference goes last: no key reaches the memory any more. */
	rblk_srv_export_unuse(open, path);
	kfree(open);
}

/* The blocks of an extent, with a reference on each; how many, 0 if the size is another now. */
static u32 rblk_srv_blocks_get(struct rblk_srv_open *open, u64 size, u32 index,
			       struct page **blocks)
{
	const u32 per_extent = 1U << (open->plan.extent_shift - RBLK_BLOCK_SHIFT);
	const struct rblk_srv_export *export = open->export;
	u32 first = index * per_extent;
	u32 i, nr = 0;

	mutex_lock(&rblk_srv_lock);
	if (export->size == size)
		nr = min(per_extent, export->memory.nr_blocks - first);
	for (i = 0; i < nr; i++) {
		blocks[i] = export->memory.blocks[first + i];
		get_page(blocks[i]);
	}
	mutex_unlock(&rblk_srv_lock);
	return nr;
}

/**
 * rblk_srv_extent_register - register an extent of an open export
 * @path: the path
 * @open: the open, with its plan
 * @size: of the export
 * @index: of the extent
 * @extent: takes it; also with -EINPROGRESS
 *
 * Context: Process context. Sleeps. The caller holds the path's lock.
 * Return: 0; -ESTALE, the export has another size now; or as of rblk_mr_register().
 */
int rblk_srv_extent_register(struct rblk_srv_path *path, struct rblk_srv_open *open, u64 size,
			     u32 index, struct rblk_srv_extent **extent)
{
	const u32 per_extent = 1U << (open->plan.extent_shift - RBLK_BLOCK_SHIFT);
	struct rblk_srv_extent *fresh;
	struct page **blocks;
	int err = -ENOMEM;
	u32 i, nr = 0;

	lockdep_assert_held(&path->lock);
	/* Once the path ends, what is made here only has to be undone. */
	if (READ_ONCE(path->state) == RBLK_SRV_ENDING)
		return -ESHUTDOWN;
	fresh = kzalloc(sizeof(*fresh), GFP_KERNEL);
	blocks = kcalloc(per_extent, sizeof(*blocks), GFP_KERNEL);
	if (!fresh || !blocks)
		goto out;
	nr = rblk_srv_blocks_get(open, size, index, blocks);
	err = nr ? rblk_mr_register(&fresh->mr, &path->control, path->pd, blocks, nr, &open->plan,
				    (u64)index << open->plan.extent_shift, open->read_only) :
		   -ESTALE;
	for (i = 0; i < nr; i++)
		put_page(blocks[i]);
	/* One that hangs counts: it is released with the path. */
	if (!err || err == -EINPROGRESS) {
		*extent = fresh;
		fresh = NULL;
	}
out:
	kfree(blocks);
	kfree(fresh);
	return err;
}

static int rblk_srv_register_with(struct rblk_srv_path *path, struct rblk_srv_open *open)
{
	u32 i, nr;
	int err;

	/* From here on with this size; that it changes meanwhile, who looks at it next notices. */
	mutex_lock(&rblk_srv_lock);
	open->size = open->export->size;
	open->incarnation = open->export->incarnation;
	mutex_unlock(&rblk_srv_lock);
	if (!rblk_srv_memory_left((open->size >> open->plan.page_shift) * RBLK_SRV_MR_ENTRY,
				  RBLK_SRV_OPEN_RESERVE))
		return -ENOMEM;
	nr = rblk_srv_nr_extents(open, open->size);
	open->extents = kvcalloc(nr, sizeof(*open->extents), GFP_KERNEL);
	if (!open->extents)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		err = rblk_srv_extent_register(path, open, open->size, i, &open->extents[i]);
		if (!err || err == -EINPROGRESS)
			open->nr_extents++;
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
		/* Its size has changed meanwhile. */
		if (err == -ESTALE)
			continue;
		/*
		 * Not every device that says it takes large pages does in the end.
		 * An error of the connection is no such case.
		 */
		small_pages = !small_pages && open->plan.page_shift > RBLK_MR_PAGE_SHIFT &&
			err == -EINVAL;
	} while (small_pages || err == -ESTALE);
	return err == -ENOMEM ? RBLK_NO_MEMORY : err == -ESHUTDOWN ? RBLK_SHUTDOWN : RBLK_DEVICE;
}

static enum rblk_status rblk_srv_open_disk(struct rblk_srv_open *open)
{
	mutex_lock(&rblk_srv_lock);
	open->size = open->export->size;
	open->incarnation = open->export->incarnation;
	mutex_unlock(&rblk_srv_lock);
	return READ_ONCE(open->export->disk->failed) ? RBLK_SHUTDOWN : RBLK_OK;
}

/**
 * rblk_srv_block_size - the logical block size of an export
 * @export: the export
 *
 * Context: Any.
 * Return: bytes.
 */
u32 rblk_srv_block_size(const struct rblk_srv_export *export)
{
	return export->disk ? bdev_logical_block_size(export->disk->bdev) : 1U << SECTOR_SHIFT;
}

/**
 * rblk_srv_limits - tell a client what it has to know of a disk
 * @path: the path it asks on
 * @msg: what it asks
 * @reply: what it gets
 *
 * Context: Process context. The caller holds the path's lock.
 * Return: RBLK_OK or RBLK_MALFORMED.
 */
enum rblk_status rblk_srv_limits(struct rblk_srv_path *path, const struct rblk_msg_limits *msg,
				 struct rblk_msg_limits_reply *reply)
{
	struct rblk_srv_open *open = rblk_srv_open_find(path, msg->handle);

	if (!msg->handle || !open || !open->export->disk)
		return RBLK_MALFORMED;
	reply->handle = msg->handle;
	rblk_srv_disk_limits(open->export->disk, reply);
	/* Requests look at it. */
	xa_lock(&path->disks);
	open->limits = *reply;
	xa_unlock(&path->disks);
	return RBLK_OK;
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
	INIT_LIST_HEAD(&open->replaced);
	open->read_only = msg->flags & RBLK_OPEN_READ_ONLY;
	status = rblk_srv_export_use(msg, path, open);
	if (status == RBLK_BUSY && msg->flags & RBLK_OPEN_STEAL)
		status = rblk_srv_steal(msg, path, open);
	if (status != RBLK_OK) {
		kfree(open);
		return status;
	}
	path->nr_opens++;
	export = open->export;
	if (export->disk)
		status = rblk_srv_open_disk(open);
	else
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
	/* From here on requests find it. */
	if (export->disk &&
	    xa_err(xa_store(&path->disks, open->handle, open, GFP_KERNEL))) {
		path->nr_opens--;
		rblk_srv_open_free(path, open);
		return RBLK_NO_MEMORY;
	}
	*reply = (struct rblk_msg_open_reply) {
		.handle		= open->handle,
		.flags		= (open->read_only ? RBLK_OPEN_READ_ONLY : 0) |
				  (export->shared ? RBLK_OPEN_SHARED : 0),
		.size		= open->size,
		.incarnation	= open->incarnation,
		.block_size	= rblk_srv_block_size(export),
		.extent_shift	= open->plan.extent_shift,
		.backing	= export->disk ? RBLK_WIRE_DISK : RBLK_WIRE_MEMORY,
		.extents	= open->nr_extents,
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
	if (open->export->disk) {
		xa_erase(&path->disks, handle);
		/* It said that it has nothing in flight. */
		if (atomic_read(&open->requests))
			return RBLK_MALFORMED;
	}
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
 * rblk_srv_tell - send a client a message that it did not ask for
 * @path: the path
 * @msg: the message
 * @tries: how often to look again whether there is room; counted down
 *
 * Half of the buffers are for answers and pings, which cannot wait.
 *
 * Context: Process context. Sleeps, for a bounded time. The caller holds the path's lock.
 * Return: 0, or a negative errno and the path has to end.
 */
int rblk_srv_tell(struct rblk_srv_path *path, const struct rblk_msg *msg, int *tries)
{
	lockdep_assert_held(&path->lock);
	while (*tries > 0 && READ_ONCE(path->state) == RBLK_SRV_READY &&
	       rblk_conn_tx_free(&path->control) <= RBLK_CTL_TX / 2) {
		(*tries)--;
		msleep(20);
	}
	return rblk_conn_send(&path->control, msg);
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
	int err = 0, tries = RBLK_SRV_TELL_TRIES;

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
		err = rblk_srv_tell(path, &msg, &tries);
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
