/* SPDX-License-Identifier: GPL-2.0 */
/* Registrations of exported memory: one MR for each extent and path. */
#ifndef _RBLK_MR_H
#define _RBLK_MR_H

#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>
#include <rblk/conn.h>
#include <rblk/limits.h>

/**
 * struct rblk_mr - an extent that a peer can reach
 * @reg: cqe of the registration
 * @registered: it completed
 * @status: how
 * @mr: the MR, NULL if there is none
 * @sgt: the extent's memory, mapped for the device
 * @dir: how it was mapped
 */
struct rblk_mr {
	struct ib_cqe		reg;
	struct completion	registered;
	enum ib_wc_status	status;
	struct ib_mr		*mr;
	struct sg_table		sgt;
	enum dma_data_direction	dir;
};

int rblk_mr_register(struct rblk_mr *rmr, struct rblk_conn *conn, struct ib_pd *pd,
		     struct page **blocks, u32 nr_blocks, const struct rblk_export_plan *plan,
		     u64 iova, bool read_only);
bool rblk_mr_release(struct rblk_mr *rmr, struct rblk_dev *dev);

#endif /* _RBLK_MR_H */
