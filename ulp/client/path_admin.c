// SPDX-License-Identifier: GPL-2.0
/*
 * What an administrator changes in the paths of a session: add, remove, drain, undrain.
 *
 * A path that is drained carries no I/O until it is undrained. If it was the only active one,
 * none is from then on, and I/O waits, as after a loss; but the path stays up until what is
 * in flight there has ended, so that nothing is sent twice, and nothing of it fails. Then it
 * is broken on purpose, and all goes as after a loss: the server ends that generation,
 * another path goes on, and this one connects again and stands by. Who cannot wait for a
 * path (dm's own requests, what is to fail fast) fails in between, as after a loss.
 *
 * A path that is removed is drained first. Its place is free from then on, and a path
 * that is added may get it; the generations of that number go on, so that the server
 * takes none for an older one.
 *
 * All of these hold the session's setup lock, and are its users. They allocate nothing that
 * waits for I/O: the lock may be what I/O waits for.
 */
#include <linux/delay.h>
#include <linux/sched/mm.h>
#include <uapi/linux/rblk_client.h>
#include "client.h"

/* How often to look whether requests have ended, ms. */
#define RBLK_CLT_DRAIN_POLL	2

/* Return: the session of a device, with its setup lock held and one more user. */
static struct rblk_clt_session *rblk_clt_session_begin(u32 index, unsigned int *noio,
						       struct netlink_ext_ack *extack)
{
	struct rblk_clt_session *session = NULL;
	struct rblk_clt_device *dev;

	mutex_lock(&rblk_clt_lock);
	dev = rblk_clt_device_find(index);
	if (dev) {
		session = dev->session;
		kref_get(&session->ref);
		session->users++;
	}
	mutex_unlock(&rblk_clt_lock);
	if (!session) {
		NL_SET_ERR_MSG(extack, "there is no such device");
		return ERR_PTR(-ENODEV);
	}
	if (mutex_lock_interruptible(&session->setup)) {
		rblk_clt_session_unuse(session);
		return ERR_PTR(-EINTR);
	}
	*noio = memalloc_noio_save();
	return session;
}

static void rblk_clt_session_end(struct rblk_clt_session *session, unsigned int noio)
{
	mutex_lock(&rblk_clt_lock);
	if (session->users > 1)
		rblk_clt_notify_session(session, RBLK_CLIENT_CMD_SESSION_CHANGE_NTF);
	mutex_unlock(&rblk_clt_lock);
	memalloc_noio_restore(noio);
	mutex_unlock(&session->setup);
	rblk_clt_session_unuse(session);
}

static struct rblk_clt_path *rblk_clt_path_find(struct rblk_clt_session *session, u32 number,
						struct netlink_ext_ack *extack)
{
	if (number < RBLK_CLT_PATHS &&
	    READ_ONCE(session->paths[number].state) != RBLK_PATH_REMOVED)
		return &session->paths[number];
	NL_SET_ERR_MSG(extack, "the session has no path of this number");
	return NULL;
}

/* Let it carry I/O again, at once if nobody does. */
static void rblk_clt_path_restore(struct rblk_clt_path *path)
{
	struct rblk_clt_session *session = path->session;
	struct rblk_clt_path *found = NULL;

	lockdep_assert_held(&rblk_clt_lock);
	spin_lock_irq(&session->lock);
	WRITE_ONCE(path->drained, false);
	if (path->state == RBLK_PATH_LIVE)
		found = rblk_clt_active_found(path);
	spin_unlock_irq(&session->lock);
	if (found) {
		rblk_clt_go_on(found);
		rblk_clt_path_notify(found);
	}
}

/* Return: whether another path is active now. */
static bool rblk_clt_path_undo_drain(struct rblk_clt_path *path)
{
	bool taken;

	/* No path becomes active without it. */
	mutex_lock(&rblk_clt_lock);
	taken = READ_ONCE(path->session->active);
	if (!taken)
		rblk_clt_path_restore(path);
	mutex_unlock(&rblk_clt_lock);
	return taken;
}

/* Wait until each path that could take over is known to be alive, or not to be live. */
static void rblk_clt_path_ask_others(struct rblk_clt_path *path)
{
	struct rblk_clt_session *session = path->session;
	struct rblk_clt_path *other;
	bool known;

	do {
		mutex_lock(&rblk_clt_lock);
		spin_lock_irq(&session->lock);
		other = rblk_clt_active_best(path, true);
		spin_unlock_irq(&session->lock);
		mutex_unlock(&rblk_clt_lock);
		/* One that did not, and is broken by that, leaves the next one to ask. */
		known = !other || rblk_clt_path_answers(other) ||
			READ_ONCE(other->state) == RBLK_PATH_LIVE;
	} while (!known);
}

/* GENERATION takes its generation, if something may be in flight in that, or 0. */
static int rblk_clt_path_retire(struct rblk_clt_path *path, bool force, u32 *generation,
				struct netlink_ext_ack *extack)
{
	struct rblk_clt_session *session = path->session;
	struct rblk_clt_path *other;
	int err = 0;

	*generation = 0;
	mutex_lock(&rblk_clt_lock);
	spin_lock_irq(&session->lock);
	other = rblk_clt_active_best(path, true);
	if (!other && !force) {
		NL_SET_ERR_MSG(extack, "no other path could carry the I/O now");
		err = -EBUSY;
	} else if (!force && rblk_clt_served(other) < rblk_clt_served(path)) {
		NL_SET_ERR_MSG(extack, "not all devices are open on another path now");
		err = -EBUSY;
	} else {
		WRITE_ONCE(path->drained, true);
	}
	if (!err && path->carried) {
		WRITE_ONCE(session->active, session->active & ~BIT(path->index));
		session->losses++;
		path->fence = path->generation;
		path->draining = true;
		*generation = path->generation;
	}
	spin_unlock_irq(&session->lock);
	/* Whoever saw it as active has posted then. */
	if (*generation)
		rblk_clt_paths_lost(session, jiffies);
	mutex_unlock(&rblk_clt_lock);
	return err;
}

/*
 * Return: 0 and the path is drained, and takes nothing any more; or a negative errno, and
 * it carries I/O, or stands by, as before.
 */
static int rblk_clt_path_vacate(struct rblk_clt_path *path, bool force,
				struct netlink_ext_ack *extack)
{
	struct rblk_clt_session *session = path->session;
	unsigned long deadline = jiffies + RBLK_CLT_DRAIN_TIMEOUT;
	u32 generation, in_flight[RBLK_CLT_PATHS];
	int err;

	lockdep_assert_held(&session->setup);
	if (!READ_ONCE(session->reconnect)) {
		NL_SET_ERR_MSG(extack,
			       "the session does not reconnect: a path that is given up would never be back");
		return -EOPNOTSUPP;
	}
	if (path->drained)
		return 0;
	if (!force)
		rblk_clt_path_ask_others(path);
	err = rblk_clt_path_retire(path, force, &generation, extack);
	if (err || !generation)
		return err;
	for (;;) {
		rblk_clt_in_flight(session, in_flight);
		if (!in_flight[path->index] || time_after(jiffies, deadline) ||
		    !READ_ONCE(session->reconnect))
			break;
		msleep(RBLK_CLT_DRAIN_POLL);
	}
	rblk_clt_path_error_of(path, generation, -ESHUTDOWN, "it was drained");
	if (force)
		return 0;
	wait_event_timeout(session->wait,
			   READ_ONCE(session->active) ||
			   !READ_ONCE(session->reconnect), RBLK_CLT_TAKE_TIMEOUT);
	if (rblk_clt_path_undo_drain(path))
		return 0;
	NL_SET_ERR_MSG(extack, "no other path took over in time");
	return -EBUSY;
}

/**
 * rblk_clt_path_drain - have a path carry no I/O any more
 * @index: N of /dev/rblkN, of whose session it is
 * @number: of the path
 * @force: also if there is no other that could
 * @extack: takes the reason of a refusal
 *
 * Context: Process context. Sleeps, for a bounded time.
 * Return: 0, or a negative errno.
 */
int rblk_clt_path_drain(u32 index, u32 number, bool force, struct netlink_ext_ack *extack)
{
	struct rblk_clt_session *session;
	struct rblk_clt_path *path;
	int err = -ENOENT;
	unsigned int noio;

	session = rblk_clt_session_begin(index, &noio, extack);
	if (IS_ERR(session))
		return PTR_ERR(session);
	path = rblk_clt_path_find(session, number, extack);
	if (path)
		err = rblk_clt_path_vacate(path, force, extack);
	rblk_clt_session_end(session, noio);
	return err;
}

/**
 * rblk_clt_path_undrain - let a path carry I/O again, when its turn comes
 * @index: N of /dev/rblkN, of whose session it is
 * @number: of the path
 * @extack: takes the reason of a refusal
 *
 * Context: Process context. Sleeps, not for a peer.
 * Return: 0, or a negative errno.
 */
int rblk_clt_path_undrain(u32 index, u32 number, struct netlink_ext_ack *extack)
{
	struct rblk_clt_session *session;
	struct rblk_clt_path *path;
	unsigned int noio;

	session = rblk_clt_session_begin(index, &noio, extack);
	if (IS_ERR(session))
		return PTR_ERR(session);
	path = rblk_clt_path_find(session, number, extack);
	if (path) {
		mutex_lock(&rblk_clt_lock);
		rblk_clt_path_restore(path);
		mutex_unlock(&rblk_clt_lock);
	}
	rblk_clt_session_end(session, noio);
	return path ? 0 : -ENOENT;
}

/**
 * rblk_clt_tune - change what is to change
 * @tuning: of a path
 * @tune: what
 *
 * Context: Any.
 */
void rblk_clt_tune(struct rblk_conn_tuning *tuning, const struct rblk_clt_tune *tune)
{
	if (tune->tos >= 0)
		tuning->tos = tune->tos;
	if (tune->ack_timeout >= 0)
		tuning->ack_timeout = tune->ack_timeout;
	if (tune->retries >= 0)
		tuning->retries = tune->retries;
}

/**
 * rblk_clt_path_untuned - is a path to connect anew, with the parameters that it was given?
 * @path: the path
 *
 * Context: Any. The caller holds the session's lock.
 * Return: true if it has other ones, and would disturb nobody.
 */
bool rblk_clt_path_untuned(const struct rblk_clt_path *path)
{
	const struct rblk_conn_tuning *has = &path->tuning, *given = &path->route.tuning;

	lockdep_assert_held(&path->session->lock);
	return path->state == RBLK_PATH_LIVE && !path->carried && path->session->reconnect &&
	       (has->tos != given->tos || has->ack_timeout != given->ack_timeout ||
		has->retries != given->retries);
}

/**
 * rblk_clt_path_tune - change parameters of a path
 * @index: N of /dev/rblkN, of whose session it is
 * @number: of the path
 * @tune: what
 * @extack: takes the reason of a refusal
 *
 * They hold from its next connection on. One that has carried no I/O makes that at once, if
 * anything is other than it was.
 *
 * Context: Process context. Sleeps, not for a peer.
 * Return: 0, or a negative errno.
 */
int rblk_clt_path_tune(u32 index, u32 number, const struct rblk_clt_tune *tune,
		       struct netlink_ext_ack *extack)
{
	struct rblk_clt_session *session;
	struct rblk_clt_device *dev;
	struct rblk_clt_path *path;
	u32 generation = 0;
	int err = -ENODEV;

	mutex_lock(&rblk_clt_lock);
	dev = rblk_clt_device_find(index);
	if (!dev) {
		NL_SET_ERR_MSG(extack, "there is no such device");
		goto out;
	}
	session = dev->session;
	err = -ENOENT;
	path = rblk_clt_path_find(dev->session, number, extack);
	if (!path)
		goto out;
	if (!READ_ONCE(session->reconnect)) {
		NL_SET_ERR_MSG(extack,
			       "the session does not reconnect: no connection would ever have them");
		err = -EOPNOTSUPP;
		goto out;
	}
	err = 0;
	spin_lock_irq(&session->lock);
	rblk_clt_tune(&path->route.tuning, tune);
	if (rblk_clt_path_untuned(path))
		generation = path->generation;
	spin_unlock_irq(&session->lock);
	/* It may have become active since: then it is lost as any other. */
	if (generation)
		rblk_clt_path_error_of(path, generation, -ESHUTDOWN, RBLK_CLT_RETUNE);
	rblk_clt_notify_session(session, RBLK_CLIENT_CMD_SESSION_CHANGE_NTF);
out:
	mutex_unlock(&rblk_clt_lock);
	return err;
}

static bool rblk_clt_path_last(const struct rblk_clt_path *path)
{
	const struct rblk_clt_session *session = path->session;
	u32 i;

	for (i = 0; i < RBLK_CLT_PATHS; i++)
		if (i != path->index &&
		    READ_ONCE(session->paths[i].state) != RBLK_PATH_REMOVED)
			return false;
	return true;
}

/**
 * rblk_clt_path_drop - drain a path and end it for good
 * @index: N of /dev/rblkN, of whose session it is
 * @number: of the path
 * @force: also if there is no other that could carry the I/O
 * @extack: takes the reason of a refusal
 *
 * Context: Process context. Sleeps, as long as the CM needs to end its work.
 * Return: 0, or a negative errno.
 */
int rblk_clt_path_drop(u32 index, u32 number, bool force, struct netlink_ext_ack *extack)
{
	struct rblk_clt_session *session;
	struct rblk_clt_path *path;
	int err = -ENOENT;
	unsigned int noio;

	session = rblk_clt_session_begin(index, &noio, extack);
	if (IS_ERR(session))
		return PTR_ERR(session);
	path = rblk_clt_path_find(session, number, extack);
	if (!path)
		goto out;
	if (rblk_clt_path_last(path)) {
		NL_SET_ERR_MSG(extack,
			       "it is the last path of the session, which ends when its devices are unmapped");
		err = -EINVAL;
		goto out;
	}
	err = rblk_clt_path_vacate(path, force, extack);
	if (err)
		goto out;
	/* It lets go on what was in flight. */
	flush_work(&path->fail_work);
	rblk_clt_path_end(path);
	rblk_clt_path_remove(path);
out:
	rblk_clt_session_end(session, noio);
	return err;
}

/* Return: a path of that route that has done nothing yet, or NULL. */
static struct rblk_clt_path *rblk_clt_path_new(struct rblk_clt_session *session,
					       const struct rblk_clt_route *route)
{
	u32 i;

	lockdep_assert_held(&session->setup);
	for (i = 0; i < RBLK_CLT_PATHS; i++)
		if (rblk_clt_path_renew(&session->paths[i], route))
			return &session->paths[i];
	return NULL;
}

static int rblk_clt_path_try(struct rblk_clt_session *session,
			     const struct rblk_clt_route *route, unsigned long deadline,
			     u32 *number, struct netlink_ext_ack *extack)
{
	struct rblk_clt_path *path = rblk_clt_path_new(session, route);
	const char *what = NULL;
	int err;

	if (!path && !READ_ONCE(session->reconnect)) {
		NL_SET_ERR_MSG(extack, "the session is being ended");
		return -ESHUTDOWN;
	}
	if (!path) {
		NL_SET_ERR_MSG(extack, "the session has as many paths as it can have");
		return -ENOSPC;
	}
	path->until = deadline;
	path->hurried = true;
	err = rblk_clt_path_connect(path, deadline, &what);
	path->hurried = false;
	if (err) {
		NL_SET_ERR_MSG_FMT(extack, "%s", what);
		rblk_clt_path_end(path);
		rblk_clt_path_remove(path);
	}
	*number = path->index;
	return err;
}

/**
 * rblk_clt_path_add - bring up a further path of a session
 * @index: N of /dev/rblkN, of whose session it is to be
 * @route: between which addresses
 * @deadline: when to give up, in jiffies
 * @number: takes its number
 * @extack: takes the reason of a failure
 *
 * Context: Process context. Sleeps, interruptible while it connects.
 * Return: 0, or a negative errno and nothing is left of it.
 */
int rblk_clt_path_add(u32 index, const struct rblk_clt_route *route, unsigned long deadline,
		      u32 *number, struct netlink_ext_ack *extack)
{
	struct rblk_clt_session *session;
	const struct rblk_clt_path *has;
	unsigned int noio;
	int err;
	u32 i;

	session = rblk_clt_session_begin(index, &noio, extack);
	if (IS_ERR(session))
		return PTR_ERR(session);
	if (!READ_ONCE(session->reconnect)) {
		NL_SET_ERR_MSG(extack,
			       "the session does not reconnect, so no I/O could go from one path to another");
		err = -EOPNOTSUPP;
		goto out;
	}
	for (i = 0; i < RBLK_CLT_PATHS; i++) {
		has = &session->paths[i];
		if (READ_ONCE(has->state) != RBLK_PATH_REMOVED &&
		    rblk_clt_route_equal(&has->route, route)) {
			NL_SET_ERR_MSG(extack, "the session has this path already");
			err = -EEXIST;
			goto out;
		}
	}
	for (;;) {
		err = rblk_clt_path_try(session, route, deadline, number, extack);
		/* Our refused attempt told the server to end what it still had: once more. */
		if (err != -EALREADY || time_after(jiffies, deadline) ||
		    msleep_interruptible(RBLK_CLT_STALE_PAUSE))
			break;
		/* What it was refused for first must not come with its success. */
		if (extack)
			extack->_msg = NULL;
	}
out:
	rblk_clt_session_end(session, noio);
	return err;
}
