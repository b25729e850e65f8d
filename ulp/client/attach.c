// SPDX-License-Identifier: GPL-2.0
/*
 * Exports that are open on a path: when a device is mapped, and again on each further path
 * and each new generation of one.
 *
 * A device that is closed while a new generation opens it is closed by one of the two:
 * the flag RBLK_DEV_CLOSED and the generation in the attach are looked at together,
 * under the session's lock.
 */
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <uapi/linux/rblk_client.h>
#include "client.h"

/* Where the export is resized each time that it is opened. */
#define RBLK_CLT_OPEN_TRIES	5

#define RBLK_CLT_CONTENT_LOST \
	"content lost: the export was made anew or smaller, or its server started anew"

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

static void rblk_clt_ask_close(struct rblk_clt_path *path, u32 generation, u32 handle,
			       unsigned long deadline)
{
	struct rblk_msg msg = {
		.type	= RBLK_MSG_CLOSE,
		.close	= { .handle = handle },
	};
	struct rblk_msg reply;
	const char *what;

	/* Not closed, but still held: better to lose the path than that. */
	if (rblk_clt_ask(path, generation, &msg, &reply, NULL, false, deadline, &what))
		rblk_clt_path_error_of(path, generation, -EPROTO,
				       "the server could not close an export");
}

/**
 * rblk_clt_device_close - tell the server to close a device's export
 * @dev: the device, which has no request in flight and starts none
 * @deadline: when not to wait for the reply any more, in jiffies
 *
 * The limit is that of the active paths; the others have their own, and who is late is lost.
 *
 * Context: Process context. Sleeps, for a bounded time. Only the first call does
 * anything.
 */
void rblk_clt_device_close(struct rblk_clt_device *dev, unsigned long deadline)
{
	struct rblk_clt_session *session = dev->session;
	struct { u32 generation, handle; } open[RBLK_CLT_PATHS] = {};
	unsigned long active;
	bool closed;
	u32 i;

	/* The server would take a question about what was closed for nonsense. */
	set_bit(RBLK_DEV_CLOSING, &dev->flags);
	down_write(&dev->close_sem);
	spin_lock_irq(&session->lock);
	closed = test_and_set_bit(RBLK_DEV_CLOSED, &dev->flags);
	spin_unlock_irq(&session->lock);
	up_write(&dev->close_sem);
	if (closed)
		return;
	spin_lock_irq(&session->lock);
	for (i = 0; i < RBLK_CLT_PATHS; i++) {
		const struct rblk_clt_attach *attach = &dev->attach[i];
		const struct rblk_clt_path *path = &session->paths[i];

		/* On a path that is gone the server has closed it already. */
		if (attach->generation != path->generation ||
		    (path->state != RBLK_PATH_LIVE && path->state != RBLK_PATH_CONNECTING))
			continue;
		open[i].generation = attach->generation;
		open[i].handle = attach->handle;
	}
	active = session->active;
	spin_unlock_irq(&session->lock);
	/* First where it matters most: a path that is dead, and nobody knows, takes its time. */
	for_each_set_bit(i, &active, RBLK_CLT_PATHS) {
		if (open[i].generation)
			rblk_clt_ask_close(&session->paths[i], open[i].generation,
					   open[i].handle, deadline);
		open[i].generation = 0;
		/* One that does not answer must not cost the next one its time. */
		if (time_before(deadline, jiffies + RBLK_CLT_CLOSE_TIMEOUT))
			deadline = jiffies + RBLK_CLT_CLOSE_TIMEOUT;
	}
	deadline = jiffies + RBLK_CLT_CLOSE_TIMEOUT;
	for (i = 0; i < RBLK_CLT_PATHS; i++)
		if (open[i].generation)
			rblk_clt_ask_close(&session->paths[i], open[i].generation,
					   open[i].handle, deadline);
}

/* STATUS takes the server's refusal, if it was that. */
static int rblk_clt_ask_open(struct rblk_clt_device *dev, struct rblk_clt_path *path,
			     u32 generation, u32 flags, unsigned long deadline,
			     struct rblk_msg_open_reply *open, enum rblk_status *status,
			     const char **what)
{
	struct rblk_msg msg = { .type = RBLK_MSG_OPEN };
	struct rblk_msg reply;
	int err;

	strscpy(msg.open.export, dev->export, sizeof(msg.open.export));
	msg.open.flags = dev->read_only ? RBLK_OPEN_READ_ONLY : flags;
	msg.open.writer_epoch = dev->writer_epoch;
	err = rblk_clt_ask(path, generation, &msg, &reply, NULL, false,
			   rblk_clt_ask_deadline(path->session, deadline), what);
	*status = reply.status;
	if (!err)
		*open = reply.open_reply;
	return err;
}

/**
 * rblk_clt_keys_alloc - make room for the keys of an open
 * @size: bytes of the export
 * @shift: log2 of the bytes of an extent; 0 for a disk
 *
 * Context: Process context. Sleeps.
 * Return: the keys, or ERR_PTR(): -EINVAL and -EFBIG as of rblk_extents_init(), -ENOMEM.
 */
struct rblk_clt_keys *rblk_clt_keys_alloc(u64 size, u8 shift)
{
	struct rblk_clt_keys *keys;
	struct rblk_extents ext;
	int err;

	/* A disk has none, only its size. */
	ext = (struct rblk_extents) { .size = size };
	err = shift ? rblk_extents_init(&ext, size, shift) : 0;
	if (err)
		return ERR_PTR(err);
	keys = kvzalloc(struct_size(keys, rkeys, ext.nr), GFP_KERNEL);
	if (!keys)
		return ERR_PTR(-ENOMEM);
	keys->ext = ext;
	return keys;
}

/**
 * rblk_clt_ask_keys - get the keys of an open
 * @dev: the device
 * @path: the path
 * @generation: of the path
 * @handle: the server's name of the open
 * @first: from this extent on
 * @keys: where to put them, up to the last
 * @deadline: when to give up, in jiffies
 * @what: why it failed, in words
 *
 * Context: Process context. Sleeps, for a bounded time.
 * Return: 0. -EAGAIN, the server has said meanwhile that the open has another size, and what
 * it gave may be of that; or the device is closed just now. -ETIME, there was no time, which is
 * no fault of the path. Another negative errno.
 */
int rblk_clt_ask_keys(const struct rblk_clt_device *dev, struct rblk_clt_path *path,
		      u32 generation, u32 handle, u32 first, struct rblk_clt_keys *keys,
		      unsigned long deadline, const char **what)
{
	const u32 nr = keys->ext.nr;
	struct rblk_msg msg = { .type = RBLK_MSG_EXTENTS };
	struct rblk_msg reply;
	u32 *chunk;
	int err = 0;

	chunk = kvcalloc(RBLK_RKEYS_MAX, sizeof(*chunk), GFP_KERNEL);
	if (!chunk)
		return -ENOMEM;
	while (first < nr) {
		if (test_bit(RBLK_DEV_CLOSING, &dev->flags)) {
			*what = "the device is closed just now";
			err = -EAGAIN;
			break;
		}
		/* A server that gives one key at a time must not keep this thread for ever. */
		if (time_after(jiffies, deadline) || fatal_signal_pending(current)) {
			*what = "the server took too long to give its keys";
			err = rblk_clt_no_time(path);
			break;
		}
		msg.extents.handle = handle;
		msg.extents.first = first;
		err = rblk_clt_ask(path, generation, &msg, &reply, chunk, false,
				   rblk_clt_ask_deadline(path->session, deadline), what);
		if (err)
			break;
		/* It says so before it gives keys of another size: none is missed. */
		if (rblk_clt_resize_waits(path, generation, handle, false)) {
			*what = "the export is resized just now";
			err = -EAGAIN;
			break;
		}
		if (reply.extents_reply.handle != handle ||
		    reply.extents_reply.first != first ||
		    reply.extents_reply.count > nr - first) {
			*what = "the server's keys are not those that were asked for";
			err = -EPROTO;
			break;
		}
		memcpy(keys->rkeys + first, chunk, reply.extents_reply.count * sizeof(*chunk));
		first += reply.extents_reply.count;
	}
	kvfree(chunk);
	return err;
}

/*
 * The keys belong to the device from here on. Return: whether it was closed meanwhile, so that
 * the caller has to do that.
 */
static bool rblk_clt_attach(struct rblk_clt_device *dev, struct rblk_clt_path *path,
			    u32 generation, const struct rblk_msg_open_reply *open,
			    struct rblk_clt_keys *keys)
{
	struct rblk_clt_attach *attach = &dev->attach[path->index];
	struct rblk_clt_session *session = path->session;
	struct rblk_clt_keys *old;
	bool closed;

	spin_lock_irq(&session->lock);
	attach->handle = open->handle;
	attach->incarnation = open->incarnation;
	old = rcu_replace_pointer(attach->keys, keys, lockdep_is_held(&session->lock));
	/* Pairs with the acquire in rblk_clt_attached(): the keys were written before. */
	smp_store_release(&attach->generation, generation);
	closed = test_bit(RBLK_DEV_CLOSED, &dev->flags);
	spin_unlock_irq(&session->lock);
	if (old)
		kvfree_rcu(old, rcu);
	return closed;
}

static int rblk_clt_take_geometry(struct rblk_clt_device *dev,
				  const struct rblk_msg_open_reply *open, const char **what)
{
	int err;

	dev->shared = open->flags & RBLK_OPEN_SHARED;
	dev->block_size = open->block_size;
	dev->incarnation = open->incarnation;
	dev->writer_epoch = open->writer_epoch;
	dev->backing = open->backing;
	dev->ext = (struct rblk_extents) { .size = open->size };
	err = open->backing == RBLK_WIRE_DISK ? 0 :
		rblk_extents_init(&dev->ext, open->size, open->extent_shift);
	if (err) {
		*what = "the server's geometry makes no sense";
	} else if (open->block_size > PAGE_SIZE) {
		*what = "the export's blocks are larger than a page here";
		err = -EOPNOTSUPP;
	} else if (!dev->read_only && (open->flags & RBLK_OPEN_READ_ONLY)) {
		*what = rblk_status_text(RBLK_READ_ONLY);
		err = -EROFS;
	}
	return err;
}

static int rblk_clt_open_once(struct rblk_clt_device *dev, struct rblk_clt_path *path,
			      u32 generation, bool steal, unsigned long deadline,
			      const char **what)
{
	struct rblk_msg_open_reply open;
	struct rblk_clt_keys *keys;
	enum rblk_status status;
	int err;

	err = rblk_clt_ask_open(dev, path, generation, steal ? RBLK_OPEN_STEAL : 0, deadline, &open,
				&status, what);
	/* That is for what is resized meanwhile. */
	if (err == -EAGAIN)
		err = -EREMOTEIO;
	if (err)
		return err;
	err = rblk_clt_take_geometry(dev, &open, what);
	/* Who asks for it counts on being the only one. */
	if (!err && steal && dev->shared) {
		*what = "the export is shared: its writers stay, and none can be robbed";
		err = -EINVAL;
	}
	if (!err && dev->backing == RBLK_WIRE_DISK)
		err = rblk_clt_disk_open(dev, path, generation, open.handle, deadline, what);
	if (!err) {
		keys = rblk_clt_keys_alloc(open.size, open.extent_shift);
		if (IS_ERR(keys))
			err = PTR_ERR(keys);
		else
			err = rblk_clt_ask_keys(dev, path, generation, open.handle, 0, keys,
						deadline, what);
		if (err && !IS_ERR(keys))
			kvfree(keys);
	}
	if (err) {
		/* What was granted but is of no use must not stay open. */
		rblk_clt_resize_waits(path, generation, open.handle, true);
		rblk_clt_ask_close(path, generation, open.handle,
				   rblk_clt_ask_deadline(dev->session, deadline));
		return err;
	}
	rblk_clt_attach(dev, path, generation, &open, keys);
	return 0;
}

/**
 * rblk_clt_device_open - open the export of a device that is being mapped
 * @dev: the device, in no list yet
 * @steal: take the export over from another writer; when a path comes back the device does
 *	not, or two clients would rob each other for ever
 * @deadline: when to give up, in jiffies
 * @what: why it failed, in words
 *
 * Context: Process context. Sleeps, for a bounded time.
 * Return: 0; or a negative errno, and it is not open.
 */
int rblk_clt_device_open(struct rblk_clt_device *dev, bool steal, unsigned long deadline,
			 const char **what)
{
	struct rblk_clt_session *session = dev->session;
	struct rblk_clt_path *path = &session->paths[0];
	int err, tries = RBLK_CLT_OPEN_TRIES;
	u32 i, generation = 0;

	/* Not on one that only comes up: the server would take it for nonsense. */
	spin_lock_irq(&session->lock);
	for (i = 0; i < RBLK_CLT_PATHS; i++) {
		/* An active one, or else any; it is opened on the others too before long. */
		if (session->paths[i].state != RBLK_PATH_LIVE ||
		    (generation && !(session->active & BIT(i))))
			continue;
		path = &session->paths[i];
		generation = path->generation;
	}
	spin_unlock_irq(&session->lock);
	do {
		err = rblk_clt_open_once(dev, path, generation, steal, deadline, what);
	} while (err == -EAGAIN && tries--);
	return err == -ETIME ? -ETIMEDOUT : err;
}

/* What is other than it was, in words; NULL if nothing is. */
static const char *rblk_clt_differs(const struct rblk_clt_device *dev,
				    const struct rblk_msg_open_reply *open)
{
	lockdep_assert_held(&rblk_clt_lock);
	if (open->backing != dev->backing)
		return "the export is no disk any more, or is one now";
	if (!uuid_equal(&open->incarnation, &dev->incarnation))
		return dev->backing == RBLK_WIRE_DISK ? "the export is another disk now" :
			RBLK_CLT_CONTENT_LOST;
	/* What was cut off while this node heard of it has changed the incarnation, for both. */
	if (open->size < dev->ext.size)
		return "the export is smaller now";
	if (open->block_size != dev->block_size)
		return "the export has blocks of another size now";
	if (dev->read_only)
		return NULL;
	if (open->flags & RBLK_OPEN_READ_ONLY)
		return "the export is for reading only now";
	/* What this node has in its page cache, or in flight, is of before that. */
	if (!dev->shared && open->writer_epoch != dev->writer_epoch)
		return rblk_status_text(RBLK_WRITTEN);
	return NULL;
}

/* Is it open on another path, where the server may be about to say what has changed? */
static bool rblk_clt_open_elsewhere(const struct rblk_clt_device *dev,
				    const struct rblk_clt_path *path)
{
	struct rblk_clt_session *session = path->session;
	bool found = false;
	u32 i;

	spin_lock_irq(&session->lock);
	for (i = 0; i < RBLK_CLT_PATHS; i++)
		found |= i != path->index &&
			 (session->paths[i].state == RBLK_PATH_LIVE ||
			  session->paths[i].state == RBLK_PATH_CONNECTING) &&
			 dev->attach[i].generation == session->paths[i].generation;
	spin_unlock_irq(&session->lock);
	return found;
}

/* It never comes back: whoever reads it must not take something else for what was there. */
static void rblk_clt_device_lost(struct rblk_clt_device *dev, const char *what)
{
	WRITE_ONCE(dev->lost_what, what);
	/* Pairs with the acquire in rblk_clt_device_reason(). */
	smp_mb__before_atomic();
	set_bit(RBLK_DEV_LOST, &dev->flags);
	rblk_clt_fail_waiting(dev);
	mutex_lock(&rblk_clt_lock);
	if (!list_empty(&dev->entry)) {
		pr_warn_ratelimited("rblk%u: %s, I/O fails for good\n", dev->index, what);
		rblk_clt_notify_device(dev, RBLK_CLIENT_CMD_DEVICE_CHANGE_NTF);
	}
	mutex_unlock(&rblk_clt_lock);
}

/* The server does not let it have the export now. Others of the session need not wait. */
static void rblk_clt_device_refused(struct rblk_clt_device *dev, struct rblk_clt_path *path,
				    u32 generation, const char *what)
{
	spin_lock_irq(&path->session->lock);
	WRITE_ONCE(dev->refused_what, what);
	dev->attach[path->index].refused = generation;
	spin_unlock_irq(&path->session->lock);
}

/*
 * Unless the caller is SURE, what differs may only have been true when the server answered.
 * Return: 0, and CLOSED says whether it has to be closed; or as of rblk_clt_ask_keys().
 */
static int rblk_clt_take_again(struct rblk_clt_device *dev, struct rblk_clt_path *path,
			       u32 generation, const struct rblk_msg_open_reply *open, bool sure,
			       bool *closed, const char **what)
{
	unsigned long deadline = rblk_clt_step_deadline(path, jiffies);
	struct rblk_clt_keys *keys;
	const char *differs;
	int err;

	*closed = true;
	mutex_lock(&rblk_clt_lock);
	differs = rblk_clt_differs(dev, open);
	mutex_unlock(&rblk_clt_lock);
	if (!differs && dev->backing == RBLK_WIRE_DISK) {
		err = rblk_clt_disk_reopen(dev, path, generation, open->handle, &differs, what);
		if (err)
			return err;
	}
	if (differs && !sure) {
		*what = differs;
		return -EAGAIN;
	}
	if (differs && rblk_clt_open_elsewhere(dev, path)) {
		/* If nothing comes there, it is lost with the last of the others. */
		rblk_clt_device_refused(dev, path, generation,
					"the export is another one than on another path");
		return 0;
	}
	if (differs) {
		rblk_clt_device_lost(dev, differs);
		return 0;
	}
	if (open->extent_shift != dev->ext.shift) {
		/* The same content, but requests are cut for other extents. */
		rblk_clt_device_refused(dev, path, generation,
					"the export is registered in pieces of another size now");
		return 0;
	}
	keys = rblk_clt_keys_alloc(open->size, open->extent_shift);
	if (IS_ERR(keys))
		return PTR_ERR(keys);
	err = rblk_clt_ask_keys(dev, path, generation, open->handle, 0, keys, deadline, what);
	/* It was as before, and that it is smaller now the server has said: nothing is missed. */
	if (err == -EAGAIN)
		rblk_clt_resize_foretold(dev, path, generation, open);
	if (err) {
		kvfree(keys);
		return err;
	}
	*closed = rblk_clt_attach(dev, path, generation, open, keys);
	return 0;
}

/*
 * Return: 0 if the device is open, lost, closed or refused; -EAGAIN if it is resized just now;
 * otherwise the path is of no use, or of another generation.
 */
static int rblk_clt_reopen_once(struct rblk_clt_device *dev, struct rblk_clt_path *path,
				u32 generation, bool sure, const char **what)
{
	unsigned long deadline = rblk_clt_step_deadline(path, jiffies);
	struct rblk_msg_open_reply open;
	enum rblk_status status;
	bool closed;
	int err;

	err = rblk_clt_ask_open(dev, path, generation, RBLK_OPEN_AGAIN, deadline, &open, &status,
				what);
	/* Not asked: later. */
	if (err == -ETIME) {
		rblk_clt_device_refused(dev, path, generation, *what);
		return 0;
	}
	if (err && status == RBLK_OK)
		return err == -EAGAIN ? -EREMOTEIO : err;
	if (status == RBLK_NO_EXPORT || status == RBLK_READ_ONLY || status == RBLK_WRITTEN) {
		rblk_clt_device_lost(dev, *what);
		return 0;
	}
	if (err) {
		rblk_clt_device_refused(dev, path, generation, *what);
		return 0;
	}
	err = rblk_clt_take_again(dev, path, generation, &open, sure, &closed, what);
	/* It is this device's own trouble, and not over by a path that is lost for all of them. */
	if (err == -ENOMEM || err == -ETIME) {
		rblk_clt_device_refused(dev, path, generation,
					err == -ENOMEM ? "out of memory for its keys" : *what);
		closed = true;
		err = 0;
	}
	if (err && err != -EAGAIN)
		return err;
	if (closed) {
		rblk_clt_resize_waits(path, generation, open.handle, true);
		rblk_clt_ask_close(path, generation, open.handle,
				   rblk_clt_ask_deadline(path->session, deadline));
	}
	return err;
}

/* Return: as of rblk_clt_reopen_once(), but for -EAGAIN. */
static int rblk_clt_reopen_one(struct rblk_clt_device *dev, struct rblk_clt_path *path,
			       u32 generation, const char **what)
{
	int err, tries = RBLK_CLT_OPEN_TRIES;

	do {
		err = rblk_clt_reopen_once(dev, path, generation, tries < RBLK_CLT_OPEN_TRIES,
					   what);
	} while (err == -EAGAIN && tries--);
	if (err != -EAGAIN)
		return err;
	rblk_clt_device_refused(dev, path, generation, *what);
	return 0;
}

/*
 * What a path needs beforehand to serve a device. Return: 0; -EOPNOTSUPP, and the device is
 * refused; another negative errno, and the path is broken.
 */
static int rblk_clt_reopen_ready(struct rblk_clt_device *dev, struct rblk_clt_path *path,
				 u32 generation, const char **what)
{
	int err;

	lockdep_assert_held(&path->lock);
	if (dev->backing != RBLK_WIRE_DISK)
		return 0;
	err = rblk_clt_disk_up(path, generation, what);
	if (!err || !rblk_clt_disk_may(path, generation))
		return err == -EOPNOTSUPP ? -ENOTCONN : err;
	/* It carries on without disks. */
	rblk_clt_device_refused(dev, path, generation,
				*what ?: "the path has no connections for disks");
	return -EOPNOTSUPP;
}

/**
 * rblk_clt_reopen_next - a device that is not open on a path's generation
 * @path: the path
 * @refused: one that the server refused, rather than one that was not tried yet
 *
 * Context: Process context. The caller holds rblk_clt_lock.
 * Return: the device, or NULL if there is none.
 */
struct rblk_clt_device *rblk_clt_reopen_next(struct rblk_clt_path *path, bool refused)
{
	const unsigned long not = BIT(RBLK_DEV_REVOKED) | BIT(RBLK_DEV_CLOSED) | BIT(RBLK_DEV_LOST);
	const struct rblk_clt_attach *attach;
	struct rblk_clt_device *dev;
	bool was_refused;

	lockdep_assert_held(&rblk_clt_lock);
	list_for_each_entry(dev, &rblk_clt_devices, entry) {
		attach = &dev->attach[path->index];
		was_refused = attach->refused == path->generation;
		if (dev->session == path->session && !(READ_ONCE(dev->flags) & not) &&
		    attach->generation != path->generation && was_refused == refused)
			return dev;
	}
	return NULL;
}

/**
 * rblk_clt_reopen - open the devices of a session on a new generation of a path
 * @path: the path, which connects
 * @what: why it failed, in words
 *
 * Context: Process context. Sleeps, for a bounded time for each device.
 * Return: 0, or a negative errno and the path cannot be used.
 */
int rblk_clt_reopen(struct rblk_clt_path *path, const char **what)
{
	struct rblk_clt_device *dev;
	int err;

	do {
		if (path->hurried && signal_pending(current))
			return -EINTR;
		if (path->hurried && time_after(jiffies, path->until))
			return -ETIMEDOUT;
		mutex_lock(&rblk_clt_lock);
		dev = rblk_clt_reopen_next(path, false);
		if (dev)
			kref_get(&dev->ref);
		mutex_unlock(&rblk_clt_lock);
		if (!dev)
			return 0;
		err = rblk_clt_reopen_ready(dev, path, path->generation, what);
		if (!err)
			err = rblk_clt_reopen_one(dev, path, path->generation, what);
		else if (err == -EOPNOTSUPP)
			err = 0;
		rblk_clt_device_put(dev);
	} while (!err);
	return err;
}

/**
 * rblk_clt_serves - is a device open on a path that it could do I/O on?
 * @path: the path
 * @dev: the device; to one that has come to its end no path is of use
 *
 * Context: Any.
 * Return: true if so.
 */
bool rblk_clt_serves(const struct rblk_clt_path *path, const struct rblk_clt_device *dev)
{
	const unsigned long ended = BIT(RBLK_DEV_REVOKED) | BIT(RBLK_DEV_CLOSED) |
				    BIT(RBLK_DEV_REMOVING) | BIT(RBLK_DEV_LOST);

	return dev->session == path->session && !(READ_ONCE(dev->flags) & ended) &&
	       rblk_clt_attached(dev, path);
}

/**
 * rblk_clt_served - how many devices of its session a path serves
 * @path: the path
 *
 * Context: Process context. The caller holds rblk_clt_lock.
 * Return: the number.
 */
u32 rblk_clt_served(const struct rblk_clt_path *path)
{
	const struct rblk_clt_device *dev;
	u32 nr = 0;

	lockdep_assert_held(&rblk_clt_lock);
	list_for_each_entry(dev, &rblk_clt_devices, entry)
		nr += rblk_clt_serves(path, dev);
	return nr;
}

/**
 * rblk_clt_device_spread - open a device on the other live paths too
 * @dev: the device, in the list and open on one path
 *
 * Context: Process context. Does not sleep. The caller holds rblk_clt_lock.
 */
void rblk_clt_device_spread(struct rblk_clt_device *dev)
{
	struct rblk_clt_session *session = dev->session;
	u32 i;

	lockdep_assert_held(&rblk_clt_lock);
	spin_lock_irq(&session->lock);
	for (i = 0; i < RBLK_CLT_PATHS; i++)
		if (session->paths[i].state == RBLK_PATH_LIVE &&
		    !rblk_clt_attached(dev, &session->paths[i]))
			mod_delayed_work(rblk_clt_connect_wq, &session->paths[i].reopen_work, 0);
	spin_unlock_irq(&session->lock);
}

/**
 * rblk_clt_attach_back - let a device go on that has new keys on a path
 * @dev: the device
 *
 * Context: Process context. Sleeps, not for a peer.
 */
void rblk_clt_attach_back(struct rblk_clt_device *dev)
{
	struct rblk_clt_session *session = dev->session;
	bool back, lost;

	mutex_lock(&rblk_clt_lock);
	spin_lock_irq(&session->lock);
	/* Whoever deals with the loss of the path waits for rblk_clt_lock, and comes after this. */
	back = !list_empty(&dev->entry) && rblk_clt_path_of(dev);
	if (back)
		clear_bit(RBLK_DEV_EXPIRED, &dev->flags);
	lost = !back && !list_empty(&dev->entry);
	spin_unlock_irq(&session->lock);
	if (back) {
		synchronize_rcu();
		rblk_clt_device_back(dev);
		rblk_clt_notify_device(dev, RBLK_CLIENT_CMD_DEVICE_CHANGE_NTF);
		/* They may be keys to more than it had. */
		mod_delayed_work(rblk_clt_size_wq, &dev->size_work, 0);
	}
	/* A path may have fewer keys than before, and what saw that waits. */
	if (lost)
		rblk_clt_path_lost(dev, jiffies);
	mutex_unlock(&rblk_clt_lock);
	if (lost)
		rblk_clt_fail_waiting(dev);
}

/* Return: whether the path is still the same. */
static bool rblk_clt_reopen_late(struct rblk_clt_path *path, u32 generation)
{
	struct rblk_clt_device *dev;
	const char *what = NULL;
	int err = 0;

	mutex_lock(&rblk_clt_lock);
	dev = READ_ONCE(path->state) == RBLK_PATH_LIVE && path->generation == generation ?
		rblk_clt_reopen_next(path, false) ?: rblk_clt_reopen_next(path, true) : NULL;
	if (dev) {
		kref_get(&dev->ref);
		/* The others come first the next time. */
		list_move_tail(&dev->entry, &rblk_clt_devices);
	}
	mutex_unlock(&rblk_clt_lock);
	if (!dev)
		return false;
	if (dev->backing == RBLK_WIRE_DISK) {
		mutex_lock(&path->lock);
		err = rblk_clt_reopen_ready(dev, path, generation, &what);
		mutex_unlock(&path->lock);
	}
	if (!err)
		err = rblk_clt_reopen_one(dev, path, generation, &what);
	else if (err == -EOPNOTSUPP)
		err = 0;
	/* What it may have open there now nobody could close. */
	if (err)
		rblk_clt_path_error_of(path, generation, err,
				       what ?: "an export could not be opened");
	rblk_clt_attach_back(dev);
	rblk_clt_device_put(dev);
	return !err;
}

/**
 * rblk_clt_reopen_work - open what is not open on a live path
 * @work: the path's
 *
 * What was mapped since it came up, at once; then what the server refused, one device a run,
 * each in its turn.
 *
 * Context: Process context. Sleeps, for a bounded time.
 */
void rblk_clt_reopen_work(struct work_struct *work)
{
	struct rblk_clt_path *path = container_of(work, struct rblk_clt_path, reopen_work.work);
	struct rblk_clt_session *session = path->session;
	unsigned int noio = memalloc_noio_save();
	bool again;

	again = rblk_clt_reopen_late(path, READ_ONCE(path->generation));
	memalloc_noio_restore(noio);
	if (!again)
		return;
	mutex_lock(&rblk_clt_lock);
	spin_lock_irq(&session->lock);
	if (path->state == RBLK_PATH_LIVE) {
		if (rblk_clt_reopen_next(path, false))
			mod_delayed_work(rblk_clt_connect_wq, &path->reopen_work, 0);
		else if (rblk_clt_reopen_next(path, true))
			queue_delayed_work(rblk_clt_connect_wq, &path->reopen_work,
					   RBLK_CLT_REOPEN_PAUSE);
	}
	spin_unlock_irq(&session->lock);
	mutex_unlock(&rblk_clt_lock);
}
