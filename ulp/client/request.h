/* SPDX-License-Identifier: GPL-2.0 */
/* What rblk keeps with a request of the block layer. */
#ifndef _RBLK_CLIENT_REQUEST_H
#define _RBLK_CLIENT_REQUEST_H

#include <linux/blk-mq.h>
#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>
#include "client.h"

/* struct rblk_clt_request @flags */
enum {
	RBLK_RQ_INFLIGHT,	/* whoever clears it ends the request */
};

/**
 * struct rblk_clt_request - what rblk keeps with a request
 * @data: cqe of the READ or WRITE
 * @reg: cqe of what comes before the last one of a post, and completes only with an error
 * @inv: cqe of the invalidation
 * @path: where it was posted; valid as long as the device is
 * @generation: of the path
 * @rkey: with which key
 * @queue: the connection there; valid while the request is in flight
 * @mr: its MR, or NULL
 * @flags: see above
 * @nents: entries of @sg in use
 * @dir: how they are mapped
 * @ordered: it is a write that a READ follows
 * @status: how it ended
 * @since: when it was posted, in ns; 0 if nobody wants to know
 * @sge: for a request without MR
 * @sg: its pages
 */
struct rblk_clt_request {
	struct ib_cqe		data;
	struct ib_cqe		reg;
	struct ib_cqe		inv;
	struct rblk_clt_path	*path;
	u32			generation;
	u32			rkey;
	struct rblk_clt_queue	*queue;
	struct ib_mr		*mr;
	unsigned long		flags;
	int			nents;
	enum dma_data_direction	dir;
	bool			ordered;
	blk_status_t		status;
	u64			since;
	struct ib_sge		sge[RBLK_SGE_MAX];
	struct scatterlist	sg[];
};

static inline struct rblk_clt_device *rblk_clt_rq_device(struct request *rq)
{
	return rq->q->queuedata;
}

/* hold.c */
bool rblk_clt_wait(struct request *rq, bool sent);

#endif /* _RBLK_CLIENT_REQUEST_H */
