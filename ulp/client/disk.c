// SPDX-License-Identifier: GPL-2.0
/*
 * What a device has to know of the disk behind its export: asked when it is mapped, and compared
 * each time that it is opened again.
 */
#include <linux/blkdev.h>
#include <linux/sched/mm.h>
#include "client.h"

static int rblk_clt_disk_ask(struct rblk_clt_path *path, u32 generation, u32 handle,
			     unsigned long deadline, struct rblk_msg_limits_reply *limits,
			     const char **what)
{
	struct rblk_msg msg = {
		.type	= RBLK_MSG_LIMITS,
		.limits	= { .handle = handle },
	};
	struct rblk_msg reply;
	int err;

	err = rblk_clt_ask(path, generation, &msg, &reply, NULL, false, deadline, what);
	if (err)
		return err;
	if (reply.limits_reply.handle != handle) {
		*what = "the server's limits are not those that were asked for";
		return -EPROTO;
	}
	*limits = reply.limits_reply;
	return 0;
}

/**
 * rblk_clt_disk_open - learn the limits of a disk that is being mapped
 * @dev: the device, in no list yet
 * @path: the path on which it is open
 * @generation: of it
 * @handle: the server's name of the open
 * @deadline: when to give up, in jiffies
 * @what: why it failed, in words
 *
 * Context: Process context. Sleeps, for a bounded time. The caller does not hold the path's lock.
 * Return: 0, and the path has disk connections; or a negative errno.
 */
int rblk_clt_disk_open(struct rblk_clt_device *dev, struct rblk_clt_path *path, u32 generation,
		       u32 handle, unsigned long deadline, const char **what)
{
	unsigned int noio;
	int err;

	/* Its holder may wait for the CM. */
	if (mutex_lock_interruptible(&path->lock)) {
		*what = "interrupted";
		return -EINTR;
	}
	/* Whoever reclaims memory may wait for requests whose end takes the lock. */
	noio = memalloc_noio_save();
	err = rblk_clt_disk_up(path, generation, what);
	memalloc_noio_restore(noio);
	mutex_unlock(&path->lock);
	if (err)
		return err;
	return rblk_clt_disk_ask(path, generation, handle, deadline, &dev->limits, what);
}

/* What is less than its users were told, in words; NULL if nothing is. */
static const char *rblk_clt_disk_differs(const struct rblk_msg_limits_reply *was,
					 const struct rblk_msg_limits_reply *now)
{
	if (now->flags & ~was->flags & RBLK_LIMITS_WRITE_CACHE)
		return "the disk has a write cache now, and had none";
	if (was->flags & ~now->flags & RBLK_LIMITS_FUA)
		return "the disk does not write through its cache any more";
	if (now->max_io < was->max_io)
		return "the disk takes smaller requests now";
	if (now->max_discard < was->max_discard ||
	    now->max_write_zeroes < was->max_write_zeroes ||
	    now->max_secure_erase < was->max_secure_erase)
		return "the disk discards or zeroes less at once now";
	return NULL;
}

/**
 * rblk_clt_disk_reopen - compare the limits of a disk that was opened again
 * @dev: the device
 * @path: the path on which it is open
 * @generation: of it
 * @handle: the server's name of the open
 * @differs: takes what is less than it was, in words, or NULL
 * @what: why it failed, in words
 *
 * Context: Process context. Sleeps, for a bounded time.
 * Return: 0, or a negative errno.
 */
int rblk_clt_disk_reopen(const struct rblk_clt_device *dev, struct rblk_clt_path *path,
			 u32 generation, u32 handle, const char **differs, const char **what)
{
	unsigned long deadline = rblk_clt_step_deadline(path, jiffies + RBLK_CLT_ASK_TIMEOUT);
	struct rblk_msg_limits_reply now;
	int err;

	err = rblk_clt_disk_ask(path, generation, handle, deadline, &now, what);
	if (!err)
		*differs = rblk_clt_disk_differs(&dev->limits, &now);
	return err;
}

/**
 * rblk_clt_disk_limits - what the block layer has to know of a disk
 * @dev: its device
 * @lim: with what holds for memory; changed to what holds for the disk
 *
 * Context: Any.
 */
void rblk_clt_disk_limits(const struct rblk_clt_device *dev, struct queue_limits *lim)
{
	const struct rblk_msg_limits_reply *limits = &dev->limits;

	lim->chunk_sectors = 0;
	lim->max_hw_sectors = min(lim->max_hw_sectors, limits->max_io >> SECTOR_SHIFT);
	lim->physical_block_size = max(limits->physical_block_size, dev->block_size);
	lim->io_min = limits->io_min;
	lim->io_opt = limits->io_opt;
	lim->max_hw_discard_sectors = limits->max_discard >> SECTOR_SHIFT;
	lim->discard_granularity = limits->discard_granularity;
	lim->discard_alignment = limits->discard_alignment;
	lim->max_write_zeroes_sectors = limits->max_write_zeroes >> SECTOR_SHIFT;
	lim->max_secure_erase_sectors = limits->max_secure_erase >> SECTOR_SHIFT;
	if (limits->flags & RBLK_LIMITS_WRITE_CACHE)
		lim->features |= BLK_FEAT_WRITE_CACHE;
	if (limits->flags & RBLK_LIMITS_FUA)
		lim->features |= BLK_FEAT_FUA;
	if (limits->flags & RBLK_LIMITS_ROTATIONAL)
		lim->features |= BLK_FEAT_ROTATIONAL;
}
