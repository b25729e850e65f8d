// SPDX-License-Identifier: GPL-2.0
/*
 * What clients ask of a disk. Each tag of a connection has a slot, which goes through these
 * steps; who has it meanwhile:
 *
 *	FREE	nobody
 *	PAGES	the queue's list: there are no pages for it yet
 *	BEGIN	its work, of the disk's workqueue: pages; then one of the next three
 *	FETCH	the connection, or the list of those that wait for work requests: RDMA READ
 *	FETCHED	its work
 *	DISK	the disk
 *	READ	its work
 *	PUSH	the connection, or that list: RDMA WRITE
 *	ANSWER	the list of those that wait for a response that is not on its way
 *
 * It is FREE before its response is posted: the client uses the tag again when it has that.
 *
 * How it ends when the path does: the queue is closed, under its lock; who is about to use
 * the queue pair is waited for (SRCU); the queue pair is drained, and what the connection
 * or a list has is free; the queue pair is destroyed. What a work or the disk has sees that
 * the queue is closed, and is free then. Who has to know that nothing reaches a disk any more
 * waits for that.
 */
#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/srcu.h>
#include <rblk/io_wire.h>
#include <rdma/rw.h>
#include "server.h"

enum rblk_srv_step {
	RBLK_SLOT_FREE,
	RBLK_SLOT_PAGES,
	RBLK_SLOT_BEGIN,
	RBLK_SLOT_FETCH,
	RBLK_SLOT_FETCHED,
	RBLK_SLOT_DISK,
	RBLK_SLOT_READ,
	RBLK_SLOT_PUSH,
	RBLK_SLOT_ANSWER,
};

/**
 * struct rblk_srv_slot - a request to a disk
 * @queue: where it came
 * @work: does what sleeps
 * @wait: in one of the queue's lists
 * @step: see above; under the queue's lock
 * @req: what is asked
 * @open: of what
 * @status: how it ended
 * @sgt: its pages
 * @nr_pages: of the queue's that it took
 * @rw: moves the data
 * @cqe: of that
 * @wrs: work requests that it takes; 0 while @rw has nothing
 */
struct rblk_srv_slot {
	struct rblk_srv_disk_queue	*queue;
	struct work_struct		work;
	struct list_head		wait;
	enum rblk_srv_step		step;
	struct rblk_io_req		req;
	struct rblk_srv_open		*open;
	enum rblk_io_status		status;
	struct sg_table			sgt;
	u32				nr_pages;
	struct rdma_rw_ctx		rw;
	struct ib_cqe			cqe;
	u32				wrs;
};

/* Who is about to use the queue pair of a queue that is not closed. */
DEFINE_STATIC_SRCU(rblk_srv_slots_srcu);

static void rblk_srv_answer_slot(struct rblk_srv_slot *slot);

static struct rblk_srv_disk *rblk_srv_slot_disk(const struct rblk_srv_slot *slot)
{
	return slot->open->export->disk;
}

static bool rblk_srv_has_data(const struct rblk_io_req *req)
{
	return req->op == RBLK_IO_READ || req->op == RBLK_IO_WRITE;
}

static enum dma_data_direction rblk_srv_slot_dir(const struct rblk_srv_slot *slot)
{
	return slot->req.op == RBLK_IO_READ ? DMA_TO_DEVICE : DMA_FROM_DEVICE;
}

static void rblk_srv_wc_error(struct rblk_srv_disk_queue *queue, const struct ib_wc *wc)
{
	/* A flushed one only follows another error, which says more. */
	rblk_conn_fail(&queue->conn, wc->status == IB_WC_WR_FLUSH_ERR ? -ECONNRESET : -EIO,
		       ib_wc_status_msg(wc->status));
}

static void rblk_srv_slot_run(struct rblk_srv_slot *slot)
{
	queue_work(rblk_srv_slot_disk(slot)->wq, &slot->work);
}

/* Pages of those that wait go to them in the order in which they came. */
static void rblk_srv_pages_grant(struct rblk_srv_disk_queue *queue)
{
	struct rblk_srv_slot *slot;

	lockdep_assert_held(&queue->lock);
	while (!queue->closed) {
		slot = list_first_entry_or_null(&queue->pages_wait, struct rblk_srv_slot, wait);
		if (!slot || slot->nr_pages > queue->pages)
			break;
		list_del(&slot->wait);
		queue->pages -= slot->nr_pages;
		slot->step = RBLK_SLOT_BEGIN;
		rblk_srv_slot_run(slot);
	}
}

static void rblk_srv_pages_free(struct rblk_srv_slot *slot)
{
	struct scatterlist *sg;

	if (!slot->sgt.sgl)
		return;
	for (sg = slot->sgt.sgl; sg && sg_page(sg); sg = sg_next(sg))
		__free_pages(sg_page(sg), get_order(sg->length));
	sg_free_table(&slot->sgt);
	slot->sgt.sgl = NULL;
}

/* In pieces as large as they are to be had. */
static int rblk_srv_pages_alloc(struct rblk_srv_slot *slot)
{
	u32 left = slot->req.length, order, nr = 0;
	struct scatterlist *sg;
	struct page *page;
	gfp_t gfp;

	if (sg_alloc_table(&slot->sgt, slot->nr_pages, GFP_NOIO))
		return -ENOMEM;
	sg = slot->sgt.sgl;
	while (left) {
		order = min_t(u32, ilog2(DIV_ROUND_UP(left, PAGE_SIZE)), slot->queue->max_order);
		do {
			gfp = order ? __GFP_NORETRY | __GFP_NOWARN | __GFP_COMP : 0;
			page = alloc_pages(GFP_NOIO | gfp, order);
		} while (!page && order--);
		if (!page) {
			rblk_srv_pages_free(slot);
			return -ENOMEM;
		}
		sg_set_page(sg, page, min_t(u32, left, PAGE_SIZE << order), 0);
		left -= sg->length;
		nr++;
		if (left)
			sg = sg_next(sg);
	}
	sg_mark_end(sg);
	slot->sgt.nents = nr;
	return 0;
}

/* The slot is nobody's any more. The caller may use the queue only if it is not closed. */
static void rblk_srv_slot_free(struct rblk_srv_slot *slot)
{
	struct rblk_srv_disk_queue *queue = slot->queue;
	unsigned long flags;

	rblk_srv_pages_free(slot);
	atomic_dec(&slot->open->requests);
	spin_lock_irqsave(&queue->lock, flags);
	queue->pages += slot->nr_pages;
	slot->nr_pages = 0;
	slot->step = RBLK_SLOT_FREE;
	rblk_srv_pages_grant(queue);
	/* Under the lock: who waits for it takes that once more. */
	if (!--queue->busy)
		wake_up(&queue->idle);
	spin_unlock_irqrestore(&queue->lock, flags);
}

static void rblk_srv_rw_undo(struct rblk_srv_slot *slot)
{
	struct rblk_srv_disk_queue *queue = slot->queue;

	rdma_rw_ctx_destroy(&slot->rw, queue->conn.qp, queue->port, slot->sgt.sgl,
			    slot->sgt.nents, rblk_srv_slot_dir(slot));
	slot->wrs = 0;
}

static void rblk_srv_rw_post(struct rblk_srv_slot *slot)
{
	struct rblk_srv_disk_queue *queue = slot->queue;

	if (rdma_rw_ctx_post(&slot->rw, queue->conn.qp, queue->port, &slot->cqe, NULL))
		rblk_conn_fail(&queue->conn, -EIO, "a transfer could not be posted");
}

/* Give work requests back, to those that wait first. */
static void rblk_srv_wrs_put(struct rblk_srv_disk_queue *queue, u32 wrs)
{
	struct rblk_srv_slot *slot;
	int idx;

	/* Who has seen that the queue is closed takes what is in the list. */
	idx = srcu_read_lock(&rblk_srv_slots_srcu);
	spin_lock_irq(&queue->lock);
	queue->wrs += wrs;
	while (!queue->closed) {
		slot = list_first_entry_or_null(&queue->wrs_wait, struct rblk_srv_slot, wait);
		if (!slot || slot->wrs > queue->wrs)
			break;
		list_del(&slot->wait);
		queue->wrs -= slot->wrs;
		spin_unlock_irq(&queue->lock);
		rblk_srv_rw_post(slot);
		spin_lock_irq(&queue->lock);
	}
	spin_unlock_irq(&queue->lock);
	srcu_read_unlock(&rblk_srv_slots_srcu, idx);
}

static void rblk_srv_rw_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rblk_srv_slot *slot = container_of(wc->wr_cqe, struct rblk_srv_slot, cqe);
	struct rblk_srv_disk_queue *queue = slot->queue;
	u32 wrs = slot->wrs;
	int idx;

	if (wc->status != IB_WC_SUCCESS) {
		rblk_srv_wc_error(queue, wc);
		return;
	}
	/* Of a closed queue the drain takes it; a late one does not wait for this. */
	idx = srcu_read_lock(&rblk_srv_slots_srcu);
	if (READ_ONCE(queue->closed))
		goto out;
	rblk_srv_rw_undo(slot);
	if (slot->req.op == RBLK_IO_WRITE) {
		spin_lock_irq(&queue->lock);
		slot->step = RBLK_SLOT_FETCHED;
		spin_unlock_irq(&queue->lock);
		rblk_srv_slot_run(slot);
	} else {
		rblk_srv_answer_slot(slot);
	}
	rblk_srv_wrs_put(queue, wrs);
out:
	srcu_read_unlock(&rblk_srv_slots_srcu, idx);
}

/* Move the data of a slot between its pages and the client. */
static void rblk_srv_move(struct rblk_srv_slot *slot, enum rblk_srv_step step)
{
	struct rblk_srv_disk_queue *queue = slot->queue;
	bool closed, post = false;
	int idx, ret = 0;

	idx = srcu_read_lock(&rblk_srv_slots_srcu);
	closed = READ_ONCE(queue->closed);
	if (!closed)
		ret = rdma_rw_ctx_init(&slot->rw, queue->conn.qp, queue->port, slot->sgt.sgl,
				       slot->sgt.nents, 0, slot->req.address, slot->req.rkey,
				       rblk_srv_slot_dir(slot));
	/* It would wait for ever, and all others behind it. */
	if (WARN_ON_ONCE(ret > (int)queue->wrs_all)) {
		slot->wrs = ret;
		rblk_srv_rw_undo(slot);
		ret = -E2BIG;
	}
	if (!closed && ret > 0) {
		spin_lock_irq(&queue->lock);
		slot->wrs = ret;
		slot->step = step;
		post = list_empty(&queue->wrs_wait) && queue->wrs >= slot->wrs;
		if (post)
			queue->wrs -= slot->wrs;
		else
			list_add_tail(&slot->wait, &queue->wrs_wait);
		spin_unlock_irq(&queue->lock);
	}
	if (post)
		rblk_srv_rw_post(slot);
	srcu_read_unlock(&rblk_srv_slots_srcu, idx);
	if (closed) {
		rblk_srv_slot_free(slot);
	} else if (ret <= 0) {
		slot->status = RBLK_IO_ERROR;
		rblk_srv_answer_slot(slot);
	}
}

static void rblk_srv_bio_end(struct bio *bio)
{
	struct rblk_srv_slot *slot = bio->bi_private;
	struct rblk_srv_disk_queue *queue = slot->queue;
	unsigned long flags;

	slot->status = rblk_io_status_from_blk(bio->bi_status);
	bio_put(bio);
	if (slot->status == RBLK_IO_OK && slot->req.op == RBLK_IO_READ) {
		spin_lock_irqsave(&queue->lock, flags);
		slot->step = RBLK_SLOT_READ;
		spin_unlock_irqrestore(&queue->lock, flags);
		rblk_srv_slot_run(slot);
	} else {
		rblk_srv_answer_slot(slot);
	}
}

static blk_opf_t rblk_srv_opf(const struct rblk_io_req *req)
{
	blk_opf_t fua = req->flags & RBLK_IO_FUA ? REQ_FUA : 0;

	switch (req->op) {
	case RBLK_IO_READ:
		return REQ_OP_READ;
	case RBLK_IO_WRITE:
		return REQ_OP_WRITE | REQ_SYNC | REQ_IDLE | fua;
	case RBLK_IO_FLUSH:
		return REQ_OP_WRITE | REQ_PREFLUSH;
	case RBLK_IO_DISCARD:
		return REQ_OP_DISCARD;
	case RBLK_IO_WRITE_ZEROES:
		return REQ_OP_WRITE_ZEROES | (req->flags & RBLK_IO_NO_UNMAP ? REQ_NOUNMAP : 0);
	case RBLK_IO_SECURE_ERASE:
		return REQ_OP_SECURE_ERASE;
	}
	return REQ_OP_READ;
}

static void rblk_srv_submit(struct rblk_srv_slot *slot)
{
	struct rblk_srv_disk *disk = rblk_srv_slot_disk(slot);
	struct rblk_srv_disk_queue *queue = slot->queue;
	const struct rblk_io_req *req = &slot->req;
	u32 nr = slot->sgt.sgl ? slot->sgt.nents : 0;
	struct scatterlist *sg;
	struct bio *bio;
	bool closed;
	u32 i;

	spin_lock_irq(&queue->lock);
	closed = queue->closed;
	slot->step = RBLK_SLOT_DISK;
	spin_unlock_irq(&queue->lock);
	/* Its client has been told, or will be, that it may not have been done. */
	if (closed) {
		rblk_srv_slot_free(slot);
		return;
	}
	if (READ_ONCE(disk->failed)) {
		slot->status = RBLK_IO_GONE;
		rblk_srv_answer_slot(slot);
		return;
	}
	bio = bio_alloc(disk->bdev, nr, rblk_srv_opf(req), GFP_NOIO);
	bio->bi_iter.bi_sector = req->offset >> SECTOR_SHIFT;
	bio->bi_private = slot;
	bio->bi_end_io = rblk_srv_bio_end;
	for_each_sg(slot->sgt.sgl, sg, nr, i)
		__bio_add_page(bio, sg_page(sg), sg->length, 0);
	if (!nr)
		bio->bi_iter.bi_size = req->length;
	submit_bio(bio);
}

static bool rblk_srv_allowed(const struct rblk_srv_slot *slot)
{
	return !slot->open->read_only || slot->req.op == RBLK_IO_READ ||
	       slot->req.op == RBLK_IO_FLUSH;
}

static void rblk_srv_slot_work(struct work_struct *work)
{
	struct rblk_srv_slot *slot = container_of(work, struct rblk_srv_slot, work);
	/* Whoever frees memory here may be waiting for this very disk. */
	unsigned int noio = memalloc_noio_save();

	switch (slot->step) {
	case RBLK_SLOT_BEGIN:
		if (!rblk_srv_allowed(slot)) {
			slot->status = RBLK_IO_PROTECTION;
			rblk_srv_answer_slot(slot);
		} else if (slot->req.op == RBLK_IO_WRITE_ZEROES && slot->req.flags & RBLK_IO_FUA) {
			/* The block layer has none. */
			slot->status = RBLK_IO_NOT_SUPPORTED;
			rblk_srv_answer_slot(slot);
		} else if (slot->nr_pages && rblk_srv_pages_alloc(slot)) {
			slot->status = RBLK_IO_ERROR;
			rblk_srv_answer_slot(slot);
		} else if (slot->req.op == RBLK_IO_WRITE) {
			rblk_srv_move(slot, RBLK_SLOT_FETCH);
		} else {
			rblk_srv_submit(slot);
		}
		break;
	case RBLK_SLOT_FETCHED:
		rblk_srv_submit(slot);
		break;
	case RBLK_SLOT_READ:
		rblk_srv_move(slot, RBLK_SLOT_PUSH);
		break;
	default:
		WARN_ON_ONCE(1);
		break;
	}
	memalloc_noio_restore(noio);
}

static void rblk_srv_response_post(struct rblk_srv_slot *slot, u32 index)
{
	struct rblk_srv_disk_queue *queue = slot->queue;
	struct rblk_ring *ring = &queue->responses;
	const struct rblk_io_rsp rsp = {
		.tag	= slot->req.tag,
		.turn	= slot->req.turn,
		.status	= slot->status,
	};
	struct ib_sge sge = rblk_ring_sge(ring, index);
	struct ib_send_wr wr = {
		.wr_cqe		= &ring->cqes[index],
		.opcode		= IB_WR_SEND,
		.send_flags	= IB_SEND_SIGNALED,
		.sg_list	= &sge,
		.num_sge	= 1,
	};

	if (slot->req.rkey) {
		wr.opcode = IB_WR_SEND_WITH_INV;
		wr.ex.invalidate_rkey = slot->req.rkey;
	}
	rblk_ring_for_cpu(ring, index);
	rblk_io_encode_rsp(&rsp, rblk_ring_buf(ring, index));
	rblk_ring_for_device(ring, index);
	/* Before: the client may use the tag again as soon as it has the response. */
	rblk_srv_slot_free(slot);
	if (ib_post_send(queue->conn.qp, &wr, NULL))
		rblk_conn_fail(&queue->conn, -EIO, "a response could not be posted");
}

static void rblk_srv_response_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rblk_srv_disk_queue *queue =
		container_of((struct rblk_conn *)cq->cq_context, struct rblk_srv_disk_queue, conn);
	u32 index = rblk_ring_index(&queue->responses, wc->wr_cqe);
	struct rblk_srv_slot *slot = NULL;
	int idx;

	if (wc->status != IB_WC_SUCCESS) {
		rblk_srv_wc_error(queue, wc);
		return;
	}
	idx = srcu_read_lock(&rblk_srv_slots_srcu);
	spin_lock_irq(&queue->lock);
	if (!queue->closed)
		slot = list_first_entry_or_null(&queue->free_wait, struct rblk_srv_slot, wait);
	if (slot)
		list_del(&slot->wait);
	else
		queue->free[queue->nr_free++] = index;
	spin_unlock_irq(&queue->lock);
	if (slot)
		rblk_srv_response_post(slot, index);
	srcu_read_unlock(&rblk_srv_slots_srcu, idx);
}

/* Any context: also in which a bio ends. */
static void rblk_srv_answer_slot(struct rblk_srv_slot *slot)
{
	struct rblk_srv_disk_queue *queue = slot->queue;
	bool closed, post = false;
	unsigned long flags;
	u32 index = 0;
	int idx;

	idx = srcu_read_lock(&rblk_srv_slots_srcu);
	spin_lock_irqsave(&queue->lock, flags);
	closed = queue->closed;
	if (!closed) {
		slot->step = RBLK_SLOT_ANSWER;
		post = queue->nr_free;
		if (post)
			index = queue->free[--queue->nr_free];
		else
			list_add_tail(&slot->wait, &queue->free_wait);
	}
	spin_unlock_irqrestore(&queue->lock, flags);
	if (post)
		rblk_srv_response_post(slot, index);
	else if (closed)
		rblk_srv_slot_free(slot);
	srcu_read_unlock(&rblk_srv_slots_srcu, idx);
}

/* As the client was told; one that has not asked may not. */
static u32 rblk_srv_request_max(const struct rblk_srv_open *open, enum rblk_io_op op)
{
	switch (op) {
	case RBLK_IO_DISCARD:
		return open->limits.max_discard;
	case RBLK_IO_WRITE_ZEROES:
		return open->limits.max_write_zeroes;
	case RBLK_IO_SECURE_ERASE:
		return open->limits.max_secure_erase;
	default:
		return open->limits.max_io;
	}
}

/* The open that a request is about, which counts it from here on; NULL if it makes no sense. */
static struct rblk_srv_open *rblk_srv_request_open(struct rblk_srv_path *path,
						   const struct rblk_io_req *req)
{
	struct rblk_srv_open *open;
	u32 block;

	xa_lock(&path->disks);
	open = xa_load(&path->disks, req->handle);
	if (open) {
		block = bdev_logical_block_size(open->export->disk->bdev);
		if (!IS_ALIGNED(req->offset, block) || !IS_ALIGNED(req->length, block) ||
		    req->offset > open->size || req->length > open->size - req->offset ||
		    req->length > rblk_srv_request_max(open, req->op))
			open = NULL;
	}
	if (open)
		atomic_inc(&open->requests);
	xa_unlock(&path->disks);
	return open;
}

/* Return: 0, or a negative errno and it makes no sense. */
static int rblk_srv_request(struct rblk_srv_disk_queue *queue, const struct rblk_io_req *req)
{
	struct rblk_srv_open *open = rblk_srv_request_open(queue->path, req);
	struct rblk_srv_slot *slot = &queue->slots[req->tag];
	bool fits;

	if (!open)
		return -EPROTO;
	spin_lock_irq(&queue->lock);
	fits = slot->step == RBLK_SLOT_FREE && req->turn == rblk_io_next_turn(slot->req.turn) &&
	       !queue->closed;
	if (!fits) {
		spin_unlock_irq(&queue->lock);
		atomic_dec(&open->requests);
		return -EPROTO;
	}
	slot->req = *req;
	slot->open = open;
	slot->status = RBLK_IO_OK;
	slot->nr_pages = rblk_srv_has_data(req) ? DIV_ROUND_UP(req->length, PAGE_SIZE) : 0;
	queue->busy++;
	slot->step = RBLK_SLOT_PAGES;
	list_add_tail(&slot->wait, &queue->pages_wait);
	rblk_srv_pages_grant(queue);
	spin_unlock_irq(&queue->lock);
	return 0;
}

static void rblk_srv_request_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rblk_srv_disk_queue *queue =
		container_of((struct rblk_conn *)cq->cq_context, struct rblk_srv_disk_queue, conn);
	u32 index = rblk_ring_index(&queue->requests, wc->wr_cqe);
	struct rblk_io_req req;
	int err = 0, idx;

	if (wc->status != IB_WC_SUCCESS) {
		rblk_srv_wc_error(queue, wc);
		return;
	}
	idx = srcu_read_lock(&rblk_srv_slots_srcu);
	if (READ_ONCE(queue->closed))
		goto out;
	atomic64_inc(&queue->conn.messages);
	rblk_ring_for_cpu(&queue->requests, index);
	err = rblk_io_decode_req(rblk_ring_buf(&queue->requests, index), wc->byte_len, &req);
	if (!err && req.tag >= queue->depth)
		err = -EPROTO;
	/* At once: what it said is known now. */
	if (!err)
		err = rblk_ring_receive(&queue->requests, index);
	if (!err)
		err = rblk_srv_request(queue, &req);
out:
	srcu_read_unlock(&rblk_srv_slots_srcu, idx);
	if (err)
		rblk_conn_fail(&queue->conn, err, "a request to a disk makes no sense");
}

static void rblk_srv_disk_queue_error(struct rblk_conn *conn, int err, const char *what)
{
	rblk_srv_path_error(container_of(conn, struct rblk_srv_disk_queue, conn)->path, err, what);
}

/* The queue is closed, and no completion comes any more: what the connection had is free. */
static void rblk_srv_disk_queue_drained(struct rblk_conn *conn, bool late)
{
	struct rblk_srv_disk_queue *queue = container_of(conn, struct rblk_srv_disk_queue, conn);
	struct rblk_srv_slot *slot;
	u32 i;

	for (i = 0; !late && queue->slots && i < queue->depth; i++) {
		slot = &queue->slots[i];
		if (slot->wrs)
			rblk_srv_rw_undo(slot);
	}
}

const struct rblk_conn_ops rblk_srv_disk_queue_ops = {
	.error		= rblk_srv_disk_queue_error,
	.drained	= rblk_srv_disk_queue_drained,
};

/**
 * rblk_srv_slots_create - make the slots of a disk connection
 * @queue: the queue, whose connection has its QP, and whose @depth is set
 *
 * Context: Process context. Sleeps.
 * Return: 0, or a negative errno; rblk_srv_slots_destroy() is due in both cases.
 */
int rblk_srv_slots_create(struct rblk_srv_disk_queue *queue)
{
	u32 i, depth = queue->depth;
	int err;

	queue->slots = kvcalloc(depth, sizeof(*queue->slots), GFP_KERNEL);
	queue->free = kcalloc(depth, sizeof(*queue->free), GFP_KERNEL);
	if (!queue->slots || !queue->free)
		return -ENOMEM;
	for (i = 0; i < depth; i++) {
		queue->slots[i].queue = queue;
		queue->slots[i].cqe.done = rblk_srv_rw_done;
		INIT_WORK(&queue->slots[i].work, rblk_srv_slot_work);
		queue->free[queue->nr_free++] = i;
	}
	err = rblk_ring_create(&queue->responses, &queue->conn, depth,
			       sizeof(struct rblk_wire_io_rsp), DMA_TO_DEVICE,
			       rblk_srv_response_done);
	if (!err)
		err = rblk_ring_create(&queue->requests, &queue->conn, depth,
				       sizeof(struct rblk_wire_io_req), DMA_FROM_DEVICE,
				       rblk_srv_request_done);
	return err ?: rblk_ring_receive_all(&queue->requests);
}

/**
 * rblk_srv_slots_close - begin nothing on a disk connection any more
 * @queue: the queue
 *
 * Context: Process context. Does not sleep.
 */
void rblk_srv_slots_close(struct rblk_srv_disk_queue *queue)
{
	spin_lock_irq(&queue->lock);
	queue->closed = true;
	spin_unlock_irq(&queue->lock);
}

/**
 * rblk_srv_slots_sync - wait until nobody is about to use a queue pair that was closed
 *
 * Context: Process context. Sleeps, not for a peer nor a disk.
 */
void rblk_srv_slots_sync(void)
{
	synchronize_srcu(&rblk_srv_slots_srcu);
}

/**
 * rblk_srv_slots_lose - free the slots that a disk connection had
 * @queue: the queue, closed, whose queue pair is gone
 *
 * Context: Process context. Does not sleep.
 */
void rblk_srv_slots_lose(struct rblk_srv_disk_queue *queue)
{
	struct rblk_srv_slot *slot;
	enum rblk_srv_step step;
	u32 i;

	for (i = 0; queue->slots && i < queue->depth; i++) {
		slot = &queue->slots[i];
		spin_lock_irq(&queue->lock);
		step = slot->step;
		spin_unlock_irq(&queue->lock);
		if (step != RBLK_SLOT_PAGES && step != RBLK_SLOT_FETCH &&
		    step != RBLK_SLOT_PUSH && step != RBLK_SLOT_ANSWER)
			continue;
		/* The device never said that it is done with them: better lost than written to. */
		if (slot->wrs) {
			pr_err_ratelimited("rblk: %s keeps a transfer: its memory is lost\n",
					   queue->path->rdma_device);
			slot->sgt.sgl = NULL;
			slot->wrs = 0;
		}
		/* It did not get them. */
		if (step == RBLK_SLOT_PAGES)
			slot->nr_pages = 0;
		rblk_srv_slot_free(slot);
	}
}

/**
 * rblk_srv_slots_destroy - free what rblk_srv_slots_create() made, however far it came
 * @queue: the queue, of which no slot is in use
 *
 * Context: Process context. The connection's QP and CQ are gone, and its device is there.
 */
void rblk_srv_slots_destroy(struct rblk_srv_disk_queue *queue)
{
	rblk_ring_destroy(&queue->requests);
	rblk_ring_destroy(&queue->responses);
	kfree(queue->free);
	kvfree(queue->slots);
	queue->free = NULL;
	queue->slots = NULL;
}
