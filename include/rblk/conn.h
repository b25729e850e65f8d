/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One RC connection: CM id, QP, CQ and, on a control connection, message
 * buffers. Set-up runs in the caller's thread, which waits for CM events; the
 * CM handler only notes what happened. Every failure from whatever context goes
 * through one function, ops->error, which must not sleep.
 *
 * Tear-down (rblk_conn_destroy) is idempotent and in this order: disconnect,
 * drain, QP, CM id, CQ, buffers. The CQ is the connection's own, so that once it
 * is gone no completion handler of this connection can run, whatever the drain
 * came to.
 */
#ifndef _RBLK_CONN_H
#define _RBLK_CONN_H

#include <linux/completion.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include <rblk/dev.h>
#include <rblk/slots.h>
#include <rblk/wire.h>

struct rblk_conn;

/**
 * struct rblk_rx - a received message
 * @entry: for whoever queues it
 * @cqe: of its receive
 * @conn: where it came from
 * @buf: RBLK_MSG_SIZE bytes
 * @dma: of @buf
 * @len: bytes received
 */
struct rblk_rx {
	struct list_head	entry;
	struct ib_cqe		cqe;
	struct rblk_conn	*conn;
	void			*buf;
	u64			dma;
	u32			len;
};

/**
 * struct rblk_tx - a buffer to send from
 * @cqe: of its send
 * @conn: where it goes
 * @buf: RBLK_MSG_SIZE bytes
 * @dma: of @buf
 */
struct rblk_tx {
	struct ib_cqe		cqe;
	struct rblk_conn	*conn;
	void			*buf;
	u64			dma;
};

/**
 * struct rblk_conn_ops - what the owner of a connection is told
 * @error: the connection is broken; called from any context, perhaps more than
 *	once, perhaps during set-up; @what is a constant string
 * @recv: a message came; CQ context; the owner gives it back with
 *	rblk_rx_repost() when it is done with it
 * @drained: the queue pair goes, and is still there; all that was posted has completed, unless
 *	it is late: then the device did not say so in time. Process context; may be NULL
 */
struct rblk_conn_ops {
	void (*error)(struct rblk_conn *conn, int err, const char *what);
	void (*recv)(struct rblk_conn *conn, struct rblk_rx *rx);
	void (*drained)(struct rblk_conn *conn, bool late);
};

/**
 * struct rblk_conn_tuning - what an administrator may choose of a connection
 * @tos: type of service of its packets
 * @ack_timeout: wait for an ack for 4.096 us * 2^n
 * @retries: how often the transport tries again then; 7 is endless on rxe
 */
struct rblk_conn_tuning {
	u8	tos;
	u8	ack_timeout;
	u8	retries;
};

/*
 * 4.096 us * 2^17 = 0.5 s. With 6 retries a peer that does not answer is noticed in about
 * 4 s; the rdma_cm default takes four times that.
 */
#define RBLK_CONN_TUNING	((struct rblk_conn_tuning) { .ack_timeout = 17, .retries = 6 })

/* How far the CM has come. */
enum rblk_conn_step {
	RBLK_STEP_NONE,
	RBLK_STEP_ADDR,
	RBLK_STEP_ROUTE,
	RBLK_STEP_ESTABLISHED,
};

/**
 * struct rblk_conn - one RC connection
 * @ops: what its owner is told
 * @tuning: how its transport is set up; of one that connects the owner may change it before
 * @id: CM id
 * @dev: its device, which the owner uses
 * @qp: its QP, owned by @id
 * @qpn: its number, for CM events that race with its destruction
 * @cq: its CQ
 * @rq_wrs: size of the receive queue
 * @init_rd: READs in flight that were asked for
 * @resp_rd: READs of the peer in flight to offer, of one that connects; 0 is 1
 * @step: how far the CM has come
 * @error: first thing that went wrong in set-up, negative errno
 * @error_what: that in words
 * @rep: what the server answered to the connect request
 * @wait: woken when @step or @error change
 * @sq_drained: last send completed
 * @rq_drained: last receive completed
 * @sq_drain: cqe of the last send
 * @rq_drain: cqe of the last receive
 * @probe: cqe of the probe
 * @probing: bit 0: it is on its way
 * @tx_lock: protects @tx_slots
 * @tx_slots: which of @tx are in use
 * @tx: buffers to send from
 * @rx: buffers to receive into
 * @nr_rx: how many
 * @messages: received so far
 */
struct rblk_conn {
	const struct rblk_conn_ops	*ops;
	struct rblk_conn_tuning		tuning;
	struct rdma_cm_id		*id;
	struct rblk_dev			*dev;
	struct ib_qp			*qp;
	u32				qpn;
	struct ib_cq			*cq;
	u32				rq_wrs;
	u32				init_rd;
	u32				resp_rd;

	enum rblk_conn_step		step;
	int				error;
	const char			*error_what;
	struct rblk_rep			rep;
	wait_queue_head_t		wait;

	struct completion		sq_drained;
	struct completion		rq_drained;
	struct ib_cqe			sq_drain;
	struct ib_cqe			rq_drain;
	struct ib_cqe			probe;
	unsigned long			probing;

	spinlock_t			tx_lock;	/* protects @tx_slots */
	struct rblk_slots		tx_slots;
	struct rblk_tx			*tx;
	struct rblk_rx			*rx;
	u32				nr_rx;
	atomic64_t			messages;
};

/**
 * struct rblk_conn_sizes - what to make the QP and CQ for
 * @sq_wrs: work requests in the send queue
 * @rq_wrs: work requests in the receive queue
 * @cq_entries: entries of the CQ
 * @send_sge: SGEs of a work request of the send queue
 * @rw_ctxs: transfers by rdma_rw at the same time; their work requests are on top of @sq_wrs
 * @vector: completion vector; wraps around what the device has
 * @poll: context of the completion handlers
 */
struct rblk_conn_sizes {
	u32			sq_wrs;
	u32			rq_wrs;
	u32			cq_entries;
	u32			send_sge;
	u32			rw_ctxs;
	u32			vector;
	enum ib_poll_context	poll;
};

/**
 * struct rblk_conn_facts - what an administrator wants to know of a connection
 * @qpn: number of the QP
 * @source_gid: of the port here
 * @peer_gid: of the peer's port
 * @lids: the link layer has what follows
 * @source_lid: of the port here
 * @peer_lid: of the peer's port
 * @pkey: partition
 * @sl: service level
 */
struct rblk_conn_facts {
	u32			qpn;
	union ib_gid		source_gid;
	union ib_gid		peer_gid;
	bool			lids;
	u32			source_lid;
	u32			peer_lid;
	u16			pkey;
	u8			sl;
};

#define RBLK_CTL_TX	8	/* send buffers of a control connection */
#define RBLK_CTL_RX	16	/* receive buffers of it */
#define RBLK_CTL_PROBES	1	/* probes on their way on it */

void rblk_conn_init(struct rblk_conn *conn, const struct rblk_conn_ops *ops);
int rblk_conn_resolve(struct rblk_conn *conn, struct net *net, const struct sockaddr_storage *src,
		      const struct sockaddr_storage *dst, unsigned long deadline);
int rblk_conn_create(struct rblk_conn *conn, struct rblk_dev *dev, struct ib_pd *pd,
		     const struct rblk_conn_sizes *sizes);
int rblk_conn_connect(struct rblk_conn *conn, const struct rblk_req *req, u32 init_rd,
		      unsigned long deadline);
void rblk_conn_adopt(struct rblk_conn *conn, struct rdma_cm_id *id);
int rblk_conn_accept(struct rblk_conn *conn, const struct rblk_rep *rep, u32 resp_rd,
		     u32 init_rd);
void rblk_conn_fail(struct rblk_conn *conn, int err, const char *what);
void rblk_conn_abort(struct rblk_conn *conn, int err, const char *what);
void rblk_conn_cut(struct rblk_conn *conn);
void rblk_conn_destroy(struct rblk_conn *conn);

bool rblk_conn_facts(const struct rblk_conn *conn, struct rblk_conn_facts *facts);

int rblk_msgs_create(struct rblk_conn *conn);
void rblk_msgs_destroy(struct rblk_conn *conn);
u32 rblk_conn_tx_free(struct rblk_conn *conn);
int rblk_conn_send(struct rblk_conn *conn, const struct rblk_msg *msg);
int rblk_conn_probe(struct rblk_conn *conn);
void rblk_rx_repost(struct rblk_rx *rx);

void rblk_reject(struct rdma_cm_id *id, enum rblk_status status);

#endif /* _RBLK_CONN_H */
