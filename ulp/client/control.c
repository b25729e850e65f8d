// SPDX-License-Identifier: GPL-2.0
/*
 * The control connection at the client: ask, and wait for the reply.
 */
#include <rblk/trace.h>
#include "client.h"

#define RBLK_CLT_ASK_PINGS	3

static struct rblk_clt_path *rblk_clt_control_path(struct rblk_conn *conn)
{
	return container_of(conn, struct rblk_clt_path, control.conn);
}

static void rblk_clt_control_error(struct rblk_conn *conn, int err, const char *what)
{
	rblk_clt_path_error(rblk_clt_control_path(conn), err, what);
}

static void rblk_clt_control_recv(struct rblk_conn *conn, struct rblk_rx *rx)
{
	struct rblk_clt_control *control = &rblk_clt_control_path(conn)->control;
	const struct rblk_msg pong = { .type = RBLK_MSG_PING };
	struct rblk_msg msg;
	bool expected = false;
	unsigned long flags;

	if (rblk_wire_decode(rx->buf, rx->len, &msg)) {
		rblk_conn_fail(conn, -EBADMSG, "a message of the server makes no sense");
		return;
	}
	switch (msg.type) {
	case RBLK_MSG_PING:
		/*
		 * The server only wants to know whether this node is there: its device
		 * said so by taking the message. Over iWARP it cannot; then we do.
		 */
		rblk_rx_repost(rx);
		if (conn->dev->caps.iwarp)
			rblk_conn_send(conn, &pong);
		return;
	case RBLK_MSG_REVOKE:
		/* An event that is lost would leave keys in use: then lose the path. */
		if (rblk_clt_revoked(rblk_clt_control_path(conn), msg.revoke.handle,
				     msg.revoke.reason))
			rblk_conn_fail(conn, -ENOMEM, "out of memory");
		else
			rblk_rx_repost(rx);
		return;
	case RBLK_MSG_RESIZE:
		/* As above: the server waits for what comes of it. */
		if (rblk_clt_resized(rblk_clt_control_path(conn), &msg.resize))
			rblk_conn_fail(conn, -ENOMEM, "out of memory");
		else
			rblk_rx_repost(rx);
		return;
	default:
		break;
	}

	spin_lock_irqsave(&control->lock, flags);
	if (control->asking && !control->len && msg.tag == control->tag) {
		memcpy(control->buf, rx->buf, rx->len);
		control->len = rx->len;
		expected = true;
	}
	spin_unlock_irqrestore(&control->lock, flags);
	if (!expected) {
		rblk_conn_fail(conn, -EPROTO, "the server sent a reply to nothing");
		return;
	}
	rblk_rx_repost(rx);
	wake_up_all(&conn->wait);
}

const struct rblk_conn_ops rblk_clt_control_ops = {
	.error	= rblk_clt_control_error,
	.recv	= rblk_clt_control_recv,
};

static bool rblk_clt_replied(struct rblk_clt_control *control)
{
	bool replied;

	spin_lock_irq(&control->lock);
	replied = control->len;
	spin_unlock_irq(&control->lock);
	return replied || READ_ONCE(control->conn.error);
}

static long rblk_clt_ask_wait_once(struct rblk_clt_control *control, bool interruptible,
				   long timeout)
{
	if (interruptible)
		return wait_event_interruptible_timeout(control->conn.wait,
							rblk_clt_replied(control), timeout);
	return wait_event_timeout(control->conn.wait, rblk_clt_replied(control), timeout);
}

/*
 * siw may leave the first message of a connection unread in the server's socket, when
 * it comes while the connection is being handed to the queue pair, until more comes.
 * So over iWARP ask "are you there" a few times, which needs no answer; no more than
 * a few, since a server that is busy posts no new receives meanwhile.
 */
static int rblk_clt_ask_wait(struct rblk_clt_control *control, bool interruptible,
			     unsigned long deadline)
{
	const struct rblk_msg ping = { .type = RBLK_MSG_PING };
	int pings = control->conn.dev->caps.iwarp ? RBLK_CLT_ASK_PINGS : 0;
	long limit, left;

	for (; pings >= 0; pings--) {
		limit = pings ? HZ / 2 : RBLK_CLT_ASK_TIMEOUT;
		limit = clamp_t(long, deadline - jiffies, 1, limit);
		left = rblk_clt_ask_wait_once(control, interruptible, limit);
		if (left < 0)
			return -EINTR;
		if (left)
			return 0;
		if (pings)
			rblk_conn_send(&control->conn, &ping);
	}
	return -ETIMEDOUT;
}

/*
 * On a live path who waited for somebody else's question has his own time all the same: to give
 * up costs the path. Return: whether there is any.
 */
static bool rblk_clt_ask_time(const struct rblk_clt_path *path, const struct rblk_msg *msg,
			      unsigned long waited, unsigned long *deadline)
{
	bool late = time_after(jiffies, *deadline);

	if (READ_ONCE(path->state) == RBLK_PATH_LIVE)
		*deadline += waited;
	/* What is not closed is held. */
	return msg->type == RBLK_MSG_CLOSE ? !time_after(jiffies, *deadline) : !late;
}

/* Why there will be no reply. The tear-down may have closed the connection by now. */
static void rblk_clt_ask_lost(struct rblk_clt_path *path, int *err, const char **what)
{
	struct rblk_conn *conn = &path->control.conn;

	*err = READ_ONCE(conn->error) ?: -ENOTCONN;
	*what = READ_ONCE(conn->error_what) ?: "not connected";
	rblk_clt_path_cause(path, err, what);
}

/**
 * rblk_clt_no_time - what it is that there was no time for a question
 * @path: the path on which it was to be asked
 *
 * Context: Any.
 * Return: -ETIME if that is no fault of the path, which is live; else -ETIMEDOUT.
 */
int rblk_clt_no_time(const struct rblk_clt_path *path)
{
	return READ_ONCE(path->state) == RBLK_PATH_LIVE ? -ETIME : -ETIMEDOUT;
}

/**
 * rblk_clt_ask - ask the server and wait for its reply
 * @path: the path, whose control connection is up
 * @generation: of the path, for which the question is meant
 * @msg: the question; its tag is set here
 * @reply: the decoded reply; its status is RBLK_OK if it was not the server that refused
 * @rkeys: takes the keys of a reply to RBLK_MSG_EXTENTS, RBLK_RKEYS_MAX at most;
 *	NULL for other questions
 * @interruptible: a signal may end the wait; then the whole path must go, since
 *	nobody knows what the server did
 * @deadline: when to give up, in jiffies; RBLK_CLT_ASK_TIMEOUT from now at the latest. On a
 *	live path the time in which others ask does not count
 * @what: why it failed, in words
 *
 * A server that does not reply in time breaks the path, for the same reason.
 *
 * Context: Process context. Sleeps, for a bounded time.
 * Return: 0, or a negative errno: the server's refusal, or the connection's error; -ETIME, the
 * question was not asked, and nothing is wrong with the path.
 */
int rblk_clt_ask(struct rblk_clt_path *path, u32 generation, struct rblk_msg *msg,
		 struct rblk_msg *reply, u32 *rkeys, bool interruptible,
		 unsigned long deadline, const char **what)
{
	struct rblk_clt_control *control = &path->control;
	struct rblk_conn *conn = &control->conn;
	unsigned long since = jiffies;
	int err;
	u32 i;

	reply->status = RBLK_OK;
	mutex_lock(&control->ask_lock);
	/* The path came back meanwhile: what is asked for is of the one that was lost. */
	if (path->generation != generation) {
		*what = "the connection to the server was lost just now";
		err = -ENOTCONN;
		goto out;
	}
	if (READ_ONCE(conn->error) || !conn->qp) {
		rblk_clt_ask_lost(path, &err, what);
		goto out;
	}
	/* Somebody else's question took all the time: no fault of the path. */
	if (!rblk_clt_ask_time(path, msg, jiffies - since, &deadline)) {
		*what = "the server was busy with another question for too long";
		err = rblk_clt_no_time(path);
		goto out;
	}
	spin_lock_irq(&control->lock);
	msg->tag = ++control->tag;
	control->asking = true;
	control->len = 0;
	spin_unlock_irq(&control->lock);

	err = rblk_conn_send(conn, msg);
	if (err)
		*what = "a message could not be sent";
	else
		err = rblk_clt_ask_wait(control, interruptible, deadline);
	spin_lock_irq(&control->lock);
	control->asking = false;
	spin_unlock_irq(&control->lock);
	if (err == -ETIMEDOUT) {
		*what = "the server does not reply";
		rblk_clt_path_error(path, err, *what);
	}
	if (err == -EINTR)
		*what = "interrupted";
	if (!err && !control->len)
		rblk_clt_ask_lost(path, &err, what);
	if (err)
		goto out;

	err = rblk_wire_decode(control->buf, control->len, reply);
	if (!err && reply->type != (msg->type | RBLK_MSG_REPLY))
		err = -EPROTO;
	if (err) {
		*what = "the server's reply makes no sense";
		rblk_clt_path_error(path, err, *what);
		goto out;
	}
	if (reply->status != RBLK_OK) {
		err = rblk_status_errno(reply->status);
		*what = rblk_status_text(reply->status);
		goto out;
	}
	if (rkeys && reply->type == (RBLK_MSG_EXTENTS | RBLK_MSG_REPLY))
		for (i = 0; i < reply->extents_reply.count; i++)
			rkeys[i] = le32_to_cpu(reply->extents_reply.wire_rkeys[i]);
out:
	mutex_unlock(&control->ask_lock);
	return err;
}
