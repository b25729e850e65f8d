// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions: one for each server, made by the first map and ended by the last
 * unmap. The first path that leads to the server makes it; the others come up when they can.
 */
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <rblk/fault.h>
#include <uapi/linux/rblk_client.h>
#include "client.h"

/* Lists of sessions and devices, users of a session: see client.h. */
DEFINE_MUTEX(rblk_clt_lock);
/* How often the list of sessions changed: under the lock. */
u32 rblk_clt_changes;
LIST_HEAD(rblk_clt_sessions);
/* The module goes: no session is made or used any more. Under rblk_clt_lock. */
static bool rblk_clt_stopped;

static struct rblk_clt_session *rblk_clt_session_alloc(const struct rblk_clt_map_args *args)
{
	struct rblk_clt_session *session;
	u32 i;

	session = kzalloc(sizeof(*session), GFP_KERNEL);
	if (!session)
		return NULL;
	kref_init(&session->ref);
	uuid_gen(&session->id);
	strscpy(session->client, args->client, sizeof(session->client));
	session->want_queues = args->queues;
	session->want_depth = args->depth;
	session->reconnect = args->reconnect;
	init_waitqueue_head(&session->wait);
	mutex_init(&session->setup);
	spin_lock_init(&session->lock);
	session->policy = args->policy < RBLK_POLICY_NR ? args->policy : RBLK_POLICY_PREFERRED;
	INIT_DELAYED_WORK(&session->fence_work, rblk_clt_fence_work);
	INIT_DELAYED_WORK(&session->probe_work, rblk_clt_probe_work);
	INIT_DELAYED_WORK(&session->order_work, rblk_clt_order_work);
	session->write_order = args->write_order != RBLK_CLT_ANY_ORDER ? args->write_order :
		RBLK_CLIENT_WRITE_ORDER_AUTO;
	/* There is no write yet that could be overtaken. */
	session->strict = session->write_order == RBLK_CLIENT_WRITE_ORDER_STRICT;
	session->ordered = session->strict;
	for (i = 0; i < RBLK_CLT_PATHS; i++)
		rblk_clt_path_init(&session->paths[i], session, i,
				   i < args->nr_routes ? &args->routes[i] : NULL);
	return session;
}

static bool rblk_clt_path_usable(const struct rblk_clt_path *path)
{
	const struct rblk_clt_session *session = path->session;

	switch (READ_ONCE(path->state)) {
	case RBLK_PATH_NEW:
		/* Later there is nobody who would begin with it. */
		return !READ_ONCE(session->tag_set_ready) || READ_ONCE(session->reconnect);
	case RBLK_PATH_CONNECTING:
	case RBLK_PATH_LIVE:
		return true;
	case RBLK_PATH_FAILED:
	case RBLK_PATH_FENCED:
	case RBLK_PATH_BACKOFF:
		/* It comes back, if it was ever there. */
		return READ_ONCE(session->reconnect) && READ_ONCE(session->tag_set_ready);
	default:
		return false;
	}
}

/* A session that can still take a device; a failed one keeps those it has. */
static bool rblk_clt_session_usable(const struct rblk_clt_session *session)
{
	u32 i;

	if (READ_ONCE(session->failed))
		return false;
	for (i = 0; i < RBLK_CLT_PATHS; i++)
		if (rblk_clt_path_usable(&session->paths[i]))
			return true;
	return false;
}

/**
 * rblk_clt_route_equal - is it the same route?
 * @one: a route
 * @two: another one
 *
 * Context: Any.
 * Return: true if the server is the same, and the source is, or is named by neither.
 */
bool rblk_clt_route_equal(const struct rblk_clt_route *one, const struct rblk_clt_route *two)
{
	return rblk_addr_equal(&one->server, &two->server) &&
	       one->source.ss_family == two->source.ss_family &&
	       (!one->source.ss_family || rblk_addr_equal(&one->source, &two->source));
}

/* That a source is not named agrees with any. */
static bool rblk_clt_session_has(struct rblk_clt_session *session,
				 const struct rblk_clt_route *route)
{
	const struct rblk_clt_path *path;
	bool found = false;
	u32 i;

	/* An administrator may put another one in the place of one that was removed. */
	spin_lock_irq(&session->lock);
	for (i = 0; i < RBLK_CLT_PATHS && !found; i++) {
		path = &session->paths[i];
		found = path->state != RBLK_PATH_REMOVED &&
			rblk_addr_equal(&path->route.server, &route->server) &&
			(!route->source.ss_family ||
			 rblk_addr_equal(&path->route.source, &route->source));
	}
	spin_unlock_irq(&session->lock);
	return found;
}

static bool rblk_clt_session_has_all(struct rblk_clt_session *session,
				     const struct rblk_clt_map_args *args)
{
	u32 i;

	for (i = 0; i < args->nr_routes; i++)
		if (!rblk_clt_session_has(session, &args->routes[i]))
			return false;
	return true;
}

/* Asked for nothing, for what the first map asked for, or for what it got. */
static bool rblk_clt_session_fits(const struct rblk_clt_session *session,
				  const struct rblk_clt_map_args *args)
{
	const struct blk_mq_tag_set *set = &session->tag_set;

	return (args->policy >= RBLK_POLICY_NR || args->policy == session->policy) &&
	       (args->write_order == RBLK_CLT_ANY_ORDER ||
		args->write_order == session->write_order) &&
	       (args->reconnect || !session->reconnect) &&
	       (!args->queues || args->queues == session->want_queues ||
		args->queues == set->nr_hw_queues) &&
	       (!args->depth || args->depth == session->want_depth ||
		args->depth == set->queue_depth);
}

/**
 * rblk_clt_session_get - find the session with a server, or make one
 * @args: what map was asked
 * @extack: takes the reason of a refusal
 *
 * Context: Process context. Sleeps.
 * Return: the session with one more user, which gives it back with
 * rblk_clt_session_unuse(); ERR_PTR() otherwise.
 */
struct rblk_clt_session *rblk_clt_session_get(const struct rblk_clt_map_args *args,
					      struct netlink_ext_ack *extack)
{
	struct rblk_clt_session *session, *fresh;

	/* Not under the lock, which the recovery of other sessions takes. */
	fresh = rblk_clt_session_alloc(args);
	mutex_lock(&rblk_clt_lock);
	if (rblk_clt_stopped) {
		NL_SET_ERR_MSG(extack, "the module is being unloaded");
		session = ERR_PTR(-ESHUTDOWN);
		goto out;
	}
	list_for_each_entry(session, &rblk_clt_sessions, entry) {
		if (!rblk_clt_session_has(session, &args->routes[0]) ||
		    strcmp(session->client, args->client) || !rblk_clt_session_usable(session))
			continue;
		if (!rblk_clt_session_fits(session, args)) {
			NL_SET_ERR_MSG(extack,
				       "the session with this server has another policy, write order, other queues or depth, or reconnects otherwise");
			session = ERR_PTR(-EINVAL);
			goto out;
		}
		if (!rblk_clt_session_has_all(session, args)) {
			NL_SET_ERR_MSG(extack,
				       "the session with this server has other paths; more can be added to it");
			session = ERR_PTR(-EINVAL);
			goto out;
		}
		kref_get(&session->ref);
		session->users++;
		goto out;
	}
	session = fresh;
	if (session) {
		fresh = NULL;
		session->users = 1;
		list_add_tail(&session->entry, &rblk_clt_sessions);
		rblk_clt_changes++;
	} else {
		NL_SET_ERR_MSG(extack, "out of memory");
		session = ERR_PTR(-ENOMEM);
	}
out:
	mutex_unlock(&rblk_clt_lock);
	kfree(fresh);
	return session;
}

static int rblk_clt_tag_set_alloc(struct rblk_clt_session *session,
				  const struct rblk_clt_path *path)
{
	struct blk_mq_tag_set *set = &session->tag_set;
	int err;

	set->ops = &rblk_clt_mq_ops;
	set->nr_hw_queues = path->nr_queues;
	set->queue_depth = session->plan.depth;
	set->cmd_size = rblk_clt_cmd_size(&session->plan);
	set->numa_node = NUMA_NO_NODE;
	set->timeout = RBLK_CLT_IO_TIMEOUT;
	set->flags = BLK_MQ_F_SHOULD_MERGE;
	set->driver_data = session;
	err = rblk_fault(RBLK_FAULT_TAGS) ?: blk_mq_alloc_tag_set(set);
	if (err)
		return err;
	/* Fewer tags than planned do no harm: kdump and short memory give 64 or less. */
	if (set->nr_hw_queues != path->nr_queues) {
		blk_mq_free_tag_set(set);
		return -ENOMEM;
	}
	return 0;
}

static bool rblk_clt_session_live(const struct rblk_clt_session *session)
{
	return READ_ONCE(session->active);
}

static bool rblk_clt_session_decided(const struct rblk_clt_session *session)
{
	return rblk_clt_session_live(session) || !READ_ONCE(session->reconnect);
}

/**
 * rblk_clt_session_cause - why a session has no active path
 * @session: the session, whose lock the caller holds
 * @err: takes the negative errno
 * @what: takes that in words; left alone if nobody knows
 *
 * Context: Any.
 */
void rblk_clt_session_cause(const struct rblk_clt_session *session, int *err, const char **what)
{
	const struct rblk_clt_path *path, *cause = NULL, *fenced = NULL;
	bool drained = false, draining = false;
	u32 i;

	lockdep_assert_held(&session->lock);
	for (i = 0; i < RBLK_CLT_PATHS; i++) {
		path = &session->paths[i];
		draining |= path->draining;
		if (path->fence && path->error_what)
			fenced = path;
		if (path->state == RBLK_PATH_REMOVED)
			continue;
		drained |= path->state == RBLK_PATH_LIVE && path->drained;
		if (path->error_what && (!cause || (cause->drained && !path->drained)))
			cause = path;
	}
	/* The one that was lost says why; that of a while ago may be connecting again. */
	if (fenced)
		cause = fenced;
	*err = -ENOTCONN;
	if (draining) {
		*err = -EAGAIN;
		*what = "the path that carried the I/O is being drained";
	} else if (drained && (!cause || cause->drained)) {
		*err = -EAGAIN;
		*what = "what is connected is drained";
	} else if (cause) {
		*err = cause->error ?: -ENOTCONN;
		*what = cause->error_what;
	}
}

/**
 * rblk_clt_session_server - where a session's server is
 * @session: the session
 * @addr: takes the address to which its first path leads
 *
 * Context: Process context. Does not sleep.
 */
void rblk_clt_session_server(struct rblk_clt_session *session, struct sockaddr_storage *addr)
{
	u32 i = 0;

	spin_lock_irq(&session->lock);
	while (i < RBLK_CLT_PATHS - 1 && session->paths[i].state == RBLK_PATH_REMOVED)
		i++;
	*addr = session->paths[i].route.server;
	spin_unlock_irq(&session->lock);
}

/**
 * rblk_clt_session_wait - wait for a session that was set up to have an active path
 * @session: the session
 * @deadline: when to give up, in jiffies
 * @extack: takes the reason of a failure
 *
 * Context: Process context. Sleeps, interruptible.
 * Return: 0, also if it was not set up yet; or a negative errno.
 */
int rblk_clt_session_wait(struct rblk_clt_session *session, unsigned long deadline,
			  struct netlink_ext_ack *extack)
{
	const char *what = "the connection to the server was lost just now";
	int err;
	long left;

	if (!READ_ONCE(session->tag_set_ready))
		return 0;
	left = max_t(long, deadline - jiffies, 1);
	left = wait_event_interruptible_timeout(session->wait, rblk_clt_session_decided(session),
						left);
	if (left < 0)
		return -EINTR;
	if (rblk_clt_session_live(session))
		return 0;
	spin_lock_irq(&session->lock);
	rblk_clt_session_cause(session, &err, &what);
	spin_unlock_irq(&session->lock);
	/* What is drained is connected. */
	if (!left && err != -EAGAIN)
		what = "the connection to the server is lost, and was not back in time";
	if (!left)
		err = -ETIMEDOUT;
	NL_SET_ERR_MSG_FMT(extack, "%s", what);
	return err;
}

/* Bring up the first path that can be, each with its share of the time. */
static struct rblk_clt_path *rblk_clt_session_connect(struct rblk_clt_session *session,
						      const struct rblk_clt_map_args *args,
						      int *err, const char **what)
{
	struct rblk_clt_path *path;
	bool stale = false;
	long share;
	u32 i;

	for (i = 0; i < args->nr_routes; i++) {
		path = &session->paths[i];
		share = max_t(long, args->deadline - jiffies, 1) / (long)(args->nr_routes - i);
		*err = rblk_clt_path_connect(path, jiffies + max(share, 1L), what);
		if (!*err)
			return path;
		if (*err == -EINTR)
			return NULL;
		stale |= *err == -EALREADY;
	}
	if (stale)
		*err = -EALREADY;
	return NULL;
}

/**
 * rblk_clt_session_setup - connect a session unless it is connected
 * @session: the session
 * @args: what map was asked
 * @extack: takes the reason of a failure
 *
 * Context: Process context. Sleeps, interruptible. The caller holds the session's
 * setup lock.
 * Return: 0 and the session takes devices; -EAGAIN if it was set up before, and has to be
 * waited for with rblk_clt_session_wait(); or another negative errno.
 */
int rblk_clt_session_setup(struct rblk_clt_session *session,
			   const struct rblk_clt_map_args *args,
			   struct netlink_ext_ack *extack)
{
	struct rblk_clt_path *path;
	const char *what = NULL;
	unsigned int noio;
	int err = -EINVAL;
	u32 i;

	lockdep_assert_held(&session->setup);
	if (session->tag_set_ready)
		return rblk_clt_session_live(session) ? 0 : -EAGAIN;
	path = rblk_clt_session_connect(session, args, &err, &what);
	if (!path) {
		WRITE_ONCE(session->failed, true);
		NL_SET_ERR_MSG_FMT(extack, "%s", what);
		return err;
	}
	/* The path's lock keeps what the plan is read from, should it fail now. */
	mutex_lock(&path->lock);
	/* One that is lost has no queue pairs, and after that no queues. */
	if (path->nr_queues && path->control.conn.qp) {
		session->plan = path->plan;
		what = "no memory for the requests of the session";
		/* Under a lock that the end of requests takes, perhaps of another session. */
		noio = memalloc_noio_save();
		err = rblk_clt_tag_set_alloc(session, path);
		memalloc_noio_restore(noio);
	} else {
		what = "the connection to the server was lost just now";
		err = -ENOTCONN;
		rblk_clt_path_cause(path, &err, &what);
	}
	/*
	 * There a write is acknowledged before it is anywhere: one that was lost with the
	 * connection must not be followed by others as if nothing had been.
	 */
	if (!err && path->dev->caps.iwarp) {
		WRITE_ONCE(session->reconnect, false);
		/* One path is all, and there is nothing to be ordered. */
		WRITE_ONCE(session->strict, false);
	}
	if (!err) {
		/* Pairs with the acquire in rblk_clt_in_flight(): the tags were there before. */
		smp_store_release(&session->tag_set_ready, true);
	}
	mutex_unlock(&path->lock);
	if (err) {
		WRITE_ONCE(session->failed, true);
		NL_SET_ERR_MSG_FMT(extack, "%s", what);
		rblk_clt_path_error(path, err, what);
		return err;
	}
	mutex_lock(&rblk_clt_lock);
	rblk_clt_notify_session(session, RBLK_CLIENT_CMD_SESSION_ADD_NTF);
	mutex_unlock(&rblk_clt_lock);
	for (i = 0; session->reconnect && i < args->nr_routes; i++)
		if (&session->paths[i] != path)
			rblk_clt_path_start(&session->paths[i]);
	return 0;
}

static void rblk_clt_session_release(struct kref *ref)
{
	struct rblk_clt_session *session = container_of(ref, struct rblk_clt_session, ref);
	u32 i;

	for (i = 0; i < RBLK_CLT_PATHS; i++)
		kfree(session->paths[i].stats);
	if (session->tag_set_ready)
		blk_mq_free_tag_set(&session->tag_set);
	kfree(session);
}

/**
 * rblk_clt_session_put - give a reference back
 * @session: the session
 *
 * Context: Process context. Sleeps.
 */
void rblk_clt_session_put(struct rblk_clt_session *session)
{
	kref_put(&session->ref, rblk_clt_session_release);
}

/**
 * rblk_clt_sessions_stop - let no thread map any more, and none wait
 *
 * For module unload, which otherwise waits for a map to a server that does not
 * answer.
 *
 * Context: Process context. Sleeps, not for a peer.
 */
void rblk_clt_sessions_stop(void)
{
	struct rblk_clt_session *session;
	u32 i;

	mutex_lock(&rblk_clt_lock);
	rblk_clt_stopped = true;
	list_for_each_entry(session, &rblk_clt_sessions, entry)
		for (i = 0; i < RBLK_CLT_PATHS; i++)
			rblk_clt_path_stop(&session->paths[i], "the module is unloaded");
	mutex_unlock(&rblk_clt_lock);
}

/**
 * rblk_clt_session_unuse - a device or a thread does not use a session any more
 * @session: the session, with a reference of the caller, which is given back
 *
 * The last one ends it: its paths are removed before this returns, in that thread.
 *
 * Context: Process context. Sleeps, for a bounded time. The caller does not hold
 * the session's setup lock.
 */
void rblk_clt_session_unuse(struct rblk_clt_session *session)
{
	bool last;
	u32 i;

	mutex_lock(&rblk_clt_lock);
	last = !--session->users;
	if (last) {
		list_del(&session->entry);
		rblk_clt_changes++;
		if (session->tag_set_ready)
			rblk_clt_notify_session(session, RBLK_CLIENT_CMD_SESSION_REMOVE_NTF);
	}
	mutex_unlock(&rblk_clt_lock);
	if (last) {
		/* All of them first: each may have to wait for a dead peer. */
		for (i = 0; i < RBLK_CLT_PATHS; i++)
			rblk_clt_path_end(&session->paths[i]);
		for (i = 0; i < RBLK_CLT_PATHS; i++)
			rblk_clt_path_remove(&session->paths[i]);
		/* Only what a path did has queued them, or who changed one. */
		cancel_delayed_work_sync(&session->fence_work);
		cancel_delayed_work_sync(&session->probe_work);
		cancel_delayed_work_sync(&session->order_work);
	}
	rblk_clt_session_put(session);
}
