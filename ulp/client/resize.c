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
 * @tried: in this run, in vain
 * @msg: the message
 *
 * It stays in the list until a device is found that it is for, so that who opens one can see
 * that there is something.
 */
struct rblk_clt_resize {
	struct list_head	entry;
	u32			generation;
	unsigned long		until;
	bool			tried;
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
	if (path->state != RBLK_PATH_CONNECTING && path->state != RBLK_PATH_LIVE) {
		/* Nobody will ask. */
	} else if (path->nr_resizes < RBLK_CLT_RESIZES_MAX) {
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

/* How large it is from now on, here; the block layer learns it from rblk_clt_size_work(). */
static void rblk_clt_size_set(struct rblk_clt_device *dev, u64 size, const uuid_t *incarnation)
{
	struct rblk_extents ext;

	lockdep_assert_held(&dev->size_lock);
	lockdep_assert_held(&rblk_clt_lock);
	lockdep_assert_held(&dev->session->lock);
	if (rblk_extents_init(&ext, size, dev->ext.shift))
		return;
	dev->incarnation = *incarnation;
	/* See rblk_clt_attached(): if it is larger, the keys come before. */
	smp_wmb();
	WRITE_ONCE(dev->ext.size, ext.size);
	WRITE_ONCE(dev->ext.nr, ext.nr);
	/* See rblk_clt_send(): if it is smaller, the keys come after. */
	smp_wmb();
}

/* The caller holds rblk_clt_lock. */
static void rblk_clt_size_queue(struct rblk_clt_device *dev)
{
	lockdep_assert_held(&rblk_clt_lock);
	if (!list_empty(&dev->entry))
		mod_delayed_work(rblk_clt_size_wq, &dev->size_work, 0);
}

/* What lies beyond is lost, on each path. WAS is the incarnation that the path had. */
static void rblk_clt_shrink(struct rblk_clt_device *dev, const uuid_t *was,
			    const struct rblk_msg_resize *msg)
{
	struct rblk_clt_session *session = dev->session;
	u64 size;

	mutex_lock(&dev->size_lock);
	mutex_lock(&rblk_clt_lock);
	spin_lock_irq(&session->lock);
	size = min(dev->ext.size, msg->size);
	/* Else another path heard of it first, or of a newer one even. */
	if (uuid_equal(&dev->incarnation, was)) {
		dev->cut = dev->cut ? min(dev->cut, size) : size;
		rblk_clt_size_set(dev, size, &msg->incarnation);
		rblk_clt_size_queue(dev);
	}
	spin_unlock_irq(&session->lock);
	mutex_unlock(&rblk_clt_lock);
	mutex_unlock(&dev->size_lock);
}

/**
 * rblk_clt_resize_foretold - an open is given up because the server says that it is smaller now
 * @dev: the device
 * @path: the path
 * @generation: of it
 * @open: what the server said when it was opened
 *
 * Context: Process context. Sleeps, not for a peer.
 */
void rblk_clt_resize_foretold(struct rblk_clt_device *dev, struct rblk_clt_path *path,
			      u32 generation, const struct rblk_msg_open_reply *open)
{
	struct rblk_msg_resize msg = {};
	struct rblk_clt_resize *resize;
	bool found = false;

	spin_lock_irq(&path->session->lock);
	list_for_each_entry(resize, &path->resizes, entry) {
		if (resize->generation != generation || resize->msg.handle != open->handle ||
		    uuid_equal(&resize->msg.incarnation, &open->incarnation))
			continue;
		msg = resize->msg;
		found = true;
		break;
	}
	spin_unlock_irq(&path->session->lock);
	if (found && !(msg.size & (dev->block_size - 1)))
		rblk_clt_shrink(dev, &open->incarnation, &msg);
}

/* Do for the disk and each partition what concerns what lies beyond a size. */
static bool rblk_clt_beyond(struct gendisk *disk, u64 size,
			    bool (*each)(struct address_space *mapping, u64 from))
{
	struct block_device *bdev;
	unsigned long index;
	bool done = true;
	u64 start;

	rcu_read_lock();
	xa_for_each(&disk->part_tbl, index, bdev) {
		if (!kobject_get_unless_zero(&bdev->bd_device.kobj))
			continue;
		rcu_read_unlock();
		start = (u64)bdev->bd_start_sect << SECTOR_SHIFT;
		done &= each(bdev->bd_mapping, size > start ? size - start : 0);
		put_device(&bdev->bd_device);
		rcu_read_lock();
	}
	rcu_read_unlock();
	return done;
}

/*
 * What is dirty fails, being beyond the end, and whoever asks learns of it. What is in part below
 * is left alone: it may wait for a path.
 */
static bool rblk_clt_fail_dirty(struct address_space *mapping, u64 from)
{
	filemap_write_and_wait_range(mapping, round_up(from, PAGE_SIZE), LLONG_MAX);
	return true;
}

/*
 * What was written since the size was looked at is dirty, beyond the end, and stays so: nobody
 * writes it. If no file system is there it goes too, and who asks learns of it.
 */
static bool rblk_clt_drop_cache(struct address_space *mapping, u64 from)
{
	struct block_device *bdev = I_BDEV(mapping->host);

	if (!invalidate_inode_pages2_range(mapping, from >> PAGE_SHIFT, -1))
		return true;
	if (bd_prepare_to_claim(bdev, mapping, NULL))
		return false;
	mapping_set_error(mapping, -EIO);
	filemap_invalidate_lock(mapping);
	truncate_inode_pages_range(mapping, round_up(from, PAGE_SIZE), -1);
	filemap_invalidate_unlock(mapping);
	bd_abort_claiming(bdev, mapping);
	return !invalidate_inode_pages2_range(mapping, from >> PAGE_SHIFT, -1);
}

/* The block layer's size. Not under rblk_clt_lock: events allocate under a lock of theirs. */
static void rblk_clt_size_tell(struct rblk_clt_device *dev, u64 size)
{
	set_capacity_and_notify(dev->disk, size >> SECTOR_SHIFT);
	mutex_lock(&rblk_clt_lock);
	if (!list_empty(&dev->entry))
		rblk_clt_notify_device(dev, RBLK_CLIENT_CMD_DEVICE_CHANGE_NTF);
	mutex_unlock(&rblk_clt_lock);
}

/*
 * Let nothing of what was there be seen again when there is something else. Not by force: a file
 * system may have it. Return: whether nothing is left.
 */
static bool rblk_clt_size_cut(struct rblk_clt_device *dev, u64 cut)
{
	/* As long as the block layer knows no better: beyond its end it writes nothing at all. */
	rblk_clt_beyond(dev->disk, cut, rblk_clt_fail_dirty);
	if (get_capacity(dev->disk) > cut >> SECTOR_SHIFT) {
		rblk_clt_size_tell(dev, cut);
		pr_warn_ratelimited("rblk%u: the server cut it off, it has %llu bytes now\n",
				    dev->index, cut);
	}
	return rblk_clt_beyond(dev->disk, cut, rblk_clt_drop_cache);
}

/* The most that an active path has keys for. */
static u64 rblk_clt_size_most(struct rblk_clt_device *dev)
{
	struct rblk_clt_session *session = dev->session;
	const struct rblk_clt_attach *attach;
	const struct rblk_clt_keys *keys;
	u64 size = 0;
	u32 i;

	lockdep_assert_held(&session->lock);
	for_each_set_bit(i, &session->active, RBLK_CLT_PATHS) {
		attach = &dev->attach[i];
		keys = rcu_dereference_protected(attach->keys, lockdep_is_held(&session->lock));
		if (attach->generation == session->paths[i].generation && keys &&
		    uuid_equal(&attach->incarnation, &dev->incarnation))
			size = max(size, keys->ext.size);
	}
	return size;
}

/*
 * As large as an active path has keys for, if that may be. Paths without them carry nothing for it
 * until they have. Return: whether it could be larger, but may not yet.
 */
static bool rblk_clt_size_grow(struct rblk_clt_device *dev, bool may)
{
	struct rblk_clt_session *session = dev->session;
	u64 size;

	lockdep_assert_held(&dev->size_lock);
	mutex_lock(&rblk_clt_lock);
	spin_lock_irq(&session->lock);
	size = rblk_clt_size_most(dev);
	/* Under one hold of the lock: whoever loses the path next finds that none is left. */
	if (size <= dev->ext.size)
		size = 0;
	else if (may)
		rblk_clt_size_set(dev, size, &dev->incarnation);
	spin_unlock_irq(&session->lock);
	mutex_unlock(&rblk_clt_lock);
	return size && !may;
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
		dropped = rblk_clt_size_cut(dev, cut);
		mutex_lock(&dev->size_lock);
		/* Else even more was cut off meanwhile. */
		if (dropped && dev->cut == cut)
			dev->cut = 0;
	}
	if (rblk_clt_size_grow(dev, dropped)) {
		if (!test_and_set_bit(RBLK_DEV_CUT, &dev->flags))
			pr_warn_ratelimited("rblk%u: it stays as it is: what was cut off is in use here\n",
					    dev->index);
		queue_delayed_work(rblk_clt_size_wq, &dev->size_work, RBLK_CLT_CUT_PAUSE);
	} else if (dropped) {
		clear_bit(RBLK_DEV_CUT, &dev->flags);
	}
	size = dev->ext.size;
	mutex_unlock(&dev->size_lock);
	/* Whatever was cut off since then comes with the next run. One that is dead has none. */
	if (get_capacity(dev->disk) < size >> SECTOR_SHIFT &&
	    !test_bit(RBLK_DEV_REMOVING, &dev->flags))
		rblk_clt_size_tell(dev, size);
	memalloc_noio_restore(noio);
}

/*
 * Does a message make sense, and is there anything new in it? One of another incarnation may
 * have any size: the path may not have heard of what was in between. WAS takes the incarnation
 * that the path had.
 * Return: 0, there is. -EALREADY, -ENOTCONN, -EPROTO.
 */
static int rblk_clt_resize_check(struct rblk_clt_device *dev, struct rblk_clt_path *path,
				 u32 generation, const struct rblk_msg_resize *msg, uuid_t *was)
{
	struct rblk_clt_attach *attach = &dev->attach[path->index];
	struct rblk_clt_session *session = path->session;
	const struct rblk_clt_keys *old;
	struct rblk_extents ext;
	int err = -ENOTCONN;

	if (rblk_extents_init(&ext, msg->size, dev->ext.shift) ||
	    msg->size & (dev->block_size - 1))
		return -EPROTO;
	spin_lock_irq(&session->lock);
	if (attach->generation == generation && path->generation == generation) {
		old = rcu_dereference_protected(attach->keys, lockdep_is_held(&session->lock));
		*was = attach->incarnation;
		if (!uuid_equal(was, &msg->incarnation) || msg->size > old->ext.size)
			err = 0;
		else
			err = msg->size < old->ext.size ? -EPROTO : -EALREADY;
	}
	spin_unlock_irq(&session->lock);
	return err;
}

/* Return: what may be kept of the keys of now; -ENOTCONN or -ENOMEM. */
static struct rblk_clt_keys *rblk_clt_keys_begin(struct rblk_clt_device *dev,
						 struct rblk_clt_path *path, u32 generation,
						 const struct rblk_msg_resize *msg, u32 *first)
{
	struct rblk_clt_attach *attach = &dev->attach[path->index];
	struct rblk_clt_session *session = path->session;
	const struct rblk_clt_keys *old;
	struct rblk_clt_keys *keys;
	int err = -ENOTCONN;

	keys = rblk_clt_keys_alloc(msg->size, dev->ext.shift);
	if (IS_ERR(keys))
		return keys;
	/* They may be many. Whether they were the right ones is seen afterwards. */
	rcu_read_lock();
	old = rcu_dereference(attach->keys);
	*first = min(old->ext.size, msg->size) >> dev->ext.shift;
	memcpy(keys->rkeys, old->rkeys, *first * sizeof(*keys->rkeys));
	rcu_read_unlock();
	spin_lock_irq(&session->lock);
	if (attach->generation == generation && path->generation == generation)
		err = 0;
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

/* Until nothing is on its way with a key that is not of now, or nobody will ask for it. */
static void rblk_clt_keys_drain(struct rblk_clt_device *dev, struct rblk_clt_path *path,
				u32 generation)
{
	while (READ_ONCE(path->generation) == generation &&
	       READ_ONCE(path->state) == RBLK_PATH_LIVE &&
	       !test_bit(RBLK_DEV_CLOSING, &dev->flags) &&
	       rblk_clt_uses_other_keys(dev, path, generation))
		msleep(RBLK_CLT_RESIZE_POLL);
}

/* Return: 0, or -ETIME and it has to be done again. */
static int rblk_clt_resize_answer(struct rblk_clt_path *path, u32 generation,
				  const struct rblk_msg_resize *resize)
{
	struct rblk_msg msg = { .type = RBLK_MSG_RESIZE, .resize = *resize };
	struct rblk_msg reply;
	const char *what;

	/* What the server makes of it is the server's: one that is in doubt ends the path. */
	return rblk_clt_ask(path, generation, &msg, &reply, NULL, false,
			    jiffies + RBLK_CLT_ASK_TIMEOUT, &what) == -ETIME ? -ETIME : 0;
}

/* Return: 0 if it is dealt with, -ENOMEM or -ETIME if not yet; another breaks the path. */
static int rblk_clt_resize_attach(struct rblk_clt_device *dev, struct rblk_clt_path *path,
				  u32 generation, const struct rblk_msg_resize *msg,
				  const char **what)
{
	struct rblk_clt_keys *keys;
	uuid_t was;
	u32 first;
	int err;

	err = rblk_clt_resize_check(dev, path, generation, msg, &was);
	if (err == -EPROTO)
		*what = "the size that the server gives an export makes no sense";
	/* One that says it again and again must not make work of it. */
	if (err == -EALREADY)
		return rblk_clt_resize_answer(path, generation, msg);
	if (err)
		return err == -ENOTCONN ? 0 : err;
	/* Before anything that may fail: from here on it is known to be smaller. */
	if (!uuid_equal(&was, &msg->incarnation))
		rblk_clt_shrink(dev, &was, msg);
	keys = rblk_clt_keys_begin(dev, path, generation, msg, &first);
	if (IS_ERR(keys))
		return PTR_ERR(keys) == -ENOTCONN ? 0 : PTR_ERR(keys);
	err = rblk_clt_ask_keys(dev, path, generation, msg->handle, first, keys,
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
	if (test_bit(RBLK_DEV_CLOSING, &dev->flags))
		return 0;
	return rblk_clt_resize_answer(path, generation, msg);
}

/*
 * The next message that could be dealt with: not one of an open that has an older one.
 * Return: whether there is one; RESIZE takes it, and it stays in the list.
 */
static bool rblk_clt_resize_next(struct rblk_clt_path *path, struct rblk_clt_resize *resize)
{
	struct rblk_clt_resize *one, *older;
	bool found = false;

	spin_lock_irq(&path->session->lock);
	list_for_each_entry(one, &path->resizes, entry) {
		found = !one->tried;
		list_for_each_entry(older, &path->resizes, entry) {
			if (older == one || !found)
				break;
			found = older->generation != one->generation ||
				older->msg.handle != one->msg.handle;
		}
		if (!found)
			continue;
		one->tried = true;
		*resize = *one;
		break;
	}
	spin_unlock_irq(&path->session->lock);
	return found;
}

/* Return: it, out of the list; NULL if somebody else was faster. */
static struct rblk_clt_resize *rblk_clt_resize_take(struct rblk_clt_path *path,
						    const struct rblk_clt_resize *resize)
{
	struct rblk_clt_resize *one, *found = NULL;

	spin_lock_irq(&path->session->lock);
	/* The first of its open is the one: no other was tried. */
	list_for_each_entry(one, &path->resizes, entry) {
		if (one->generation != resize->generation ||
		    one->msg.handle != resize->msg.handle)
			continue;
		found = one;
		break;
	}
	if (found) {
		list_del(&found->entry);
		path->nr_resizes--;
	}
	spin_unlock_irq(&path->session->lock);
	return found;
}

/* Before all others of its open, for the next run. */
static void rblk_clt_resize_keep(struct rblk_clt_path *path, struct rblk_clt_resize *resize)
{
	spin_lock_irq(&path->session->lock);
	list_add(&resize->entry, &path->resizes);
	path->nr_resizes++;
	spin_unlock_irq(&path->session->lock);
}

/* Return: whether it is to be tried again. */
static bool rblk_clt_resize_one(struct rblk_clt_path *path, const struct rblk_clt_resize *resize)
{
	struct rblk_clt_resize *taken;
	const unsigned long gone = BIT(RBLK_DEV_REVOKED) | BIT(RBLK_DEV_CLOSING);
	struct rblk_clt_session *session = path->session;
	u32 generation = resize->generation;
	struct rblk_clt_device *dev;
	const char *what = NULL;
	bool stale, late;
	int err = 0;

	spin_lock_irq(&session->lock);
	stale = path->generation != generation ||
		(path->state != RBLK_PATH_CONNECTING && path->state != RBLK_PATH_LIVE);
	spin_unlock_irq(&session->lock);
	late = time_after(jiffies, resize->until);
	/* It may be about to be attached, or the disk to be added; or it was closed. */
	dev = stale ? NULL : rblk_clt_device_of(path, generation, resize->msg.handle);
	if (!dev && !stale && !late)
		return true;
	if (!dev) {
		kfree(rblk_clt_resize_take(path, resize));
		return false;
	}
	/* From here on what waits is of a newer one. */
	taken = rblk_clt_resize_take(path, resize);
	down_read(&dev->close_sem);
	if (taken && !(READ_ONCE(dev->flags) & gone))
		err = rblk_clt_resize_attach(dev, path, generation, &resize->msg, &what);
	up_read(&dev->close_sem);
	put_device(disk_to_dev(dev->disk));
	if ((err == -ENOMEM || err == -ETIME) && !late) {
		rblk_clt_resize_keep(path, taken);
		return true;
	}
	kfree(taken);
	if (err)
		rblk_clt_path_error_of(path, generation, err,
				       what ?: "the size of an export could not be taken over");
	return false;
}

/**
 * rblk_clt_resize_purge - forget what the server said on a path
 * @path: the path, which has no connection any more
 *
 * Context: Process context. Does not sleep.
 */
void rblk_clt_resize_purge(struct rblk_clt_path *path)
{
	struct rblk_clt_resize *resize, *next;
	LIST_HEAD(all);

	spin_lock_irq(&path->session->lock);
	list_splice_init(&path->resizes, &all);
	path->nr_resizes = 0;
	spin_unlock_irq(&path->session->lock);
	list_for_each_entry_safe(resize, next, &all, entry)
		kfree(resize);
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
	struct rblk_clt_resize resize, *one;
	bool again = false;

	while (rblk_clt_resize_next(path, &resize))
		again |= rblk_clt_resize_one(path, &resize);
	spin_lock_irq(&path->session->lock);
	list_for_each_entry(one, &path->resizes, entry)
		one->tried = false;
	if (again)
		rblk_clt_resize_queue(path, RBLK_CLT_RESIZE_PAUSE);
	spin_unlock_irq(&path->session->lock);
	memalloc_noio_restore(noio);
}
