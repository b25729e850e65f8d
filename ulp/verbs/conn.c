// SPDX-License-Identifier: GPL-2.0
/*
 * RC connections: CM events, QP and CQ, tear-down. See include/rblk/conn.h.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <rdma/ib_cm.h>
#include <rblk/conn.h>
#include <rblk/fault.h>
#include <rblk/trace.h>

/*
 * A message never meets an empty receive queue (see msgs.c), so a peer that has
 * none to offer is broken, and is not retried for ever, as 7 would mean.
 */
#define RBLK_RNR_RETRIES	6
/* How long a peer without a receive is left alone: 0.64 ms, not the 655 ms of 0. */
#define RBLK_MIN_RNR_TIMER	12
#define RBLK_DRAIN_TIMEOUT	(10 * HZ)

/**
 * rblk_conn_abort - end the set-up of a connection from outside
 * @conn: the connection
 * @err: negative errno, which the thread that sets it up gets
 * @what: why, a constant string
 *
 * Context: Any. Does not sleep.
 */
void rblk_conn_abort(struct rblk_conn *conn, int err, const char *what)
{
	if (!cmpxchg(&conn->error, 0, err))
		WRITE_ONCE(conn->error_what, what);
	wake_up_all(&conn->wait);
}
EXPORT_SYMBOL_GPL(rblk_conn_abort);

/**
 * rblk_conn_fail - note that a connection is broken and tell its owner
 * @conn: the connection
 * @err: negative errno
 * @what: what happened, a constant string
 *
 * The one place through which all errors of a connection go.
 *
 * Context: Any. Does not sleep.
 */
void rblk_conn_fail(struct rblk_conn *conn, int err, const char *what)
{
	if (!cmpxchg(&conn->error, 0, err)) {
		WRITE_ONCE(conn->error_what, what);
		trace_rblk_conn_error(conn, err, what);
	}
	wake_up_all(&conn->wait);
	conn->ops->error(conn, err, what);
}
EXPORT_SYMBOL_GPL(rblk_conn_fail);

static void rblk_conn_reached(struct rblk_conn *conn, enum rblk_conn_step step)
{
	/* Pairs with the acquire in rblk_conn_wait(): @rep is written before. */
	smp_store_release(&conn->step, step);
	wake_up_all(&conn->wait);
}

static void rblk_conn_established(struct rblk_conn *conn, const struct rdma_cm_event *ev)
{
	const struct rdma_conn_param *param = &ev->param.conn;
	int err;

	/* At the server the event carries nothing of interest. */
	if (conn->step == RBLK_STEP_ROUTE) {
		/*
		 * The CM sets the queue pair to what the peer says, whatever was asked. With
		 * 0 no READ would ever leave. What iWARP means by the field is another thing.
		 */
		if (rdma_protocol_roce(conn->id->device, conn->id->port_num) ||
		    rdma_protocol_ib(conn->id->device, conn->id->port_num)) {
			if (!param->initiator_depth || param->initiator_depth > conn->init_rd) {
				rblk_conn_fail(conn, -EPROTO,
					       "the server's read depth is none that was asked");
				return;
			}
		}
		err = rblk_wire_decode_rep(param->private_data, param->private_data_len,
					   &conn->rep);
		/* One that says why not is no accept. */
		if (!err && conn->rep.status != RBLK_OK)
			err = -EBADMSG;
		if (err) {
			rblk_conn_fail(conn, err, "the server's accept makes no sense");
			return;
		}
	}
	trace_rblk_conn_established(conn);
	rblk_conn_reached(conn, RBLK_STEP_ESTABLISHED);
}

/* Not by an rblk server: by the CM of the server's node, or by that of iWARP's TCP. */
static void rblk_conn_rejected_by_cm(struct rblk_conn *conn, int reason)
{
	bool iwarp = rdma_protocol_iwarp(conn->id->device, conn->id->port_num);

	if (reason == (iwarp ? -ECONNREFUSED : IB_CM_REJ_INVALID_SERVICE_ID))
		rblk_conn_fail(conn, -ECONNREFUSED, "nothing listens there");
	else if (!iwarp && reason == IB_CM_REJ_STALE_CONN)
		/* This node was reset, and its queue pairs have the old numbers again. */
		rblk_conn_fail(conn, -EALREADY, "the server still has an older connection");
	else
		rblk_conn_fail(conn, -ECONNREFUSED, rdma_reject_msg(conn->id, reason));
}

static void rblk_conn_rejected(struct rblk_conn *conn, struct rdma_cm_event *ev)
{
	const void *data;
	u8 len = 0;
	int err;

	/* Answers no request of ours: the peer drops what is up, or nearly. */
	if (conn->step != RBLK_STEP_ROUTE) {
		rblk_conn_fail(conn, -ECONNRESET, "the peer closed the connection");
		return;
	}
	data = rdma_consumer_reject_data(conn->id, ev, &len);
	if (!data || !len) {
		rblk_conn_rejected_by_cm(conn, ev->status);
		return;
	}
	/*
	 * The server's CM itself sends zeroes, if it has no way back to this side, or no
	 * memory, before the server can say anything.
	 */
	if (!memchr_inv(data, 0, len)) {
		rblk_conn_fail(conn, -ECONNREFUSED, "refused without a reason");
		return;
	}
	err = rblk_wire_decode_rep(data, len, &conn->rep);
	if (err || conn->rep.status == RBLK_OK)
		rblk_conn_fail(conn, err == -EPROTONOSUPPORT ? err : -EBADMSG,
			       err == -EPROTONOSUPPORT ?
			       rblk_status_text(RBLK_VERSION) :
			       "what listens there is not an rblk server");
	else
		rblk_conn_fail(conn, rblk_status_errno(conn->rep.status),
			       rblk_status_text(conn->rep.status));
}

/* Only notes what happened; all work is done by threads that wait for it. */
static int rblk_conn_cm_event(struct rdma_cm_id *id, struct rdma_cm_event *ev)
{
	struct rblk_conn *conn = id->context;

	trace_rblk_conn_cm_event(conn, ev->event, ev->status);
	switch (ev->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		rblk_conn_reached(conn, RBLK_STEP_ADDR);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		rblk_conn_reached(conn, RBLK_STEP_ROUTE);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		rblk_conn_established(conn, ev);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
		rblk_conn_fail(conn, ev->status ?: -EHOSTUNREACH,
			       ev->status == -ENODEV ? "no RDMA device leads to the address" :
			       "no route to the address");
		break;
	case RDMA_CM_EVENT_ROUTE_ERROR:
		rblk_conn_fail(conn, -EHOSTUNREACH, "no RDMA route to the address");
		break;
	case RDMA_CM_EVENT_UNREACHABLE:
		/*
		 * Of a connection that is up this only says that a neighbour has another
		 * hardware address, or none for now. The transport knows whether it matters.
		 */
		if (READ_ONCE(conn->step) != RBLK_STEP_ESTABLISHED)
			rblk_conn_fail(conn, -EHOSTUNREACH, "the peer does not answer");
		break;
	case RDMA_CM_EVENT_REJECTED:
		rblk_conn_rejected(conn, ev);
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
		rblk_conn_fail(conn, -ECONNABORTED, "the connection could not be set up");
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		rblk_conn_fail(conn, -ECONNRESET, "the peer closed the connection");
		break;
	case RDMA_CM_EVENT_ADDR_CHANGE:
		rblk_conn_fail(conn, -EADDRNOTAVAIL, "the local address changed");
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		/* The owner destroys the id, as it does after any other error. */
		rblk_conn_fail(conn, -ENODEV, "the RDMA device went away");
		break;
	default:
		break;
	}
	return 0;
}

static void rblk_conn_qp_event(struct ib_event *ev, void *context)
{
	struct rblk_conn *conn = context;

	switch (ev->event) {
	case IB_EVENT_COMM_EST:
		/* A message overtook the CM's last one: the connection is up. */
		rdma_notify(conn->id, ev->event);
		break;
	case IB_EVENT_QP_LAST_WQE_REACHED:
	case IB_EVENT_SQ_DRAINED:
		break;
	default:
		rblk_conn_fail(conn, -EIO, ib_event_msg(ev->event));
		break;
	}
}

/**
 * rblk_conn_init - make a connection object that has nothing yet
 * @conn: the connection
 * @ops: what its owner is told
 *
 * Context: Any. Does not sleep.
 */
void rblk_conn_init(struct rblk_conn *conn, const struct rblk_conn_ops *ops)
{
	memset(conn, 0, sizeof(*conn));
	conn->ops = ops;
	conn->tuning = RBLK_CONN_TUNING;
	init_waitqueue_head(&conn->wait);
	init_completion(&conn->sq_drained);
	init_completion(&conn->rq_drained);
	spin_lock_init(&conn->tx_lock);
}
EXPORT_SYMBOL_GPL(rblk_conn_init);

static bool rblk_conn_has_reached(const struct rblk_conn *conn, enum rblk_conn_step step)
{
	/* Pairs with the release in rblk_conn_reached(). */
	return smp_load_acquire(&conn->step) >= step || READ_ONCE(conn->error);
}

static int rblk_conn_wait(struct rblk_conn *conn, enum rblk_conn_step step,
			  unsigned long deadline)
{
	long left = max_t(long, deadline - jiffies, 1);
	int err;

	left = wait_event_interruptible_timeout(conn->wait, rblk_conn_has_reached(conn, step),
						left);
	err = READ_ONCE(conn->error);
	if (err)
		return err;
	if (left < 0)
		return -EINTR;
	return left ? 0 : -ETIMEDOUT;
}

/**
 * rblk_conn_resolve - find the way to a server: address, device, route
 * @conn: the connection, which has nothing yet
 * @net: network namespace
 * @src: address to come from, or NULL
 * @dst: address and port to go to
 * @deadline: when to give up, in jiffies
 *
 * Context: Process context. Sleeps, interruptible by signals.
 * Return: 0: @conn->id has its device and its route. A negative errno otherwise;
 * rblk_conn_destroy() is due in both cases.
 */
int rblk_conn_resolve(struct rblk_conn *conn, struct net *net, const struct sockaddr_storage *src,
		      const struct sockaddr_storage *dst, unsigned long deadline)
{
	struct rdma_cm_id *id;
	int ms, err;

	err = rblk_fault(RBLK_FAULT_CM_ID);
	if (err)
		return err;
	id = rdma_create_id(net, rblk_conn_cm_event, conn, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	conn->id = id;
	rdma_set_ack_timeout(id, conn->tuning.ack_timeout);
	rdma_set_service_type(id, conn->tuning.tos);

	ms = clamp_t(long, deadline - jiffies, 1, 10 * HZ) * MSEC_PER_SEC / HZ;
	err = rblk_fault(RBLK_FAULT_ADDR) ?:
		rdma_resolve_addr(id, (struct sockaddr *)src, (struct sockaddr *)dst, ms);
	if (!err)
		err = rblk_conn_wait(conn, RBLK_STEP_ADDR, deadline);
	if (err)
		return err;
	err = rblk_fault(RBLK_FAULT_ROUTE) ?: rdma_resolve_route(id, ms);
	if (!err)
		err = rblk_conn_wait(conn, RBLK_STEP_ROUTE, deadline);
	return err;
}
EXPORT_SYMBOL_GPL(rblk_conn_resolve);

/**
 * rblk_conn_create - give a connection its CQ and its QP
 * @conn: the connection, with an id that is bound to @dev
 * @dev: the device, which the owner uses
 * @pd: the path's protection domain
 * @sizes: what to make them for
 *
 * Context: Process context. Sleeps.
 * Return: 0, or a negative errno; rblk_conn_destroy() is due in both cases.
 */
int rblk_conn_create(struct rblk_conn *conn, struct rblk_dev *dev, struct ib_pd *pd,
		     const struct rblk_conn_sizes *sizes)
{
	struct ib_qp_init_attr attr = {
		.event_handler	= rblk_conn_qp_event,
		.qp_context	= conn,
		.qp_type	= IB_QPT_RC,
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.cap = {
			.max_send_wr	= sizes->sq_wrs,
			.max_recv_wr	= sizes->rq_wrs,
			.max_send_sge	= sizes->send_sge,
			.max_recv_sge	= 1,
			.max_rdma_ctxs	= sizes->rw_ctxs,
		},
	};
	struct ib_cq *cq;
	int err;

	conn->dev = dev;
	conn->rq_wrs = sizes->rq_wrs;
	err = rblk_fault(RBLK_FAULT_CQ);
	if (err)
		return err;
	cq = ib_alloc_cq(dev->ib, conn, sizes->cq_entries,
			 sizes->vector % max_t(u32, dev->ib->num_comp_vectors, 1), sizes->poll);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	conn->cq = cq;

	attr.send_cq = cq;
	attr.recv_cq = cq;
	rdma_set_min_rnr_timer(conn->id, RBLK_MIN_RNR_TIMER);
	err = rblk_fault(RBLK_FAULT_QP) ?: rdma_create_qp(conn->id, pd, &attr);
	if (err)
		return err;
	conn->qp = conn->id->qp;
	conn->qpn = conn->qp->qp_num;
	return 0;
}
EXPORT_SYMBOL_GPL(rblk_conn_create);

/* What the two sides agreed on; to ask the device costs time, so only for who looks. */
static void rblk_conn_note_reads(struct rblk_conn *conn)
{
	const int mask = IB_QP_MAX_QP_RD_ATOMIC | IB_QP_MAX_DEST_RD_ATOMIC;
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	if (!trace_rblk_conn_reads_enabled() && !IS_ENABLED(CONFIG_INFINIBAND_RBLK_FAULTS))
		return;
	if (ib_query_qp(conn->qp, &attr, mask, &init))
		return;
	trace_rblk_conn_reads(conn, &attr);
	rblk_fault_reads(&attr);
}

/**
 * rblk_conn_connect - connect to the server and wait for its answer
 * @conn: the connection, with its QP
 * @req: what to tell the server
 * @init_rd: RDMA READs in flight to ask for
 * @deadline: when to give up, in jiffies
 *
 * Context: Process context. Sleeps, interruptible by signals.
 * Return: 0: the connection is up and @conn->rep has the answer. A negative
 * errno otherwise, and @conn->error_what says why if a peer or the CM said so.
 */
int rblk_conn_connect(struct rblk_conn *conn, const struct rblk_req *req, u32 init_rd,
		      unsigned long deadline)
{
	struct rblk_wire_req wire;
	struct rdma_conn_param param = {
		.private_data		= &wire,
		.private_data_len	= sizeof(wire),
		.initiator_depth	= init_rd,
		.responder_resources	= conn->resp_rd ?: 1,
		.retry_count		= conn->tuning.retries,
		.rnr_retry_count	= RBLK_RNR_RETRIES,
	};
	int err;

	conn->init_rd = init_rd;
	rblk_wire_encode_req(req, &wire);
	trace_rblk_conn_connect(conn, req);
	err = rblk_fault(RBLK_FAULT_CONNECT) ?: rdma_connect(conn->id, &param);
	if (!err)
		err = rblk_conn_wait(conn, RBLK_STEP_ESTABLISHED, deadline);
	if (!err)
		rblk_conn_note_reads(conn);
	return err;
}
EXPORT_SYMBOL_GPL(rblk_conn_connect);

/**
 * rblk_conn_adopt - take over the id of a connect request
 * @conn: the connection, which has nothing yet
 * @id: the id, which the caller owns
 *
 * Context: Process context. Sleeps, since events of @id wait meanwhile.
 */
void rblk_conn_adopt(struct rblk_conn *conn, struct rdma_cm_id *id)
{
	rdma_lock_handler(id);
	id->context = conn;
	id->event_handler = rblk_conn_cm_event;
	conn->id = id;
	rdma_unlock_handler(id);
}
EXPORT_SYMBOL_GPL(rblk_conn_adopt);

/**
 * rblk_conn_accept - accept a connect request
 * @conn: the connection, adopted, with its QP
 * @rep: what to tell the client
 * @resp_rd: RDMA READs in flight that the client may have, at least 1
 * @init_rd: RDMA READs in flight of this side, at least 1
 *
 * Context: Process context. Sleeps.
 * Return: 0, or a negative errno.
 */
int rblk_conn_accept(struct rblk_conn *conn, const struct rblk_rep *rep, u32 resp_rd,
		     u32 init_rd)
{
	struct rblk_wire_rep wire;
	struct rdma_conn_param param = {
		.private_data		= &wire,
		.private_data_len	= sizeof(wire),
		.initiator_depth	= init_rd,
		.responder_resources	= resp_rd,
		.retry_count		= conn->tuning.retries,
		.rnr_retry_count	= RBLK_RNR_RETRIES,
	};
	int err;

	rblk_wire_encode_rep(rep, &wire);
	rdma_set_ack_timeout(conn->id, conn->tuning.ack_timeout);
	rdma_lock_handler(conn->id);
	err = rblk_fault(RBLK_FAULT_ACCEPT) ?: rdma_accept(conn->id, &param);
	rdma_unlock_handler(conn->id);
	if (!err)
		rblk_conn_note_reads(conn);
	return err;
}
EXPORT_SYMBOL_GPL(rblk_conn_accept);

/**
 * rblk_reject - refuse a connect request and say why
 * @id: id of the request; the caller destroys it afterwards
 * @status: the reason
 *
 * Context: Process context. Sleeps.
 */
void rblk_reject(struct rdma_cm_id *id, enum rblk_status status)
{
	const struct rblk_rep rep = { .version = RBLK_WIRE_VERSION, .status = status };
	struct rblk_wire_rep wire;

	rblk_wire_encode_rep(&rep, &wire);
	trace_rblk_reject(status);
	rdma_reject(id, &wire, sizeof(wire), IB_CM_REJ_CONSUMER_DEFINED);
}
EXPORT_SYMBOL_GPL(rblk_reject);

static void rblk_conn_sq_drained(struct ib_cq *cq, struct ib_wc *wc)
{
	complete(&container_of(wc->wr_cqe, struct rblk_conn, sq_drain)->sq_drained);
}

static void rblk_conn_rq_drained(struct ib_cq *cq, struct ib_wc *wc)
{
	complete(&container_of(wc->wr_cqe, struct rblk_conn, rq_drain)->rq_drained);
}

/*
 * Wait until all that was posted has completed. As ib_drain_qp(), but with a
 * limit: a device that never completes must not hold up the tear-down, and need
 * not, since the QP and the CQ are destroyed next.
 * Return: whether it took too long, or nobody knows.
 */
static bool rblk_conn_drain(struct rblk_conn *conn)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	struct ib_rdma_wr swr = {
		.wr = {
			.wr_cqe		= &conn->sq_drain,
			.opcode		= IB_WR_RDMA_WRITE,
			.send_flags	= IB_SEND_SIGNALED,
		},
	};
	struct ib_recv_wr rwr = { .wr_cqe = &conn->rq_drain };
	struct ib_qp *qp = conn->qp;
	/* Many connections of one dead device are waited for once, not one by one. */
	unsigned long limit = READ_ONCE(conn->dev->stuck) ? HZ / 100 + 1 : RBLK_DRAIN_TIMEOUT;
	bool late = false, waited = false, unknown = false;

	if (qp->device->ops.drain_sq || qp->device->ops.drain_rq) {
		/* Such a device takes no work request in the error state. */
		ib_drain_qp(qp);
		return false;
	}
	if (ib_modify_qp(qp, &attr, IB_QP_STATE))
		return true;
	conn->sq_drain.done = rblk_conn_sq_drained;
	conn->rq_drain.done = rblk_conn_rq_drained;
	if (!ib_post_send(qp, &swr.wr, NULL)) {
		late |= !wait_for_completion_timeout(&conn->sq_drained, limit);
		waited = true;
	} else {
		unknown = true;
	}
	if (conn->nr_rx && !ib_post_recv(qp, &rwr, NULL))
		late |= !wait_for_completion_timeout(&conn->rq_drained, late ? 1 : limit);
	else if (conn->nr_rx)
		unknown = true;
	/* Only a marker that came back says that the device works. */
	if (waited)
		WRITE_ONCE(conn->dev->stuck, late);
	if (late)
		pr_warn_ratelimited("rblk: %s did not complete all work of a queue pair in %u ms\n",
				    qp->device->name, jiffies_to_msecs(limit));
	return late || unknown;
}

/**
 * rblk_conn_cut - end what a peer can reach through a connection
 * @conn: the connection; nobody posts to it any more
 *
 * When it returns, there is no queue pair and no DMA of this connection, and none of
 * its completion handlers runs. The rest is for rblk_conn_destroy(), which waits for
 * the CM, and the CM knows no limit.
 *
 * Context: Process context. Sleeps, for a bounded time.
 */
void rblk_conn_cut(struct rblk_conn *conn)
{
	bool late;

	/* A queue that never connected is not even initialised. */
	if (!conn->id)
		return;
	/* What completes from here on is nobody's business any more. */
	rblk_conn_abort(conn, -ENOTCONN, "the connection is closed");
	if (conn->rx)
		synchronize_rcu();
	if (conn->qp) {
		rdma_disconnect(conn->id);
		late = rblk_conn_drain(conn);
		if (conn->ops->drained)
			conn->ops->drained(conn, late);
		rdma_destroy_qp(conn->id);
	}
	/* After this no completion handler runs, whatever the drain came to. */
	if (conn->cq)
		ib_free_cq(conn->cq);
	conn->qp = NULL;
	conn->cq = NULL;
}
EXPORT_SYMBOL_GPL(rblk_conn_cut);

/**
 * rblk_conn_destroy - undo all that was done for a connection, however far it came
 * @conn: the connection; nobody posts to it any more
 *
 * When it returns, no DMA of this connection is going on, the peer can reach
 * nothing through it and no callback of it runs or will run.
 *
 * Context: Process context. Sleeps, as long as the CM needs to end its work on the id.
 * The caller holds no lock that @conn->ops take.
 */
void rblk_conn_destroy(struct rblk_conn *conn)
{
	if (!conn->id)
		return;
	trace_rblk_conn_destroy(conn);
	rblk_conn_cut(conn);
	if (rblk_fault(RBLK_FAULT_CM_END))
		msleep(RBLK_FAULT_CM_END_MS);
	rdma_destroy_id(conn->id);
	rblk_msgs_destroy(conn);
	conn->id = NULL;
	conn->dev = NULL;
}
EXPORT_SYMBOL_GPL(rblk_conn_destroy);
