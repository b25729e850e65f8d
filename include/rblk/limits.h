/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a device can do, and what rblk makes of it. Pure functions: device
 * attributes in, a plan out, or a reason in words why there is none.
 */
#ifndef _RBLK_LIMITS_H
#define _RBLK_LIMITS_H

#include <linux/sizes.h>
#include <linux/types.h>

#define RBLK_BLOCK_SHIFT	21	/* the server allocates memory in 2 MiB */
#define RBLK_EXTENT_SHIFT	26	/* 64 MiB where the device can */
#define RBLK_MR_PAGE_SHIFT	12	/* page size of client-side registrations */
#define RBLK_IO_MAX		SZ_1M	/* largest request, bytes */
#define RBLK_DEPTH_DEFAULT	128
#define RBLK_READ_DEPTH		16	/* RDMA READs in flight we ask for */
#define RBLK_SGE_MAX		16	/* SGEs kept in each request */

/**
 * struct rblk_dev_caps - the attributes of an RDMA device that matter
 * @max_qp_wr: work requests a send or receive queue can hold
 * @max_cqe: entries a completion queue can hold
 * @max_send_sge: SGEs of a SEND or WRITE
 * @max_sge_rd: SGEs of a READ
 * @max_fr_pages: page list entries of a fast registration; 0 if it has none
 * @max_mr: memory regions
 * @max_init_rd: outgoing READs in flight on a QP
 * @max_resp_rd: incoming READs in flight on a QP
 * @vectors: completion vectors
 * @mr_replays: it carries out a finished registration again when it sends packets
 *	again, which then fails: none may be behind a request that can be lost
 * @page_sizes: bit mask of page sizes for a fast registration
 * @max_mr_size: bytes one MR can cover; 0 if the device does not say
 * @iwarp: READ needs a remotely writable MR as its sink
 * @mr_counts_sg: a fast registration counts SG entries of any length instead
 *	of pages, and takes no page size but 4 KiB
 */
struct rblk_dev_caps {
	u32	max_qp_wr;
	u32	max_cqe;
	u32	max_send_sge;
	u32	max_sge_rd;
	u32	max_fr_pages;
	u32	max_mr;
	u32	max_init_rd;
	u32	max_resp_rd;
	u32	vectors;
	u32	mr_replays;
	u64	page_sizes;
	u64	max_mr_size;
	bool	iwarp;
	bool	mr_counts_sg;
};

/**
 * struct rblk_queue_want - what is asked of an I/O connection of the client
 * @depth: requests in flight, at least 1
 * @force_mr: register memory even where SGEs would do; for tests
 * @queues: I/O connections of the path, 0 while that is not known
 */
struct rblk_queue_want {
	u32	depth;
	bool	force_mr;
	u32	queues;
};

/**
 * struct rblk_queue_plan - how an I/O connection of the client is built
 * @depth: requests in flight, 1 to what was asked
 * @write_sge: SGEs of a WRITE; a request with more segments takes an MR
 * @read_sge: SGEs of a READ, 0 if every READ takes an MR
 * @mr_pages: page list entries of each MR, 0 if there are no MRs
 * @mrs: MRs to keep, 0 or @depth
 * @max_segments: segments of a request
 * @max_io: bytes of a request
 * @sq_wrs: size of the send queue: all a request can post, and the drain
 * @cq_entries: size of the completion queue
 * @init_rd: initiator depth to ask for
 */
struct rblk_queue_plan {
	u32	depth;
	u32	write_sge;
	u32	read_sge;
	u32	mr_pages;
	u32	mrs;
	u32	max_segments;
	u32	max_io;
	u32	sq_wrs;
	u32	cq_entries;
	u32	init_rd;
};

/**
 * struct rblk_msg_plan - queues for messages (control), or for a peer's
 *	one-sided access only (I/O at the server, which posts but the drain)
 * @sq_wrs: size of the send queue
 * @rq_wrs: size of the receive queue
 * @cq_entries: size of the completion queue
 * @resp_rd: responder resources to offer
 */
struct rblk_msg_plan {
	u32	sq_wrs;
	u32	rq_wrs;
	u32	cq_entries;
	u32	resp_rd;
};

/**
 * struct rblk_export_plan - how exported memory is registered on a device
 * @extent_shift: log2 of the bytes of an extent
 * @page_shift: log2 of the MR's page size
 * @mr_entries: what to allocate the MR for
 */
struct rblk_export_plan {
	u8	extent_shift;
	u8	page_shift;
	u32	mr_entries;
};

int rblk_plan_queue(const struct rblk_dev_caps *caps, const struct rblk_queue_want *want,
		    struct rblk_queue_plan *plan, const char **why);
int rblk_plan_msgs(const struct rblk_dev_caps *caps, u32 sends, u32 recvs,
		   struct rblk_msg_plan *plan, const char **why);
int rblk_plan_export(const struct rblk_dev_caps *caps, u8 want_shift, bool small_pages,
		     struct rblk_export_plan *plan, const char **why);
u32 rblk_plan_queues(u32 want, u32 cpus, u32 limit);

#endif /* _RBLK_LIMITS_H */
