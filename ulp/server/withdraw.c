// SPDX-License-Identifier: GPL-2.0
/*
 * Opens that a client has to give up although its session stays.
 *
 * A client that is asked ends its I/O on the export and closes it, and keeps its path for
 * what else it has open. One that does not loses the path: to invalidate a key under its
 * I/O would break the queue pair all the same.
 */
#include "server.h"

/* How often somebody who waits looks whose time is over, and what is wanted of itself. */
#define RBLK_SRV_WITHDRAW_LOOK	(HZ / 20)

/* Counts the opens that ended, so that nobody who waits for one misses it. */
static atomic_t rblk_srv_closes = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(rblk_srv_closed);

/**
 * rblk_srv_withdraw_closed - an open has ended, or has the size of now
 *
 * Context: Any. Does not sleep.
 */
void rblk_srv_withdraw_closed(void)
{
	atomic_inc(&rblk_srv_closes);
	wake_up_all(&rblk_srv_closed);
}

/* The open of a path that has to go, or NULL. */
static struct rblk_srv_open *rblk_srv_withdraw_hit(const struct rblk_srv_withdraw *what,
						   const struct rblk_srv_path *path)
{
	struct rblk_srv_open *open;

	lockdep_assert_held(&rblk_srv_lock);
	list_for_each_entry(open, &path->opens, entry) {
		if (open->export != what->export ||
		    (what->resize && !(what->shrink ? open->shrink : open->resize)))
			continue;
		/* In the list, so its path has not left the session. */
		if (what->reason == RBLK_DENIED &&
		    rblk_srv_client_allowed(what->export, path->session->client))
			continue;
		if (what->reason == RBLK_BUSY &&
		    (open->read_only || path->session == what->path->session))
			continue;
		return open;
	}
	return NULL;
}

/**
 * rblk_srv_path_tell - have the client of a path told what has changed of its opens
 * @path: the path
 *
 * Its lock comes before ours: a work of it does that, if it has not ended.
 *
 * Context: Process context. Does not sleep. The caller holds rblk_srv_lock.
 */
void rblk_srv_path_tell(struct rblk_srv_path *path)
{
	lockdep_assert_held(&rblk_srv_lock);
	spin_lock_irq(&path->rx_lock);
	if (!path->rx_closed) {
		WRITE_ONCE(path->tell, true);
		queue_work(rblk_srv_wq, &path->rx_work);
	}
	spin_unlock_irq(&path->rx_lock);
}

/**
 * rblk_srv_withdraw_begin - tell clients to close what they have to give up
 * @what: which opens, and why
 *
 * Those that come later are not meant.
 *
 * Context: Process context. Does not sleep. The caller holds rblk_srv_lock.
 */
void rblk_srv_withdraw_begin(const struct rblk_srv_withdraw *what)
{
	struct rblk_srv_path *path;
	struct rblk_srv_open *open;

	lockdep_assert_held(&rblk_srv_lock);
	list_for_each_entry(path, &rblk_srv_paths, entry) {
		open = rblk_srv_withdraw_hit(what, path);
		/* Whoever waited for it may have gone away: its client is asked again then. */
		if (!open || (open->withdrawn && time_before(jiffies, open->close_by)))
			continue;
		open->withdrawn = true;
		open->revoked = false;
		open->reason = what->reason;
		open->close_by = jiffies + what->grace;
		rblk_srv_path_tell(path);
	}
}

/*
 * A path that has not given it up yet, with a reference, and by when it has to. Those whose
 * time is over are broken, all at once: one that hangs delays no other.
 */
static struct rblk_srv_path *rblk_srv_withdraw_next(const struct rblk_srv_withdraw *what,
						    unsigned long *close_by)
{
	struct rblk_srv_path *path, *found = NULL;
	const struct rblk_srv_open *open;
	unsigned long by;

	mutex_lock(&rblk_srv_lock);
	list_for_each_entry(path, &rblk_srv_paths, entry) {
		open = rblk_srv_withdraw_hit(what, path);
		if (!open || !(what->resize || open->withdrawn))
			continue;
		if (what->resize)
			/* What is new nobody has to take. */
			by = what->shrink ? open->resize_by : jiffies + HZ;
		else
			by = open->close_by;
		if (time_after_eq(jiffies, by))
			rblk_srv_path_error(path, -ETIMEDOUT, what->resize ?
					    "it did not take over the size of an export in time" :
					    "it did not close an export in time");
		if (found && !time_before(by, *close_by))
			continue;
		found = path;
		*close_by = by;
	}
	if (found)
		kref_get(&found->ref);
	mutex_unlock(&rblk_srv_lock);
	return found;
}

/**
 * rblk_srv_withdraw_wait - wait until clients have given up what they were told to
 * @what: which opens; the caller holds a reference on the export
 * @deadline: when to give up, in jiffies
 *
 * Context: Process context. Sleeps. The caller holds no lock of ours but that of @what->path.
 * Return: whether no key of such an open is left.
 */
bool rblk_srv_withdraw_wait(const struct rblk_srv_withdraw *what, unsigned long deadline)
{
	struct rblk_srv_path *path;
	unsigned long close_by;
	int closes;
	long left;

	for (;;) {
		closes = atomic_read(&rblk_srv_closes);
		path = rblk_srv_withdraw_next(what, &close_by);
		if (!path)
			return true;
		left = min_t(long, deadline - jiffies, RBLK_SRV_WITHDRAW_LOOK);
		/* Its path ends, or is to give up something too, which this work has to tell it. */
		if (left <= 0 || (what->path && (READ_ONCE(what->path->tell) ||
						 READ_ONCE(what->path->state) == RBLK_SRV_ENDING)))
			break;
		if (time_before(jiffies, close_by))
			wait_event_timeout(rblk_srv_closed, atomic_read(&rblk_srv_closes) != closes,
					   clamp_t(long, close_by - jiffies, 1, left));
		else
			wait_for_completion_timeout(&path->ended, left);
		rblk_srv_path_put(path);
	}
	rblk_srv_path_put(path);
	return false;
}

/* Begin to take an export from its writer, unless somebody does; the export, or NULL. */
static struct rblk_srv_export *rblk_srv_steal_begin(const char *name,
						    struct rblk_srv_withdraw *what)
{
	struct rblk_srv_session *session = what->path->session;
	struct rblk_srv_export *export;

	mutex_lock(&rblk_srv_lock);
	export = rblk_srv_export_find(name);
	/* Who may not write may not rob; why not, the open says. */
	if (!export || export->shared || export->read_only || export->thief ||
	    !rblk_srv_client_allowed(export, session->client)) {
		mutex_unlock(&rblk_srv_lock);
		return NULL;
	}
	kref_get(&export->ref);
	export->thief = session;
	what->export = export;
	rblk_srv_withdraw_begin(what);
	mutex_unlock(&rblk_srv_lock);
	return export;
}

/**
 * rblk_srv_steal - open an export for writing in the place of another client
 * @msg: what it asks
 * @path: who asks
 * @open: as for rblk_srv_export_use()
 *
 * The other one's opens end first, with their keys. Meanwhile nobody else is let in for
 * writing, the one who is robbed neither, and nobody else robs it: one at a time.
 *
 * Context: Process context. Sleeps, for RBLK_SRV_STEAL_TIMEOUT at the most. The caller holds
 * the path's lock.
 * Return: RBLK_OK, or why not; RBLK_BUSY if it could not be had in time.
 */
enum rblk_status rblk_srv_steal(const struct rblk_msg_open *msg, struct rblk_srv_path *path,
				struct rblk_srv_open *open)
{
	struct rblk_srv_withdraw what = {
		.reason	= RBLK_BUSY,
		.grace	= RBLK_SRV_STEAL_GRACE,
		.path	= path,
	};
	struct rblk_srv_export *export;
	enum rblk_status status;

	lockdep_assert_held(&path->lock);
	export = rblk_srv_steal_begin(msg->export, &what);
	if (!export)
		return rblk_srv_export_use(msg, path, open);
	status = RBLK_BUSY;
	if (rblk_srv_withdraw_wait(&what, jiffies + RBLK_SRV_STEAL_TIMEOUT))
		status = rblk_srv_export_use(msg, path, open);
	else if (READ_ONCE(path->state) == RBLK_SRV_ENDING)
		status = RBLK_SHUTDOWN;
	mutex_lock(&rblk_srv_lock);
	export->thief = NULL;
	mutex_unlock(&rblk_srv_lock);
	rblk_srv_export_put(export);
	return status;
}
