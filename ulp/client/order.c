// SPDX-License-Identifier: GPL-2.0
/*
 * What the end of a write promises to a read over another path.
 *
 * A WRITE is acknowledged by the server's RDMA device before it is in memory, perhaps. A READ
 * that comes through the same device finds it all the same; one through another device of
 * the server may overtake it. So where paths that carry I/O end at several devices, a
 * request to write is a WRITE and a READ of a few bytes of the same key behind it, on the same
 * queue pair, and ends with the READ: that could not be answered before the WRITE was in place.
 * Such writes are strict.
 *
 * A path that ends at another device than those that carry I/O joins them only when nothing
 * is left that could be overtaken: all writes are strict from a moment on; those that had
 * begun before it have ended; and what their WRITEs moved has had time to arrive, which is a
 * matter of microseconds.
 *
 * When a path is lost or drained and another one takes over, nothing of this is needed: the
 * server destroys the queue pairs before.
 */
#include <linux/rcupdate.h>
#include <uapi/linux/rblk_client.h>
#include "client.h"

/* How often to look whether older writes have ended, and how long what they moved may take. */
#define RBLK_CLT_ORDER_POLL	msecs_to_jiffies(10)
#define RBLK_CLT_ORDER_SETTLE	msecs_to_jiffies(100)

/* Do paths of the session end at several devices of the server? */
static bool rblk_clt_order_differs(const struct rblk_clt_session *session)
{
	const struct rblk_clt_path *path;
	u32 i, device = 0;

	for (i = 0; i < RBLK_CLT_PATHS; i++) {
		path = &session->paths[i];
		if (path->state == RBLK_PATH_REMOVED || !path->server_told)
			continue;
		/* What the server does not tell may be any. */
		if (!path->server_device || (device && device != path->server_device))
			return true;
		device = path->server_device;
	}
	return false;
}

static bool rblk_clt_order_wanted(const struct rblk_clt_session *session)
{
	lockdep_assert_held(&session->lock);
	switch (session->write_order) {
	case RBLK_CLIENT_WRITE_ORDER_STRICT:
		return true;
	case RBLK_CLIENT_WRITE_ORDER_AUTO:
		return session->policy != RBLK_POLICY_PREFERRED && rblk_clt_order_differs(session);
	default:
		return false;
	}
}

/**
 * rblk_clt_order_check - see whether writes have to be strict now
 * @session: the session, whose paths or settings have changed
 *
 * Context: Any. Does not sleep. The caller holds the session's lock.
 */
void rblk_clt_order_check(struct rblk_clt_session *session)
{
	lockdep_assert_held(&session->lock);
	if (!rblk_clt_order_wanted(session)) {
		WRITE_ONCE(session->strict, false);
		session->ordered = false;
	} else if (!session->ordered) {
		queue_delayed_work(rblk_clt_wq, &session->order_work, 0);
	}
}

/**
 * rblk_clt_order_set - say what the end of a write is to promise
 * @session: the session
 * @order: enum rblk_client_write_order
 *
 * Context: Process context. Sleeps, not for a peer. The caller holds rblk_clt_lock.
 */
void rblk_clt_order_set(struct rblk_clt_session *session, u32 order)
{
	lockdep_assert_held(&rblk_clt_lock);
	spin_lock_irq(&session->lock);
	WRITE_ONCE(session->write_order, order);
	spin_unlock_irq(&session->lock);
	/* More paths may carry I/O together than before, or fewer. */
	rblk_clt_policy_set(session, session->policy);
}

/* Return: whether all writes that begin from here on are strict. */
static bool rblk_clt_order_begin(struct rblk_clt_session *session)
{
	bool wanted, fresh;

	spin_lock_irq(&session->lock);
	wanted = rblk_clt_order_wanted(session) && !session->ordered;
	fresh = wanted && !session->strict;
	if (fresh)
		WRITE_ONCE(session->strict, true);
	spin_unlock_irq(&session->lock);
	if (fresh) {
		/* Whoever did not see it has posted then. */
		synchronize_rcu();
		session->order_since = jiffies;
	}
	return wanted;
}

/**
 * rblk_clt_order_work - make writes strict, and then let other paths join
 * @work: the session's
 *
 * Context: Process context. Sleeps, not for a peer.
 */
void rblk_clt_order_work(struct work_struct *work)
{
	struct rblk_clt_session *session =
		container_of(work, struct rblk_clt_session, order_work.work);
	unsigned long end;

	if (!rblk_clt_order_begin(session))
		return;
	if (rblk_clt_unordered(session))
		session->order_since = jiffies;
	end = session->order_since + RBLK_CLT_ORDER_SETTLE;
	if (time_before(jiffies, end)) {
		queue_delayed_work(rblk_clt_wq, &session->order_work, RBLK_CLT_ORDER_POLL);
		return;
	}
	mutex_lock(&rblk_clt_lock);
	spin_lock_irq(&session->lock);
	/* It may not be wanted any more, and only this work makes it so again. */
	session->ordered = session->strict;
	spin_unlock_irq(&session->lock);
	rblk_clt_policy_set(session, session->policy);
	mutex_unlock(&rblk_clt_lock);
}
