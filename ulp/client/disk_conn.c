// SPDX-License-Identifier: GPL-2.0
/*
 * Disk connections of a path: made when the first disk is opened on it, one for each hardware
 * queue, and gone with the path. A session that has memory only has none.
 *
 * What makes and destroys them holds the path's lock.
 */
#include <linux/slab.h>
#include <rblk/fault.h>
#include <rblk/io_wire.h>
#include "client.h"
#include "request.h"

#define RBLK_CLT_DISK_EXTRA	2	/* for the drain */

static void rblk_clt_disk_error(struct rblk_conn *conn, int err, const char *what)
{
	struct rblk_clt_path *path = container_of(conn, struct rblk_clt_disk_queue, conn)->path;

	/* Before they are all up, the path does without them; who makes them sees it. */
	if (READ_ONCE(path->disks_up))
		rblk_clt_path_error(path, err, what);
}

static void rblk_clt_disk_drained(struct rblk_conn *conn, bool late)
{
	struct rblk_clt_disk_queue *queue = container_of(conn, struct rblk_clt_disk_queue, conn);

	/* Its completions go to the same CQ, which is freed next. */
	if (queue->reg_qp)
		ib_destroy_qp(queue->reg_qp);
	queue->reg_qp = NULL;
}

static const struct rblk_conn_ops rblk_clt_disk_ops = {
	.error		= rblk_clt_disk_error,
	.drained	= rblk_clt_disk_drained,
};

/* Page list entries of an MR that takes any request of the session; 0 if there is none. */
static u32 rblk_clt_disk_mr_pages(const struct rblk_clt_path *path)
{
	const struct rblk_dev_caps *caps = &path->dev->caps;
	u32 need = (path->plan.max_io >> RBLK_MR_PAGE_SHIFT) + 1;

	/* There an entry is a segment, of any length. */
	if (caps->mr_counts_sg)
		need = path->plan.max_segments;
	else if (!(caps->page_sizes & BIT(RBLK_MR_PAGE_SHIFT)))
		return 0;
	return need <= caps->max_fr_pages ? need : 0;
}

/*
 * How the queues are made: a registration, the request, and an invalidation for each tag.
 * Return: NULL, or why the device cannot do it.
 */
static const char *rblk_clt_disk_sizes(const struct rblk_clt_path *path,
				       struct rblk_conn_sizes *sizes)
{
	const struct rblk_dev_caps *caps = &path->dev->caps;
	u32 depth = path->plan.depth;

	if (!rblk_clt_disk_mr_pages(path))
		return "the RDMA device has no registrations that are large enough for disks";
	if ((u64)depth * path->nr_queues > caps->max_mr)
		return "the RDMA device has too few registrations for disks";
	sizes->sq_wrs = 3 * depth + RBLK_CLT_DISK_EXTRA;
	sizes->rq_wrs = depth + 1;
	sizes->cq_entries = sizes->sq_wrs + sizes->rq_wrs;
	if (sizes->sq_wrs > caps->max_qp_wr || sizes->cq_entries > caps->max_cqe)
		return "the queues of the RDMA device are too small for disks";
	if (!caps->max_resp_rd)
		return "the RDMA device cannot answer RDMA READs";
	return NULL;
}

/*
 * Where a registration is carried out once more when packets are sent again, it is posted to a
 * queue pair that sends none. It has the address of the connection's peer, for want of another.
 */
static int rblk_clt_disk_reg_qp(struct rblk_clt_disk_queue *queue)
{
	static const enum ib_qp_state states[] = { IB_QPS_INIT, IB_QPS_RTR, IB_QPS_RTS };
	struct rblk_conn *conn = &queue->conn;
	struct ib_qp_init_attr init = {
		.send_cq	= conn->cq,
		.recv_cq	= conn->cq,
		.qp_type	= IB_QPT_RC,
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.cap = {
			.max_send_wr	= 2 * queue->depth,
			.max_send_sge	= 1,
			.max_recv_wr	= 1,
			.max_recv_sge	= 1,
		},
	};
	struct ib_qp *qp;
	u32 i;
	int err;

	qp = rblk_fault_or(RBLK_FAULT_QP, ib_create_qp(conn->qp->pd, &init));
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	queue->reg_qp = qp;
	for (i = 0; i < ARRAY_SIZE(states); i++) {
		struct ib_qp_attr attr = { .qp_state = states[i] };
		int mask;

		err = rdma_init_qp_attr(conn->id, &attr, &mask);
		if (!err)
			err = ib_modify_qp(qp, &attr, mask);
		if (err)
			return err;
	}
	return 0;
}

static int rblk_clt_disk_tags(struct rblk_clt_disk_queue *queue)
{
	const u32 pages = rblk_clt_disk_mr_pages(queue->path);
	struct ib_mr *mr;
	u32 i;

	queue->tags = kvcalloc(queue->depth, sizeof(*queue->tags), GFP_KERNEL);
	if (!queue->tags)
		return -ENOMEM;
	for (i = 0; i < queue->depth; i++) {
		mr = rblk_fault_or(RBLK_FAULT_MR,
				   ib_alloc_mr(queue->path->pd, IB_MR_TYPE_MEM_REG, pages));
		if (IS_ERR(mr))
			return PTR_ERR(mr);
		queue->tags[i].mr = mr;
	}
	return 0;
}

static int rblk_clt_disk_buffers(struct rblk_clt_disk_queue *queue)
{
	struct rblk_conn *conn = &queue->conn;
	int err;

	err = rblk_ring_create(&queue->requests, conn, queue->depth,
			       sizeof(struct rblk_wire_io_req), DMA_TO_DEVICE,
			       rblk_clt_disk_sent);
	if (!err)
		err = rblk_ring_create(&queue->responses, conn, queue->depth,
				       sizeof(struct rblk_wire_io_rsp), DMA_FROM_DEVICE,
				       rblk_clt_disk_answered);
	return err ?: rblk_ring_receive_all(&queue->responses);
}

static int rblk_clt_disk_connect(struct rblk_clt_disk_queue *queue,
				 const struct rblk_conn_sizes *sizes, const char **what)
{
	struct rblk_clt_path *path = queue->path;
	unsigned long deadline = rblk_clt_step_deadline(path, jiffies + RBLK_CLT_STEP_TIMEOUT);
	struct rblk_conn *conn = &queue->conn;
	struct rblk_req req;
	int err;

	err = rblk_clt_conn_create(path, conn, sizes, deadline, what) ?:
	      rblk_clt_disk_tags(queue) ?:
	      rblk_clt_disk_buffers(queue);
	if (err)
		return err;
	conn->resp_rd = min_t(u32, path->dev->caps.max_resp_rd, RBLK_READ_DEPTH);
	rblk_clt_fill_req(path, &req, RBLK_CONN_DISK, queue->index, queue->depth, path->token);
	err = rblk_conn_connect(conn, &req, 1, deadline);
	if (!err && conn->rep.depth < queue->depth) {
		*what = "the server allows less depth on a disk connection than it said";
		err = -EPROTO;
	}
	if (!err && path->dev->caps.mr_replays)
		err = rblk_clt_disk_reg_qp(queue);
	return err;
}

static int rblk_clt_disk_queues_alloc(struct rblk_clt_path *path)
{
	struct rblk_clt_session *session = path->session;
	struct rblk_clt_disk_queue *queues;
	u32 i;

	queues = kcalloc(path->nr_queues, sizeof(*queues), GFP_KERNEL);
	if (!queues)
		return -ENOMEM;
	for (i = 0; i < path->nr_queues; i++) {
		queues[i].path = path;
		queues[i].index = i;
		queues[i].depth = path->plan.depth;
		rblk_conn_init(&queues[i].conn, &rblk_clt_disk_ops);
		queues[i].conn.tuning = path->tuning;
	}
	/* From here on an error wakes whoever waits on any of them. */
	spin_lock_irq(&session->lock);
	path->disk_queues = queues;
	spin_unlock_irq(&session->lock);
	return 0;
}

/**
 * rblk_clt_disk_may - is a path still what it was?
 * @path: the path
 * @generation: of it
 *
 * Context: Any.
 * Return: true if it is connected, or connects, in that generation.
 */
bool rblk_clt_disk_may(const struct rblk_clt_path *path, u32 generation)
{
	enum rblk_path_state state = READ_ONCE(path->state);

	return path->generation == generation &&
	       (state == RBLK_PATH_LIVE || state == RBLK_PATH_CONNECTING);
}

/**
 * rblk_clt_disk_up - make the disk connections of a path unless it has them
 * @path: the path, connected
 * @generation: of it
 * @what: why it failed, in words; left alone if nobody knows
 *
 * Context: Process context. Sleeps, for a bounded time. The caller holds the path's lock.
 * Return: 0; or a negative errno, and the path is broken, or has none, see rblk_clt_disk_may().
 */
int rblk_clt_disk_up(struct rblk_clt_path *path, u32 generation, const char **what)
{
	struct rblk_conn_sizes sizes = { .send_sge = 1, .poll = IB_POLL_SOFTIRQ };
	const char *why = NULL;
	int err = 0;
	u32 i;

	lockdep_assert_held(&path->lock);
	if (!rblk_clt_disk_may(path, generation)) {
		*what = "the path was lost just now";
		return -ENOTCONN;
	}
	if (path->disks_up)
		return 0;
	why = rblk_clt_disk_sizes(path, &sizes);
	if (why) {
		*what = why;
		return -EOPNOTSUPP;
	}
	err = rblk_clt_disk_queues_alloc(path);
	for (i = 0; !err && i < path->nr_queues; i++) {
		/* An error may have come before there was a queue to wake. */
		if (!rblk_clt_disk_may(path, generation)) {
			err = -ENOTCONN;
			break;
		}
		sizes.vector = i;
		err = rblk_clt_disk_connect(&path->disk_queues[i], &sizes, &why);
		if (err && !why)
			why = READ_ONCE(path->disk_queues[i].conn.error_what);
	}
	*what = why ?: *what;
	if (!err) {
		WRITE_ONCE(path->disks_up, true);
		/* Pairs with rblk_clt_disk_error(), which may have seen that they are not. */
		smp_mb();
		for (i = 0; !err && i < path->nr_queues; i++)
			err = READ_ONCE(path->disk_queues[i].conn.error);
		if (err)
			rblk_clt_path_error_of(path, generation, err, "a disk connection was lost");
		return err;
	}
	/* Whoever did not answer takes long to be done with, and is dead. */
	if (err == -ETIMEDOUT)
		rblk_clt_path_error_of(path, generation, err, why ?: "the server does not answer");
	/* Nobody has used them. A path that is broken is torn down with them. */
	if (rblk_clt_disk_may(path, generation)) {
		rblk_clt_disk_cut(path);
		rblk_clt_disk_destroy(path);
	}
	return err;
}

/**
 * rblk_clt_disk_abort - let a thread that makes disk connections not wait any longer
 * @path: the path
 * @err: negative errno
 * @what: why, a constant string
 *
 * Context: Any. Does not sleep. The caller holds the session's lock.
 */
void rblk_clt_disk_abort(struct rblk_clt_path *path, int err, const char *what)
{
	u32 i;

	for (i = 0; path->disk_queues && i < path->nr_queues; i++)
		rblk_conn_abort(&path->disk_queues[i].conn, err, what);
}

/**
 * rblk_clt_disk_cut - end what a peer can reach through the disk connections of a path
 * @path: the path, in no state in which requests are posted, and that for a grace period
 *
 * Context: Process context. Sleeps, for a bounded time. The caller holds the path's lock.
 */
void rblk_clt_disk_cut(struct rblk_clt_path *path)
{
	struct rblk_clt_disk_queue *queue;
	u32 i, tag;

	lockdep_assert_held(&path->lock);
	for (i = 0; path->disk_queues && i < path->nr_queues; i++) {
		queue = &path->disk_queues[i];
		rblk_conn_cut(&queue->conn);
		for (tag = 0; queue->tags && tag < queue->depth; tag++)
			if (queue->tags[tag].mr)
				ib_dereg_mr(queue->tags[tag].mr);
		kvfree(queue->tags);
		queue->tags = NULL;
	}
}

/**
 * rblk_clt_disk_destroy - undo what is left of the disk connections of a path
 * @path: the path, after rblk_clt_disk_cut()
 *
 * Context: Process context. Sleeps, as long as the CM needs. The caller holds the path's lock.
 */
void rblk_clt_disk_destroy(struct rblk_clt_path *path)
{
	struct rblk_clt_disk_queue *queues = path->disk_queues;
	u32 i;

	lockdep_assert_held(&path->lock);
	for (i = 0; queues && i < path->nr_queues; i++) {
		rblk_ring_destroy(&queues[i].requests);
		rblk_ring_destroy(&queues[i].responses);
		rblk_conn_destroy(&queues[i].conn);
	}
	/* An error that comes late must not look at them any more. */
	spin_lock_irq(&path->session->lock);
	path->disk_queues = NULL;
	spin_unlock_irq(&path->session->lock);
	path->disks_up = false;
	kfree(queues);
}
