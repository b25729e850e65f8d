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

LIST_HEAD(rblk_clt_devices);
static DEFINE_IDA(rblk_clt_indexes);
/* Devices that are not freed yet. */
static DEFINE_SPINLOCK(rblk_clt_disks_lock);
static u32 rblk_clt_disks;
static DECLARE_WAIT_QUEUE_HEAD(rblk_clt_disks_gone);

static void rblk_clt_device_release(struct kref *ref)
{
	struct rblk_clt_device *dev = container_of(ref, struct rblk_clt_device, ref);
	unsigned long flags;
	u32 i;

	for (i = 0; i < RBLK_CLT_PATHS; i++)
		kvfree(rcu_dereference_protected(dev->attach[i].keys, true));
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

/**
 * rblk_clt_device_put - give a reference back
 * @dev: the device
 *
 * Context: Process context. Sleeps.
 */
void rblk_clt_device_put(struct rblk_clt_device *dev)
{
	kref_put(&dev->ref, rblk_clt_device_release);
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
	rblk_clt_device_put(disk->private_data);
}

static const struct block_device_operations rblk_clt_fops = {
	.owner		= THIS_MODULE,
	.open		= rblk_clt_open,
	.set_read_only	= rblk_clt_set_read_only,
	.free_disk	= rblk_clt_free_disk,
};

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
	kref_init(&dev->ref);
	INIT_LIST_HEAD(&dev->entry);
	spin_lock_init(&dev->wait_lock);
	bio_list_init(&dev->waiting);
	init_rwsem(&dev->close_sem);
	mutex_init(&dev->size_lock);
	INIT_DELAYED_WORK(&dev->size_work, rblk_clt_size_work);
	INIT_WORK(&dev->submit_work, rblk_clt_submit_work);
	INIT_DELAYED_WORK(&dev->no_path_work, rblk_clt_no_path_work);
	dev->no_path_ms = args->no_path_ms;
	dev->was_back = true;
	dev->index = index;
	dev->session = session;
	dev->losses = READ_ONCE(session->losses);
	dev->read_only = args->read_only;
	strscpy(dev->export, args->export, sizeof(dev->export));
	kref_get(&session->ref);
	spin_lock_irq(&rblk_clt_disks_lock);
	rblk_clt_disks++;
	spin_unlock_irq(&rblk_clt_disks_lock);
	return dev;
}

/*
 * From here on whoever connects a path opens the device on it. What was opened must
 * not be older than that.
 */
static int rblk_clt_device_list(struct rblk_clt_device *dev, struct gendisk *disk)
{
	struct rblk_clt_session *session = dev->session;
	int err = -ENOTCONN;
	u32 i;

	mutex_lock(&rblk_clt_lock);
	spin_lock_irq(&session->lock);
	for (i = 0; i < RBLK_CLT_PATHS; i++)
		if (dev->attach[i].generation &&
		    dev->attach[i].generation == session->paths[i].generation)
			err = 0;
	spin_unlock_irq(&session->lock);
	if (!err) {
		dev->disk = disk;
		list_add_tail(&dev->entry, &rblk_clt_devices);
		rblk_clt_device_spread(dev);
	}
	mutex_unlock(&rblk_clt_lock);
	return err;
}

static int rblk_clt_disk_add(struct rblk_clt_device *dev, const char **what)
{
	const struct rblk_queue_plan *plan = &dev->session->plan;
	struct queue_limits lim = {
		.logical_block_size	= dev->block_size,
		/* A write is torn at a packet's end, so promise a block at most. */
		.physical_block_size	= dev->block_size,
		.max_hw_sectors		= plan->max_io >> SECTOR_SHIFT,
		.max_segments		= plan->max_segments,
		.virt_boundary_mask	= (1U << RBLK_MR_PAGE_SHIFT) - 1,
		/* A request lies within one extent, and so needs one key. */
		.chunk_sectors		= (1ULL << dev->ext.shift) >> SECTOR_SHIFT,
		/*
		 * A block that lies across a page border is two segments: where one is
		 * all there is, the block layer could not split it off and would send
		 * more than was asked for.
		 */
		.dma_alignment		= plan->max_segments > 1 ? 3 : dev->block_size - 1,
	};
	struct gendisk *disk;
	bool blind;
	int err;

	if (dev->backing == RBLK_WIRE_DISK)
		rblk_clt_disk_limits(dev, &lim);
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

	err = rblk_clt_device_list(dev, disk);
	if (err) {
		*what = "the connection to the server was lost just now";
		goto err_disk;
	}
	blind = !rblk_clt_path_of(dev);
	err = rblk_fault(RBLK_FAULT_ADD_DISK) ?: device_add_disk(NULL, disk, dev->groups);
	if (err)
		goto err_list;
	/* From here on it may be unmapped, and its disk frees it. */
	mutex_lock(&rblk_clt_lock);
	dev->session->users++;
	rblk_clt_notify_device(dev, RBLK_CLIENT_CMD_DEVICE_ADD_NTF);
	set_bit(RBLK_DEV_READY, &dev->flags);
	/* While it was not ready, nobody let the time run, and the partitions may not be known. */
	if (blind || READ_ONCE(dev->session->losses) != dev->losses)
		set_bit(GD_NEED_PART_SCAN, &disk->state);
	if (!rblk_clt_path_of(dev)) {
		set_bit(GD_NEED_PART_SCAN, &disk->state);
		rblk_clt_path_lost(dev, jiffies);
		rblk_clt_fail_waiting(dev);
	}
	mutex_unlock(&rblk_clt_lock);
	return 0;

err_list:
	mutex_lock(&rblk_clt_lock);
	list_del_init(&dev->entry);
	mutex_unlock(&rblk_clt_lock);
	cancel_delayed_work_sync(&dev->no_path_work);
	cancel_work_sync(&dev->submit_work);
	cancel_delayed_work_sync(&dev->size_work);
	dev->disk = NULL;
err_disk:
	/* Never added, so free_disk is not called: its reference stays ours. */
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
	err = rblk_clt_device_open(dev, args->steal, args->deadline, &what);
	if (err)
		goto err_put;
	*index = dev->index;
	what = "the disk could not be added";
	err = rblk_clt_disk_add(dev, &what);
	if (err)
		goto err_close;
	return 0;

err_close:
	rblk_clt_device_close(dev, jiffies + RBLK_CLT_ASK_TIMEOUT);
err_put:
	NL_SET_ERR_MSG_FMT(extack, "%s", what);
	rblk_clt_device_put(dev);
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
wait:
	/* Without the lock: who adds a path, or lets one carry I/O again, needs it. */
	err = rblk_clt_session_wait(session, args->deadline, extack);
	if (err)
		goto out;
	err = mutex_lock_interruptible(&session->setup);
	/* Another thread's set-up failed, perhaps only by its signal: not our failure. */
	if (!err && READ_ONCE(session->failed) && time_before(jiffies, args->deadline)) {
		mutex_unlock(&session->setup);
		rblk_clt_session_unuse(session);
		goto again;
	}
	if (!err) {
		err = rblk_clt_session_setup(session, args, extack);
		if (err == -EAGAIN) {
			mutex_unlock(&session->setup);
			goto wait;
		}
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
out:
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
	struct rblk_clt_session *session = dev->session;

	/* Pairs with what orders the two in rblk_clt_revoke_work(). */
	if (test_bit_acquire(RBLK_DEV_REVOKED, &dev->flags)) {
		*err = -ENOENT;
		*what = READ_ONCE(dev->revoked_what);
		return;
	}
	/* Pairs with the barrier in rblk_clt_device_lost(). */
	if (test_bit_acquire(RBLK_DEV_LOST, &dev->flags)) {
		*err = -ESTALE;
		*what = READ_ONCE(dev->lost_what);
		return;
	}
	spin_lock_irq(&session->lock);
	if (rblk_clt_path_of(dev)) {
		*err = 0;
	} else if (session->active) {
		*err = -EAGAIN;
		*what = dev->refused_what ?: "it is not open on an active path yet";
	} else {
		*what = "there is no connection to the server";
		rblk_clt_session_cause(session, err, what);
	}
	spin_unlock_irq(&session->lock);
}

/**
 * rblk_clt_device_state - what a device does with I/O
 * @dev: the device
 * @what: why it is not live, in words; NULL if it is
 *
 * Context: Process context. Does not sleep.
 * Return: enum rblk_client_device_state.
 */
u32 rblk_clt_device_state(struct rblk_clt_device *dev, const char **what)
{
	int err;

	rblk_clt_device_reason(dev, &err, what);
	if (!err)
		*what = NULL;
	if (test_bit(RBLK_DEV_REMOVING, &dev->flags))
		return RBLK_CLIENT_DEVICE_STATE_REMOVING;
	if (!err)
		return RBLK_CLIENT_DEVICE_STATE_LIVE;
	return rblk_clt_may_wait(dev) ? RBLK_CLIENT_DEVICE_STATE_RECOVERING :
		RBLK_CLIENT_DEVICE_STATE_FAILED;
}

/* From here on it goes, whatever else happens. */
static int rblk_clt_device_claim(struct rblk_clt_device *dev, bool force,
				 struct netlink_ext_ack *extack)
{
	struct gendisk *disk = dev->disk;
	int err = 0, tries = 100;

	/* Not with force: whoever holds the lock may wait for the very I/O that force ends. */
	if (force) {
		if (!test_and_set_bit(RBLK_DEV_REMOVING, &dev->flags))
			return 0;
		NL_SET_ERR_MSG(extack, "the device is being unmapped already");
		return -EBUSY;
	}
	/*
	 * open takes this lock too: nobody opens between the look and the flag. Who has it
	 * for long may be waiting for I/O, as at the last close, and so for a path.
	 */
	while (!mutex_trylock(&disk->open_mutex)) {
		if (!tries--) {
			NL_SET_ERR_MSG(extack, "the device is open");
			return -EBUSY;
		}
		msleep(20);
	}
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

	const char *what = "requests of an unmapped device did not end";

	/* Without a path it waits for nobody, see rblk_clt_fail_waiting(). */
	if (blk_mq_freeze_queue_wait_timeout(dev->disk->queue, 1))
		return;
	/* It may wait for a tag that another device of the session has in flight. */
	if (!rblk_clt_break_busy(dev, what))
		rblk_clt_active_break(dev->session, what);
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
	/* Whoever is woken by the disk's death may wait for what waits for a path. */
	rblk_clt_fail_waiting(dev);
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
	cancel_delayed_work_sync(&dev->no_path_work);
	cancel_work_sync(&dev->submit_work);
	cancel_delayed_work_sync(&dev->size_work);

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
