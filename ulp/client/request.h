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
 * @key_reg: of a disk: cqe of the registration
 * @key_inv: of a disk: cqe of the invalidation
 * @path: where it was posted; valid as long as the device is
 * @generation: of the path
 * @rkey: with which key
 * @queue: the connection there; valid while the request is in flight
 * @mr: its MR, or NULL
 * @flags: see above
 * @nents: entries of @sg in use
 * @dir: how they are mapped
 * @ordered: it is a write that is in place when it ends
 * @disk: it is to a disk
 * @held: it is a flush that waits for a path; under the device's @wait_lock
 * @left: of a disk: what has to be done before it ends, see disk_io.c
 * @answer: of a disk: what it says
 * @status: how it ended
 * @since: when it was posted, in ns; 0 if nobody wants to know
 * @sge: for a request without MR
 * @sg: its pages
 */
struct rblk_clt_request {
	struct ib_cqe		data;
	struct ib_cqe		reg;
	struct ib_cqe		inv;
	struct ib_cqe		key_reg;
	struct ib_cqe		key_inv;
	struct rblk_clt_path	*path;
	u32			generation;
	u32			rkey;
	struct rblk_clt_queue	*queue;
	struct ib_mr		*mr;
	unsigned long		flags;
	int			nents;
	enum dma_data_direction	dir;
	bool			ordered;
	bool			disk;
	bool			held;
	u8			left;
	blk_status_t		answer;
	blk_status_t		status;
	u64			since;
	struct ib_sge		sge[RBLK_SGE_MAX];
	struct scatterlist	sg[];
};

static inline struct rblk_clt_device *rblk_clt_rq_device(struct request *rq)
{
	return rq->q->queuedata;
}

/* io.c */
void rblk_clt_request_begin(struct request *rq);
void rblk_clt_request_end(struct rblk_clt_request *req, blk_status_t status);

/* disk_io.c */
void rblk_clt_disk_request_init(struct rblk_clt_request *req);
blk_status_t rblk_clt_disk_post(struct rblk_clt_device *dev, struct rblk_clt_path *path,
				struct request *rq);

/* hold.c */
bool rblk_clt_wait(struct request *rq, bool sent);
bool rblk_clt_flush_waits(struct request *rq);
void rblk_clt_flush_comes(struct request *rq);

#endif /* _RBLK_CLIENT_REQUEST_H */
