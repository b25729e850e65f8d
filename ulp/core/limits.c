// SPDX-License-Identifier: GPL-2.0
/*
 * From what a device says it can do to how rblk uses it. Devices say odd things,
 * zero and UINT_MAX among them: what could wrap is clamped first or 64 bits wide.
 *
 * A refusal is -ENODEV, which the server reports as RBLK_DEVICE.
 */
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/sizes.h>

#include <rblk/limits.h>
#include <rblk/wire.h>

/* ib_drain_qp() posts one of each; the other is for what nobody thought of. */
#define RBLK_SQ_EXTRA		2
#define RBLK_RQ_EXTRA		1
/* A queue of the client receives nothing: its receive queue is for the drain. */
#define RBLK_QUEUE_CQ_EXTRA	(RBLK_RQ_EXTRA + 1)

#define RBLK_MR_PAGE_SIZE	SZ_4K
/* An I/O that does not begin on a page border touches one page more. */
#define RBLK_MR_PAGES_MAX	(RBLK_IO_MAX / RBLK_MR_PAGE_SIZE + 1)

/* Page list entries of the MRs that a queue can have, 0 for none. */
static u32 rblk_queue_mr_pages(const struct rblk_dev_caps *caps)
{
	u64 pages = min(caps->max_fr_pages, RBLK_MR_PAGES_MAX);

	if (!caps->max_mr)
		return 0;
	if (!(caps->page_sizes & RBLK_MR_PAGE_SIZE) && !caps->mr_counts_sg)
		return 0;
	if (caps->max_mr_size)
		pages = min(pages, caps->max_mr_size >> RBLK_MR_PAGE_SHIFT);
	/* One page holds no I/O that may begin anywhere. */
	return pages < 2 ? 0 : pages;
}

/* The shape of a request: MRs or not, SGEs, segments and bytes. */
static const char *rblk_queue_shape(const struct rblk_dev_caps *caps, bool force_mr,
				    struct rblk_queue_plan *plan)
{
	u32 write_sge = min(caps->max_send_sge, RBLK_SGE_MAX);
	/* Both are posted to one queue pair, which has one limit. */
	u32 read_sge = min3(caps->max_sge_rd, caps->max_send_sge, RBLK_SGE_MAX);
	u32 sges = min(write_sge, read_sge);
	u32 pages = rblk_queue_mr_pages(caps);

	if (!write_sge)
		return "the device takes no scatter-gather entry in an RDMA WRITE";
	if (!read_sge)
		return "the device takes no scatter-gather entry in an RDMA READ";
	/*
	 * MRs that take no more segments than the work requests do are no gain. Where a lost
	 * packet costs the queue pair that has some in flight, they are a loss.
	 */
	if (!force_mr && !caps->iwarp && (pages <= sges || caps->mr_replays)) {
		plan->write_sge = write_sge;
		plan->read_sge = read_sge;
		plan->max_segments = sges;
		plan->max_io = RBLK_IO_MAX;
		return NULL;
	}
	if (!pages && caps->iwarp)
		return "iWARP needs fast registrations of at least two 4 KiB pages";
	if (!pages)
		return "no fast registrations of at least two 4 KiB pages, but they are forced";
	plan->mr_pages = pages;
	plan->max_segments = pages;
	plan->max_io = min((pages - 1) * RBLK_MR_PAGE_SIZE, RBLK_IO_MAX);
	if (!force_mr) {
		plan->write_sge = write_sge;
		/* The local key gives a peer no right to write, and iWARP wants that. */
		plan->read_sge = caps->iwarp ? 0 : read_sge;
	}
	return NULL;
}

/**
 * rblk_plan_queue - how an I/O connection of the client is built
 * @caps: what the device can do
 * @want: what is asked; a larger depth than the device allows is reduced
 * @plan: to fill in; all zero when it fails
 * @why: why there is no plan, in words, when it fails
 *
 * Context: Any.
 * Return: 0; -EINVAL if a depth of 0 is asked; -ENODEV if the device cannot do
 * what a queue needs.
 */
int rblk_plan_queue(const struct rblk_dev_caps *caps, const struct rblk_queue_want *want,
		    struct rblk_queue_plan *plan, const char **why)
{
	struct rblk_queue_plan p = { };
	const char *text;
	u32 depth, room, per;

	*plan = p;
	if (!want->depth) {
		*why = "the depth of a queue is at least 1";
		return -EINVAL;
	}
	p.init_rd = min(caps->max_init_rd, RBLK_READ_DEPTH);
	if (!p.init_rd) {
		*why = "the device cannot send RDMA READs";
		return -ENODEV;
	}
	text = rblk_queue_shape(caps, want->force_mr, &p);
	if (text) {
		*why = text;
		return -ENODEV;
	}

	/*
	 * The data, and a READ behind a WRITE; with an MR, REG_MR before them. LOCAL_INV follows
	 * when all of these have completed.
	 */
	per = p.mr_pages ? 3 : 2;
	room = min(caps->max_qp_wr, max(caps->max_cqe, RBLK_QUEUE_CQ_EXTRA) - RBLK_QUEUE_CQ_EXTRA);
	depth = min(want->depth, RBLK_DEPTH_MAX);
	depth = min(depth, (max(room, RBLK_SQ_EXTRA) - RBLK_SQ_EXTRA) / per);
	/* Each queue keeps its own, and the device counts all of them. */
	if (p.mr_pages)
		depth = min(depth, caps->max_mr / max(want->queues, 1U));
	if (!depth) {
		*why = "the queues of the device are too small for one request";
		return -ENODEV;
	}
	p.depth = depth;
	p.mrs = p.mr_pages ? depth : 0;
	p.sq_wrs = depth * per + RBLK_SQ_EXTRA;
	p.cq_entries = p.sq_wrs + RBLK_QUEUE_CQ_EXTRA;
	*plan = p;
	return 0;
}
EXPORT_SYMBOL_GPL(rblk_plan_queue);

/**
 * rblk_plan_msgs - how a connection is built that carries messages, or nothing
 * @caps: what the device can do
 * @sends: messages sent and not completed at any time
 * @recvs: receive buffers
 * @plan: to fill in; all zero when it fails
 * @why: why there is no plan, in words, when it fails
 *
 * The peer counts on these numbers, so they are not reduced to fit.
 *
 * Context: Any.
 * Return: 0; -ENODEV if the device cannot do it.
 */
int rblk_plan_msgs(const struct rblk_dev_caps *caps, u32 sends, u32 recvs,
		   struct rblk_msg_plan *plan, const char **why)
{
	u64 rq = (u64)max(recvs, 1U) + RBLK_RQ_EXTRA;
	u64 sq = (u64)sends + RBLK_SQ_EXTRA;
	u32 resp_rd = min(caps->max_resp_rd, RBLK_READ_DEPTH);

	*plan = (struct rblk_msg_plan){ };
	if (!resp_rd) {
		*why = "the device cannot answer RDMA READs";
		return -ENODEV;
	}
	if (sq > caps->max_qp_wr) {
		*why = "the send queue of the device is too small";
		return -ENODEV;
	}
	if (rq > caps->max_qp_wr) {
		*why = "the receive queue of the device is too small";
		return -ENODEV;
	}
	if (sq + rq > caps->max_cqe) {
		*why = "the completion queue of the device is too small";
		return -ENODEV;
	}
	plan->sq_wrs = sq;
	plan->rq_wrs = rq;
	plan->cq_entries = sq + rq;
	plan->resp_rd = resp_rd;
	return 0;
}
EXPORT_SYMBOL_GPL(rblk_plan_msgs);

/**
 * rblk_plan_export - how exported memory is registered on a device
 * @caps: what the device can do
 * @want_shift: log2 of the bytes of an extent that is asked; reduced to what an
 *	MR of the device covers
 * @small_pages: do not use pages of 2 MiB even where the device takes them: for
 *	tests, and for a device that does not keep its promise
 * @plan: to fill in; all zero when it fails
 * @why: why there is no plan, in words, when it fails
 *
 * The memory is allocated in blocks of 2 MiB, so an extent is at least that.
 *
 * Context: Any.
 * Return: 0; -EINVAL if a smaller extent is asked; -ENODEV if the device cannot
 * do it.
 */
int rblk_plan_export(const struct rblk_dev_caps *caps, u8 want_shift, bool small_pages,
		     struct rblk_export_plan *plan, const char **why)
{
	/* What an entry of an MR covers, which need not be a page of it. */
	u8 page_shift = RBLK_MR_PAGE_SHIFT, entry_shift = RBLK_MR_PAGE_SHIFT, shift;
	u64 capacity;

	*plan = (struct rblk_export_plan){ };
	if (want_shift < RBLK_EXTENT_SHIFT_MIN) {
		*why = "an extent is at least 2 MiB";
		return -EINVAL;
	}
	if (!caps->max_fr_pages || !caps->max_mr) {
		*why = "the device has no fast registrations";
		return -ENODEV;
	}
	if (caps->mr_counts_sg) {
		entry_shift = RBLK_BLOCK_SHIFT;
	} else if (!small_pages && caps->page_sizes & SZ_2M) {
		page_shift = RBLK_BLOCK_SHIFT;
		entry_shift = RBLK_BLOCK_SHIFT;
	} else if (!(caps->page_sizes & SZ_4K)) {
		*why = "the device registers pages of neither 4 KiB nor 2 MiB";
		return -ENODEV;
	}

	capacity = (u64)caps->max_fr_pages << entry_shift;
	if (caps->max_mr_size)
		capacity = min(capacity, caps->max_mr_size);
	capacity = min(capacity, 1ULL << RBLK_EXTENT_SHIFT_MAX);
	shift = min(want_shift, ilog2(capacity));
	if (shift < RBLK_EXTENT_SHIFT_MIN) {
		*why = "a registration of the device covers less than 2 MiB";
		return -ENODEV;
	}
	plan->extent_shift = shift;
	plan->page_shift = page_shift;
	plan->mr_entries = 1U << (shift - entry_shift);
	return 0;
}
EXPORT_SYMBOL_GPL(rblk_plan_export);

/**
 * rblk_plan_queues - how many I/O connections a path has
 * @want: what is asked, 0 for one for each CPU
 * @cpus: CPUs of the node, 0 if they do not matter
 * @limit: of the server or the device, 0 for none
 *
 * Completion vectors are no limit: queues may share them.
 *
 * Context: Any.
 * Return: 1 to RBLK_QUEUES_MAX.
 */
u32 rblk_plan_queues(u32 want, u32 cpus, u32 limit)
{
	u32 queues = min_not_zero(min_not_zero(want, cpus), limit);

	return clamp(queues, 1U, (u32)RBLK_QUEUES_MAX);
}
EXPORT_SYMBOL_GPL(rblk_plan_queues);
