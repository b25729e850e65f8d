// SPDX-License-Identifier: GPL-2.0
/*
 * The server gives an export another size.
 *
 * It says so on each path that has it open, and each path gets the keys for that size by
 * itself. The disk is larger when an active path has them; a path that has not got them yet
 * carries nothing for it. The disk is smaller at once, whichever path hears of it first; then
 * the server is told, on each path, when nothing is on its way there any more with a key that
 * is to go.
 *
 * Nothing here stops I/O: queue_rq finds the keys by RCU, and each request knows its own.
 */
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/delay.h>
#include <linux/pagemap.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <uapi/linux/rblk_client.h>
#include "client.h"

/* More than a server lets a path open. */
#define RBLK_CLT_RESIZES_MAX	512
/* For a device that is being mapped to be ready. */
#define RBLK_CLT_RESIZE_KEEP	(60 * HZ)
#define RBLK_CLT_RESIZE_PAUSE	(HZ / 20)
/* For who uses what was cut off to use it no longer. */
#define RBLK_CLT_CUT_PAUSE	(HZ / 2)
/* How often to look whether requests have ended, ms. */
#define RBLK_CLT_RESIZE_POLL	2

/**
 * struct rblk_clt_resize - a message that waits for a thread
 * @entry: in the path's list
 * @generation: of the path
 * @until: when nobody will want it any more, in jiffies
 * @msg: the message
 */
struct rblk_clt_resize {
	struct list_head	entry;
	u32			generation;
	unsigned long		until;
	struct rblk_msg_resize	msg;
};

/* Only a path that has a connection gets messages. */
static void rblk_clt_resize_queue(struct rblk_clt_path *path, unsigned long delay)
{
	lockdep_assert_held(&path->session->lock);
	if (path->state == RBLK_PATH_CONNECTING || path->state == RBLK_PATH_LIVE)
		mod_delayed_work(rblk_clt_revoke_wq, &path->resize_work, delay);
}

/**
 * rblk_clt_resized - the server gave an export another size
 * @path: the path where it said so
 * @msg: which open, and what it is now
 *
 * Context: Any. Does not sleep.
 * Return: 0 and a thread deals with it, or -ENOMEM.
 */
int rblk_clt_resized(struct rblk_clt_path *path, const struct rblk_msg_resize *msg)
{
	struct rblk_clt_session *session = path->session;
	struct rblk_clt_resize *resize;
	unsigned long flags;
	int err = 0;

	resize = kzalloc(sizeof(*resize), GFP_ATOMIC | __GFP_NOWARN);
	if (!resize)
		return -ENOMEM;
	resize->until = jiffies + RBLK_CLT_RESIZE_KEEP;
	resize->msg = *msg;
	spin_lock_irqsave(&session->lock, flags);
	/* Whoever receives belongs to the path's connection: it is that of now. */
	resize->generation = path->generation;
	if (path->nr_resizes < RBLK_CLT_RESIZES_MAX) {
		path->nr_resizes++;
		list_add_tail(&resize->entry, &path->resizes);
		rblk_clt_resize_queue(path, 0);
		resize = NULL;
	} else {
		err = -ENOMEM;
	}
	spin_unlock_irqrestore(&session->lock, flags);
	kfree(resize);
	return err;
}

/**
 * rblk_clt_resize_waits - has the server said something about an open that nobody dealt with?
 * @path: the path
 * @generation: of it
 * @handle: the server's name of the open
 * @forget: nobody will: the open is closed
 *
 * Context: Process context. Does not sleep.
 * Return: whether it has.
 */
bool rblk_clt_resize_waits(struct rblk_clt_path *path, u32 generation, u32 handle, bool forget)
{
	struct rblk_clt_session *session = path->session;
	struct rblk_clt_resize *resize, *next;
	bool found = false;

	spin_lock_irq(&session->lock);
	list_for_each_entry_safe(resize, next, &path->resizes, entry) {
		if (resize->generation != generation || resize->msg.handle != handle)
			continue;
		found = true;
		if (!forget)
			continue;
		list_del(&resize->entry);
		path->nr_resizes--;
		kfree(resize);
	}
	spin_unlock_irq(&session->lock);
	return found;
}

/* How large it is from now on, here and in the block layer. */
static void rblk_clt_size_set(struct rblk_clt_device *dev, u64 size, const uuid_t *incarnation)
{
	struct rblk_extents ext;

	lockdep_assert_held(&dev->size_lock);
	if (rblk_extents_init(&ext, size, dev->ext.shift))
		return;
	mutex_lock(&rblk_clt_lock);
	dev->incarnation = *incarnation;
	/* See rblk_clt_attached(): if it is larger, the keys come before. */
	smp_wmb();
	WRITE_ONCE(dev->ext.size, ext.size);
	WRITE_ONCE(dev->ext.nr, ext.nr);
	/* See rblk_clt_send(): if it is smaller, the keys come after. */
	smp_wmb();
	mutex_unlock(&rblk_clt_lock);
	/* Not under that lock: events have one of their own, under which memory is allocated. */
	set_capacity_and_notify(dev->disk, size >> SECTOR_SHIFT);
	mutex_lock(&rblk_clt_lock);
	if (!list_empty(&dev->entry))
		rblk_clt_notify_device(dev, RBLK_CLIENT_CMD_DEVICE_CHANGE_NTF);
	mutex_unlock(&rblk_clt_lock);
}

/* What lies beyond is lost, on each path. */
static void rblk_clt_shrink(struct rblk_clt_device *dev, const struct rblk_msg_resize *msg)
{
	mutex_lock(&dev->size_lock);
	/* Else another path heard of it first. */
	if (!uuid_equal(&dev->incarnation, &msg->incarnation)) {
		u64 size = min(dev->ext.size, msg->size);

		dev->cut = dev->cut ? min(dev->cut, size) : size;
		rblk_clt_size_set(dev, size, &msg->incarnation);
		pr_warn_ratelimited("rblk%u: the server cut it off, it has %llu bytes now\n",
				    dev->index, size);
		mutex_lock(&rblk_clt_lock);
		if (!list_empty(&dev->entry))
			mod_delayed_work(rblk_clt_revoke_wq, &dev->size_work, 0);
		mutex_unlock(&rblk_clt_lock);
	}
	mutex_unlock(&dev->size_lock);
}

/*
 * Let nothing of what was there be seen again when there is something else. Not by force: a file
 * system may have it. Return: whether nothing is left.
 */
static bool rblk_clt_drop_cache(struct gendisk *disk, u64 size)
{
	struct address_space *mapping;
	struct block_device *bdev;
	unsigned long index;
	bool dropped = true;
	u64 from, start;

	rcu_read_lock();
	xa_for_each(&disk->part_tbl, index, bdev) {
		if (!kobject_get_unless_zero(&bdev->bd_device.kobj))
			continue;
		rcu_read_unlock();
		mapping = bdev->bd_mapping;
		start = (u64)bdev->bd_start_sect << SECTOR_SHIFT;
		from = size > start ? size - start : 0;
		/* What is dirty fails, being beyond the end. */
		filemap_write_and_wait_range(mapping, from, LLONG_MAX);
		if (invalidate_inode_pages2_range(mapping, from >> PAGE_SHIFT, -1))
			dropped = false;
		put_device(&bdev->bd_device);
		rcu_read_lock();
	}
	rcu_read_unlock();
	return dropped;
}

/* Return: the size for which an active path has keys, if that is more than there is; or 0. */
static u64 rblk_clt_size_more(struct rblk_clt_device *dev)
{
	struct rblk_clt_session *session = dev->session;
	const struct rblk_clt_attach *attach;
	const struct rblk_clt_keys *keys;
	struct rblk_clt_path *path;
	u64 size = 0;

	spin_lock_irq(&session->lock);
	path = rblk_clt_path_of(dev);
	if (path) {
		attach = &dev->attach[path->index];
		keys = rcu_dereference_protected(attach->keys, lockdep_is_held(&session->lock));
		if (keys->ext.size > dev->ext.size &&
		    uuid_equal(&attach->incarnation, &dev->incarnation))
			size = keys->ext.size;
	}
	spin_unlock_irq(&session->lock);
	return size;
}

/**
 * rblk_clt_size_work - make a disk as large as it can be
 * @work: the device's
 *
 * Context: Process context. Sleeps. Nothing waits for it that I/O waits for.
 */
void rblk_clt_size_work(struct work_struct *work)
{
	struct rblk_clt_device *dev =
		container_of(work, struct rblk_clt_device, size_work.work);
	unsigned int noio = memalloc_noio_save();
	bool dropped = true;
	u64 size, cut;

	mutex_lock(&dev->size_lock);
	while (dev->cut && dropped) {
		cut = dev->cut;
		mutex_unlock(&dev->size_lock);
		dropped = rblk_clt_drop_cache(dev->disk, cut);
		mutex_lock(&dev->size_lock);
		/* Else even more was cut off meanwhile. */
		if (dropped && dev->cut == cut)
			dev->cut = 0;
	}
	size = rblk_clt_size_more(dev);
	if (size && dropped) {
		rblk_clt_size_set(dev, size, &dev->incarnation);
		clear_bit(RBLK_DEV_CUT, &dev->flags);
	} else if (size) {
		if (!test_and_set_bit(RBLK_DEV_CUT, &dev->flags))
			pr_warn_ratelimited("rblk%u: it stays as it is: what was cut off is in use here\n",
					    dev->index);
		queue_delayed_work(rblk_clt_revoke_wq, &dev->size_work, RBLK_CLT_CUT_PAUSE);
	}
	mutex_unlock(&dev->size_lock);
	memalloc_noio_restore(noio);
}

/* Return: what may be kept of the keys of now; -EPROTO, -ENOTCONN or -ENOMEM. */
static struct rblk_clt_keys *rblk_clt_keys_begin(struct rblk_clt_device *dev,
						 struct rblk_clt_path *path, u32 generation,
						 const struct rblk_msg_resize *msg, u32 *first,
						 bool *shrink)
{
	struct rblk_clt_attach *attach = &dev->attach[path->index];
	struct rblk_clt_session *session = path->session;
	const struct rblk_clt_keys *old;
	struct rblk_clt_keys *keys;
	int err = -ENOTCONN;

	keys = rblk_clt_keys_alloc(msg->size, dev->ext.shift);
	if (IS_ERR(keys))
		return PTR_ERR(keys) == -ENOMEM ? keys : ERR_PTR(-EPROTO);
	spin_lock_irq(&session->lock);
	if (attach->generation == generation && path->generation == generation) {
		old = rcu_dereference_protected(attach->keys, lockdep_is_held(&session->lock));
		*shrink = !uuid_equal(&attach->incarnation, &msg->incarnation);
		*first = min(old->ext.size, msg->size) >> dev->ext.shift;
		err = !(msg->size & (dev->block_size - 1)) &&
		      (*shrink ? msg->size < old->ext.size : msg->size >= old->ext.size) ?
		      0 : -EPROTO;
		if (!err)
			memcpy(keys->rkeys, old->rkeys, *first * sizeof(*keys->rkeys));
	}
	spin_unlock_irq(&session->lock);
	if (!err)
		return keys;
	kvfree(keys);
	return ERR_PTR(err);
}

/* Return: false if the path is another one by now; then the keys are freed. */
static bool rblk_clt_keys_publish(struct rblk_clt_device *dev, struct rblk_clt_path *path,
				  u32 generation, const uuid_t *incarnation,
				  struct rblk_clt_keys *keys)
{
	struct rblk_clt_attach *attach = &dev->attach[path->index];
	struct rblk_clt_session *session = path->session;

	spin_lock_irq(&session->lock);
	if (attach->generation == generation && path->generation == generation) {
		keys = rcu_replace_pointer(attach->keys, keys, lockdep_is_held(&session->lock));
		attach->incarnation = *incarnation;
	} else {
		generation = 0;
	}
	spin_unlock_irq(&session->lock);
	/* From here on nobody begins with the old ones. */
	synchronize_rcu();
	kvfree(keys);
	return generation;
}

/* Until nothing is on its way with a key that is not of now, or the path is lost. */
static void rblk_clt_keys_drain(struct rblk_clt_device *dev, struct rblk_clt_path *path,
				u32 generation)
{
	while (READ_ONCE(path->generation) == generation &&
	       READ_ONCE(path->state) == RBLK_PATH_LIVE &&
	       rblk_clt_uses_other_keys(dev, path, generation))
		msleep(RBLK_CLT_RESIZE_POLL);
}

static void rblk_clt_resize_answer(struct rblk_clt_path *path, u32 generation,
				   const struct rblk_msg_resize *resize)
{
	struct rblk_msg msg = { .type = RBLK_MSG_RESIZE, .resize = *resize };
	struct rblk_msg reply;
	const char *what;

	/* What the server makes of it is the server's: one that is in doubt ends the path. */
	rblk_clt_ask(path, generation, &msg, &reply, NULL, false, jiffies + RBLK_CLT_ASK_TIMEOUT,
		     &what);
}

/* Return: 0 if it is dealt with, -ENOMEM if not yet; another errno breaks the path. */
static int rblk_clt_resize_attach(struct rblk_clt_device *dev, struct rblk_clt_path *path,
				  u32 generation, const struct rblk_msg_resize *msg,
				  const char **what)
{
	struct rblk_clt_keys *keys;
	bool shrink;
	u32 first;
	int err;

	keys = rblk_clt_keys_begin(dev, path, generation, msg, &first, &shrink);
	if (PTR_ERR_OR_ZERO(keys) == -EPROTO)
		*what = "the size that the server gives an export makes no sense";
	if (IS_ERR(keys))
		return PTR_ERR(keys) == -ENOTCONN ? 0 : PTR_ERR(keys);
	if (shrink)
		rblk_clt_shrink(dev, msg);
	err = rblk_clt_ask_keys(path, generation, msg->handle, first, keys,
				rblk_clt_step_deadline(path, jiffies), what);
	if (err) {
		kvfree(keys);
		/* There is a newer one, which says it all. */
		return err == -EAGAIN || err == -ENOTCONN ? 0 : err;
	}
	if (!rblk_clt_keys_publish(dev, path, generation, &msg->incarnation, keys))
		return 0;
	rblk_clt_attach_back(dev);
	rblk_clt_keys_drain(dev, path, generation);
	rblk_clt_resize_answer(path, generation, msg);
	return 0;
}

/* Return: whether it is dealt with, or nobody wants it any more. */
static bool rblk_clt_resize_one(struct rblk_clt_path *path, const struct rblk_clt_resize *resize)
{
	const unsigned long gone = BIT(RBLK_DEV_REVOKED) | BIT(RBLK_DEV_LOST) |
				   BIT(RBLK_DEV_CLOSED) | BIT(RBLK_DEV_REMOVING);
	struct rblk_clt_session *session = path->session;
	u32 generation = resize->generation;
	struct rblk_clt_device *dev;
	const char *what = NULL;
	bool stale;
	int err = 0;

	spin_lock_irq(&session->lock);
	stale = path->generation != generation ||
		(path->state != RBLK_PATH_CONNECTING && path->state != RBLK_PATH_LIVE);
	spin_unlock_irq(&session->lock);
	if (stale || time_after(jiffies, resize->until))
		return true;
	/* It may be about to be attached, or the disk to be added. */
	dev = rblk_clt_device_of(path, generation, resize->msg.handle);
	if (!dev)
		return false;
	down_read(&dev->close_sem);
	if (!(READ_ONCE(dev->flags) & gone))
		err = rblk_clt_resize_attach(dev, path, generation, &resize->msg, &what);
	up_read(&dev->close_sem);
	put_device(disk_to_dev(dev->disk));
	if (err && err != -ENOMEM)
		rblk_clt_path_error_of(path, generation, err,
				       what ?: "the size of an export could not be taken over");
	return err != -ENOMEM;
}

static struct rblk_clt_resize *rblk_clt_resize_next(struct rblk_clt_path *path)
{
	struct rblk_clt_resize *resize;

	spin_lock_irq(&path->session->lock);
	resize = list_first_entry_or_null(&path->resizes, struct rblk_clt_resize, entry);
	if (resize) {
		list_del(&resize->entry);
		path->nr_resizes--;
	}
	spin_unlock_irq(&path->session->lock);
	return resize;
}

/**
 * rblk_clt_resize_work - deal with what the server said about sizes
 * @work: the path's
 *
 * What it allocates does not wait for I/O: where the active paths lack keys, I/O waits for it.
 *
 * Context: Process context. Sleeps, for a bounded time.
 */
void rblk_clt_resize_work(struct work_struct *work)
{
	struct rblk_clt_path *path =
		container_of(work, struct rblk_clt_path, resize_work.work);
	unsigned int noio = memalloc_noio_save();
	struct rblk_clt_resize *resize;
	LIST_HEAD(later);
	u32 nr = 0;

	while ((resize = rblk_clt_resize_next(path))) {
		if (rblk_clt_resize_one(path, resize)) {
			kfree(resize);
		} else {
			list_add_tail(&resize->entry, &later);
			nr++;
		}
	}
	spin_lock_irq(&path->session->lock);
	path->nr_resizes += nr;
	list_splice(&later, &path->resizes);
	if (nr)
		rblk_clt_resize_queue(path, RBLK_CLT_RESIZE_PAUSE);
	spin_unlock_irq(&path->session->lock);
	memalloc_noio_restore(noio);
}
