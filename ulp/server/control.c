// SPDX-License-Identifier: GPL-2.0
/*
 * The control connection at the server: what a client asks, and the answers.
 *
 * A message that makes no sense ends its path and nothing else. What may be asked
 * when: hello first and once; then ready, when all I/O connections are up; then
 * open, extents, close, fence and resize in any order.
 */
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <rblk/fault.h>
#include "server.h"

static void rblk_srv_control_error(struct rblk_conn *conn, int err, const char *what)
{
	rblk_srv_path_error(container_of(conn, struct rblk_srv_path, control), err, what);
}

static void rblk_srv_control_recv(struct rblk_conn *conn, struct rblk_rx *rx)
{
	struct rblk_srv_path *path = container_of(conn, struct rblk_srv_path, control);
	unsigned long flags;

	WRITE_ONCE(path->unheard, 0);
	spin_lock_irqsave(&path->rx_lock, flags);
	if (!path->rx_closed) {
		list_add_tail(&rx->entry, &path->rx);
		queue_work(rblk_srv_wq, &path->rx_work);
	}
	spin_unlock_irqrestore(&path->rx_lock, flags);
}

const struct rblk_conn_ops rblk_srv_control_ops = {
	.error	= rblk_srv_control_error,
	.recv	= rblk_srv_control_recv,
};

static enum rblk_status rblk_srv_hello(struct rblk_srv_path *path,
				       const struct rblk_msg_hello *hello,
				       struct rblk_msg_hello_reply *reply)
{
	struct rblk_srv_queue *queues;
	enum rblk_status status;

	if (path->session)
		return RBLK_MALFORMED;
	if (rblk_wire_unknown_features(hello->mandatory))
		return RBLK_FEATURE;
	queues = kcalloc(hello->queues, sizeof(*queues), GFP_KERNEL);
	if (!queues)
		return RBLK_NO_MEMORY;
	status = rblk_srv_session_join(path, hello->client);
	if (status != RBLK_OK) {
		kfree(queues);
		return status;
	}
	path->queues = queues;
	path->nr_queues = hello->queues;
	path->depth = hello->depth;
	do {
		path->token = get_random_u64();
	} while (!path->token);
	*reply = (struct rblk_msg_hello_reply) {
		.features	= RBLK_FEATURES,
		.server		= rblk_srv_id,
		.token		= path->token,
		.queues		= path->nr_queues,
		.depth		= path->depth,
		.device		= path->dev->ib->index + 1,
	};
	return RBLK_OK;
}

static enum rblk_status rblk_srv_ready(struct rblk_srv_path *path,
				       const struct rblk_msg_ready *ready)
{
	if (!path->session || ready->queues != path->nr_up)
		return RBLK_MALFORMED;
	if (!rblk_srv_path_state(path, RBLK_SRV_READY))
		return RBLK_MALFORMED;
	/* From now on the work asks whether the client lives. */
	mod_delayed_work(rblk_srv_wq, &path->ping_work, RBLK_SRV_PING_PERIOD);
	return RBLK_OK;
}

static enum rblk_status rblk_srv_extents(struct rblk_srv_path *path,
					 const struct rblk_msg_extents *msg, u32 *rkeys,
					 struct rblk_msg_extents_reply *reply)
{
	struct rblk_srv_open *open = rblk_srv_open_find(path, msg->handle);
	u32 i, count, nr;

	if (!msg->handle || !open || msg->first >= open->nr_extents)
		return RBLK_MALFORMED;
	/*
	 * Who asks for what was cut off has not seen that message yet, but will before the reply;
	 * who has seen it counts on no more than there is.
	 */
	nr = rblk_srv_nr_extents(open, open->size);
	if (msg->first >= nr)
		nr = open->nr_extents;
	count = min_t(u32, nr - msg->first, RBLK_RKEYS_MAX);
	for (i = 0; i < count; i++)
		rkeys[i] = open->extents[msg->first + i]->mr.mr->rkey;
	*reply = (struct rblk_msg_extents_reply) {
		.handle	= msg->handle,
		.first	= msg->first,
		.count	= count,
		.rkeys	= rkeys,
	};
	return RBLK_OK;
}

static enum rblk_status rblk_srv_answer(struct rblk_srv_path *path, const struct rblk_msg *msg,
					struct rblk_msg *reply, u32 *rkeys)
{
	switch (msg->type) {
	case RBLK_MSG_HELLO:
		return rblk_srv_hello(path, &msg->hello, &reply->hello_reply);
	case RBLK_MSG_READY:
		return rblk_srv_ready(path, &msg->ready);
	default:
		break;
	}
	/* No fault of the client, who has to come again. */
	if (READ_ONCE(path->state) == RBLK_SRV_ENDING)
		return RBLK_SHUTDOWN;
	if (READ_ONCE(path->state) != RBLK_SRV_READY)
		return RBLK_MALFORMED;
	switch (msg->type) {
	case RBLK_MSG_OPEN:
		return rblk_srv_open(path, &msg->open, &reply->open_reply);
	case RBLK_MSG_EXTENTS:
		return rblk_srv_extents(path, &msg->extents, rkeys, &reply->extents_reply);
	case RBLK_MSG_LIMITS:
		return rblk_srv_limits(path, &msg->limits, &reply->limits_reply);
	case RBLK_MSG_CLOSE:
		return rblk_srv_close(path, msg->close.handle);
	case RBLK_MSG_FENCE:
		return rblk_srv_fence(path, &msg->fence);
	case RBLK_MSG_RESIZE:
		return rblk_srv_resized(path, &msg->resize);
	default:
		return RBLK_MALFORMED;
	}
}

/* Return: 0 if the path goes on. */
static int rblk_srv_message(struct rblk_srv_path *path, struct rblk_rx *rx, u32 *rkeys)
{
	struct rblk_msg msg, reply = {};
	int err;

	lockdep_assert_held(&path->lock);
	err = rblk_wire_decode(rx->buf, rx->len, &msg);
	if (err)
		return err;
	if (msg.type == RBLK_MSG_PING)
		return 0;
	reply.type = msg.type | RBLK_MSG_REPLY;
	reply.tag = msg.tag;
	reply.status = rblk_srv_answer(path, &msg, &reply, rkeys);
	err = rblk_conn_send(&path->control, &reply);
	if (reply.status == RBLK_MALFORMED)
		return -EPROTO;
	return err;
}

static int rblk_srv_rx_one(struct rblk_srv_path *path, struct rblk_rx *rx, u32 *rkeys)
{
	int err;

	/* The work is cancelled before the connection goes: it is there throughout. */
	mutex_lock(&path->lock);
	err = rblk_srv_message(path, rx, rkeys);
	if (!err)
		rblk_rx_repost(rx);
	mutex_unlock(&path->lock);
	return err;
}

static struct rblk_rx *rblk_srv_next_rx(struct rblk_srv_path *path)
{
	struct rblk_rx *rx;

	spin_lock_irq(&path->rx_lock);
	rx = path->rx_closed ? NULL : list_first_entry_or_null(&path->rx, struct rblk_rx, entry);
	if (rx)
		list_del(&rx->entry);
	spin_unlock_irq(&path->rx_lock);
	return rx;
}

/**
 * rblk_srv_rx_work - work off the messages of a path
 * @work: the path's
 *
 * Context: Process context. Sleeps.
 */
void rblk_srv_rx_work(struct work_struct *work)
{
	struct rblk_srv_path *path = container_of(work, struct rblk_srv_path, rx_work);
	int err, budget = RBLK_CTL_RX;
	struct rblk_rx *rx;
	u32 *rkeys;

	rblk_fault_work_begin(RBLK_FAULT_WORK_MESSAGE);
	rkeys = kvcalloc(RBLK_RKEYS_MAX, sizeof(*rkeys), GFP_KERNEL);
	if (!rkeys) {
		rblk_srv_path_error(path, -ENOMEM, "out of memory");
		goto out;
	}
	if (xchg(&path->tell, false)) {
		mutex_lock(&path->lock);
		err = rblk_srv_revoke(path) ?: rblk_srv_resize_opens(path);
		mutex_unlock(&path->lock);
		if (err)
			rblk_srv_path_error(path, err, "the client could not be told");
	}
	/* A client that never stops must not keep whoever flushes the workqueue. */
	while (budget-- && (rx = rblk_srv_next_rx(path))) {
		err = rblk_srv_rx_one(path, rx, rkeys);
		if (err) {
			rblk_srv_path_error(path, err, "a message of the client makes no sense");
			break;
		}
	}
	spin_lock_irq(&path->rx_lock);
	if (!path->rx_closed && !list_empty(&path->rx))
		queue_work(rblk_srv_wq, &path->rx_work);
	spin_unlock_irq(&path->rx_lock);
	kvfree(rkeys);
out:
	rblk_fault_work_end(RBLK_FAULT_WORK_MESSAGE);
}
