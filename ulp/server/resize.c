// SPDX-License-Identifier: GPL-2.0
/*
 * Exports that get another size while clients have them open.
 *
 * Each path that has the export open registers what is new by itself, in the work that
 * deals with its messages, and tells its client. The client fetches the keys and says when
 * it uses none any more that are not of the new size; then those are taken back. Where the
 * end lies within an extent, that has a registration of its own length, and so another key.
 *
 * What is cut off is lost: the export is of another incarnation then, so that a client who
 * was away meanwhile does not take what is there later for what was there before. Its
 * clients have RBLK_SRV_SHRINK_TIMEOUT to give it up, and lose their paths if they do not.
 * The memory needs nobody who looks after it: a registration has a reference on each block
 * that it covers.
 */
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <rblk/extent.h>
#include <uapi/linux/rblk_server.h>
#include "server.h"

/* For clients to take it over; where that takes longer it goes on behind the back. */
#define RBLK_SRV_GROW_WAIT	(5 * HZ)
/* Between two attempts to register what is left, ms; what is new waits longer each time. */
#define RBLK_SRV_RESIZE_PAUSE	50
#define RBLK_SRV_GROW_PAUSE	(5 * HZ)
#define RBLK_SRV_GROW_PAUSE_MAX	(300 * HZ)
/* For those who lose a part to have lost it. */
#define RBLK_SRV_SHRINK_WAIT	(25 * HZ)

/* Its clients have to have another size. */
static void rblk_srv_resize_begin(struct rblk_srv_export *export, bool shrink)
{
	struct rblk_srv_path *path;
	struct rblk_srv_open *open;

	lockdep_assert_held(&rblk_srv_lock);
	list_for_each_entry(path, &rblk_srv_paths, entry) {
		list_for_each_entry(open, &path->opens, entry) {
			if (open->export != export)
				continue;
			/* See rblk_srv_resize_claim(): nothing smaller is owed before. */
			if (shrink)
				open->resize_by = jiffies + RBLK_SRV_SHRINK_TELL;
			open->shrink = shrink;
			open->resize = true;
			open->resize_told = false;
			open->resize_at = jiffies;
			open->resize_pause = 0;
			rblk_srv_path_tell(path);
		}
	}
}

/* The size of now, if the client of an open is still to be told. */
static bool rblk_srv_resize_due(struct rblk_srv_open *open, u64 *size, uuid_t *incarnation)
{
	bool due;

	mutex_lock(&rblk_srv_lock);
	due = open->resize && !open->resize_told && !time_before(jiffies, open->resize_at);
	*size = open->export->size;
	*incarnation = open->export->incarnation;
	open->resize_told |= due;
	mutex_unlock(&rblk_srv_lock);
	return due;
}

/* Nothing of another size is left of an open, unless there is one newer than SIZE. */
static void rblk_srv_resize_done(struct rblk_srv_open *open, u64 size)
{
	mutex_lock(&rblk_srv_lock);
	if (open->export->size == size &&
	    uuid_equal(&open->export->incarnation, &open->incarnation)) {
		open->resize = false;
		open->shrink = false;
	}
	mutex_unlock(&rblk_srv_lock);
	rblk_srv_withdraw_closed();
}

/* Is something left that its client has not said yet that it uses no more? */
static bool rblk_srv_resize_owed(const struct rblk_srv_open *open)
{
	return !list_empty(&open->replaced) ||
	       open->nr_extents > rblk_srv_nr_extents(open, open->size);
}

/* What lies beyond what the client was told last; it gives all of it up at once. */
static void rblk_srv_beyond_replace(struct rblk_srv_open *open, u32 nr)
{
	while (open->nr_extents > nr)
		list_add(&open->extents[--open->nr_extents]->entry, &open->replaced);
}

/*
 * Register what there is of SIZE and was not there before, also the extent in which the one
 * or the other ends. Return: 0; or a negative errno, and the open is as before.
 */
static int rblk_srv_resize_open(struct rblk_srv_path *path, struct rblk_srv_open *open, u64 size)
{
	u32 keep = min(size, open->size) >> open->plan.extent_shift;
	u32 i, nr = rblk_srv_nr_extents(open, size), had;
	struct rblk_srv_extent **extents;
	struct rblk_extents ext;
	int err;

	err = rblk_extents_init(&ext, size, open->plan.extent_shift);
	if (err)
		return err;
	rblk_srv_beyond_replace(open, rblk_srv_nr_extents(open, open->size));
	had = open->nr_extents;
	extents = kvcalloc(max(nr, had), sizeof(*extents), GFP_KERNEL);
	if (!extents)
		return -ENOMEM;
	memcpy(extents, open->extents, had * sizeof(*extents));
	for (i = keep; i < nr; i++) {
		err = rblk_srv_extent_register(path, open, size, i, &extents[i]);
		if (err)
			goto undo;
	}
	if (keep < had && keep < nr)
		list_add(&open->extents[keep]->entry, &open->replaced);
	swap(open->extents, extents);
	/* Where it is smaller, the client may still be at the keys of what goes. */
	open->nr_extents = max(nr, had);
	kvfree(extents);
	return 0;

undo:
	/* What hangs in the device goes after the queue pair. */
	if (err == -EINPROGRESS)
		list_add(&extents[i]->entry, &open->replaced);
	/* A key that the device keeps is good as long as the queue pairs: the path ends. */
	while (i-- > keep)
		if (!rblk_srv_extent_release(path, extents[i]))
			err = -EINPROGRESS;
	kvfree(extents);
	return err;
}

/*
 * What is new waits, the longer the more often it could not be registered: each attempt keeps
 * the path from its messages.
 */
static void rblk_srv_grow_later(struct rblk_srv_open *open)
{
	mutex_lock(&rblk_srv_lock);
	open->resize_pause = clamp(2 * open->resize_pause, (unsigned long)RBLK_SRV_GROW_PAUSE,
				   (unsigned long)RBLK_SRV_GROW_PAUSE_MAX);
	open->resize_at = jiffies + open->resize_pause;
	open->resize_told = false;
	mutex_unlock(&rblk_srv_lock);
}

/* Return: false if it takes too long already. After other messages of the path. */
static bool rblk_srv_shrink_later(struct rblk_srv_path *path, struct rblk_srv_open *open)
{
	if (!time_before(jiffies, READ_ONCE(open->resize_by)) ||
	    READ_ONCE(path->state) == RBLK_SRV_ENDING)
		return false;
	msleep(RBLK_SRV_RESIZE_PAUSE);
	mutex_lock(&rblk_srv_lock);
	open->resize_told = false;
	rblk_srv_path_tell(path);
	mutex_unlock(&rblk_srv_lock);
	return true;
}

/* From now on it has to give up what it was told. */
static void rblk_srv_shrink_told(struct rblk_srv_open *open)
{
	mutex_lock(&rblk_srv_lock);
	open->resize_by = jiffies + RBLK_SRV_SHRINK_TIMEOUT;
	mutex_unlock(&rblk_srv_lock);
}

/**
 * rblk_srv_resize_again - try once more to give the client of a path the sizes of now
 * @path: the path
 *
 * Context: Process context. Sleeps.
 */
void rblk_srv_resize_again(struct rblk_srv_path *path)
{
	struct rblk_srv_open *open;

	mutex_lock(&rblk_srv_lock);
	list_for_each_entry(open, &path->opens, entry)
		if (open->resize && !open->resize_told &&
		    !time_before(jiffies, open->resize_at))
			rblk_srv_path_tell(path);
	mutex_unlock(&rblk_srv_lock);
}

static int rblk_srv_resize_one(struct rblk_srv_path *path, struct rblk_srv_open *open, int *tries)
{
	struct rblk_msg msg = { .type = RBLK_MSG_RESIZE };
	struct rblk_msg_resize *resize = &msg.resize;
	bool shrink, grow;
	int err;

	while (rblk_srv_resize_due(open, &resize->size, &resize->incarnation)) {
		/* It was opened with this size already, or was told, and has to say so still. */
		if (resize->size == open->size &&
		    uuid_equal(&resize->incarnation, &open->incarnation)) {
			if (!rblk_srv_resize_owed(open))
				rblk_srv_resize_done(open, open->size);
			continue;
		}
		shrink = !uuid_equal(&resize->incarnation, &open->incarnation);
		grow = resize->size > open->size;
		/* What was cut off it never had; that it has to know, and then what is new. */
		if (shrink && resize->size >= open->size) {
			resize->size = open->size;
			err = 0;
		} else {
			err = rblk_srv_resize_open(path, open, resize->size);
		}
		/* It has another one since then, and is due again. */
		if (err == -ESTALE)
			continue;
		if (err && grow && err != -EINPROGRESS) {
			/* The client goes on with what it has until it can have more. */
			pr_warn_ratelimited("rblk: %s: client %s does not get the new size of export %s yet (%d)\n",
					    path->dev->ib->name, path->session->client,
					    open->export->name, err);
			rblk_srv_grow_later(open);
			return 0;
		}
		/* To end the path before it was told would look like a loss of all content. */
		if (err && err != -EINPROGRESS && rblk_srv_shrink_later(path, open))
			return 0;
		if (err)
			return err;
		open->size = resize->size;
		open->incarnation = resize->incarnation;
		resize->handle = open->handle;
		err = rblk_srv_tell(path, &msg, tries);
		if (err)
			return err;
		if (shrink)
			rblk_srv_shrink_told(open);
		/* The rest once it has answered. */
		if (shrink && grow)
			return 0;
	}
	return 0;
}

/**
 * rblk_srv_resize_opens - give the client of a path the sizes of now of what it has open
 * @path: the path
 *
 * Context: Process context. Sleeps. The caller holds the path's lock.
 * Return: 0, or a negative errno and the path has to end.
 */
int rblk_srv_resize_opens(struct rblk_srv_path *path)
{
	struct rblk_srv_open *open;
	int err, tries = RBLK_SRV_TELL_TRIES;

	lockdep_assert_held(&path->lock);
	list_for_each_entry(open, &path->opens, entry) {
		err = rblk_srv_resize_one(path, open, &tries);
		if (err)
			return err;
	}
	return 0;
}

/* It has given up what was cut off, and could have more than it was told. */
static void rblk_srv_resize_rest(struct rblk_srv_path *path, struct rblk_srv_open *open)
{
	mutex_lock(&rblk_srv_lock);
	if (open->resize && uuid_equal(&open->export->incarnation, &open->incarnation)) {
		if (open->shrink)
			open->resize_told = false;
		open->shrink = false;
		if (!open->resize_told)
			rblk_srv_path_tell(path);
	}
	mutex_unlock(&rblk_srv_lock);
	rblk_srv_withdraw_closed();
}

/**
 * rblk_srv_resized - a client has the size that it was told
 * @path: the path on which it says so
 * @msg: which open, and what it was told
 *
 * What is not of that size it does not use any more. If it was told another one since, it
 * has to say that too, and nothing happens yet.
 *
 * Context: Process context. Sleeps. The caller holds the path's lock.
 * Return: RBLK_OK or RBLK_MALFORMED; RBLK_INTERNAL if a key is left, and the path ends.
 */
enum rblk_status rblk_srv_resized(struct rblk_srv_path *path, const struct rblk_msg_resize *msg)
{
	struct rblk_srv_open *open = rblk_srv_open_find(path, msg->handle);

	if (!msg->handle || !open)
		return RBLK_MALFORMED;
	if (msg->size != open->size || !uuid_equal(&msg->incarnation, &open->incarnation))
		return RBLK_OK;
	rblk_srv_beyond_replace(open, rblk_srv_nr_extents(open, open->size));
	/* Until the queue pairs are gone, who waits for it goes on waiting. */
	if (!rblk_srv_replaced_release(path, open)) {
		rblk_srv_path_error(path, -EIO, "the device did not take back a key");
		return RBLK_INTERNAL;
	}
	rblk_srv_resize_done(open, open->size);
	rblk_srv_resize_rest(path, open);
	return RBLK_OK;
}

/* Under the lock, the memory of SIZE in the place of that of now; what is left over is in SPARE. */
static void rblk_srv_memory_swap(struct rblk_srv_export *export, u64 size,
				 struct rblk_srv_memory *more, struct rblk_srv_memory *spare)
{
	struct rblk_srv_memory *memory = &export->memory;
	u32 nr = size >> RBLK_BLOCK_SHIFT;

	lockdep_assert_held(&rblk_srv_lock);
	if (nr > memory->nr_blocks) {
		memcpy(spare->blocks, memory->blocks, memory->nr_blocks * sizeof(*spare->blocks));
		memcpy(spare->blocks + memory->nr_blocks, more->blocks,
		       more->nr_blocks * sizeof(*spare->blocks));
		swap(memory->blocks, spare->blocks);
		more->nr_blocks = 0;
	} else {
		spare->nr_blocks = memory->nr_blocks - nr;
		memcpy(spare->blocks, memory->blocks + nr,
		       spare->nr_blocks * sizeof(*spare->blocks));
		uuid_gen(&export->incarnation);
	}
	memory->nr_blocks = nr;
	export->size = size;
}

/* Is a client to give up something of it still? Until then nothing else may be there. */
static bool rblk_srv_shrink_owed(const struct rblk_srv_export *export)
{
	const struct rblk_srv_path *path;
	const struct rblk_srv_open *open;

	lockdep_assert_held(&rblk_srv_lock);
	list_for_each_entry(path, &rblk_srv_paths, entry)
		list_for_each_entry(open, &path->opens, entry)
			if (open->export == export && open->resize && open->shrink)
				return true;
	return false;
}

/* Find an export to give another size to; nobody else does then. */
static struct rblk_srv_export *rblk_srv_resize_claim(const char *name, u64 size, bool force,
						     bool *about_size,
						     struct netlink_ext_ack *extack)
{
	struct rblk_srv_export *export;
	int err = 0;

	mutex_lock(&rblk_srv_lock);
	export = rblk_srv_export_find(name);
	if (!export) {
		NL_SET_ERR_MSG(extack, "there is no export of this name");
		err = -ENOENT;
	} else if (export->disk) {
		NL_SET_ERR_MSG(extack, "a disk has its own size, which is changed there");
		err = -EOPNOTSUPP;
	} else if (export->resizing) {
		NL_SET_ERR_MSG(extack, "somebody else resizes it just now");
		err = -EBUSY;
	} else if (rblk_srv_shrink_owed(export)) {
		NL_SET_ERR_MSG(extack, "a path that has what was cut off is ending still");
		err = -EBUSY;
	} else if (size < export->size && !force) {
		NL_SET_ERR_MSG(extack, "it is larger, and what is beyond would be lost");
		*about_size = true;
		err = -EINVAL;
	} else {
		kref_get(&export->ref);
		export->resizing = true;
	}
	mutex_unlock(&rblk_srv_lock);
	return err ? ERR_PTR(err) : export;
}

/* Whoever comes later sees the new size; those that have it open are being told. */
static int rblk_srv_resize_publish(struct rblk_srv_export *export, u64 size,
				   struct rblk_srv_memory *more, struct rblk_srv_memory *spare,
				   struct netlink_ext_ack *extack)
{
	bool shrink;
	int err = 0;

	mutex_lock(&rblk_srv_lock);
	if (list_empty(&export->entry)) {
		NL_SET_ERR_MSG(extack, "it was removed just now");
		err = -ENOENT;
	} else {
		shrink = size < export->size;
		if (size != export->size) {
			rblk_srv_memory_swap(export, size, more, spare);
			rblk_srv_notify_export(export, RBLK_SERVER_CMD_EXPORT_CHANGE_NTF);
		}
		rblk_srv_resize_begin(export, shrink);
	}
	mutex_unlock(&rblk_srv_lock);
	return err;
}

/**
 * rblk_srv_export_resize - give an export another size
 * @name: its name
 * @size: bytes, a multiple of a block
 * @force: also a smaller one, though what is beyond is lost
 * @about_size: takes whether a refusal is about the size rather than the export
 * @extack: takes the reason of a refusal
 *
 * Context: Process context. Sleeps, interruptible while it gets memory, and then for
 * RBLK_SRV_SHRINK_WAIT at the most.
 * Return: 0; if it is smaller, no key reaches what was cut off. -EBUSY with a reason: nothing
 * was done; or it has the size, but a path of a client is ending still. Another negative
 * errno, and nothing was done.
 */
int rblk_srv_export_resize(const char *name, u64 size, bool force, bool *about_size,
			   struct netlink_ext_ack *extack)
{
	struct rblk_srv_memory more = {}, spare = {};
	struct rblk_srv_withdraw what = { .resize = true };
	const char *why = NULL;
	struct rblk_srv_export *export;
	unsigned long wait;
	int err = 0;

	*about_size = false;
	export = rblk_srv_resize_claim(name, size, force, about_size, extack);
	if (IS_ERR(export))
		return PTR_ERR(export);
	what.export = export;
	/* Nobody else changes it. Outside the lock: it takes a while. */
	what.shrink = size < export->size;
	wait = what.shrink ? RBLK_SRV_SHRINK_WAIT : RBLK_SRV_GROW_WAIT;
	if (size > export->size)
		err = rblk_srv_memory_alloc(&more, size - export->size, export->numa_node, &why);
	if (!err && size != export->size) {
		spare.blocks = kvcalloc(max(size, export->size) >> RBLK_BLOCK_SHIFT,
					sizeof(*spare.blocks), GFP_KERNEL | __GFP_NOWARN);
		if (!spare.blocks) {
			why = "out of memory";
			err = -ENOMEM;
		}
	}
	if (err) {
		*about_size = true;
		NL_SET_ERR_MSG_FMT(extack, "%s", why);
	} else {
		err = rblk_srv_resize_publish(export, size, &more, &spare, extack);
	}
	if (!err && !rblk_srv_withdraw_wait(&what, jiffies + wait) && what.shrink) {
		NL_SET_ERR_MSG(extack,
			       "it is smaller, but a path did not end in time, its end goes on");
		err = -EBUSY;
	}
	mutex_lock(&rblk_srv_lock);
	export->resizing = false;
	mutex_unlock(&rblk_srv_lock);
	rblk_srv_memory_free(&more);
	rblk_srv_memory_free(&spare);
	rblk_srv_export_put(export);
	return err;
}
