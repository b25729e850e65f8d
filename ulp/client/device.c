// SPDX-License-Identifier: GPL-2.0
/*
 * Devices: map and unmap.
 *
 * A device is unmapped in this order: no new openers; with force, the disk is
 * marked dead, so that what waits for it fails; del_gendisk(), after which no
 * request runs; close at the server; unlist; drop the disk. The object itself, and
 * with it the tag set, stays until the last opener has gone.
 */
#include <linux/blkdev.h>
#include <linux/delay.h>
#include <linux/idr.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rblk/fault.h>
#include <uapi/linux/rblk_client.h>
#include "client.h"

/* Before the next attempt where the server still has an older connection, ms. */
#define RBLK_CLT_STALE_PAUSE	200

LIST_HEAD(rblk_clt_devices);
static DEFINE_IDA(rblk_clt_indexes);
/* Devices that are not freed yet. */
static DEFINE_SPINLOCK(rblk_clt_disks_lock);
static u32 rblk_clt_disks;
static DECLARE_WAIT_QUEUE_HEAD(rblk_clt_disks_gone);

static void rblk_clt_device_free(struct rblk_clt_device *dev)
{
	unsigned long flags;
	u32 i;

	for (i = 0; i < RBLK_CLT_PATHS; i++)
		kvfree(dev->attach[i].rkeys);
	rblk_clt_sysfs_free(dev);
	kfree(dev->stats);
	ida_free(&rblk_clt_indexes, dev->index);
	rblk_clt_session_put(dev->session);
	kfree(dev);
	/* Under the lock, so that module unload can wait until this has let go of it. */
	spin_lock_irqsave(&rblk_clt_disks_lock, flags);
	if (!--rblk_clt_disks)
		wake_up_all(&rblk_clt_disks_gone);
	spin_unlock_irqrestore(&rblk_clt_disks_lock, flags);
}

static int rblk_clt_open(struct gendisk *disk, blk_mode_t mode)
{
	struct rblk_clt_device *dev = disk->private_data;

	return test_bit(RBLK_DEV_REMOVING, &dev->flags) ? -ENXIO : 0;
}

static int rblk_clt_set_read_only(struct block_device *bdev, bool ro)
{
	struct rblk_clt_device *dev = bdev->bd_disk->private_data;

	/* The rights are the server's: nothing here can widen them. */
	return dev->read_only && !ro ? -EROFS : 0;
}

static void rblk_clt_free_disk(struct gendisk *disk)
{
	rblk_clt_device_free(disk->private_data);
}

static const struct block_device_operations rblk_clt_fops = {
	.owner		= THIS_MODULE,
	.open		= rblk_clt_open,
	.set_read_only	= rblk_clt_set_read_only,
	.free_disk	= rblk_clt_free_disk,
};

/*
 * When a map gives up waiting for a reply. To give up costs the path: where others use the
 * session too, devices or maps, one that is in a hurry must not take it from them.
 */
static unsigned long rblk_clt_ask_deadline(struct rblk_clt_session *session,
					   unsigned long deadline)
{
	mutex_lock(&rblk_clt_lock);
	if (session->users > 1)
		deadline = jiffies + RBLK_CLT_ASK_TIMEOUT;
	mutex_unlock(&rblk_clt_lock);
	return deadline;
}

/**
 * rblk_clt_device_close - tell the server to close a device's export
 * @dev: the device, which has no request in flight and starts none
 * @deadline: when not to wait for the reply any more, in jiffies
 *
 * Context: Process context. Sleeps, for a bounded time. Only the first call does
 * anything.
 */
void rblk_clt_device_close(struct rblk_clt_device *dev, unsigned long deadline)
{
	struct rblk_clt_path *path = &dev->session->paths[0];
	struct rblk_msg msg = {
		.type	= RBLK_MSG_CLOSE,
		.close	= { .handle = dev->attach[0].handle },
	};
	struct rblk_msg reply;
	const char *what;

	if (test_and_set_bit(RBLK_DEV_CLOSED, &dev->flags))
		return;
	/* On a path that is gone the server has closed it already. */
	if (READ_ONCE(path->state) != RBLK_PATH_LIVE)
		return;
	/* Not closed, but still held: better to lose the path than that. */
	if (rblk_clt_ask(path, &msg, &reply, NULL, false, deadline, &what))
		rblk_clt_path_error(path, -EPROTO, "the server could not close an export");
}

static int rblk_clt_device_open(struct rblk_clt_device *dev, unsigned long deadline,
				const char **what)
{
	struct rblk_clt_session *session = dev->session;
	struct rblk_msg msg = { .type = RBLK_MSG_OPEN };
	struct rblk_msg reply;
	const struct rblk_msg_open_reply *open = &reply.open_reply;
	int err;

	strscpy(msg.open.export, dev->export, sizeof(msg.open.export));
	msg.open.flags = dev->read_only ? RBLK_OPEN_READ_ONLY : 0;
	err = rblk_clt_ask(&session->paths[0], &msg, &reply, NULL, false,
			   rblk_clt_ask_deadline(session, deadline), what);
	if (err)
		return err;
	dev->attach[0].handle = open->handle;
	dev->shared = open->flags & RBLK_OPEN_SHARED;
	dev->block_size = open->block_size;
	dev->incarnation = open->incarnation;
	err = rblk_extents_init(&dev->ext, open->size, open->extent_shift);
	if (err) {
		*what = "the server's geometry makes no sense";
	} else if (open->block_size > PAGE_SIZE) {
		*what = "the export's blocks are larger than a page here";
		err = -EOPNOTSUPP;
	} else if (!dev->read_only && (open->flags & RBLK_OPEN_READ_ONLY)) {
		*what = rblk_status_text(RBLK_READ_ONLY);
		err = -EROFS;
	}
	/* What was granted but is of no use must not stay open. */
	if (err)
		rblk_clt_device_close(dev, rblk_clt_ask_deadline(session, deadline));
	return err;
}

static int rblk_clt_device_keys(struct rblk_clt_device *dev, unsigned long deadline,
				const char **what)
{
	struct rblk_clt_session *session = dev->session;
	struct rblk_clt_attach *attach = &dev->attach[0];
	struct rblk_msg msg = { .type = RBLK_MSG_EXTENTS };
	struct rblk_msg reply;
	u32 *chunk, first = 0;
	int err = -ENOMEM;

	attach->rkeys = kvcalloc(dev->ext.nr, sizeof(*attach->rkeys), GFP_KERNEL);
	chunk = kvcalloc(RBLK_RKEYS_MAX, sizeof(*chunk), GFP_KERNEL);
	if (!attach->rkeys || !chunk)
		goto out;
	do {
		/* A server that gives one key at a time must not keep this thread for ever. */
		if (time_after(jiffies, deadline) || fatal_signal_pending(current)) {
			*what = "the server took too long to give its keys";
			err = -ETIMEDOUT;
			goto out;
		}
		msg.extents.handle = attach->handle;
		msg.extents.first = first;
		err = rblk_clt_ask(&session->paths[0], &msg, &reply, chunk, false,
				   rblk_clt_ask_deadline(session, deadline), what);
		if (err)
			goto out;
		if (reply.extents_reply.handle != attach->handle ||
		    reply.extents_reply.first != first ||
		    reply.extents_reply.count > dev->ext.nr - first) {
			*what = "the server's keys are not those that were asked for";
			err = -EPROTO;
			goto out;
		}
		memcpy(attach->rkeys + first, chunk,
		       reply.extents_reply.count * sizeof(*chunk));
		first += reply.extents_reply.count;
	} while (first < dev->ext.nr);
out:
	kvfree(chunk);
	return err;
}

static struct rblk_clt_device *rblk_clt_device_alloc(struct rblk_clt_session *session,
						     const struct rblk_clt_map_args *args)
{
	struct rblk_clt_device *dev;
	int index;

	dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	if (!dev)
		return NULL;
	dev->nr_queues = session->tag_set.nr_hw_queues;
	dev->stats = kcalloc(dev->nr_queues, sizeof(*dev->stats), GFP_KERNEL);
	index = ida_alloc(&rblk_clt_indexes, GFP_KERNEL);
	if (!dev->stats || index < 0) {
		if (index >= 0)
			ida_free(&rblk_clt_indexes, index);
		kfree(dev->stats);
		kfree(dev);
		return NULL;
	}
	INIT_LIST_HEAD(&dev->entry);
	dev->index = index;
	dev->session = session;
	dev->read_only = args->read_only;
	strscpy(dev->export, args->export, sizeof(dev->export));
	kref_get(&session->ref);
	spin_lock_irq(&rblk_clt_disks_lock);
	rblk_clt_disks++;
	spin_unlock_irq(&rblk_clt_disks_lock);
	return dev;
}

static int rblk_clt_disk_add(struct rblk_clt_device *dev)
{
	const struct rblk_queue_plan *plan = &dev->session->paths[0].plan;
	struct queue_limits lim = {
		.logical_block_size	= dev->block_size,
		/* A write is torn at a packet's end, so promise a block at most. */
		.physical_block_size	= dev->block_size,
		.max_hw_sectors		= plan->max_io >> SECTOR_SHIFT,
		.max_segments		= plan->max_segments,
		.virt_boundary_mask	= (1U << RBLK_MR_PAGE_SHIFT) - 1,
		/* A request lies within one extent, and so needs one key. */
		.chunk_sectors		= 1U << (dev->ext.shift - SECTOR_SHIFT),
		/*
		 * A block that lies across a page border is two segments: where one is
		 * all there is, the block layer could not split it off and would send
		 * more than was asked for.
		 */
		.dma_alignment		= plan->max_segments > 1 ? 3 : dev->block_size - 1,
	};
	struct gendisk *disk;
	int err;

	err = rblk_fault(RBLK_FAULT_DISK);
	if (err)
		return err;
	disk = blk_mq_alloc_disk(&dev->session->tag_set, &lim, dev);
	if (IS_ERR(disk))
		return PTR_ERR(disk);
	disk->fops = &rblk_clt_fops;
	disk->private_data = dev;
	snprintf(disk->disk_name, sizeof(disk->disk_name), "rblk%u", dev->index);
	set_capacity(disk, dev->ext.size >> SECTOR_SHIFT);
	set_disk_ro(disk, dev->read_only);
	err = rblk_clt_sysfs_create(dev);
	if (err)
		goto err_disk;

	mutex_lock(&rblk_clt_lock);
	dev->disk = disk;
	list_add_tail(&dev->entry, &rblk_clt_devices);
	mutex_unlock(&rblk_clt_lock);
	err = rblk_fault(RBLK_FAULT_ADD_DISK) ?: device_add_disk(NULL, disk, dev->groups);
	if (err)
		goto err_list;
	/* From here on it may be unmapped, and its disk frees it. */
	mutex_lock(&rblk_clt_lock);
	dev->session->users++;
	rblk_clt_notify_device(dev, RBLK_CLIENT_CMD_DEVICE_ADD_NTF);
	set_bit(RBLK_DEV_READY, &dev->flags);
	mutex_unlock(&rblk_clt_lock);
	return 0;

err_list:
	mutex_lock(&rblk_clt_lock);
	list_del_init(&dev->entry);
	dev->disk = NULL;
	mutex_unlock(&rblk_clt_lock);
err_disk:
	/* Never added, so free_disk is not called: the device stays ours. */
	put_disk(disk);
	return err;
}

static bool rblk_clt_mapped_already(const struct rblk_clt_session *session, const char *export)
{
	const struct rblk_clt_device *dev;
	bool found = false;

	mutex_lock(&rblk_clt_lock);
	list_for_each_entry(dev, &rblk_clt_devices, entry)
		found |= dev->session == session && !strcmp(dev->export, export);
	mutex_unlock(&rblk_clt_lock);
	return found;
}

static int rblk_clt_device_create(struct rblk_clt_session *session,
				  const struct rblk_clt_map_args *args, u32 *index,
				  struct netlink_ext_ack *extack)
{
	const char *what = "out of memory";
	struct rblk_clt_device *dev;
	int err;

	if (rblk_clt_mapped_already(session, args->export)) {
		NL_SET_ERR_MSG(extack, "this client has mapped the export already");
		return -EEXIST;
	}
	dev = rblk_clt_device_alloc(session, args);
	if (!dev) {
		NL_SET_ERR_MSG(extack, "out of memory");
		return -ENOMEM;
	}
	err = rblk_clt_device_open(dev, args->deadline, &what);
	if (err)
		goto err_free;
	err = rblk_clt_device_keys(dev, args->deadline, &what);
	if (err)
		goto err_close;
	*index = dev->index;
	err = rblk_clt_disk_add(dev);
	if (err) {
		what = "the disk could not be added";
		goto err_close;
	}
	return 0;

err_close:
	rblk_clt_device_close(dev, rblk_clt_ask_deadline(session, args->deadline));
err_free:
	NL_SET_ERR_MSG_FMT(extack, "%s", what);
	rblk_clt_device_free(dev);
	return err;
}

/**
 * rblk_clt_map - make an export of a server a disk
 * @args: what, where, how
 * @index: N of /dev/rblkN
 * @extack: takes the reason of a failure
 *
 * Context: Process context. Sleeps, interruptible while it connects.
 * Return: 0, or a negative errno and nothing is left of it.
 */
int rblk_clt_map(const struct rblk_clt_map_args *args, u32 *index,
		 struct netlink_ext_ack *extack)
{
	struct rblk_clt_session *session;
	int err;

again:
	session = rblk_clt_session_get(args, extack);
	if (IS_ERR(session))
		return PTR_ERR(session);
	err = mutex_lock_interruptible(&session->setup);
	/* Another thread's set-up failed, perhaps only by its signal: not our failure. */
	if (!err && !session->tag_set_ready &&
	    READ_ONCE(session->paths[0].state) != RBLK_PATH_NEW &&
	    time_before(jiffies, args->deadline)) {
		mutex_unlock(&session->setup);
		rblk_clt_session_unuse(session);
		goto again;
	}
	if (!err) {
		err = rblk_clt_session_setup(session, args, extack);
		/* Our refused attempt told the server to end what it still had: once more. */
		if (err == -EALREADY && time_before(jiffies, args->deadline)) {
			mutex_unlock(&session->setup);
			rblk_clt_session_unuse(session);
			if (!msleep_interruptible(RBLK_CLT_STALE_PAUSE))
				goto again;
			return -EINTR;
		}
		if (!err)
			err = rblk_clt_device_create(session, args, index, extack);
		mutex_unlock(&session->setup);
	}
	rblk_clt_session_unuse(session);
	return err;
}

/**
 * rblk_clt_device_find - find a device by its number
 * @index: N of /dev/rblkN
 *
 * Context: Process context. The caller holds rblk_clt_lock.
 * Return: the device or NULL.
 */
struct rblk_clt_device *rblk_clt_device_find(u32 index)
{
	struct rblk_clt_device *dev;

	lockdep_assert_held(&rblk_clt_lock);
	list_for_each_entry(dev, &rblk_clt_devices, entry)
		if (dev->index == index)
			return dev;
	return NULL;
}

/**
 * rblk_clt_device_reason - why a device does not serve I/O
 * @dev: the device
 * @err: 0 if it does; otherwise a negative errno
 * @what: that in words
 *
 * Context: Process context. Does not sleep.
 */
void rblk_clt_device_reason(struct rblk_clt_device *dev, int *err, const char **what)
{
	struct rblk_clt_path *path = &dev->session->paths[0];

	if (test_bit(RBLK_DEV_REVOKED, &dev->flags)) {
		*err = -ENOENT;
		*what = "the server withdrew the export";
		return;
	}
	spin_lock_irq(&dev->session->lock);
	*err = path->state == RBLK_PATH_LIVE ? 0 : path->error ?: -ENOTCONN;
	*what = path->error_what;
	spin_unlock_irq(&dev->session->lock);
}

/* From here on it goes, whatever else happens. */
static int rblk_clt_device_claim(struct rblk_clt_device *dev, bool force,
				 struct netlink_ext_ack *extack)
{
	struct gendisk *disk = dev->disk;
	int err = 0;

	/* Not with force: whoever holds the lock may wait for the very I/O that force ends. */
	if (force) {
		if (!test_and_set_bit(RBLK_DEV_REMOVING, &dev->flags))
			return 0;
		NL_SET_ERR_MSG(extack, "the device is being unmapped already");
		return -EBUSY;
	}
	/* open takes this lock too: nobody opens between the look and the flag. */
	mutex_lock(&disk->open_mutex);
	if (disk_openers(disk)) {
		NL_SET_ERR_MSG(extack, "the device is open");
		err = -EBUSY;
	} else if (test_and_set_bit(RBLK_DEV_REMOVING, &dev->flags)) {
		NL_SET_ERR_MSG(extack, "the device is being unmapped already");
		err = -EBUSY;
	}
	mutex_unlock(&disk->open_mutex);
	return err;
}

/**
 * struct rblk_clt_force - the limit of an unmap by force
 * @work: breaks the path
 * @dev: the device
 */
struct rblk_clt_force {
	struct delayed_work	work;
	struct rblk_clt_device	*dev;
};

/* In flight at a server that does not answer: end them now, not at the timeout. */
static void rblk_clt_force_work(struct work_struct *work)
{
	struct rblk_clt_device *dev = container_of(work, struct rblk_clt_force, work.work)->dev;

	if (!blk_mq_freeze_queue_wait_timeout(dev->disk->queue, 1))
		rblk_clt_path_error(&dev->session->paths[0], -ETIMEDOUT,
				    "requests of an unmapped device did not end");
}

static void rblk_clt_device_remove(struct rblk_clt_device *dev, bool force)
{
	struct rblk_clt_session *session = dev->session;
	struct rblk_clt_force late = { .dev = dev };
	struct gendisk *disk = dev->disk;

	/*
	 * With force, what waits for the disk fails, and del_gendisk() writes nothing. Both
	 * wait for I/O in flight already: of a file system, of whoever has the open_mutex.
	 */
	INIT_DELAYED_WORK_ONSTACK(&late.work, rblk_clt_force_work);
	if (force) {
		queue_delayed_work(rblk_clt_wq, &late.work, RBLK_CLT_FORCE_TIMEOUT);
		blk_mark_disk_dead(disk);
	}
	del_gendisk(disk);
	cancel_delayed_work_sync(&late.work);
	destroy_delayed_work_on_stack(&late.work);
	rblk_clt_device_close(dev, jiffies + RBLK_CLT_ASK_TIMEOUT);

	mutex_lock(&rblk_clt_lock);
	rblk_clt_notify_device(dev, RBLK_CLIENT_CMD_DEVICE_REMOVE_NTF);
	list_del_init(&dev->entry);
	mutex_unlock(&rblk_clt_lock);

	kref_get(&session->ref);
	put_disk(disk);
	rblk_clt_session_unuse(session);
}

/**
 * rblk_clt_unmap - remove a disk
 * @index: N of /dev/rblkN
 * @force: although it is open
 * @extack: takes the reason of a refusal
 *
 * Context: Process context. Sleeps, for a bounded time.
 * Return: 0, -ENODEV, or -EBUSY.
 */
int rblk_clt_unmap(u32 index, bool force, struct netlink_ext_ack *extack)
{
	struct gendisk *disk = NULL;
	struct rblk_clt_device *dev;
	int err = 0;

	mutex_lock(&rblk_clt_lock);
	dev = rblk_clt_device_find(index);
	if (!dev) {
		NL_SET_ERR_MSG(extack, "there is no such device");
		err = -ENODEV;
	} else if (!test_bit(RBLK_DEV_READY, &dev->flags)) {
		NL_SET_ERR_MSG(extack, "the device is being mapped still");
		err = -EBUSY;
	} else {
		/* Its disk keeps the device while the lock is not held. */
		disk = dev->disk;
		get_device(disk_to_dev(disk));
	}
	mutex_unlock(&rblk_clt_lock);
	if (err)
		return err;
	err = rblk_clt_device_claim(dev, force, extack);
	if (!err)
		rblk_clt_device_remove(dev, force);
	put_device(disk_to_dev(disk));
	return err;
}

/**
 * rblk_clt_unmap_all - remove all disks, for module unload
 *
 * No device is open, since that would hold the module, and no new one comes.
 *
 * Context: Process context. Sleeps, for a bounded time.
 */
void rblk_clt_unmap_all(void)
{
	struct rblk_clt_device *dev;
	u32 index;

	for (;;) {
		mutex_lock(&rblk_clt_lock);
		dev = list_first_entry_or_null(&rblk_clt_devices, struct rblk_clt_device, entry);
		index = dev ? dev->index : 0;
		mutex_unlock(&rblk_clt_lock);
		if (!dev)
			break;
		rblk_clt_unmap(index, true, NULL);
	}
	spin_lock_irq(&rblk_clt_disks_lock);
	wait_event_lock_irq(rblk_clt_disks_gone, !rblk_clt_disks, rblk_clt_disks_lock);
	spin_unlock_irq(&rblk_clt_disks_lock);
	ida_destroy(&rblk_clt_indexes);
}
