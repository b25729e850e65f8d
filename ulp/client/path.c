// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a path: its state, what happens on an error, and how it ends.
 */
#include <linux/delay.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <rblk/backoff.h>
#include <rblk/fault.h>
#include <rblk/trace.h>
#include <uapi/linux/rblk_client.h>
#include "client.h"

/* Attempts after which the pause is as long as it gets. */
#define RBLK_CLT_PATIENCE	7
#define RBLK_CLT_STRAY		"it leads to another server than the other paths of the session"

static_assert((int)RBLK_PATH_NEW == (int)RBLK_CLIENT_PATH_STATE_NEW);
static_assert((int)RBLK_PATH_REMOVED == (int)RBLK_CLIENT_PATH_STATE_REMOVED);

/**
 * rblk_clt_path_state - change the state of a path
 * @path: the path
 * @to: the new state
 *
 * Context: Any; the caller holds the session's lock.
 * Return: whether the table allows it, and so it was changed. Who gets true has
 * the work that follows from the change, and nobody else.
 */
bool rblk_clt_path_state(struct rblk_clt_path *path, enum rblk_path_state to)
{
	lockdep_assert_held(&path->session->lock);
	if (!rblk_path_state_allowed(path->state, to))
		return false;
	trace_rblk_path_state(path->index, path->generation, path->state, to);
	if (path->state == RBLK_PATH_LIVE) {
		path->lost_at = jiffies;
		path->losses++;
	}
	/* Pairs with the acquire in rblk_clt_queue_rq(): what the path has was written before. */
	smp_store_release(&path->state, to);
	if (to == RBLK_PATH_REMOVED)
		wake_up_all(&path->session->wait);
	return true;
}

/* Let the thread that connects, if there is one, not wait any longer. */
static void rblk_clt_path_abort(struct rblk_clt_path *path, int err, const char *what)
{
	u32 i;

	rblk_conn_abort(&path->control.conn, err, what);
	for (i = 0; i < path->nr_queues; i++)
		rblk_conn_abort(&path->queues[i].conn, err, what);
	rblk_clt_disk_abort(path, err, what);
}

/**
 * rblk_clt_path_error_of - a generation of a path is broken
 * @path: the path
 * @generation: which; that it is another's by now is no error. 0 is whichever it is
 * @err: negative errno
 * @what: what happened, a constant string
 *
 * The one place through which all errors of a path go. However many come at once,
 * one of them changes the state, and so there is one tear-down.
 *
 * Context: Any. Does not sleep.
 */
void rblk_clt_path_error_of(struct rblk_clt_path *path, u32 generation, int err,
			    const char *what)
{
	struct rblk_clt_session *session = path->session;
	enum rblk_path_state old;
	unsigned long flags;
	bool changed;

	spin_lock_irqsave(&session->lock, flags);
	old = path->state;
	changed = (!generation || generation == path->generation) &&
		  rblk_clt_path_state(path, RBLK_PATH_FAILED);
	if (changed) {
		rblk_clt_active_lost(path);
		path->error = err;
		path->error_what = what;
		/* Under the lock: the array stays while the state is CONNECTING. */
		if (old == RBLK_PATH_CONNECTING)
			rblk_clt_path_abort(path, err, what);
		else
			rblk_clt_disk_abort(path, err, what);
		/*
		 * The thread that connects tears down itself: the work would only wait for
		 * it, and a rescuer that waits ends no requests of other paths. Under the
		 * lock: else path_remove() could cancel the work before it is queued.
		 */
		if (old != RBLK_PATH_CONNECTING)
			path->ending = queue_work(rblk_clt_wq, &path->fail_work);
	}
	spin_unlock_irqrestore(&session->lock, flags);
}

/**
 * rblk_clt_path_error - the path is broken
 * @path: the path
 * @err: negative errno
 * @what: what happened, a constant string
 *
 * For who belongs to the path's objects, and so to this generation of it.
 *
 * Context: Any. Does not sleep.
 */
void rblk_clt_path_error(struct rblk_clt_path *path, int err, const char *what)
{
	rblk_clt_path_error_of(path, 0, err, what);
}

/**
 * rblk_clt_path_cause - what broke a path, rather than what followed from it
 * @path: the path
 * @err: takes the negative errno, if it is broken
 * @what: takes that in words, if it is broken
 *
 * Context: Process context. Does not sleep.
 */
void rblk_clt_path_cause(struct rblk_clt_path *path, int *err, const char **what)
{
	spin_lock_irq(&path->session->lock);
	if (path->error) {
		*err = path->error;
		*what = path->error_what;
	}
	spin_unlock_irq(&path->session->lock);
}

/**
 * rblk_clt_path_stop - end a path whatever it does, or does not do yet
 * @path: the path
 * @what: why, a constant string
 *
 * Context: Any. Does not sleep.
 */
void rblk_clt_path_stop(struct rblk_clt_path *path, const char *what)
{
	unsigned long flags;

	spin_lock_irqsave(&path->session->lock, flags);
	WRITE_ONCE(path->session->reconnect, false);
	if (path->state == RBLK_PATH_NEW)
		rblk_clt_path_state(path, RBLK_PATH_REMOVED);
	spin_unlock_irqrestore(&path->session->lock, flags);
	rblk_clt_path_error(path, -ESHUTDOWN, what);
	wake_up_all(&path->session->wait);
}

static void rblk_clt_path_dev_removed(struct rblk_dev_user *user)
{
	struct rblk_clt_path *path = container_of(user, struct rblk_clt_path, dev_user);

	rblk_clt_path_error(path, -ENODEV, "the RDMA device went away");
}

/*
 * The part of the tear-down that takes a bounded time: of a path in no state in which requests
 * are posted, what a peer can reach ends, and then what was in flight, see rblk_clt_sweep().
 */
static void rblk_clt_path_cut(struct rblk_clt_path *path)
{
	struct rblk_clt_queue *queues = path->queues;
	u32 i, nr = path->nr_queues;

	lockdep_assert_held(&path->lock);
	synchronize_rcu();
	for (i = 0; i < nr; i++)
		rblk_conn_cut(&queues[i].conn);
	rblk_clt_disk_cut(path);
	/* Whoever waits for a reply must let go of the connection first, and learns why. */
	rblk_conn_abort(&path->control.conn, path->error ?: -ENOTCONN,
			path->error ? path->error_what : "the connection is closed");
	mutex_lock(&path->control.ask_lock);
	rblk_conn_cut(&path->control.conn);
	kfree(path->control.buf);
	path->control.buf = NULL;
	mutex_unlock(&path->control.ask_lock);
	for (i = 0; i < nr; i++)
		rblk_clt_queue_mrs_free(&queues[i]);
	if (rblk_fault(RBLK_FAULT_SWEEP))
		msleep(RBLK_FAULT_SWEEP_MS);
	if (path->session->tag_set_ready)
		rblk_clt_sweep(path);
}

/* The rest, after the cut. The CM is in no hurry: one of a link that is down waits for the link. */
static void rblk_clt_path_free(struct rblk_clt_path *path)
{
	struct rblk_clt_session *session = path->session;
	struct rblk_clt_queue *queues = path->queues;
	u32 i;

	for (i = 0; i < path->nr_queues; i++)
		rblk_conn_destroy(&queues[i].conn);
	rblk_clt_disk_destroy(path);
	rblk_conn_destroy(&path->control.conn);

	/* An error that comes late must not look at the queues any more. */
	spin_lock_irq(&session->lock);
	path->queues = NULL;
	path->nr_queues = 0;
	spin_unlock_irq(&session->lock);
	kfree(queues);
	rblk_clt_resize_purge(path);
	if (path->sink) {
		ib_dma_unmap_single(path->dev->ib, path->sink_dma, RBLK_CLT_SINK_SIZE,
				    DMA_FROM_DEVICE);
		kfree(path->sink);
		path->sink = NULL;
	}
	if (path->pd)
		ib_dealloc_pd(path->pd);
	path->pd = NULL;
	path->dev = NULL;
	rblk_dev_leave(&path->dev_user);
}

/**
 * rblk_clt_path_teardown - destroy the objects of a path, however many it has
 * @path: the path, in no state in which requests are posted
 *
 * Order: no new posts (grace period); queue pairs drained and destroyed, I/O first;
 * MRs; requests that were in flight, see rblk_clt_sweep(); CM ids; PD; device. A request ends only
 * after every queue pair of the path is gone, so that no DMA follows; and before
 * anything waits for the CM, which knows no limit.
 *
 * Context: Process context. Sleeps; the requests end in a bounded time. The caller
 * holds the path's lock.
 */
void rblk_clt_path_teardown(struct rblk_clt_path *path)
{
	rblk_clt_path_cut(path);
	rblk_clt_path_free(path);
}

/**
 * rblk_clt_path_notify - tell who listens that a path, and what depends on it, changed
 * @path: the path
 *
 * Context: Process context. Does not sleep. The caller holds rblk_clt_lock.
 */
void rblk_clt_path_notify(struct rblk_clt_path *path)
{
	struct rblk_clt_session *session = path->session;
	struct rblk_clt_device *dev;

	list_for_each_entry(dev, &rblk_clt_devices, entry)
		if (dev->session == session)
			rblk_clt_notify_device(dev, RBLK_CLIENT_CMD_DEVICE_CHANGE_NTF);
	if (session->tag_set_ready)
		rblk_clt_notify_session(session, RBLK_CLIENT_CMD_SESSION_CHANGE_NTF);
}

/*
 * What was torn down is made again after a while, unless it is not to come back. Who still has to
 * tear it down does that then.
 */
static void rblk_clt_path_retry(struct rblk_clt_path *path)
{
	struct rblk_clt_session *session = path->session;
	u32 ms;

	spin_lock_irq(&session->lock);
	/* Under the lock: else path_remove() could cancel the work before it is queued. */
	if (session->reconnect && session->tag_set_ready && !path->ending &&
	    rblk_clt_path_state(path, RBLK_PATH_BACKOFF)) {
		ms = rblk_backoff_ms(path->attempts++, get_random_u32());
		if (rblk_fault_hurry())
			ms = 1;
		queue_delayed_work(rblk_clt_connect_wq, &path->connect_work,
				   msecs_to_jiffies(ms));
	}
	spin_unlock_irq(&session->lock);
}

/* What was in flight on a lost path has come to the rest of what waits, or has failed. */
static void rblk_clt_path_swept(struct rblk_clt_path *path)
{
	struct rblk_clt_session *session = path->session;
	struct rblk_clt_device *dev;

	/* The work that has it ended may be waiting for an answer. */
	rblk_clt_fence_stopped(session);
	mutex_lock(&rblk_clt_lock);
	list_for_each_entry(dev, &rblk_clt_devices, entry) {
		if (dev->session != session)
			continue;
		/* Another path may be active, but what was in flight waits only since now. */
		if (rblk_clt_path_of(dev))
			rblk_clt_device_back(dev);
		pr_warn_ratelimited("rblk%u: the connection to the server is %s (%s), I/O %s\n",
				    dev->index, path->drained ? "given up" : "lost",
				    path->error_what,
				    rblk_clt_path_of(dev) ? "goes on over another path" :
				    rblk_clt_may_wait(dev) ? "waits" : "fails");
	}
	/* The last device may be gone since, and the session with it. */
	if (session->users)
		rblk_clt_path_notify(path);
	mutex_unlock(&rblk_clt_lock);
}

/* After an error. Requests wait or fail from here on. */
static void rblk_clt_path_fail_work(struct work_struct *work)
{
	struct rblk_clt_path *path = container_of(work, struct rblk_clt_path, fail_work);
	struct rblk_clt_session *session = path->session;
	unsigned int noio = memalloc_noio_save();

	rblk_fault_work_begin(RBLK_FAULT_WORK_FAIL);
	mutex_lock(&rblk_clt_lock);
	rblk_clt_paths_lost(session, path->lost_at);
	mutex_unlock(&rblk_clt_lock);
	/* Whoever reclaims memory may wait for the requests that this ends. */
	mutex_lock(&path->lock);
	rblk_clt_path_cut(path);
	/* They go on over another path now, not when the CM is done with this one. */
	rblk_clt_path_swept(path);
	mutex_unlock(&path->lock);
	queue_work(rblk_clt_free_wq, &path->free_work);
	memalloc_noio_restore(noio);
	rblk_fault_work_end(RBLK_FAULT_WORK_FAIL);
}

/*
 * The rest of it. A work of its own: what the CM holds up must hold up no requests, not even
 * where one rescuer does all works of a queue.
 */
static void rblk_clt_path_free_work(struct work_struct *work)
{
	struct rblk_clt_path *path = container_of(work, struct rblk_clt_path, free_work);
	unsigned int noio = memalloc_noio_save();

	mutex_lock(&path->lock);
	rblk_clt_path_free(path);
	mutex_unlock(&path->lock);
	memalloc_noio_restore(noio);
	spin_lock_irq(&path->session->lock);
	path->ending = false;
	spin_unlock_irq(&path->session->lock);
	/* One that comes and goes is not a new one each time. */
	if (time_after(path->lost_at, path->live_since + RBLK_CLT_STABLE))
		path->attempts = 0;
	rblk_clt_path_retry(path);
}

static void rblk_clt_path_connect_work(struct work_struct *work)
{
	struct rblk_clt_path *path =
		container_of(work, struct rblk_clt_path, connect_work.work);
	unsigned int noio = memalloc_noio_save();
	const char *what;
	int err;

	rblk_fault_work_begin(RBLK_FAULT_WORK_CONNECT);
	/* Whoever reclaims memory may wait for the requests that wait for this. */
	cancel_delayed_work_sync(&path->reopen_work);
	err = rblk_clt_path_connect(path, jiffies + RBLK_CLT_STEP_TIMEOUT, &what);
	memalloc_noio_restore(noio);
	rblk_fault_work_end(RBLK_FAULT_WORK_CONNECT);
	if (!err)
		return;
	/* What somebody has to change is not tried again and again in a hurry. */
	if (err != -ENODEV && !rblk_status_transient(rblk_status_from_errno(err)))
		path->attempts = RBLK_CLT_PATIENCE;
	rblk_clt_path_retry(path);
}

/* All live paths of a session lead to one server. The caller holds the session's lock. */
static bool rblk_clt_path_stray(const struct rblk_clt_path *path)
{
	struct rblk_clt_session *session = path->session;
	const struct rblk_clt_path *other;
	u32 i;

	lockdep_assert_held(&session->lock);
	for (i = 0; i < RBLK_CLT_PATHS; i++) {
		other = &session->paths[i];
		if (other->state == RBLK_PATH_LIVE &&
		    !uuid_equal(&other->server_id, &path->server_id))
			return true;
	}
	/* One that was not live yet has nothing to show that its server is another one since. */
	return !path->connects && !uuid_is_null(&session->server_id) &&
	       !uuid_equal(&session->server_id, &path->server_id);
}

/**
 * rblk_clt_path_serve - say to which server a path leads
 * @path: the path, which connects
 * @hello: what the server says it is
 * @what: why not, in words
 *
 * Context: Process context. Does not sleep.
 * Return: 0, or -EXDEV if that is another one than that of the other paths.
 */
int rblk_clt_path_serve(struct rblk_clt_path *path, const struct rblk_msg_hello_reply *hello,
			const char **what)
{
	struct rblk_clt_session *session = path->session;
	bool stray;

	spin_lock_irq(&session->lock);
	path->server_id = hello->server;
	path->server_device = hello->device;
	stray = rblk_clt_path_stray(path);
	if (!stray) {
		path->server_told = true;
		rblk_clt_order_check(session);
	}
	spin_unlock_irq(&session->lock);
	if (!stray)
		return 0;
	*what = RBLK_CLT_STRAY;
	return -EXDEV;
}

/**
 * rblk_clt_path_live - a path is up; requests may use it if it is to be the active one
 * @path: the path, which connects
 *
 * Context: Process context. Sleeps, not for a peer.
 * Return: false if a device is not open on it yet, or the path is broken again.
 */
bool rblk_clt_path_live(struct rblk_clt_path *path)
{
	struct rblk_clt_session *session = path->session;
	struct rblk_clt_path *found = NULL;
	u32 generation = 0;
	bool live = false, stray;

	mutex_lock(&rblk_clt_lock);
	if (rblk_clt_reopen_next(path, false)) {
		mutex_unlock(&rblk_clt_lock);
		return false;
	}
	spin_lock_irq(&session->lock);
	/* Another one may have come up since the hello. */
	stray = rblk_clt_path_stray(path);
	if (!stray)
		live = rblk_clt_path_state(path, RBLK_PATH_LIVE);
	if (live) {
		path->live_since = jiffies;
		path->connects++;
		session->server_id = path->server_id;
		found = rblk_clt_active_found(path);
		queue_delayed_work(rblk_clt_wq, &session->probe_work, RBLK_CLT_PROBE_PERIOD);
		if (rblk_clt_reopen_next(path, true))
			queue_delayed_work(rblk_clt_connect_wq, &path->reopen_work,
					   RBLK_CLT_REOPEN_PAUSE);
		/* They may have been changed since it began to connect. */
		if (rblk_clt_path_untuned(path))
			generation = path->generation;
	}
	spin_unlock_irq(&session->lock);
	if (live && session->tag_set_ready) {
		if (found)
			rblk_clt_go_on(found);
		rblk_clt_path_notify(path);
	}
	mutex_unlock(&rblk_clt_lock);
	if (stray)
		rblk_clt_path_error(path, -EXDEV, RBLK_CLT_STRAY);
	if (generation)
		rblk_clt_path_error_of(path, generation, -ESHUTDOWN, RBLK_CLT_RETUNE);
	return live;
}

/**
 * rblk_clt_path_start - bring up a path of a session that has another one
 * @path: the path; one that was tried already, or does something, is left to that
 *
 * Context: Process context. Does not sleep.
 */
void rblk_clt_path_start(struct rblk_clt_path *path)
{
	struct rblk_clt_session *session = path->session;
	bool fresh;

	spin_lock_irq(&session->lock);
	fresh = path->state == RBLK_PATH_NEW;
	/* Under the lock: else path_remove() could cancel the work before it is queued. */
	if (fresh)
		queue_delayed_work(rblk_clt_connect_wq, &path->connect_work, 0);
	spin_unlock_irq(&session->lock);
	if (!fresh)
		rblk_clt_path_retry(path);
}

/**
 * rblk_clt_path_init - make a path object that has nothing yet
 * @path: the path
 * @session: its session
 * @index: its number there
 * @route: between which addresses it lies; NULL for a place that is free
 *
 * Context: Process context. Does not sleep.
 */
void rblk_clt_path_init(struct rblk_clt_path *path, struct rblk_clt_session *session, u32 index,
			const struct rblk_clt_route *route)
{
	path->session = session;
	path->index = index;
	if (route) {
		path->route = *route;
		path->state = RBLK_PATH_NEW;
	} else {
		path->state = RBLK_PATH_REMOVED;
		path->vacant = true;
	}
	path->dev_user.removed = rblk_clt_path_dev_removed;
	mutex_init(&path->lock);
	mutex_init(&path->control.ask_lock);
	spin_lock_init(&path->control.lock);
	rblk_conn_init(&path->control.conn, &rblk_clt_control_ops);
	INIT_WORK(&path->fail_work, rblk_clt_path_fail_work);
	INIT_WORK(&path->free_work, rblk_clt_path_free_work);
	INIT_DELAYED_WORK(&path->connect_work, rblk_clt_path_connect_work);
	INIT_DELAYED_WORK(&path->reopen_work, rblk_clt_reopen_work);
	INIT_LIST_HEAD(&path->resizes);
	INIT_DELAYED_WORK(&path->resize_work, rblk_clt_resize_work);
}

/**
 * rblk_clt_path_renew - give the place of a path that was removed to another one
 * @path: the path; if its place is not free, nothing is done
 * @route: between which addresses the new one is to lie
 *
 * Its locks stay, as somebody may look at it, and its generations go on, as the server
 * knows them.
 *
 * Context: Process context. Does not sleep. The caller holds the session's setup lock.
 * Return: whether it is a new one now.
 */
bool rblk_clt_path_renew(struct rblk_clt_path *path, const struct rblk_clt_route *route)
{
	struct rblk_clt_session *session = path->session;
	bool fresh;

	spin_lock_irq(&session->lock);
	fresh = session->reconnect && path->vacant && rblk_clt_path_state(path, RBLK_PATH_NEW);
	if (fresh) {
		path->vacant = false;
		path->route = *route;
		path->source.ss_family = 0;
		path->server_id = uuid_null;
		path->server_device = 0;
		path->server_told = false;
		path->rdma_device[0] = '\0';
		path->rdma_port = 0;
		path->error = 0;
		path->error_what = NULL;
		path->attempts = 0;
		path->connects = 0;
		path->losses = 0;
		WRITE_ONCE(path->drained, false);
		if (path->stats)
			memset(path->stats, 0, path->nr_stats * sizeof(*path->stats));
	}
	spin_unlock_irq(&session->lock);
	return fresh;
}

/**
 * rblk_clt_path_end - let nobody begin or wait for anything on a path that is to be removed
 * @path: the path
 *
 * Context: Process context. Does not sleep.
 */
void rblk_clt_path_end(struct rblk_clt_path *path)
{
	struct rblk_clt_session *session = path->session;

	spin_lock_irq(&session->lock);
	rblk_clt_path_state(path, RBLK_PATH_REMOVED);
	WRITE_ONCE(session->active, session->active & ~BIT(path->index));
	path->carried = false;
	rblk_clt_order_check(session);
	rblk_clt_path_abort(path, -ESHUTDOWN, "the path or its session is being removed");
	spin_unlock_irq(&session->lock);
}

/**
 * rblk_clt_path_remove - end a path for good
 * @path: the path, after rblk_clt_path_end()
 *
 * Context: Process context. Sleeps, as long as the CM needs to end its work. The caller holds
 * the session's setup lock, or is the last who knows the session.
 */
void rblk_clt_path_remove(struct rblk_clt_path *path)
{
	if (path->vacant)
		return;
	/* Nothing queues the works any more: REMOVED leads to nothing that does. */
	cancel_work_sync(&path->fail_work);
	cancel_work_sync(&path->free_work);
	cancel_delayed_work_sync(&path->connect_work);
	cancel_delayed_work_sync(&path->reopen_work);
	cancel_delayed_work_sync(&path->resize_work);
	mutex_lock(&path->lock);
	rblk_clt_path_teardown(path);
	mutex_unlock(&path->lock);
	path->ending = false;
	path->vacant = true;
}
