// SPDX-License-Identifier: GPL-2.0
/*
 * Requests of the block layer as one-sided RDMA READs and WRITEs.
 *
 * Nothing here allocates, and nothing sleeps. A request whose pages fit the SGEs
 * of a work request is one work request over the device's local key. A longer
 * one, or a READ on iWARP, registers its pages in the MR of its tag first, in the
 * same post, and ends only after the MR is invalid again, so that nothing can
 * reach the pages through it any more.
 *
 * Any error, of a post or of a completion, breaks the path and leaves the request
 * in flight: rblk_clt_sweep() takes it when the queue pairs are gone.
 */
#include <linux/blk-integrity.h>
#include <linux/rcupdate.h>
#include <rblk/fault.h>
#include <rblk/trace.h>
#include "client.h"
#include "request.h"

/* One request in so many is timed. */
#define RBLK_CLT_TIMED	16

/**
 * rblk_clt_cmd_size - size of what rblk keeps with each request
 * @plan: how the I/O connections are built
 *
 * Context: Any.
 * Return: bytes.
 */
unsigned int rblk_clt_cmd_size(const struct rblk_queue_plan *plan)
{
	return struct_size_t(struct rblk_clt_request, sg, plan->max_segments);
}

/* Return: whether it is on its way; then its path and generation are those of now. */
static bool rblk_clt_inflight(const struct rblk_clt_request *req)
{
	return test_bit_acquire(RBLK_RQ_INFLIGHT, &req->flags);
}

static void rblk_clt_unmap_request(struct rblk_clt_request *req)
{
	/* The number that was mapped, not what the IOMMU made of it. */
	if (req->nents)
		ib_dma_unmap_sg(req->path->dev->ib, req->sg, req->nents, req->dir);
}

static void rblk_clt_count(struct rblk_clt_stats *stats, struct request *rq)
{
	if (req_op(rq) == REQ_OP_WRITE) {
		WRITE_ONCE(stats->writes, stats->writes + 1);
		WRITE_ONCE(stats->write_bytes, stats->write_bytes + blk_rq_bytes(rq));
	} else if (req_op(rq) == REQ_OP_READ) {
		WRITE_ONCE(stats->reads, stats->reads + 1);
		WRITE_ONCE(stats->read_bytes, stats->read_bytes + blk_rq_bytes(rq));
	}
}

static void rblk_clt_time(struct rblk_clt_stats *stats, u64 since)
{
	u64 took = ktime_get_ns() - since;
	u64 old = stats->latency_ns;

	WRITE_ONCE(stats->latency_ns, old ? old - old / 8 + took / 8 : took);
}

static void rblk_clt_account(struct request *rq, struct rblk_clt_request *req)
{
	struct rblk_clt_device *dev = rblk_clt_rq_device(rq);
	u32 queue = rq->mq_hctx->queue_num;

	if (req->status != BLK_STS_OK) {
		WRITE_ONCE(dev->stats[queue].errors, dev->stats[queue].errors + 1);
		return;
	}
	rblk_clt_count(&dev->stats[queue], rq);
	rblk_clt_count(&req->path->stats[queue], rq);
	if (req->since)
		rblk_clt_time(&req->path->stats[queue], req->since);
}

static void rblk_clt_finish(struct rblk_clt_request *req, blk_status_t status)
{
	struct request *rq = blk_mq_rq_from_pdu(req);

	req->status = status;
	rblk_clt_account(rq, req);
	trace_rblk_request_end(rblk_clt_rq_device(rq)->index, rq->mq_hctx->queue_num, rq->tag,
			       blk_status_to_errno(status));
	blk_mq_complete_request(rq);
}

/**
 * rblk_clt_request_begin - a request is in flight from here on
 * @rq: the request; on which queue, path and generation is set
 *
 * Context: queue_rq. Does not sleep.
 */
void rblk_clt_request_begin(struct request *rq)
{
	struct rblk_clt_request *req = blk_mq_rq_to_pdu(rq);

	/* Pairs with rblk_clt_inflight(): on which path. */
	smp_mb__before_atomic();
	atomic_inc(&req->queue->in_flight);
	set_bit(RBLK_RQ_INFLIGHT, &req->flags);
	blk_mq_start_request(rq);
}

/**
 * rblk_clt_request_end - end a request in flight
 * @req: the request, whose pages the device does not touch any more
 * @status: how it ended
 *
 * Context: Any. Does not sleep. Only the first call does anything.
 */
void rblk_clt_request_end(struct rblk_clt_request *req, blk_status_t status)
{
	struct request *rq = blk_mq_rq_from_pdu(req);

	/* A test may lose a completion; the timeout then breaks the path. */
	if (status == BLK_STS_OK && unlikely(blk_should_fake_timeout(rq->q)))
		return;
	if (!test_and_clear_bit(RBLK_RQ_INFLIGHT, &req->flags))
		return;
	atomic_dec(&req->queue->in_flight);
	rblk_clt_unmap_request(req);
	rblk_clt_finish(req, status);
}

static void rblk_clt_wc_error(struct rblk_clt_request *req, struct ib_wc *wc)
{
	/* A flushed one only follows another error, which says more. */
	rblk_conn_fail(&req->queue->conn, wc->status == IB_WC_WR_FLUSH_ERR ? -ECONNRESET : -EIO,
		       ib_wc_status_msg(wc->status));
}

/* Of a registration, or of a WRITE that a READ follows. */
static void rblk_clt_reg_done(struct ib_cq *cq, struct ib_wc *wc)
{
	if (wc->status != IB_WC_SUCCESS)
		rblk_clt_wc_error(container_of(wc->wr_cqe, struct rblk_clt_request, reg), wc);
}

static void rblk_clt_inv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rblk_clt_request *req = container_of(wc->wr_cqe, struct rblk_clt_request, inv);

	if (wc->status != IB_WC_SUCCESS)
		rblk_clt_wc_error(req, wc);
	else
		rblk_clt_request_end(req, BLK_STS_OK);
}

static void rblk_clt_data_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rblk_clt_request *req = container_of(wc->wr_cqe, struct rblk_clt_request, data);
	struct ib_send_wr inv = {
		.wr_cqe		= &req->inv,
		.opcode		= IB_WR_LOCAL_INV,
		.send_flags	= IB_SEND_SIGNALED,
	};

	if (wc->status != IB_WC_SUCCESS) {
		rblk_clt_wc_error(req, wc);
		return;
	}
	if (!req->mr) {
		rblk_clt_request_end(req, BLK_STS_OK);
		return;
	}
	inv.ex.invalidate_rkey = req->mr->rkey;
	/*
	 * As in queue_rq: a path that is being torn down takes no more posts, and
	 * the request stays in flight for the sweep.
	 */
	rcu_read_lock();
	if (likely(READ_ONCE(req->path->state) == RBLK_PATH_LIVE) &&
	    (rblk_fault(RBLK_FAULT_INV) ?: ib_post_send(req->queue->conn.qp, &inv, NULL)))
		rblk_conn_fail(&req->queue->conn, -EIO, "an invalidation could not be posted");
	rcu_read_unlock();
}

static int rblk_clt_post_sge(struct rblk_clt_request *req, struct ib_rdma_wr *wr, int mapped)
{
	struct rblk_conn *conn = &req->queue->conn;
	struct scatterlist *sg;
	int i;

	for_each_sg(req->sg, sg, mapped, i) {
		req->sge[i].addr = sg_dma_address(sg);
		req->sge[i].length = sg_dma_len(sg);
		req->sge[i].lkey = conn->qp->pd->local_dma_lkey;
	}
	wr->wr.sg_list = req->sge;
	wr->wr.num_sge = mapped;
	return rblk_fault(RBLK_FAULT_POST) ?: ib_post_send(conn->qp, &wr->wr, NULL);
}

static int rblk_clt_post_mr(struct rblk_clt_request *req, struct ib_rdma_wr *wr)
{
	const struct rblk_clt_path *path = req->path;
	struct ib_mr *mr = req->mr;
	struct ib_reg_wr reg = {
		.wr = {
			.next	= &wr->wr,
			.wr_cqe	= &req->reg,
			.opcode	= IB_WR_REG_MR,
		},
		.mr	= mr,
	};

	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	reg.key = mr->rkey;
	if (req->dir == DMA_FROM_DEVICE) {
		reg.access = IB_ACCESS_LOCAL_WRITE;
		/* There a READ is answered by writes of the peer to this key. */
		if (path->dev->caps.iwarp)
			reg.access |= IB_ACCESS_REMOTE_WRITE;
	}
	req->sge[0].addr = mr->iova;
	req->sge[0].length = mr->length;
	req->sge[0].lkey = mr->lkey;
	wr->wr.sg_list = req->sge;
	wr->wr.num_sge = 1;
	return rblk_fault(RBLK_FAULT_POST) ?: ib_post_send(req->queue->conn.qp, &reg.wr, NULL);
}

/* A path over which little goes would never be known, nor one that has changed. */
static bool rblk_clt_timed(const struct rblk_clt_session *session, u32 posted)
{
	return !(posted % RBLK_CLT_TIMED) ||
	       READ_ONCE(session->policy) == RBLK_POLICY_MIN_LATENCY;
}

/* Behind a WRITE: it ends when what that moved is in place. */
static void rblk_clt_add_read(struct rblk_clt_request *req, struct ib_rdma_wr *write,
			      struct ib_rdma_wr *read, struct ib_sge *sink)
{
	const struct rblk_clt_path *path = req->path;

	*sink = (struct ib_sge) {
		.addr	= path->sink_dma,
		.length	= RBLK_CLT_SINK_SIZE,
		.lkey	= path->pd->local_dma_lkey,
	};
	*read = (struct ib_rdma_wr) {
		.wr = {
			.wr_cqe		= write->wr.wr_cqe,
			.opcode		= IB_WR_RDMA_READ,
			.send_flags	= IB_SEND_SIGNALED,
			.sg_list	= sink,
			.num_sge	= 1,
		},
		.remote_addr	= write->remote_addr,
		.rkey		= write->rkey,
	};
	write->wr.next = &read->wr;
	write->wr.wr_cqe = &req->reg;
	write->wr.send_flags = 0;
}

static blk_status_t rblk_clt_post(struct rblk_clt_queue *queue, struct request *rq, u32 rkey)
{
	struct rblk_clt_request *req = blk_mq_rq_to_pdu(rq);
	struct rblk_clt_path *path = queue->path;
	bool write = rq_data_dir(rq) == WRITE;
	u32 posted = READ_ONCE(queue->posted);
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe		= &req->data,
			.opcode		= write ? IB_WR_RDMA_WRITE : IB_WR_RDMA_READ,
			.send_flags	= IB_SEND_SIGNALED,
		},
		.remote_addr	= (u64)blk_rq_pos(rq) << SECTOR_SHIFT,
		.rkey		= rkey,
	};
	struct ib_rdma_wr read;
	struct ib_sge sink;
	int mapped, err;

	req->path = path;
	req->generation = READ_ONCE(path->generation);
	req->rkey = rkey;
	req->queue = queue;
	req->disk = false;
	req->dir = write ? DMA_TO_DEVICE : DMA_FROM_DEVICE;
	/* Over iWARP there is one path, and the peer may not write to the sink. */
	req->ordered = write && READ_ONCE(path->session->strict) && path->sink;
	if (req->ordered)
		rblk_clt_add_read(req, &wr, &read, &sink);
	WRITE_ONCE(queue->posted, posted + 1);
	req->since = rblk_clt_timed(path->session, posted) ? ktime_get_ns() : 0;
	req->nents = blk_rq_map_sg(rq->q, rq, req->sg);
	mapped = ib_dma_map_sg(path->dev->ib, req->sg, req->nents, req->dir);
	if (!mapped)
		return BLK_STS_RESOURCE;
	if (mapped <= (write ? path->plan.write_sge : path->plan.read_sge)) {
		req->mr = NULL;
	} else if (queue->mrs) {
		/* The MR is invalid and nothing is posted: only this request is lost. */
		req->mr = queue->mrs[rq->tag];
		if (rblk_fault(RBLK_FAULT_MAP_MR) ||
		    ib_map_mr_sg(req->mr, req->sg, mapped, NULL,
				 1U << RBLK_MR_PAGE_SHIFT) != mapped)
			goto unmap;
	} else {
		goto unmap;
	}

	trace_rblk_request_start(rblk_clt_rq_device(rq)->index, queue->index, rq->tag,
				 wr.remote_addr, blk_rq_bytes(rq), write, req->mr);
	rblk_clt_request_begin(rq);
	if (req->mr)
		err = rblk_clt_post_mr(req, &wr);
	else
		err = rblk_clt_post_sge(req, &wr, mapped);
	/*
	 * The queues are sized so that this cannot fail. If it does, part of it
	 * may have been posted: only the end of the queue pair settles it.
	 */
	if (unlikely(err))
		rblk_conn_fail(&queue->conn, err, "a request could not be posted");
	return BLK_STS_OK;

unmap:
	ib_dma_unmap_sg(path->dev->ib, req->sg, req->nents, req->dir);
	return BLK_STS_IOERR;
}

static blk_status_t rblk_clt_no_path(struct rblk_clt_device *dev, struct request *rq)
{
	if (!rblk_clt_may_wait(dev))
		return BLK_STS_TRANSPORT;
	if (rblk_clt_flush_waits(rq))
		return BLK_STS_OK;
	blk_mq_start_request(rq);
	if (!rblk_clt_wait(rq, false))
		return BLK_STS_TRANSPORT;
	blk_mq_end_request(rq, BLK_STS_OK);
	return BLK_STS_OK;
}

static bool rblk_clt_within(const struct rblk_clt_device *dev, u64 offset, u32 len)
{
	u64 size = READ_ONCE(dev->ext.size);

	return offset < size && len <= size - offset;
}

static blk_status_t rblk_clt_send(struct rblk_clt_device *dev, struct rblk_clt_path *path,
				  struct request *rq)
{
	u64 offset = (u64)blk_rq_pos(rq) << SECTOR_SHIFT;
	const struct rblk_clt_keys *keys;
	u32 extent;
	int err;

	if (dev->backing == RBLK_WIRE_DISK)
		return rblk_clt_disk_post(dev, path, rq);
	keys = rcu_dereference(dev->attach[path->index].keys);
	err = rblk_extent_find(&keys->ext, offset, blk_rq_bytes(rq), &extent);
	if (likely(!err))
		return rblk_clt_post(&path->queues[rq->mq_hctx->queue_num], rq,
				     keys->rkeys[extent]);
	/* Pairs with rblk_clt_size_set(): before a path has fewer keys, the disk is smaller. */
	smp_rmb();
	/* The path has no keys to all of the disk any more, or not yet. */
	if (err == -ERANGE && rblk_clt_within(dev, offset, blk_rq_bytes(rq)))
		return rblk_clt_no_path(dev, rq);
	return BLK_STS_IOERR;
}

static blk_status_t rblk_clt_queue_rq(struct blk_mq_hw_ctx *hctx,
				      const struct blk_mq_queue_data *bd)
{
	struct request *rq = bd->rq;
	struct rblk_clt_device *dev = rblk_clt_rq_device(rq);
	struct rblk_clt_path *path;
	unsigned long flags;
	blk_status_t status;

	if (req_op(rq) != REQ_OP_READ && req_op(rq) != REQ_OP_WRITE &&
	    dev->backing != RBLK_WIRE_DISK)
		return BLK_STS_NOTSUPP;
	/* The block layer only warns. The server's HCA would end the whole path over it. */
	if (unlikely(op_is_write(req_op(rq)) && req_op(rq) != REQ_OP_FLUSH && dev->read_only))
		return BLK_STS_IOERR;
	/* The disk may be smaller than when the block layer looked. */
	if (unlikely(req_op(rq) != REQ_OP_FLUSH &&
		     !rblk_clt_within(dev, (u64)blk_rq_pos(rq) << SECTOR_SHIFT, blk_rq_bytes(rq))))
		return BLK_STS_IOERR;

	if (unlikely(req_op(rq) == REQ_OP_FLUSH))
		rblk_clt_flush_comes(rq);
	/*
	 * Pairs with synchronize_rcu() in rblk_clt_path_cut(), rblk_clt_go_on(),
	 * rblk_clt_fail_waiting() and rblk_clt_keys_publish().
	 */
	rcu_read_lock();
	/* Before the flags: who sets one that says not to go on with a path does so first. */
	path = rblk_clt_path_for(dev, hctx->queue_num);
	flags = READ_ONCE(dev->flags);
	if (unlikely(flags & (BIT(RBLK_DEV_REVOKED) | BIT(RBLK_DEV_LOST))))
		status = BLK_STS_TRANSPORT;
	/* Unmapped by force: what is not sent yet is not, so that its end is near. */
	else if (unlikely(flags & BIT(RBLK_DEV_REMOVING) &&
			  test_bit(GD_DEAD, &rq->q->disk->state)))
		status = BLK_STS_TRANSPORT;
	else if (likely(path))
		status = rblk_clt_send(dev, path, rq);
	else
		status = rblk_clt_no_path(dev, rq);
	rcu_read_unlock();
	return status;
}

static void rblk_clt_complete_rq(struct request *rq)
{
	struct rblk_clt_request *req = blk_mq_rq_to_pdu(rq);

	blk_mq_end_request(rq, req->status);
}

/*
 * A request that takes too long is on a path that is broken, whatever the
 * transport says. It cannot be ended here, where the device may still write to
 * its pages: break the path, and the sweep ends it.
 */
static enum blk_eh_timer_return rblk_clt_timeout(struct request *rq)
{
	struct rblk_clt_request *req = blk_mq_rq_to_pdu(rq);

	/* A disk may take as long as it takes, where probes find out that the server is there. */
	if (rblk_clt_inflight(req) &&
	    !(req->disk && READ_ONCE(req->path->session->reconnect)))
		rblk_clt_path_error_of(req->path, req->generation, -ETIMEDOUT,
				       "a request timed out");
	return BLK_EH_RESET_TIMER;
}

static int rblk_clt_init_request(struct blk_mq_tag_set *set, struct request *rq,
				 unsigned int hctx_idx, unsigned int numa_node)
{
	struct rblk_clt_request *req = blk_mq_rq_to_pdu(rq);
	struct rblk_clt_session *session = set->driver_data;

	req->data.done = rblk_clt_data_done;
	req->reg.done = rblk_clt_reg_done;
	req->inv.done = rblk_clt_inv_done;
	rblk_clt_disk_request_init(req);
	/* Once is enough: blk_rq_map_sg() moves the end mark as it goes. */
	sg_init_table(req->sg, session->plan.max_segments);
	return 0;
}

static bool rblk_clt_sweep_one(struct request *rq, void *data)
{
	struct rblk_clt_request *req = blk_mq_rq_to_pdu(rq);

	if (!rblk_clt_inflight(req) || req->path != data ||
	    !test_and_clear_bit(RBLK_RQ_INFLIGHT, &req->flags))
		return true;
	atomic_dec(&req->queue->in_flight);
	rblk_clt_unmap_request(req);
	req->status = BLK_STS_OK;
	if (rblk_clt_flush_waits(rq))
		return true;
	if (rblk_clt_wait(rq, true)) {
		blk_mq_complete_request(rq);
	} else {
		/* Whoever learns of it may write something newer over another path. */
		if (rq_data_dir(rq) == WRITE)
			rblk_clt_active_stop(req->path->session);
		rblk_clt_finish(req, BLK_STS_TRANSPORT);
	}
	return true;
}

/**
 * rblk_clt_sweep - end all requests in flight on a path, or let their bios wait
 * @path: the path, whose queue pairs are destroyed and whose device is still there
 *
 * Context: Process context. Sleeps.
 */
void rblk_clt_sweep(struct rblk_clt_path *path)
{
	blk_mq_tagset_busy_iter(&path->session->tag_set, rblk_clt_sweep_one, path);
}

static bool rblk_clt_count_one(struct request *rq, void *data)
{
	struct rblk_clt_request *req = blk_mq_rq_to_pdu(rq);
	u32 *nr = data;

	if (rblk_clt_inflight(req))
		nr[req->path->index]++;
	return true;
}

/**
 * rblk_clt_in_flight - how many requests are in flight on each path of a session
 * @session: the session
 * @nr: takes the numbers, each of some moment during the call
 *
 * Context: Process context. Does not sleep.
 */
void rblk_clt_in_flight(struct rblk_clt_session *session, u32 nr[RBLK_CLT_PATHS])
{
	memset(nr, 0, RBLK_CLT_PATHS * sizeof(*nr));
	/* Pairs with the release in rblk_clt_session_setup(). */
	if (smp_load_acquire(&session->tag_set_ready))
		blk_mq_tagset_busy_iter(&session->tag_set, rblk_clt_count_one, nr);
}

static bool rblk_clt_unordered_one(struct request *rq, void *data)
{
	struct rblk_clt_request *req = blk_mq_rq_to_pdu(rq);
	bool *found = data;

	*found |= rblk_clt_inflight(req) && req->dir == DMA_TO_DEVICE && !req->ordered;
	return true;
}

/**
 * rblk_clt_unordered - is a write in flight that is not strict?
 * @session: the session
 *
 * Context: Process context. Does not sleep.
 * Return: true if so.
 */
bool rblk_clt_unordered(struct rblk_clt_session *session)
{
	bool found = false;

	/* Pairs with the release in rblk_clt_session_setup(). */
	if (smp_load_acquire(&session->tag_set_ready))
		blk_mq_tagset_busy_iter(&session->tag_set, rblk_clt_unordered_one, &found);
	return found;
}

struct rblk_clt_busy {
	const struct rblk_clt_device	*dev;
	const char			*what;
	bool				found;
};

static bool rblk_clt_break_one(struct request *rq, void *data)
{
	struct rblk_clt_request *req = blk_mq_rq_to_pdu(rq);
	struct rblk_clt_busy *busy = data;

	if (rblk_clt_rq_device(rq) == busy->dev && rblk_clt_inflight(req)) {
		busy->found = true;
		rblk_clt_path_error_of(req->path, req->generation, -ETIMEDOUT, busy->what);
	}
	return true;
}

/**
 * rblk_clt_break_busy - break the paths on which a device has requests in flight
 * @dev: the device
 * @what: why, a constant string
 *
 * Context: Process context. Sleeps, not for a peer.
 * Return: whether there were any.
 */
bool rblk_clt_break_busy(struct rblk_clt_device *dev, const char *what)
{
	struct rblk_clt_busy busy = { .dev = dev, .what = what };

	blk_mq_tagset_busy_iter(&dev->session->tag_set, rblk_clt_break_one, &busy);
	return busy.found;
}

struct rblk_clt_other_keys {
	struct rblk_clt_device	*dev;
	struct rblk_clt_path	*path;
	u32			generation;
	bool			found;
};

static bool rblk_clt_other_keys_one(struct request *rq, void *data)
{
	struct rblk_clt_request *req = blk_mq_rq_to_pdu(rq);
	struct rblk_clt_other_keys *other = data;
	const struct rblk_clt_keys *keys;
	u32 extent;

	/* Those to a disk are answered, whatever becomes of its size. */
	if (rblk_clt_rq_device(rq) != other->dev || !rblk_clt_inflight(req) || req->disk ||
	    req->path != other->path || req->generation != other->generation)
		return true;
	rcu_read_lock();
	keys = rcu_dereference(other->dev->attach[other->path->index].keys);
	other->found |= rblk_extent_find(&keys->ext, (u64)blk_rq_pos(rq) << SECTOR_SHIFT,
					 blk_rq_bytes(rq), &extent) ||
			keys->rkeys[extent] != req->rkey;
	rcu_read_unlock();
	return !other->found;
}

/**
 * rblk_clt_uses_other_keys - are requests on their way with keys that were replaced?
 * @dev: the device
 * @path: the path
 * @generation: of it
 *
 * Context: Process context. Sleeps, not for a peer.
 * Return: whether there are.
 */
bool rblk_clt_uses_other_keys(struct rblk_clt_device *dev, struct rblk_clt_path *path,
			      u32 generation)
{
	struct rblk_clt_other_keys other = {
		.dev		= dev,
		.path		= path,
		.generation	= generation,
	};

	blk_mq_tagset_busy_iter(&dev->session->tag_set, rblk_clt_other_keys_one, &other);
	return other.found;
}

const struct blk_mq_ops rblk_clt_mq_ops = {
	.queue_rq	= rblk_clt_queue_rq,
	.complete	= rblk_clt_complete_rq,
	.timeout	= rblk_clt_timeout,
	.init_request	= rblk_clt_init_request,
};
