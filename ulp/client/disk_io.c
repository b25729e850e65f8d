// SPDX-License-Identifier: GPL-2.0
/*
 * Requests to a disk: a message to the server, which moves the data itself, and its response.
 *
 * The pages of a request are registered in the MR of its tag, for the peer, and the request
 * says where they are. It ends when three things are done: its message has completed, its
 * response has come, and the key is invalid; that is what the response says, or else it is made
 * so here. All of that is seen by one CQ, one after the other.
 *
 * As with memory, any error breaks the path and leaves the request in flight, for the sweep.
 */
#include <linux/blk-integrity.h>
#include <linux/rcupdate.h>
#include <rblk/fault.h>
#include <rblk/io_wire.h>
#include <rblk/trace.h>
#include "client.h"
#include "request.h"

/* struct rblk_clt_request @left: what has to be done before it ends */
#define RBLK_LEFT_SENT		BIT(0)
#define RBLK_LEFT_ANSWER	BIT(1)
#define RBLK_LEFT_KEY		BIT(2)

static struct rblk_clt_disk_queue *rblk_clt_cq_queue(struct ib_cq *cq)
{
	return container_of((struct rblk_conn *)cq->cq_context, struct rblk_clt_disk_queue, conn);
}

static void rblk_clt_disk_wc_error(struct rblk_clt_disk_queue *queue, const struct ib_wc *wc)
{
	/* A flushed one only follows another error, which says more. */
	rblk_conn_fail(&queue->conn, wc->status == IB_WC_WR_FLUSH_ERR ? -ECONNRESET : -EIO,
		       ib_wc_status_msg(wc->status));
}

/* Where to post what a peer does not see. */
static struct ib_qp *rblk_clt_disk_local_qp(struct rblk_clt_disk_queue *queue)
{
	return queue->reg_qp ?: queue->conn.qp;
}

static bool rblk_clt_disk_live(const struct rblk_clt_disk_queue *queue)
{
	return READ_ONCE(queue->path->state) == RBLK_PATH_LIVE;
}

static void rblk_clt_disk_invalidate(struct rblk_clt_disk_queue *queue,
				     struct rblk_clt_request *req)
{
	const struct ib_send_wr inv = {
		.wr_cqe			= &req->key_inv,
		.opcode			= IB_WR_LOCAL_INV,
		.send_flags		= IB_SEND_SIGNALED,
		.ex.invalidate_rkey	= req->mr->rkey,
	};

	/* As in queue_rq: a path that is being torn down takes no more posts. */
	rcu_read_lock();
	if (likely(rblk_clt_disk_live(queue)) &&
	    (rblk_fault(RBLK_FAULT_INV) ?:
	     ib_post_send(rblk_clt_disk_local_qp(queue), &inv, NULL)))
		rblk_conn_fail(&queue->conn, -EIO, "an invalidation could not be posted");
	rcu_read_unlock();
}

/* The key last, and not before the message has left, and so the registration is made. */
static void rblk_clt_disk_done(struct rblk_clt_disk_queue *queue, struct rblk_clt_request *req,
			       u8 what)
{
	req->left &= ~what;
	if (!req->left)
		rblk_clt_request_end(req, req->answer);
	else if (req->left == RBLK_LEFT_KEY)
		rblk_clt_disk_invalidate(queue, req);
}

/**
 * rblk_clt_disk_sent - a request has left, or it failed
 * @cq: the CQ
 * @wc: the completion
 *
 * Context: CQ handler. Does not sleep.
 */
void rblk_clt_disk_sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rblk_clt_disk_queue *queue = rblk_clt_cq_queue(cq);
	u32 tag = rblk_ring_index(&queue->requests, wc->wr_cqe);
	struct rblk_clt_request *req = queue->tags[tag].req;

	if (wc->status != IB_WC_SUCCESS)
		rblk_clt_disk_wc_error(queue, wc);
	else if (req)
		rblk_clt_disk_done(queue, req, RBLK_LEFT_SENT);
}

static void rblk_clt_disk_inv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rblk_clt_disk_queue *queue = rblk_clt_cq_queue(cq);
	struct rblk_clt_request *req = container_of(wc->wr_cqe, struct rblk_clt_request, key_inv);

	if (wc->status != IB_WC_SUCCESS)
		rblk_clt_disk_wc_error(queue, wc);
	else
		rblk_clt_disk_done(queue, req, RBLK_LEFT_KEY);
}

/* Return: 0, or a negative errno and it makes no sense. */
static int rblk_clt_disk_answer(struct rblk_clt_disk_queue *queue, const struct rblk_io_rsp *rsp,
				const struct ib_wc *wc)
{
	struct rblk_clt_disk_tag *tag;
	struct rblk_clt_request *req;

	if (rsp->tag >= queue->depth)
		return -EPROTO;
	tag = &queue->tags[rsp->tag];
	/* Pairs with the release in rblk_clt_disk_post(). */
	if (!smp_load_acquire(&tag->asked) || rsp->turn != tag->turn)
		return -EPROTO;
	req = tag->req;
	if (wc->wc_flags & IB_WC_WITH_INVALIDATE &&
	    (!req->mr || wc->ex.invalidate_rkey != req->mr->rkey))
		return -EPROTO;
	tag->asked = false;
	req->answer = rblk_io_status_to_blk(rsp->status);
	rblk_clt_disk_done(queue, req, RBLK_LEFT_ANSWER |
			   (wc->wc_flags & IB_WC_WITH_INVALIDATE ? RBLK_LEFT_KEY : 0));
	return 0;
}

/**
 * rblk_clt_disk_answered - a response has come, or the connection is broken
 * @cq: the CQ
 * @wc: the completion
 *
 * Context: CQ handler. Does not sleep.
 */
void rblk_clt_disk_answered(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rblk_clt_disk_queue *queue = rblk_clt_cq_queue(cq);
	u32 index = rblk_ring_index(&queue->responses, wc->wr_cqe);
	struct rblk_io_rsp rsp;
	int err;

	if (wc->status != IB_WC_SUCCESS) {
		rblk_clt_disk_wc_error(queue, wc);
		return;
	}
	rblk_ring_for_cpu(&queue->responses, index);
	err = rblk_io_decode_rsp(rblk_ring_buf(&queue->responses, index), wc->byte_len, &rsp);
	/* Before the request ends: the next one may be answered at once. */
	rcu_read_lock();
	if (!err && rblk_clt_disk_live(queue) && rblk_ring_receive(&queue->responses, index))
		rblk_conn_fail(&queue->conn, -EIO, "a receive could not be posted");
	rcu_read_unlock();
	if (!err)
		err = rblk_clt_disk_answer(queue, &rsp, wc);
	if (err)
		rblk_conn_fail(&queue->conn, err, "the server's response makes no sense");
}

static int rblk_clt_disk_send(struct rblk_clt_disk_queue *queue, u32 tag, struct ib_reg_wr *reg)
{
	struct ib_sge sge = rblk_ring_sge(&queue->requests, tag);
	struct ib_send_wr wr = {
		.wr_cqe		= &queue->requests.cqes[tag],
		.opcode		= IB_WR_SEND,
		.send_flags	= IB_SEND_SIGNALED,
		.sg_list	= &sge,
		.num_sge	= 1,
	};

	if (reg)
		reg->wr.next = &wr;
	return rblk_fault(RBLK_FAULT_POST) ?:
		ib_post_send(queue->conn.qp, reg ? &reg->wr : &wr, NULL);
}

/* Where registrations have a queue pair of their own, the message follows that. */
static void rblk_clt_disk_reg_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rblk_clt_disk_queue *queue = rblk_clt_cq_queue(cq);
	struct rblk_clt_request *req = container_of(wc->wr_cqe, struct rblk_clt_request, key_reg);

	if (wc->status != IB_WC_SUCCESS) {
		rblk_clt_disk_wc_error(queue, wc);
		return;
	}
	if (!queue->reg_qp)
		return;
	rcu_read_lock();
	if (likely(rblk_clt_disk_live(queue)) &&
	    rblk_clt_disk_send(queue, blk_mq_rq_from_pdu(req)->tag, NULL))
		rblk_conn_fail(&queue->conn, -EIO, "a request could not be posted");
	rcu_read_unlock();
}

static int rblk_clt_disk_post_reg(struct rblk_clt_disk_queue *queue, struct rblk_clt_request *req,
				  u32 tag)
{
	struct ib_reg_wr reg = {
		.wr = {
			.wr_cqe	= &req->key_reg,
			.opcode	= IB_WR_REG_MR,
		},
		.mr	= req->mr,
		.key	= req->mr->rkey,
		.access	= IB_ACCESS_REMOTE_READ,
	};

	/* A remote write needs the local right too. */
	if (req->dir == DMA_FROM_DEVICE)
		reg.access = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_LOCAL_WRITE;
	if (!queue->reg_qp)
		return rblk_clt_disk_send(queue, tag, &reg);
	reg.wr.send_flags = IB_SEND_SIGNALED;
	return rblk_fault(RBLK_FAULT_POST) ?: ib_post_send(queue->reg_qp, &reg.wr, NULL);
}

static int rblk_clt_disk_op(const struct request *rq, struct rblk_io_req *io)
{
	switch (req_op(rq)) {
	case REQ_OP_READ:
		io->op = RBLK_IO_READ;
		break;
	case REQ_OP_WRITE:
		io->op = RBLK_IO_WRITE;
		break;
	case REQ_OP_FLUSH:
		io->op = RBLK_IO_FLUSH;
		return 0;
	case REQ_OP_DISCARD:
		io->op = RBLK_IO_DISCARD;
		break;
	case REQ_OP_WRITE_ZEROES:
		io->op = RBLK_IO_WRITE_ZEROES;
		if (rq->cmd_flags & REQ_NOUNMAP)
			io->flags |= RBLK_IO_NO_UNMAP;
		break;
	case REQ_OP_SECURE_ERASE:
		io->op = RBLK_IO_SECURE_ERASE;
		break;
	default:
		return -EOPNOTSUPP;
	}
	if (rq->cmd_flags & REQ_FUA && (io->op == RBLK_IO_WRITE || io->op == RBLK_IO_WRITE_ZEROES))
		io->flags |= RBLK_IO_FUA;
	io->offset = (u64)blk_rq_pos(rq) << SECTOR_SHIFT;
	io->length = blk_rq_bytes(rq);
	return 0;
}

/* Map the pages of a request and give its MR a new key for them. */
static blk_status_t rblk_clt_disk_map(struct rblk_clt_disk_queue *queue, struct request *rq,
				      struct rblk_io_req *io)
{
	struct rblk_clt_request *req = blk_mq_rq_to_pdu(rq);
	struct ib_device *ib = queue->path->dev->ib;
	struct ib_mr *mr = queue->tags[rq->tag].mr;
	int mapped;

	req->nents = blk_rq_map_sg(rq->q, rq, req->sg);
	mapped = ib_dma_map_sg(ib, req->sg, req->nents, req->dir);
	if (!mapped)
		return BLK_STS_RESOURCE;
	if (rblk_fault(RBLK_FAULT_MAP_MR) ||
	    ib_map_mr_sg(mr, req->sg, mapped, NULL, 1U << RBLK_MR_PAGE_SHIFT) != mapped) {
		ib_dma_unmap_sg(ib, req->sg, req->nents, req->dir);
		return BLK_STS_IOERR;
	}
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	req->mr = mr;
	io->rkey = mr->rkey;
	io->address = mr->iova;
	return BLK_STS_OK;
}

/**
 * rblk_clt_disk_request_init - prepare a request that may be for a disk, once
 * @req: the request
 *
 * Context: Any.
 */
void rblk_clt_disk_request_init(struct rblk_clt_request *req)
{
	req->key_reg.done = rblk_clt_disk_reg_done;
	req->key_inv.done = rblk_clt_disk_inv_done;
}

/**
 * rblk_clt_disk_post - send a request to a disk
 * @dev: its device
 * @path: where, live; the device is open on it
 * @rq: the request
 *
 * Context: queue_rq, in its RCU read section. Does not sleep.
 * Return: BLK_STS_OK, and it is in flight; otherwise it is not, and nothing is left of it.
 */
blk_status_t rblk_clt_disk_post(struct rblk_clt_device *dev, struct rblk_clt_path *path,
				struct request *rq)
{
	struct rblk_clt_disk_queue *queue = &path->disk_queues[rq->mq_hctx->queue_num];
	struct rblk_clt_request *req = blk_mq_rq_to_pdu(rq);
	struct rblk_io_req io = { .tag = rq->tag, .handle = dev->attach[path->index].handle };
	struct rblk_clt_disk_tag *tag = &queue->tags[rq->tag];
	struct rblk_ring *ring = &queue->requests;
	blk_status_t status;
	int err;

	if (rblk_clt_disk_op(rq, &io))
		return BLK_STS_NOTSUPP;
	req->path = path;
	req->generation = READ_ONCE(path->generation);
	req->queue = &path->queues[rq->mq_hctx->queue_num];
	req->disk = true;
	req->rkey = 0;
	req->mr = NULL;
	req->nents = 0;
	req->dir = op_is_write(req_op(rq)) ? DMA_TO_DEVICE : DMA_FROM_DEVICE;
	/* It is at the disk when it is answered, and seen over any path. */
	req->ordered = true;
	req->left = RBLK_LEFT_SENT | RBLK_LEFT_ANSWER;
	req->since = 0;
	if (io.op == RBLK_IO_READ || io.op == RBLK_IO_WRITE) {
		status = rblk_clt_disk_map(queue, rq, &io);
		if (status != BLK_STS_OK)
			return status;
		req->left |= RBLK_LEFT_KEY;
	}
	tag->turn = rblk_io_next_turn(tag->turn);
	io.turn = tag->turn;
	rblk_ring_for_cpu(ring, rq->tag);
	err = rblk_io_encode_req(&io, rblk_ring_buf(ring, rq->tag));
	rblk_ring_for_device(ring, rq->tag);

	trace_rblk_request_start(dev->index, queue->index, rq->tag, io.offset, io.length,
				 req->dir == DMA_TO_DEVICE, req->mr);
	tag->req = req;
	/* Pairs with the acquire in rblk_clt_disk_answer(). */
	smp_store_release(&tag->asked, true);
	rblk_clt_request_begin(rq);
	if (!err)
		err = req->mr ? rblk_clt_disk_post_reg(queue, req, rq->tag) :
		      rblk_clt_disk_send(queue, rq->tag, NULL);
	/* As with memory: only the end of the queue pair settles it. */
	if (unlikely(err))
		rblk_conn_fail(&queue->conn, err, "a request could not be posted");
	return BLK_STS_OK;
}
