// SPDX-License-Identifier: GPL-2.0
/*
 * Which paths carry the I/O, and what has to be over before what is lost goes on.
 *
 * Those are active. By policy preferred it is one; by the others, each that is live, is not
 * drained, and ends at the same RDMA device of the server, or at another one if what is
 * written is seen there in time (order.c).
 *
 * When an active path is lost, what was sent there may be on its way still, and must not land
 * after something newer. So the generation is fenced: the server has to confirm that it is
 * dead, its queue pairs destroyed and its registrations gone; by the reply to a FENCE
 * on another path, or by accepting a new generation of the lost one. Until then:
 *
 *  - What was in flight on it waits (hold.c), and is not sent again.
 *  - Other requests go on over the paths that are still active. Nobody who writes
 *    something newer to the same place is among them: whoever wrote there has no answer yet.
 *  - When one of those that were in flight is to fail instead of to wait, there is
 *    an answer. Before it is given, no path is active any more: rblk_clt_active_stop().
 *  - With none active, none becomes so before the server has confirmed all.
 *
 * A path is fenced if it was active in the generation that is lost, also if it is not any
 * more: then policy or drain took that from it, and something of it may be in flight.
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
 * rblk_clt_fence_pending - is there a generation that the server has not ended yet?
 * @session: the session, whose lock the caller holds
 *
 * Context: Any.
 * Return: true if so, or if a path is being drained.
 */
bool rblk_clt_fence_pending(const struct rblk_clt_session *session)
{
	u32 i;

	lockdep_assert_held(&session->lock);
	for (i = 0; i < RBLK_CLT_PATHS; i++)
		if (session->paths[i].fence)
			return true;
	return false;
}

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
	if (session->active & BIT(path->index)) {
		WRITE_ONCE(session->active, session->active & ~BIT(path->index));
		session->losses++;
	}
	if (!path->carried)
		return;
	path->carried = false;
	path->fence = path->generation;
	path->fence_since = jiffies;
	path->fence_asked = jiffies;
	path->draining = false;
	/* Under the lock: else the end of the session could cancel it before it is queued. */
	mod_delayed_work(rblk_clt_fence_wq, &session->fence_work, 0);
}

/**
 * rblk_clt_active_stop - something fails that may have been in flight on a lost path
 * @session: the session
 *
 * Unless the server has ended all that is lost, no path carries I/O from here on until it
 * has. The caller gives its answer afterwards.
 *
 * Context: Any. Does not sleep.
 */
void rblk_clt_active_stop(struct rblk_clt_session *session)
{
	unsigned long flags;

	spin_lock_irqsave(&session->lock, flags);
	if (session->active && rblk_clt_fence_pending(session)) {
		session->was_active = session->active;
		WRITE_ONCE(session->active, 0);
		session->losses++;
		session->stopped = true;
		mod_delayed_work(rblk_clt_fence_wq, &session->fence_work, 0);
	}
	spin_unlock_irqrestore(&session->lock, flags);
}

/**
 * rblk_clt_active_break - break the paths on which I/O is in flight
 * @session: the session
 * @what: why, a constant string
 *
 * Context: Process context. Does not sleep.
 */
void rblk_clt_active_break(struct rblk_clt_session *session, const char *what)
{
	u32 i, generation[RBLK_CLT_PATHS], in_flight[RBLK_CLT_PATHS];

	rblk_clt_in_flight(session, in_flight);
	spin_lock_irq(&session->lock);
	for (i = 0; i < RBLK_CLT_PATHS; i++)
		generation[i] = session->paths[i].generation;
	spin_unlock_irq(&session->lock);
	for (i = 0; i < RBLK_CLT_PATHS; i++)
		if (in_flight[i])
			rblk_clt_path_error_of(&session->paths[i], generation[i], -ETIMEDOUT,
					       what);
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

/* May it carry I/O together with another one? */
static bool rblk_clt_active_with(const struct rblk_clt_path *path,
				 const struct rblk_clt_path *other)
{
	const struct rblk_clt_session *session = path->session;

	return path->state == RBLK_PATH_LIVE && !path->drained &&
	       ((path->server_device && path->server_device == other->server_device) ||
		session->ordered || session->write_order == RBLK_CLIENT_WRITE_ORDER_RELAXED);
}

/* Return: of some paths the one with most devices open. */
static struct rblk_clt_path *rblk_clt_active_most(struct rblk_clt_session *session,
						  unsigned long among)
{
	struct rblk_clt_path *path, *best = NULL;
	u32 i, nr, most = 0;

	for_each_set_bit(i, &among, RBLK_CLT_PATHS) {
		path = &session->paths[i];
		nr = rblk_clt_served(path);
		if (best && nr <= most)
			continue;
		best = path;
		most = nr;
	}
	return best;
}

/*
 * Which one is to be active, with none active. One that was, in the generation that it has, comes
 * first, and before all one that was when all were stopped: what was written over it is seen
 * over it.
 */
static struct rblk_clt_path *rblk_clt_active_first(struct rblk_clt_path *first)
{
	struct rblk_clt_session *session = first->session;
	unsigned long among = 0;
	u32 i;

	for (i = 0; i < RBLK_CLT_PATHS; i++)
		if (session->paths[i].carried && !session->paths[i].drained)
			among |= BIT(i);
	if (among & session->was_active)
		among &= session->was_active;
	return rblk_clt_active_most(session, among) ?: rblk_clt_active_best(first, false);
}

/*
 * Let as many paths carry the I/O as may.
 * Return: one that does, if there is one more than before; or NULL.
 */
static struct rblk_clt_path *rblk_clt_active_choose(struct rblk_clt_path *first)
{
	struct rblk_clt_session *session = first->session;
	unsigned long active = session->active;
	struct rblk_clt_path *path;
	u32 i;

	lockdep_assert_held(&session->lock);
	if (active) {
		path = &session->paths[__ffs(active)];
	} else {
		/* The first one goes on with what was lost. */
		if (rblk_clt_fence_pending(session))
			return NULL;
		path = rblk_clt_active_first(first);
		if (!path)
			return NULL;
		active = BIT(path->index);
	}
	for (i = 0; session->policy != RBLK_POLICY_PREFERRED && i < RBLK_CLT_PATHS; i++)
		if (rblk_clt_active_with(&session->paths[i], path))
			active |= BIT(i);
	if (active == session->active)
		return NULL;
	/* Before it is seen: whoever loses it has it fenced. */
	for_each_set_bit(i, &active, RBLK_CLT_PATHS)
		session->paths[i].carried = true;
	session->was_active = 0;
	WRITE_ONCE(session->active, active);
	wake_up_all(&session->wait);
	return path;
}

/*
 * The server has ended something that was lost.
 * Return: a path that carries the I/O, if what waits may go on; or NULL.
 */
static struct rblk_clt_path *rblk_clt_active_fenced(struct rblk_clt_path *over)
{
	struct rblk_clt_session *session = over->session;
	struct rblk_clt_path *found = rblk_clt_active_choose(over);

	lockdep_assert_held(&session->lock);
	if (!found && session->active && !rblk_clt_fence_pending(session))
		found = &session->paths[__ffs(session->active)];
	return found;
}

/**
 * rblk_clt_active_found - a path is live, and it or another may carry I/O
 * @path: the path
 *
 * Context: Process context. Does not sleep. The caller holds rblk_clt_lock and the session's
 * lock.
 * Return: a path that carries I/O from now on, and the caller has to let go on what waits, see
 * rblk_clt_go_on(); or NULL if nothing has changed.
 */
struct rblk_clt_path *rblk_clt_active_found(struct rblk_clt_path *path)
{
	struct rblk_clt_session *session = path->session;
	bool ended = path->fence && path->fence != path->generation;

	lockdep_assert_held(&session->lock);
	/*
	 * The server let it in when nothing of its older generations was left. What is being
	 * drained is of this one.
	 */
	if (ended)
		path->fence = 0;
	if (rblk_clt_fence_pending(session))
		mod_delayed_work(rblk_clt_fence_wq, &session->fence_work, 0);
	return ended ? rblk_clt_active_fenced(path) : rblk_clt_active_choose(path);
}

/* Those that may not carry I/O together any more do not. Return: whether there were such. */
static bool rblk_clt_active_narrow(struct rblk_clt_session *session)
{
	unsigned long keep = session->active;
	struct rblk_clt_path *first;
	u32 i;

	lockdep_assert_held(&session->lock);
	first = rblk_clt_active_most(session, keep);
	for_each_set_bit(i, &session->active, RBLK_CLT_PATHS)
		if (&session->paths[i] != first &&
		    (session->policy == RBLK_POLICY_PREFERRED ||
		     !rblk_clt_active_with(&session->paths[i], first)))
			keep &= ~BIT(i);
	if (keep == session->active)
		return false;
	WRITE_ONCE(session->active, keep);
	session->losses++;
	return true;
}

/**
 * rblk_clt_policy_set - say how the I/O of a session is spread over its paths
 * @session: the session
 * @policy: how
 *
 * Also for who changed something else on which that depends.
 *
 * Context: Process context. Sleeps, not for a peer. The caller holds rblk_clt_lock.
 */
void rblk_clt_policy_set(struct rblk_clt_session *session, enum rblk_policy policy)
{
	struct rblk_clt_path *found = NULL;
	bool narrowed;

	lockdep_assert_held(&rblk_clt_lock);
	spin_lock_irq(&session->lock);
	WRITE_ONCE(session->policy, policy);
	narrowed = rblk_clt_active_narrow(session);
	spin_unlock_irq(&session->lock);
	/*
	 * A device may be open on none of those that are left. What is in flight on the others
	 * ends there; whoever saw them as active has posted then, and only now may a write
	 * be any other than it was.
	 */
	if (narrowed)
		rblk_clt_paths_lost(session, jiffies);
	spin_lock_irq(&session->lock);
	rblk_clt_order_check(session);
	if (session->active)
		found = rblk_clt_active_choose(&session->paths[__ffs(session->active)]);
	spin_unlock_irq(&session->lock);
	if (found)
		rblk_clt_go_on(found);
	if (session->tag_set_ready && session->users)
		rblk_clt_notify_session(session, RBLK_CLIENT_CMD_SESSION_CHANGE_NTF);
}

/*
 * What keeps the only active path of a session from serving a device is not over by itself, and
 * another path could, and serves all others as well. The caller holds rblk_clt_lock and the
 * session's lock.
 */
static bool rblk_clt_active_short(const struct rblk_clt_path *path,
				  const struct rblk_clt_path *other)
{
	const struct rblk_clt_attach *attach;
	const struct rblk_clt_device *dev;
	bool is_short = false;

	list_for_each_entry(dev, &rblk_clt_devices, entry) {
		attach = &dev->attach[path->index];
		if (rblk_clt_serves(path, dev) && !rblk_clt_serves(other, dev))
			return false;
		/* One that was not asked yet is asked next. */
		is_short |= rblk_clt_serves(other, dev) && !rblk_clt_attached(dev, path) &&
			    (attach->generation == path->generation ||
			     attach->refused == path->generation);
	}
	return is_short;
}

/**
 * rblk_clt_active_relieve - end an active path where another one serves more devices
 * @session: the session
 *
 * The server may have had no memory for all of a device on one path. What is short of keys is
 * looked at twice before: they may be on their way. Where all that may are active, each device
 * has its own choice already.
 *
 * Context: Process context. Does not sleep for a peer.
 */
void rblk_clt_active_relieve(struct rblk_clt_session *session)
{
	struct rblk_clt_path *path = NULL, *other;
	u32 generation = 0;
	bool again = false;

	mutex_lock(&rblk_clt_lock);
	spin_lock_irq(&session->lock);
	if (hweight_long(session->active) == 1) {
		path = &session->paths[__ffs(session->active)];
		other = rblk_clt_active_best(path, true);
		if (other && rblk_clt_active_short(path, other)) {
			generation = path->generation;
			again = path->was_short == generation;
		}
		path->was_short = generation;
	}
	spin_unlock_irq(&session->lock);
	mutex_unlock(&rblk_clt_lock);
	if (again)
		rblk_clt_path_error_of(path, generation, -ENOSPC,
				       "another path serves more devices");
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
		if (dev->session == session && rblk_clt_path_of(dev)) {
			rblk_clt_device_back(dev);
			/* It may have keys to more than the last one. */
			mod_delayed_work(rblk_clt_size_wq, &dev->size_work, 0);
		}
}

/**
 * struct rblk_clt_fence - what the server is asked to end
 * @lost: the path
 * @generation: of it
 * @since: when it was lost, in jiffies
 */
struct rblk_clt_fence {
	struct rblk_clt_path	*lost;
	u32			generation;
	unsigned long		since;
};

/* A live path to ask on; no other than the lost one would be found out by its end. */
static struct rblk_clt_path *rblk_clt_fence_over(struct rblk_clt_session *session,
						 struct rblk_clt_fence *fence, u32 *generation)
{
	struct rblk_clt_path *over = NULL;
	struct rblk_clt_path *path;
	u32 i;

	fence->lost = NULL;
	spin_lock_irq(&session->lock);
	/* In turn, so that one that cannot be ended keeps no other from it. */
	for (i = 0; i < RBLK_CLT_PATHS; i++) {
		path = &session->paths[i];
		if (path->fence && !path->draining &&
		    (!fence->lost || time_before(path->fence_asked, fence->lost->fence_asked)))
			fence->lost = path;
	}
	if (fence->lost) {
		fence->generation = fence->lost->fence;
		fence->since = fence->lost->fence_since;
		fence->lost->fence_asked = jiffies;
	}
	for (i = 0; i < RBLK_CLT_PATHS && fence->lost && !over; i++) {
		path = &session->paths[i];
		if (path != fence->lost && path->state == RBLK_PATH_LIVE)
			over = path;
	}
	if (over)
		*generation = over->generation;
	spin_unlock_irq(&session->lock);
	return over;
}

/* The server has ended it; it said so on a path that is lost by now, perhaps. */
static void rblk_clt_fenced(struct rblk_clt_path *over, const struct rblk_clt_fence *fence)
{
	struct rblk_clt_session *session = over->session;
	struct rblk_clt_path *lost = fence->lost, *found = NULL;

	mutex_lock(&rblk_clt_lock);
	spin_lock_irq(&session->lock);
	/* It may have been active in a newer one, and lost, meanwhile. */
	if (lost->fence == fence->generation) {
		lost->fence = 0;
		if (lost->generation == fence->generation)
			rblk_clt_path_state(lost, RBLK_PATH_FENCED);
		found = rblk_clt_active_fenced(over);
	}
	spin_unlock_irq(&session->lock);
	if (found) {
		rblk_clt_go_on(found);
		rblk_clt_path_notify(found);
	}
	mutex_unlock(&rblk_clt_lock);
}

/**
 * rblk_clt_fence_stopped - let the time run for what waits if all paths were stopped
 * @session: the session
 *
 * Context: Process context. Sleeps, not for a peer.
 */
void rblk_clt_fence_stopped(struct rblk_clt_session *session)
{
	unsigned long since = jiffies;
	bool stopped;
	u32 i;

	mutex_lock(&rblk_clt_lock);
	spin_lock_irq(&session->lock);
	stopped = session->stopped;
	session->stopped = false;
	/* What waits longest does so since then. */
	for (i = 0; i < RBLK_CLT_PATHS; i++)
		if (session->paths[i].fence && !session->paths[i].draining &&
		    time_before(session->paths[i].fence_since, since))
			since = session->paths[i].fence_since;
	spin_unlock_irq(&session->lock);
	if (stopped && session->users) {
		rblk_clt_paths_lost(session, since);
		rblk_clt_path_notify(&session->paths[0]);
	}
	mutex_unlock(&rblk_clt_lock);
}

/*
 * How long the other paths carry on while the server does not end what is lost: what was in
 * flight there waits, and not longer than it may.
 */
static unsigned long rblk_clt_fence_patience(struct rblk_clt_session *session)
{
	const struct rblk_clt_device *dev;
	u32 ms = RBLK_CLT_FENCE_PATIENCE_MS;

	mutex_lock(&rblk_clt_lock);
	list_for_each_entry(dev, &rblk_clt_devices, entry)
		if (dev->session == session)
			ms = min(ms, READ_ONCE(dev->no_path_ms));
	mutex_unlock(&rblk_clt_lock);
	return msecs_to_jiffies(max_t(u32, ms, RBLK_CLT_FAILOVER_MS));
}

/* Return: jiffies until the next question, if there is one. */
static unsigned long rblk_clt_fence_ask(struct rblk_clt_session *session, bool *again)
{
	struct rblk_msg msg = { .type = RBLK_MSG_FENCE };
	struct rblk_clt_fence fence;
	struct rblk_clt_path *over;
	struct rblk_msg reply;
	const char *what;
	u32 generation;

	over = rblk_clt_fence_over(session, &fence, &generation);
	*again = over;
	if (!over)
		return 0;
	msg.fence.path = fence.lost->index;
	msg.fence.generation = fence.generation;
	if (!rblk_clt_ask(over, generation, &msg, &reply, NULL, false,
			  jiffies + RBLK_CLT_ASK_TIMEOUT, &what)) {
		rblk_clt_fenced(over, &fence);
		return 0;
	}
	if (time_after(jiffies, fence.since + rblk_clt_fence_patience(session)))
		rblk_clt_active_stop(session);
	/* At once over the next one if this one is lost too, and later if it is not. */
	return READ_ONCE(over->state) == RBLK_PATH_LIVE ? RBLK_CLT_FENCE_PAUSE : 0;
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
	unsigned long pause;
	bool again;

	rblk_clt_fence_stopped(session);
	pause = rblk_clt_fence_ask(session, &again);
	memalloc_noio_restore(noio);
	if (again)
		queue_delayed_work(rblk_clt_fence_wq, &session->fence_work, pause);
}
