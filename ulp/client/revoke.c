// SPDX-License-Identifier: GPL-2.0
/*
 * The server withdraws an export: end the I/O of its device and close it, so that the
 * path stays for the other devices of the session.
 */
#include <linux/blk-mq.h>
#include <linux/slab.h>
#include <rblk/fault.h>
#include <uapi/linux/rblk_client.h>
#include "client.h"

/* More than a server lets a path open. */
#define RBLK_CLT_REVOKES_MAX	512

/**
 * struct rblk_clt_revoke - a message that waits for a thread
 * @work: deals with it
 * @path: where it came; its session is held
 * @generation: of the path
 * @handle: the server's name of the open
 * @reason: why, as the server says
 */
struct rblk_clt_revoke {
	struct work_struct	work;
	struct rblk_clt_path	*path;
	u32			generation;
	u32			handle;
	enum rblk_status	reason;
};

/**
 * rblk_clt_device_of - the device that an open of a path belongs to
 * @path: the path
 * @generation: of the path
 * @handle: the server's name of the open
 *
 * Context: Process context. Does not sleep but for a lock.
 * Return: the device, with a reference on its disk; or NULL, also if it is not ready yet.
 */
struct rblk_clt_device *rblk_clt_device_of(struct rblk_clt_path *path, u32 generation, u32 handle)
{
	struct rblk_clt_device *dev, *found = NULL;

	mutex_lock(&rblk_clt_lock);
	list_for_each_entry(dev, &rblk_clt_devices, entry) {
		const struct rblk_clt_attach *attach = &dev->attach[path->index];

		/* Handles are of one generation only. */
		if (dev->session != path->session || attach->handle != handle ||
		    attach->generation != generation ||
		    !test_bit(RBLK_DEV_READY, &dev->flags))
			continue;
		get_device(disk_to_dev(dev->disk));
		found = dev;
		break;
	}
	mutex_unlock(&rblk_clt_lock);
	return found;
}

static const char *rblk_clt_revoke_text(enum rblk_status reason)
{
	switch (reason) {
	case RBLK_OK:
		return "the server withdrew the export";
	case RBLK_BUSY:
		return "another client took the export over";
	default:
		return rblk_status_text(reason);
	}
}

static void rblk_clt_revoke_work(struct work_struct *work)
{
	struct rblk_clt_revoke *revoke = container_of(work, struct rblk_clt_revoke, work);
	struct rblk_clt_path *path = revoke->path;
	const char *what = rblk_clt_revoke_text(revoke->reason);
	struct rblk_clt_session *session = path->session;
	struct rblk_clt_device *dev;
	struct gendisk *disk;

	rblk_fault_work_begin(RBLK_FAULT_WORK_REVOKE);
	/* One that is not mapped yet is not closed, and the server ends the path. */
	dev = rblk_clt_device_of(path, revoke->generation, revoke->handle);
	if (dev) {
		disk = dev->disk;
		/* Before the flag: pairs with the acquire in rblk_clt_device_reason(). */
		cmpxchg(&dev->revoked_what, NULL, what);
		/* Once: a server that repeats itself must not occupy more threads. */
		if (test_and_set_bit(RBLK_DEV_REVOKED, &dev->flags))
			goto put;
		rblk_clt_fail_waiting(dev);
		/* What was in flight has ended once it is frozen; the rest fails. */
		blk_mq_freeze_queue(disk->queue);
		blk_mq_unfreeze_queue(disk->queue);
		pr_warn_ratelimited("rblk%u: %s, I/O fails\n", dev->index, dev->revoked_what);
		rblk_clt_device_close(dev, jiffies + RBLK_CLT_ASK_TIMEOUT);
		mutex_lock(&rblk_clt_lock);
		if (!list_empty(&dev->entry))
			rblk_clt_notify_device(dev, RBLK_CLIENT_CMD_DEVICE_CHANGE_NTF);
		mutex_unlock(&rblk_clt_lock);
put:
		put_device(disk_to_dev(disk));
	}
	kfree(revoke);
	atomic_dec(&path->revokes);
	rblk_clt_session_put(session);
	rblk_fault_work_end(RBLK_FAULT_WORK_REVOKE);
}

/**
 * rblk_clt_revoked - the server withdrew an export
 * @path: the path where it said so
 * @handle: the server's name of the open
 * @reason: why
 *
 * Context: Any. Does not sleep.
 * Return: 0 and a thread ends the device's I/O, or -ENOMEM.
 */
int rblk_clt_revoked(struct rblk_clt_path *path, u32 handle, enum rblk_status reason)
{
	struct rblk_clt_revoke *revoke;

	if (atomic_inc_return(&path->revokes) > RBLK_CLT_REVOKES_MAX)
		goto err;
	revoke = kzalloc(sizeof(*revoke), GFP_ATOMIC | __GFP_NOWARN);
	if (!revoke)
		goto err;
	INIT_WORK(&revoke->work, rblk_clt_revoke_work);
	revoke->path = path;
	/* Whoever receives belongs to the path's connection: it is that of now. */
	revoke->generation = READ_ONCE(path->generation);
	revoke->handle = handle;
	revoke->reason = reason;
	kref_get(&path->session->ref);
	queue_work(rblk_clt_revoke_wq, &revoke->work);
	return 0;

err:
	atomic_dec(&path->revokes);
	return -ENOMEM;
}
