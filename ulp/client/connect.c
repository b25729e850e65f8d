// SPDX-License-Identifier: GPL-2.0
/*
 * Bringing a path up: control connection, hello, I/O connections, ready.
 *
 * Runs in the thread that maps, or in the path's connect_work, with the path's lock held
 * throughout. Whatever fails, the caller's one rblk_clt_path_teardown() undoes it.
 */
#include <linux/dma-mapping.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <rblk/fault.h>
#include <rblk/trace.h>
#include "client.h"

static struct rblk_clt_queue *rblk_clt_conn_queue(struct rblk_conn *conn)
{
	return container_of(conn, struct rblk_clt_queue, conn);
}

static void rblk_clt_queue_error(struct rblk_conn *conn, int err, const char *what)
{
	rblk_clt_path_error(rblk_clt_conn_queue(conn)->path, err, what);
}

/* No receives are posted on an I/O connection, so there is no recv. */
static const struct rblk_conn_ops rblk_clt_queue_ops = {
	.error	= rblk_clt_queue_error,
};

/**
 * rblk_clt_fill_req - what to say in a connect request
 * @path: the path
 * @req: to fill in
 * @kind: of the connection
 * @queue: its index
 * @depth: requests in flight on it
 * @token: of the path, or 0
 *
 * Context: Any.
 */
void rblk_clt_fill_req(const struct rblk_clt_path *path, struct rblk_req *req,
		       enum rblk_conn_kind kind, u16 queue, u16 depth, u64 token)
{
	*req = (struct rblk_req) {
		.version	= RBLK_WIRE_VERSION,
		.kind		= kind,
		.queue		= queue,
		.depth		= depth,
		.path		= path->index,
		.session	= path->session->id,
		.generation	= path->generation,
		.token		= token,
	};
}

/**
 * rblk_clt_step_deadline - when a step of bringing a path up has to be done
 * @path: the path
 * @deadline: of the map that brings it up the first time, in jiffies
 *
 * A path that comes back has time for each step: as long as it gets on, what it has
 * to set up takes as long as it takes, and to begin anew would not be faster. Unless
 * somebody waits for it, who said how long.
 *
 * Context: Any.
 * Return: the time, in jiffies.
 */
unsigned long rblk_clt_step_deadline(const struct rblk_clt_path *path, unsigned long deadline)
{
	unsigned long step = jiffies + RBLK_CLT_STEP_TIMEOUT;

	if (!path->session->tag_set_ready)
		return deadline;
	return path->hurried && time_before(path->until, step) ? path->until : step;
}

/* What was made for the requests of the session is not made again. */
static u32 rblk_clt_depth(const struct rblk_clt_session *session)
{
	if (session->tag_set_ready)
		return session->plan.depth;
	return session->want_depth ?: RBLK_DEPTH_DEFAULT;
}

static u32 rblk_clt_queues(const struct rblk_clt_session *session)
{
	if (session->tag_set_ready)
		return session->tag_set.nr_hw_queues;
	return rblk_plan_queues(session->want_queues, num_online_cpus(), RBLK_QUEUES_MAX);
}

/* Requests are as large and as many as the first time. */
static int rblk_clt_plan_fits(const struct rblk_clt_path *path, u32 queues, const char **what)
{
	const struct rblk_clt_session *session = path->session;

	if (!session->tag_set_ready)
		return 0;
	if (path->plan.depth < session->plan.depth || queues < session->tag_set.nr_hw_queues)
		*what = "the server allows fewer requests than when the session began";
	else if (path->dev->caps.iwarp)
		*what = "over iWARP nothing can be continued";
	else if (path->plan.max_segments < session->plan.max_segments ||
		 path->plan.max_io < session->plan.max_io)
		*what = "the RDMA device can do less than the one the session began with";
	else
		return 0;
	return -ERANGE;
}

/* Two paths between the same addresses would be lost together. */
static int rblk_clt_take_source(struct rblk_clt_path *path,
				const struct sockaddr_storage *source, const char **what)
{
	struct rblk_clt_session *session = path->session;
	struct sockaddr_storage mine = *source, its;
	const struct rblk_clt_path *other;
	int err = 0;
	u32 i;

	rblk_addr_set_port(&mine, 0);
	spin_lock_irq(&session->lock);
	for (i = 0; i < RBLK_CLT_PATHS; i++) {
		other = &session->paths[i];
		its = other->source;
		if (other == path || !its.ss_family ||
		    (other->state != RBLK_PATH_CONNECTING && other->state != RBLK_PATH_LIVE))
			continue;
		rblk_addr_set_port(&its, 0);
		if (rblk_addr_equal(&its, &mine) &&
		    rblk_addr_equal(&other->route.server, &path->route.server)) {
			*what = "another path of the session lies between the same addresses";
			err = -EEXIST;
		}
	}
	if (!err)
		path->source = *source;
	spin_unlock_irq(&session->lock);
	return err;
}

static int rblk_clt_sink_create(struct rblk_clt_path *path)
{
	struct ib_device *ib = path->dev->ib;
	void *sink;
	u64 dma;

	if (path->dev->caps.iwarp)
		return 0;
	sink = kzalloc(RBLK_CLT_SINK_SIZE, GFP_KERNEL);
	if (!sink)
		return -ENOMEM;
	dma = ib_dma_map_single(ib, sink, RBLK_CLT_SINK_SIZE, DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(ib, dma)) {
		kfree(sink);
		return -ENOMEM;
	}
	path->sink = sink;
	path->sink_dma = dma;
	return 0;
}

static int rblk_clt_control_create(struct rblk_clt_path *path, unsigned long deadline,
				   const char **what)
{
	struct rblk_clt_session *session = path->session;
	struct rblk_clt_control *control = &path->control;
	struct rblk_conn *conn = &control->conn;
	struct rblk_conn_sizes sizes = { .send_sge = 1, .poll = IB_POLL_WORKQUEUE };
	struct rblk_queue_want want = { .depth = rblk_clt_depth(session) };
	struct rblk_msg_plan plan;
	struct rblk_dev *dev;
	struct rblk_req req;
	int err;

	err = rblk_conn_resolve(conn, &init_net,
				path->route.source.ss_family ? &path->route.source : NULL,
				&path->route.server, deadline);
	if (!err)
		err = rblk_clt_take_source(path, &conn->id->route.addr.src_addr, what);
	if (err)
		return err;
	dev = rblk_dev_join(conn->id->device, &path->dev_user);
	if (IS_ERR(dev)) {
		*what = "the RDMA device is going away";
		return PTR_ERR(dev);
	}
	path->dev = dev;
	spin_lock_irq(&session->lock);
	strscpy(path->rdma_device, dev->ib->name, sizeof(path->rdma_device));
	path->rdma_port = conn->id->port_num;
	spin_unlock_irq(&session->lock);

	err = rblk_plan_queue(&dev->caps, &want, &path->plan, what);
	if (!err)
		err = rblk_plan_msgs(&dev->caps, RBLK_CTL_TX + RBLK_CTL_PROBES, RBLK_CTL_RX,
				     &plan, what);
	if (err)
		return err;
	path->pd = rblk_fault_or(RBLK_FAULT_PD, ib_alloc_pd(dev->ib, 0));
	if (IS_ERR(path->pd)) {
		err = PTR_ERR(path->pd);
		path->pd = NULL;
		return err;
	}
	err = rblk_clt_sink_create(path);
	if (err)
		return err;
	sizes.sq_wrs = plan.sq_wrs;
	sizes.rq_wrs = plan.rq_wrs;
	sizes.cq_entries = plan.cq_entries;
	err = rblk_conn_create(conn, dev, path->pd, &sizes);
	if (err)
		return err;
	control->buf = kzalloc(RBLK_MSG_SIZE, GFP_KERNEL);
	if (!control->buf)
		return -ENOMEM;
	err = rblk_msgs_create(conn);
	if (err)
		return err;
	rblk_clt_fill_req(path, &req, RBLK_CONN_CONTROL, 0, path->plan.depth, 0);
	return rblk_conn_connect(conn, &req, path->plan.init_rd, deadline);
}

/* More than the device can map at once would be tried again for ever. */
static u32 rblk_clt_max_io(const struct rblk_clt_path *path)
{
	struct ib_device *ib = path->dev->ib;
	size_t most = ib_uses_virt_dma(ib) ? SIZE_MAX : dma_max_mapping_size(ib->dma_device);

	lockdep_assert_held(&path->lock);
	return min_t(size_t, path->plan.max_io, max_t(size_t, most, PAGE_SIZE));
}

static int rblk_clt_hello(struct rblk_clt_path *path, u32 *queues,
			  unsigned long deadline, const char **what)
{
	struct rblk_clt_session *session = path->session;
	struct rblk_msg msg = {
		.type	= RBLK_MSG_HELLO,
		.hello	= {
			.features	= RBLK_FEATURES,
			.queues		= *queues,
			.depth		= path->plan.depth,
		},
	};
	struct rblk_queue_want want;
	struct rblk_msg reply;
	int err;

	strscpy(msg.hello.client, session->client, sizeof(msg.hello.client));
	err = rblk_clt_ask(path, path->generation, &msg, &reply, NULL, true, deadline, what);
	if (err)
		return err;
	if (rblk_wire_unknown_features(reply.hello_reply.mandatory)) {
		*what = "the server wants a feature that this client does not know";
		return -EOPNOTSUPP;
	}
	path->token = reply.hello_reply.token;
	*queues = min_t(u32, *queues, reply.hello_reply.queues);
	err = rblk_clt_path_serve(path, &reply.hello_reply, what);
	if (err)
		return err;

	/* The server may allow less than we asked for: plan again within that. */
	want = (struct rblk_queue_want) {
		.depth = min_t(u32, path->plan.depth, reply.hello_reply.depth),
		.queues = *queues,
	};
	err = rblk_plan_queue(&path->dev->caps, &want, &path->plan, what);
	if (err)
		return err;
	path->plan.max_io = rblk_clt_max_io(path);
	return rblk_clt_plan_fits(path, *queues, what);
}

/**
 * rblk_clt_queue_mrs_free - free the MRs of a queue
 * @queue: the queue, whose queue pair is gone
 *
 * Context: Process context. Sleeps.
 */
void rblk_clt_queue_mrs_free(struct rblk_clt_queue *queue)
{
	u32 i;

	for (i = 0; queue->mrs && i < queue->path->plan.mrs; i++)
		if (queue->mrs[i])
			ib_dereg_mr(queue->mrs[i]);
	kvfree(queue->mrs);
	queue->mrs = NULL;
}

static int rblk_clt_queue_mrs_alloc(struct rblk_clt_queue *queue)
{
	const struct rblk_queue_plan *plan = &queue->path->plan;
	struct ib_mr *mr;
	u32 i;

	if (!plan->mrs)
		return 0;
	queue->mrs = kvcalloc(plan->mrs, sizeof(*queue->mrs), GFP_KERNEL);
	if (!queue->mrs)
		return -ENOMEM;
	for (i = 0; i < plan->mrs; i++) {
		mr = rblk_fault_or(RBLK_FAULT_MR,
				   ib_alloc_mr(queue->path->pd, IB_MR_TYPE_MEM_REG,
					       plan->mr_pages));
		if (IS_ERR(mr))
			return PTR_ERR(mr);
		queue->mrs[i] = mr;
	}
	return 0;
}

/**
 * rblk_clt_conn_create - make a further connection of a path, up to its queue pair
 * @path: the path, with its control connection
 * @conn: the connection, which has nothing yet
 * @sizes: what to make it for
 * @deadline: when to give up, in jiffies
 * @what: why it failed, in words; left alone if nobody knows
 *
 * Context: Process context. Sleeps, interruptible by signals. The caller holds the path's lock.
 * Return: 0 or a negative errno; rblk_conn_destroy() is due in both cases.
 */
int rblk_clt_conn_create(struct rblk_clt_path *path, struct rblk_conn *conn,
			 const struct rblk_conn_sizes *sizes, unsigned long deadline,
			 const char **what)
{
	struct sockaddr_storage source = path->source;
	int err;

	/* Another port number than the control connection's, but its address. */
	rblk_addr_set_port(&source, 0);
	err = rblk_conn_resolve(conn, &init_net, &source, &path->route.server, deadline);
	if (err)
		return err;
	if (conn->id->device != path->dev->ib) {
		*what = "the route moved to another RDMA device";
		return -EXDEV;
	}
	return rblk_conn_create(conn, path->dev, path->pd, sizes);
}

static int rblk_clt_queue_create(struct rblk_clt_queue *queue,
				 unsigned long deadline, const char **what)
{
	struct rblk_clt_path *path = queue->path;
	const struct rblk_queue_plan *plan = &path->plan;
	const struct rblk_conn_sizes sizes = {
		.sq_wrs		= plan->sq_wrs,
		.rq_wrs		= 1,
		.cq_entries	= plan->cq_entries,
		.send_sge	= max3(plan->write_sge, plan->read_sge, 1U),
		.vector		= queue->index,
		.poll		= IB_POLL_SOFTIRQ,
	};
	struct rblk_conn *conn = &queue->conn;
	struct rblk_req req;
	int err;

	err = rblk_clt_conn_create(path, conn, &sizes, deadline, what);
	if (!err)
		err = rblk_clt_queue_mrs_alloc(queue);
	if (err)
		return err;
	rblk_clt_fill_req(path, &req, RBLK_CONN_IO, queue->index, plan->depth,
			  path->token);
	err = rblk_conn_connect(conn, &req, plan->init_rd, deadline);
	if (!err && conn->rep.depth < plan->depth) {
		*what = "the server allows less depth on a queue than it said";
		err = -EPROTO;
	}
	return err;
}

/* There are no requests on the path now, and so nobody counts. */
static int rblk_clt_stats_alloc(struct rblk_clt_path *path, u32 nr)
{
	struct rblk_clt_stats *stats, *old = path->stats;

	lockdep_assert_held(&path->lock);
	if (nr <= path->nr_stats)
		return 0;
	stats = kcalloc(nr, sizeof(*stats), GFP_KERNEL);
	if (!stats)
		return -ENOMEM;
	if (old)
		memcpy(stats, old, path->nr_stats * sizeof(*stats));
	spin_lock_irq(&path->session->lock);
	path->stats = stats;
	path->nr_stats = nr;
	spin_unlock_irq(&path->session->lock);
	kfree(old);
	return 0;
}

static int rblk_clt_queues_create(struct rblk_clt_path *path, u32 nr,
				  unsigned long deadline, const char **what)
{
	struct rblk_clt_session *session = path->session;
	struct rblk_clt_queue *queues;
	int err;
	u32 i;

	err = rblk_clt_stats_alloc(path, nr);
	if (err)
		return err;
	queues = kcalloc(nr, sizeof(*queues), GFP_KERNEL);
	if (!queues)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		queues[i].path = path;
		queues[i].index = i;
		rblk_conn_init(&queues[i].conn, &rblk_clt_queue_ops);
		queues[i].conn.tuning = path->tuning;
	}
	/* From here on an error wakes whoever waits on any of them. */
	spin_lock_irq(&session->lock);
	path->queues = queues;
	path->nr_queues = nr;
	spin_unlock_irq(&session->lock);

	for (i = 0; i < nr; i++) {
		/* An error may have come before there was a queue to wake. */
		if (READ_ONCE(path->state) != RBLK_PATH_CONNECTING)
			return path->error ?: -ECONNABORTED;
		err = rblk_clt_queue_create(&queues[i],
					    rblk_clt_step_deadline(path, deadline), what);
		if (err) {
			if (!*what)
				*what = READ_ONCE(queues[i].conn.error_what);
			return err;
		}
	}
	return 0;
}

static int rblk_clt_path_up(struct rblk_clt_path *path, unsigned long deadline, const char **what)
{
	struct rblk_clt_session *session = path->session;
	struct rblk_msg msg = { .type = RBLK_MSG_READY };
	struct rblk_msg reply;
	u32 queues;
	int err;

	err = rblk_clt_control_create(path, deadline, what);
	if (err) {
		if (!*what)
			*what = READ_ONCE(path->control.conn.error_what);
		return err;
	}
	queues = rblk_clt_queues(session);
	err = rblk_clt_hello(path, &queues, rblk_clt_step_deadline(path, deadline), what);
	if (err)
		return err;
	err = rblk_clt_queues_create(path, queues, deadline, what);
	if (err)
		return err;
	msg.ready.queues = queues;
	return rblk_clt_ask(path, path->generation, &msg, &reply, NULL, true,
			    rblk_clt_step_deadline(path, deadline), what);
}

/* A new generation of it, which has nothing yet. */
static bool rblk_clt_path_begin(struct rblk_clt_path *path)
{
	struct rblk_clt_session *session = path->session;
	bool changed;

	/* Nobody asks meanwhile, or looks whether the connection is broken. */
	mutex_lock(&path->control.ask_lock);
	spin_lock_irq(&session->lock);
	changed = rblk_clt_path_state(path, RBLK_PATH_CONNECTING);
	if (changed) {
		path->generation++;
		path->error = 0;
		path->source.ss_family = 0;
		path->tuning = path->route.tuning;
		rblk_conn_init(&path->control.conn, &rblk_clt_control_ops);
		path->control.conn.tuning = path->tuning;
	}
	spin_unlock_irq(&session->lock);
	mutex_unlock(&path->control.ask_lock);
	return changed;
}

static int rblk_clt_path_finish(struct rblk_clt_path *path, const char **what)
{
	int err;

	do {
		if (READ_ONCE(path->state) != RBLK_PATH_CONNECTING)
			return path->error ?: -ESHUTDOWN;
		err = rblk_clt_reopen(path, what);
		if (err)
			return err;
	} while (!rblk_clt_path_live(path));
	return 0;
}

/**
 * rblk_clt_path_connect - bring a path up
 * @path: the path, in state NEW or one that waits to be connected again
 * @deadline: when to give up, in jiffies
 * @what: why it failed, in words
 *
 * Context: Process context. Sleeps, interruptible by signals.
 * Return: 0 and the path is LIVE; or a negative errno, and it is FAILED (or
 * REMOVED) and has no objects.
 */
int rblk_clt_path_connect(struct rblk_clt_path *path, unsigned long deadline, const char **what)
{
	int err;

	mutex_lock(&path->lock);
	if (!rblk_clt_path_begin(path)) {
		*what = "the path is not in a state to connect";
		err = -ESHUTDOWN;
		goto out;
	}

	*what = NULL;
	err = rblk_clt_path_up(path, deadline, what);
	if (!err)
		err = rblk_clt_path_finish(path, what);
	if (err) {
		if (!*what)
			rblk_clt_path_cause(path, &err, what);
		if (!*what)
			*what = err == -ETIMEDOUT ? "the server did not answer in time" :
				err == -EINTR ? "interrupted" :
				err == -ENOMEM ? "out of memory" : "the connection failed";
		rblk_clt_path_error(path, err, *what);
		rblk_clt_path_teardown(path);
	}
out:
	mutex_unlock(&path->lock);
	return err;
}
