// SPDX-License-Identifier: GPL-2.0
/*
 * Which path carries the I/O, and what has to be over before another one does.
 *
 * One path of a session is active: all requests go there. When it is lost, none is
 * active, and all I/O waits (hold.c), until the server has confirmed that the lost
 * generation is dead: its queue pairs destroyed and its registrations gone. Until then
 * what was sent there may be on its way still, and must not land after something newer:
 * what is sent again, but also what comes after a request that failed. The server
 * confirms it by the reply to a FENCE on another path, or by accepting a new generation
 * of the lost one. Then a path that is live and not drained is active, if it can be the one
 * on which this was confirmed; a path that comes back later stands by.
 *
 * So there is never more than one generation that has to be ended: with none active,
 * nothing is sent in another one. It is the session's @fence; under its lock.
 *
 * A path that is drained (path_admin.c) goes the same way, only that it is not lost before
 * what is in flight there has ended; until then nobody asks the server to end it.
 */
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <rblk/trace.h>
#include <uapi/linux/rblk_client.h>
#include "client.h"

/**
 * rblk_clt_active_lost - a path is not live any more
 * @path: the path
 *
 * Context: Any. Does not sleep. The caller holds the session's lock.
 */
void rblk_clt_active_lost(struct rblk_clt_path *path)
{
	struct rblk_clt_session *session = path->session;

	lockdep_assert_held(&session->lock);
	if (session->active == path->index) {
		WRITE_ONCE(session->active, RBLK_CLT_NONE);
		session->losses++;
		session->fence = (struct rblk_clt_fence) {
			.path		= path->index,
			.generation	= path->generation,
		};
	} else if (session->fence.draining && session->fence.path == path->index &&
		   session->fence.generation == path->generation) {
		session->fence.draining = false;
	} else {
		return;
	}
	/* Under the lock: else the end of the session could cancel it before it is queued. */
	mod_delayed_work(rblk_clt_fence_wq, &session->fence_work, 0);
}

/**
 * rblk_clt_active_break - break the path that carries the I/O
 * @session: the session
 * @what: why, a constant string
 *
 * Context: Any. Does not sleep.
 */
void rblk_clt_active_break(struct rblk_clt_session *session, const char *what)
{
	struct rblk_clt_path *path = NULL;
	unsigned long flags;
	u32 generation = 0;

	spin_lock_irqsave(&session->lock, flags);
	if (session->active != RBLK_CLT_NONE) {
		path = &session->paths[session->active];
		generation = path->generation;
	} else if (session->fence.draining) {
		path = &session->paths[session->fence.path];
		generation = session->fence.generation;
	}
	spin_unlock_irqrestore(&session->lock, flags);
	if (path)
		rblk_clt_path_error_of(path, generation, -ETIMEDOUT, what);
}

/**
 * rblk_clt_active_best - the best of the paths that could carry the I/O
 * @first: one of them, which is the first choice
 * @other: not that one
 *
 * Context: Process context. The caller holds rblk_clt_lock and the session's lock.
 * Return: that which has most devices open, of those that are live and not drained; or NULL.
 */
struct rblk_clt_path *rblk_clt_active_best(struct rblk_clt_path *first, bool other)
{
	struct rblk_clt_session *session = first->session;
	struct rblk_clt_path *path, *best = NULL;
	u32 i, nr, most = 0;

	lockdep_assert_held(&session->lock);
	for (i = other; i < RBLK_CLT_PATHS; i++) {
		path = &session->paths[(first->index + i) % RBLK_CLT_PATHS];
		if (path->state != RBLK_PATH_LIVE || path->drained)
			continue;
		nr = rblk_clt_served(path);
		if (best && nr <= most)
			continue;
		best = path;
		most = nr;
	}
	return best;
}

/* With nothing left that has to be ended. */
static struct rblk_clt_path *rblk_clt_active_choose(struct rblk_clt_path *first)
{
	struct rblk_clt_session *session = first->session;
	struct rblk_clt_path *path;

	lockdep_assert_held(&session->lock);
	if (session->active != RBLK_CLT_NONE || session->fence.generation)
		return NULL;
	path = rblk_clt_active_best(first, false);
	if (!path)
		return NULL;
	WRITE_ONCE(session->active, path->index);
	wake_up_all(&session->wait);
	return path;
}

/**
 * rblk_clt_active_found - a path is live, and it or another may be the active one
 * @path: the path
 *
 * Context: Process context. Does not sleep. The caller holds rblk_clt_lock and the session's
 * lock.
 * Return: the one that is from now on, and the caller has to let go on what waits, see
 * rblk_clt_go_on(); or NULL if nothing has changed.
 */
struct rblk_clt_path *rblk_clt_active_found(struct rblk_clt_path *path)
{
	struct rblk_clt_session *session = path->session;

	lockdep_assert_held(&session->lock);
	/*
	 * The server let it in when nothing of its older generations was left. What is being
	 * drained is of this one.
	 */
	if (session->fence.path == path->index && session->fence.generation != path->generation)
		session->fence.generation = 0;
	if (session->fence.generation)
		mod_delayed_work(rblk_clt_fence_wq, &session->fence_work, 0);
	return rblk_clt_active_choose(path);
}

/**
 * rblk_clt_go_on - submit what waited for an active path
 * @path: the path that is the active one now
 *
 * Context: Process context. Sleeps, not for a peer. The caller holds rblk_clt_lock.
 */
void rblk_clt_go_on(struct rblk_clt_path *path)
{
	struct rblk_clt_session *session = path->session;
	struct rblk_clt_device *dev;

	lockdep_assert_held(&rblk_clt_lock);
	spin_lock_irq(&session->lock);
	list_for_each_entry(dev, &rblk_clt_devices, entry)
		if (dev->session == session && rblk_clt_path_of(dev))
			clear_bit(RBLK_DEV_EXPIRED, &dev->flags);
	spin_unlock_irq(&session->lock);
	/* Whoever saw no path waits now. */
	synchronize_rcu();
	list_for_each_entry(dev, &rblk_clt_devices, entry)
		if (dev->session == session && rblk_clt_path_of(dev))
			rblk_clt_device_back(dev);
}

/* A live path to ask on; no other than the lost one would be found out by its end. */
static struct rblk_clt_path *rblk_clt_fence_over(struct rblk_clt_session *session,
						 struct rblk_clt_fence *fence, u32 *generation)
{
	struct rblk_clt_path *over = NULL;
	u32 i;

	spin_lock_irq(&session->lock);
	*fence = session->fence;
	if (fence->draining)
		fence->generation = 0;
	for (i = 0; i < RBLK_CLT_PATHS && fence->generation && !over; i++)
		if (i != fence->path && session->paths[i].state == RBLK_PATH_LIVE)
			over = &session->paths[i];
	if (over)
		*generation = over->generation;
	spin_unlock_irq(&session->lock);
	return over;
}

/* The server has ended it; it said so on a path that is lost by now, perhaps. */
static void rblk_clt_fenced(struct rblk_clt_path *over, const struct rblk_clt_fence *fence)
{
	struct rblk_clt_session *session = over->session;
	struct rblk_clt_path *lost = &session->paths[fence->path];
	struct rblk_clt_path *found = NULL;

	mutex_lock(&rblk_clt_lock);
	spin_lock_irq(&session->lock);
	/* Another one may have been active, and lost, meanwhile. */
	if (session->fence.path == fence->path && session->fence.generation == fence->generation) {
		session->fence.generation = 0;
		if (lost->generation == fence->generation)
			rblk_clt_path_state(lost, RBLK_PATH_FENCED);
		found = rblk_clt_active_choose(over);
	}
	spin_unlock_irq(&session->lock);
	if (found) {
		rblk_clt_go_on(found);
		rblk_clt_path_notify(found);
	}
	mutex_unlock(&rblk_clt_lock);
}

/**
 * rblk_clt_fence_work - have the server end what is lost
 * @work: the session's
 *
 * Without a path to ask on it is for the next one that comes up.
 *
 * Context: Process context. Sleeps, for a bounded time.
 */
void rblk_clt_fence_work(struct work_struct *work)
{
	struct rblk_clt_session *session =
		container_of(work, struct rblk_clt_session, fence_work.work);
	unsigned int noio = memalloc_noio_save();
	struct rblk_msg msg = { .type = RBLK_MSG_FENCE };
	struct rblk_clt_fence fence;
	struct rblk_clt_path *over;
	struct rblk_msg reply;
	const char *what;
	u32 generation;

	over = rblk_clt_fence_over(session, &fence, &generation);
	if (over) {
		msg.fence.path = fence.path;
		msg.fence.generation = fence.generation;
		if (!rblk_clt_ask(over, generation, &msg, &reply, NULL, false,
				  jiffies + RBLK_CLT_ASK_TIMEOUT, &what))
			rblk_clt_fenced(over, &fence);
		/* At once over the next one if this one is lost too, and later if it is not. */
		else if (READ_ONCE(over->state) == RBLK_PATH_LIVE)
			queue_delayed_work(rblk_clt_fence_wq, &session->fence_work,
					   RBLK_CLT_FENCE_PAUSE);
		else
			mod_delayed_work(rblk_clt_fence_wq, &session->fence_work, 0);
	}
	memalloc_noio_restore(noio);
}
