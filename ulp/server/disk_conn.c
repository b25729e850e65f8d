// SPDX-License-Identifier: GPL-2.0
/*
 * Disk connections of a path: made when its client has opened a disk, and gone with the path.
 */
#include <linux/slab.h>
#include <rblk/io_wire.h>
#include "server.h"

/* Of all disk connections of a path; each has room for two of the largest requests. */
#define RBLK_SRV_DISK_PAGES	(SZ_16M >> PAGE_SHIFT)
#define RBLK_SRV_DISK_PAGES_MIN	(2 * RBLK_IO_MAX >> PAGE_SHIFT)
/* For the drain. */
#define RBLK_SRV_DISK_EXTRA	2

/* Does rdma_rw register what it moves on this device, and take three work requests for it? */
static bool rblk_srv_rw_registers(const struct rblk_srv_path *path)
{
	return path->dev->caps.iwarp || path->dev->ib->attrs.max_sgl_rd;
}

/* How the queues are made. Return: NULL, or why the device cannot do it. */
static const char *rblk_srv_disk_sizes(struct rblk_srv_disk_queue *queue,
				       struct rblk_conn_sizes *sizes)
{
	const struct rblk_srv_path *path = queue->path;
	const struct rblk_dev_caps *caps = &path->dev->caps;
	const bool registers = rblk_srv_rw_registers(path);
	u32 mrs = 1, largest;

	/* Registrations are of pages as they come, if memory is in pieces. */
	if (registers)
		mrs = DIV_ROUND_UP(RBLK_IO_MAX >> PAGE_SHIFT, max(caps->max_fr_pages, 1U));
	sizes->rw_ctxs = queue->depth * mrs;
	sizes->send_sge = min3(caps->max_send_sge, caps->max_sge_rd, (u32)RBLK_SGE_MAX);
	if (!sizes->send_sge || !caps->max_init_rd)
		return "the device cannot send RDMA READs";
	queue->wrs_all = sizes->rw_ctxs * (registers ? 3 : 1);
	/* One in the worst of pieces has to fit; what is written to the client has no MRs. */
	largest = DIV_ROUND_UP(RBLK_IO_MAX >> PAGE_SHIFT, sizes->send_sge);
	if (registers)
		largest = max(largest, 3 * mrs);
	if (queue->wrs_all < largest)
		sizes->rw_ctxs += DIV_ROUND_UP(largest - queue->wrs_all, registers ? 3 : 1);
	queue->wrs_all = max(queue->wrs_all, largest);
	/* An MR takes so many pages, and rdma_rw counts pieces. */
	queue->max_order = registers && mrs > 1 ? 0 : PAGE_ALLOC_COSTLY_ORDER;
	queue->wrs = queue->wrs_all;
	sizes->sq_wrs = queue->depth + RBLK_SRV_DISK_EXTRA;
	sizes->rq_wrs = queue->depth + 1;
	sizes->cq_entries = sizes->sq_wrs + queue->wrs_all + sizes->rq_wrs;
	if (sizes->sq_wrs + queue->wrs_all > caps->max_qp_wr)
		return "the send queue of the device is too small";
	if (sizes->cq_entries > caps->max_cqe)
		return "the completion queue of the device is too small";
	return NULL;
}

/* Who may open no disk has no use for the memory that its connections take. */
static bool rblk_srv_disks_for(const struct rblk_srv_path *path)
{
	const struct rblk_srv_export *export;
	bool found = false;

	mutex_lock(&rblk_srv_lock);
	list_for_each_entry(export, &rblk_srv_exports, entry)
		found |= export->disk && path->session &&
			 rblk_srv_client_allowed(export, path->session->client);
	mutex_unlock(&rblk_srv_lock);
	return found;
}

static enum rblk_status rblk_srv_disk_queue_check(struct rblk_srv_path *path,
						  const struct rblk_srv_pending *pending)
{
	if (READ_ONCE(path->state) != RBLK_SRV_READY)
		return RBLK_NO_SESSION;
	if (pending->req.queue >= path->nr_queues || pending->req.depth > path->depth)
		return RBLK_LIMIT;
	if (!pending->init_rd)
		return RBLK_MALFORMED;
	/* Its objects belong to the path's protection domain, and so to its device. */
	if (pending->id->device != path->dev->ib)
		return RBLK_DEVICE;
	if (!rblk_srv_disks_for(path))
		return RBLK_DENIED;
	if (!path->disk_queues)
		path->disk_queues = kcalloc(path->nr_queues, sizeof(*path->disk_queues),
					    GFP_KERNEL);
	if (!path->disk_queues)
		return RBLK_NO_MEMORY;
	if (path->disk_queues[pending->req.queue].conn.id)
		return RBLK_DUPLICATE;
	return RBLK_OK;
}

static void rblk_srv_disk_queue_init(struct rblk_srv_disk_queue *queue,
				     struct rblk_srv_path *path, u32 depth)
{
	rblk_conn_init(&queue->conn, &rblk_srv_disk_queue_ops);
	queue->path = path;
	queue->depth = depth;
	queue->pages = max_t(u32, RBLK_SRV_DISK_PAGES / path->nr_queues, RBLK_SRV_DISK_PAGES_MIN);
	spin_lock_init(&queue->lock);
	init_waitqueue_head(&queue->idle);
	INIT_LIST_HEAD(&queue->pages_wait);
	INIT_LIST_HEAD(&queue->wrs_wait);
	INIT_LIST_HEAD(&queue->free_wait);
}

/**
 * rblk_srv_disk_queue_setup - let a disk connection of a path in
 * @path: the path
 * @pending: the connect request; its id is taken over with RBLK_OK
 *
 * Context: Process context. Sleeps. The caller holds the path's lock.
 * Return: RBLK_OK, also if it failed and ends the path; or why it is refused.
 */
enum rblk_status rblk_srv_disk_queue_setup(struct rblk_srv_path *path,
					   struct rblk_srv_pending *pending)
{
	struct rblk_rep rep = { .version = RBLK_WIRE_VERSION, .depth = pending->req.depth };
	struct rblk_conn_sizes sizes = {
		.vector	= pending->req.queue,
		.poll	= IB_POLL_WORKQUEUE,
	};
	struct rblk_srv_disk_queue *queue;
	enum rblk_status status;
	const char *why;
	int err;

	lockdep_assert_held(&path->lock);
	status = rblk_srv_disk_queue_check(path, pending);
	if (status != RBLK_OK)
		return status;
	queue = &path->disk_queues[pending->req.queue];
	rblk_srv_disk_queue_init(queue, path, pending->req.depth);
	queue->port = pending->id->port_num;
	why = rblk_srv_disk_sizes(queue, &sizes);
	if (why) {
		pr_warn_ratelimited("rblk: %s cannot serve disks: %s\n", path->rdma_device, why);
		return RBLK_DEVICE;
	}
	rblk_conn_adopt(&queue->conn, pending->id);
	err = rblk_conn_create(&queue->conn, path->dev, path->pd, &sizes);
	if (!err)
		err = rblk_srv_slots_create(queue);
	if (!err)
		err = rblk_conn_accept(&queue->conn, &rep, 1,
				       min3(path->dev->caps.max_init_rd, (u32)RBLK_READ_DEPTH,
					    pending->init_rd));
	if (err) {
		/* As with an I/O connection: the path ends, and its end destroys the id. */
		rblk_reject(pending->id, rblk_status_from_errno(err));
		rblk_srv_path_error(path, err, "a disk connection could not be set up");
	}
	pending->id = NULL;
	return RBLK_OK;
}

/**
 * rblk_srv_disk_queues_cut - end what a client can reach through the disk connections of a path
 * @path: the path, which is ending
 *
 * What disks have of it goes on, see rblk_srv_disk_queues_idle().
 *
 * Context: Process context. Sleeps, for a bounded time. The caller holds the path's lock.
 */
void rblk_srv_disk_queues_cut(struct rblk_srv_path *path)
{
	u32 i;

	lockdep_assert_held(&path->lock);
	if (!path->disk_queues)
		return;
	for (i = 0; i < path->nr_queues; i++)
		if (path->disk_queues[i].conn.id)
			rblk_srv_slots_close(&path->disk_queues[i]);
	rblk_srv_slots_sync();
	for (i = 0; i < path->nr_queues; i++) {
		if (!path->disk_queues[i].conn.id)
			continue;
		rblk_conn_cut(&path->disk_queues[i].conn);
		rblk_srv_slots_lose(&path->disk_queues[i]);
	}
}

/**
 * rblk_srv_disk_queues_idle - wait until no disk has anything of a path any more
 * @path: the path, after rblk_srv_disk_queues_cut()
 *
 * Context: Process context. Sleeps, as long as the disks take. The caller holds the path's lock.
 */
void rblk_srv_disk_queues_idle(struct rblk_srv_path *path)
{
	struct rblk_srv_disk_queue *queue;
	u32 i;

	lockdep_assert_held(&path->lock);
	for (i = 0; path->disk_queues && i < path->nr_queues; i++) {
		queue = &path->disk_queues[i];
		if (!queue->conn.id)
			continue;
		spin_lock_irq(&queue->lock);
		wait_event_lock_irq(queue->idle, !queue->busy, queue->lock);
		spin_unlock_irq(&queue->lock);
		rblk_srv_slots_destroy(queue);
	}
}

/**
 * rblk_srv_disk_queues_destroy - undo what is left of the disk connections of a path
 * @path: the path, after rblk_srv_disk_queues_idle()
 *
 * Context: Process context. Sleeps, as long as the CM needs. The caller holds the path's lock.
 */
void rblk_srv_disk_queues_destroy(struct rblk_srv_path *path)
{
	u32 i;

	lockdep_assert_held(&path->lock);
	for (i = 0; path->disk_queues && i < path->nr_queues; i++)
		if (path->disk_queues[i].conn.id)
			rblk_conn_destroy(&path->disk_queues[i].conn);
	kfree(path->disk_queues);
	path->disk_queues = NULL;
}
