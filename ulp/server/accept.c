// SPDX-License-Identifier: GPL-2.0
/*
 * Connect requests. The CM handler only reads what the client said and passes the
 * request to a thread, since all that follows sleeps.
 */
#include <crypto/utils.h>
#include <linux/delay.h>
#include <linux/slab.h>
#include <rblk/fault.h>
#include "server.h"

/* For an older attempt of a path to end. */
#define RBLK_SRV_REPLACE_TIMEOUT	(15 * HZ)
#define RBLK_SRV_REFUSED_MAX		64	/* leaves room for the rest of paths */

static atomic_t rblk_srv_nr_pending = ATOMIC_INIT(0);
/* Of those that were refused: how many the CM is not done with. */
static atomic_t rblk_srv_nr_refused = ATOMIC_INIT(0);

/* Until a thread has adopted the id, whatever happens shows when it tries. */
static int rblk_srv_pending_event(struct rdma_cm_id *id, struct rdma_cm_event *ev)
{
	return 0;
}

static enum rblk_status rblk_srv_control_setup(struct rblk_srv_path *path,
					       struct rblk_srv_pending *pending)
{
	struct rblk_conn *conn = &path->control;
	struct rblk_conn_sizes sizes = { .send_sge = 1, .poll = IB_POLL_WORKQUEUE };
	struct rblk_rep rep = { .version = RBLK_WIRE_VERSION, .status = RBLK_OK };
	struct rblk_msg_plan plan;
	struct rblk_dev *dev;
	const char *why;
	int err;

	dev = rblk_dev_join(conn->id->device, &path->dev_user);
	if (IS_ERR(dev))
		return RBLK_SHUTDOWN;
	path->dev = dev;
	strscpy(path->rdma_device, dev->ib->name, sizeof(path->rdma_device));
	path->client = conn->id->route.addr.dst_addr;
	path->local = conn->id->route.addr.src_addr;
	if (rblk_plan_msgs(&dev->caps, RBLK_CTL_TX, RBLK_CTL_RX, &plan, &why)) {
		pr_warn_ratelimited("rblk: %s cannot serve a client: %s\n", dev->ib->name, why);
		return RBLK_DEVICE;
	}
	path->pd = rblk_fault_or(RBLK_FAULT_PD, ib_alloc_pd(dev->ib, 0));
	if (IS_ERR(path->pd)) {
		path->pd = NULL;
		return RBLK_NO_MEMORY;
	}
	sizes.sq_wrs = plan.sq_wrs;
	sizes.rq_wrs = plan.rq_wrs;
	sizes.cq_entries = plan.cq_entries;
	err = rblk_conn_create(conn, dev, path->pd, &sizes);
	if (!err)
		err = rblk_msgs_create(conn);
	if (err)
		return rblk_status_from_errno(err);
	rep.depth = pending->req.depth;
	path->depth = pending->req.depth;
	err = rblk_conn_accept(conn, &rep, min(plan.resp_rd, pending->resp_rd), 1);
	return rblk_status_from_errno(err);
}

/* A newer attempt of a path takes the place of an older one, which ends first. */
static enum rblk_status rblk_srv_replace(const struct rblk_req *req)
{
	enum rblk_status status = RBLK_OK;
	struct rblk_srv_path *old;

	if (rblk_fault_unfenced())
		return RBLK_OK;
	mutex_lock(&rblk_srv_lock);
	old = rblk_srv_path_find(&req->session, req->path);
	if (old)
		old->newest = max(old->newest, req->generation);
	mutex_unlock(&rblk_srv_lock);
	if (!old)
		return RBLK_OK;
	if (req->generation <= old->generation) {
		status = RBLK_DUPLICATE;
	} else if (test_and_set_bit(RBLK_SRV_PATH_REPLACED, &old->flags)) {
		/* One waits for it; others would take the place of other clients' requests. */
		status = RBLK_NO_SESSION;
	} else {
		rblk_srv_path_error(old, -ESTALE, "the client connects anew");
		/* Who was refused meanwhile comes again, and this one's client has given up. */
		if (!wait_for_completion_timeout(&old->ended, RBLK_SRV_REPLACE_TIMEOUT) ||
		    READ_ONCE(old->newest) != req->generation)
			status = RBLK_NO_SESSION;
		clear_bit(RBLK_SRV_PATH_REPLACED, &old->flags);
	}
	rblk_srv_path_put(old);
	return status;
}

static enum rblk_status rblk_srv_accept_control(struct rblk_srv_pending *pending)
{
	struct rblk_srv_path *path;
	enum rblk_status status;

	/* Another attempt may have come between: then the greater one stays. */
	do {
		status = rblk_srv_replace(&pending->req);
		if (status != RBLK_OK)
			return status;
		path = rblk_srv_path_create(&pending->req);
	} while (path == ERR_PTR(-EEXIST));
	if (IS_ERR(path))
		return rblk_status_from_errno(PTR_ERR(path));

	mutex_lock(&path->lock);
	/* A newer attempt may have ended it since it was listed. */
	if (READ_ONCE(path->state) != RBLK_SRV_BUILDING) {
		mutex_unlock(&path->lock);
		rblk_srv_path_put(path);
		return RBLK_NO_SESSION;
	}
	rblk_conn_adopt(&path->control, pending->id);
	status = rblk_srv_control_setup(path, pending);
	if (status != RBLK_OK)
		rblk_reject(pending->id, status);
	mutex_unlock(&path->lock);
	/* It has the id now, and its end destroys it. */
	pending->id = NULL;
	if (status != RBLK_OK)
		rblk_srv_path_error(path, rblk_status_errno(status), rblk_status_text(status));
	rblk_srv_path_put(path);
	return RBLK_OK;
}

static void rblk_srv_queue_error(struct rblk_conn *conn, int err, const char *what)
{
	rblk_srv_path_error(container_of(conn, struct rblk_srv_queue, conn)->path, err, what);
}

/* No receives are posted on an I/O connection, so there is no recv. */
static const struct rblk_conn_ops rblk_srv_queue_ops = {
	.error	= rblk_srv_queue_error,
};

static bool rblk_srv_token_ok(const struct rblk_srv_path *path, const struct rblk_req *req)
{
	return path->generation == req->generation && path->token &&
	       !crypto_memneq(&path->token, &req->token, sizeof(path->token));
}

static enum rblk_status rblk_srv_queue_check(struct rblk_srv_path *path,
					     struct rblk_srv_pending *pending)
{
	const struct rblk_req *req = &pending->req;

	if (!rblk_srv_token_ok(path, req))
		return RBLK_NO_SESSION;
	if (READ_ONCE(path->state) != RBLK_SRV_BUILDING)
		return RBLK_NO_SESSION;
	if (req->queue >= path->nr_queues)
		return RBLK_LIMIT;
	if (path->queues[req->queue].conn.id)
		return RBLK_DUPLICATE;
	/* Keys belong to the path's protection domain, and so to its device. */
	if (pending->id->device != path->dev->ib)
		return RBLK_DEVICE;
	return RBLK_OK;
}

static enum rblk_status rblk_srv_queue_setup(struct rblk_srv_path *path,
					     struct rblk_srv_queue *queue,
					     struct rblk_srv_pending *pending)
{
	struct rblk_rep rep = { .version = RBLK_WIRE_VERSION, .depth = path->depth };
	struct rblk_conn_sizes sizes = {
		.send_sge	= 1,
		.vector		= pending->req.queue,
		.poll		= IB_POLL_SOFTIRQ,
	};
	struct rblk_msg_plan plan;
	const char *why;
	int err;

	/* It serves the client's one-sided access; this side posts the drain only. */
	if (rblk_plan_msgs(&path->dev->caps, 0, 0, &plan, &why))
		return RBLK_DEVICE;
	sizes.sq_wrs = plan.sq_wrs;
	sizes.rq_wrs = plan.rq_wrs;
	sizes.cq_entries = plan.cq_entries;
	rblk_conn_init(&queue->conn, &rblk_srv_queue_ops);
	queue->path = path;
	rblk_conn_adopt(&queue->conn, pending->id);
	err = rblk_conn_create(&queue->conn, path->dev, path->pd, &sizes);
	if (!err)
		err = rblk_conn_accept(&queue->conn, &rep, min(plan.resp_rd, pending->resp_rd), 1);
	if (err) {
		/*
		 * The client gives the whole path up. So does this side, whose end destroys
		 * the id: not here, with the path's lock held, since the CM knows no limit.
		 */
		rblk_reject(pending->id, rblk_status_from_errno(err));
		/* First: who waits for the lock to add a connection learns that it is in vain. */
		rblk_srv_path_error(path, err, "a connection could not be set up");
		rblk_conn_cut(&queue->conn);
	} else {
		path->nr_up++;
		/* It makes progress, and cannot for ever: there are so many queues. */
		WRITE_ONCE(path->build_by, jiffies + RBLK_SRV_BUILD_TIMEOUT);
	}
	/* Whether it came up or not, it is not the caller's any more. */
	pending->id = NULL;
	return RBLK_OK;
}

/* One at a time: many that wait for the lock of a path would keep the places of others. */
static enum rblk_status rblk_srv_accept_disk_queue(struct rblk_srv_path *path,
						   struct rblk_srv_pending *pending)
{
	enum rblk_status status = RBLK_NO_SESSION;

	/* It is as it stays once the path is ready. */
	if (READ_ONCE(path->state) != RBLK_SRV_READY || !rblk_srv_token_ok(path, &pending->req))
		return RBLK_NO_SESSION;
	if (test_and_set_bit(RBLK_SRV_PATH_JOINING, &path->flags))
		return RBLK_NO_SESSION;
	while (!mutex_trylock(&path->lock)) {
		if (READ_ONCE(path->state) != RBLK_SRV_READY)
			goto out;
		usleep_range(1000, 2000);
	}
	status = rblk_srv_disk_queue_setup(path, pending);
	mutex_unlock(&path->lock);
out:
	clear_bit(RBLK_SRV_PATH_JOINING, &path->flags);
	return status;
}

static enum rblk_status rblk_srv_accept_queue(struct rblk_srv_pending *pending)
{
	struct rblk_srv_path *path;
	enum rblk_status status;

	mutex_lock(&rblk_srv_lock);
	path = rblk_srv_path_find(&pending->req.session, pending->req.path);
	mutex_unlock(&rblk_srv_lock);
	if (!path)
		return RBLK_NO_SESSION;
	if (pending->req.kind == RBLK_CONN_DISK) {
		status = rblk_srv_accept_disk_queue(path, pending);
		rblk_srv_path_put(path);
		return status;
	}
	/* Before the lock, which a ready path may hold for long: an open registers. */
	if (READ_ONCE(path->state) != RBLK_SRV_BUILDING) {
		rblk_srv_path_put(path);
		return RBLK_NO_SESSION;
	}
	/*
	 * Not waited for as such, either: the path may have become ready, and many of its
	 * requests would keep the place of those of others until an open is through.
	 */
	while (!mutex_trylock(&path->lock)) {
		if (READ_ONCE(path->state) != RBLK_SRV_BUILDING) {
			rblk_srv_path_put(path);
			return RBLK_NO_SESSION;
		}
		usleep_range(1000, 2000);
	}
	status = rblk_srv_queue_check(path, pending);
	if (status == RBLK_OK)
		status = rblk_srv_queue_setup(path, &path->queues[pending->req.queue], pending);
	mutex_unlock(&path->lock);
	rblk_srv_path_put(path);
	return status;
}

static void rblk_srv_refused_work(struct work_struct *work)
{
	struct rblk_srv_pending *pending = container_of(work, struct rblk_srv_pending, work);

	rdma_destroy_id(pending->id);
	kfree(pending);
	atomic_dec(&rblk_srv_nr_refused);
}

static void rblk_srv_accept_work(struct work_struct *work)
{
	struct rblk_srv_pending *pending = container_of(work, struct rblk_srv_pending, work);
	enum rblk_status status = pending->status;

	rblk_fault_work_begin(RBLK_FAULT_WORK_ACCEPT);
	if (status == RBLK_OK)
		status = pending->req.kind == RBLK_CONN_CONTROL ?
			rblk_srv_accept_control(pending) : rblk_srv_accept_queue(pending);
	if (pending->id)
		rblk_reject(pending->id, status);
	rblk_fault_work_end(RBLK_FAULT_WORK_ACCEPT);
	if (!pending->id) {
		kfree(pending);
	} else if (atomic_inc_return(&rblk_srv_nr_refused) > RBLK_SRV_REFUSED_MAX) {
		rblk_srv_refused_work(&pending->work);
	} else {
		/* The CM is not done with it while its link is down: that keeps nobody's place. */
		INIT_WORK(&pending->work, rblk_srv_refused_work);
		queue_work(rblk_srv_rest_wq, &pending->work);
	}
	atomic_dec(&rblk_srv_nr_pending);
}

/**
 * rblk_srv_connect_request - take a connect request
 * @id: its CM id
 * @ev: the event
 *
 * Context: CM handler. Does not sleep.
 * Return: 0 and the id is ours, or a negative errno and the CM destroys it.
 */
int rblk_srv_connect_request(struct rdma_cm_id *id, const struct rdma_cm_event *ev)
{
	const struct rdma_conn_param *param = &ev->param.conn;
	struct rblk_srv_pending *pending;
	int err;

	if (atomic_inc_return(&rblk_srv_nr_pending) > RBLK_SRV_PENDING_MAX)
		goto err_busy;
	/* Not worth waiting for memory here: the client tries again. */
	pending = kzalloc(sizeof(*pending), GFP_NOWAIT | __GFP_NOWARN);
	if (!pending)
		goto err_busy;
	err = rblk_wire_decode_req(param->private_data, param->private_data_len, &pending->req);
	if (err == -EPROTONOSUPPORT)
		pending->status = RBLK_VERSION;
	else if (err || !param->responder_resources)
		pending->status = RBLK_MALFORMED;
	pending->resp_rd = param->responder_resources;
	pending->init_rd = param->initiator_depth;
	pending->id = id;
	INIT_WORK(&pending->work, rblk_srv_accept_work);
	id->context = pending;
	id->event_handler = rblk_srv_pending_event;
	queue_work(rblk_srv_listen_wq, &pending->work);
	return 0;

err_busy:
	atomic_dec(&rblk_srv_nr_pending);
	rblk_reject(id, RBLK_NO_MEMORY);
	return -ENOMEM;
}
