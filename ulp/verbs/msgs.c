// SPDX-License-Identifier: GPL-2.0
/*
 * Messages of a control connection: buffers, send, receive.
 *
 * Each side asks or answers; the asking side keeps fewer requests in flight than
 * the other has receives posted (RBLK_CTL_TX < RBLK_CTL_RX), so that a message
 * never meets an empty receive queue.
 */
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <rblk/conn.h>
#include <rblk/fault.h>
#include <rblk/trace.h>

static void rblk_msg_failed(struct rblk_conn *conn, const struct ib_wc *wc)
{
	bool flushed = wc->status == IB_WC_WR_FLUSH_ERR;

	/* The CM flushes the queue pair of a reject before it tells why. */
	if (flushed && READ_ONCE(conn->step) < RBLK_STEP_ESTABLISHED)
		return;
	if (flushed)
		rblk_conn_fail(conn, -ECONNRESET, "the connection was closed");
	else
		rblk_conn_fail(conn, -EIO, ib_wc_status_msg(wc->status));
}

static void rblk_tx_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rblk_tx *tx = container_of(wc->wr_cqe, struct rblk_tx, cqe);
	struct rblk_conn *conn = tx->conn;
	unsigned long flags;

	spin_lock_irqsave(&conn->tx_lock, flags);
	rblk_slots_put(&conn->tx_slots, tx - conn->tx);
	spin_unlock_irqrestore(&conn->tx_lock, flags);
	wake_up_all(&conn->wait);
	if (wc->status != IB_WC_SUCCESS)
		rblk_msg_failed(conn, wc);
}

static void rblk_rx_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rblk_rx *rx = container_of(wc->wr_cqe, struct rblk_rx, cqe);
	struct rblk_conn *conn = rx->conn;

	if (wc->status != IB_WC_SUCCESS) {
		rblk_msg_failed(conn, wc);
		return;
	}
	/* Pairs with synchronize_rcu() in rblk_conn_cut(): the QP stays meanwhile. */
	rcu_read_lock();
	if (!READ_ONCE(conn->error)) {
		rx->len = wc->byte_len;
		atomic64_inc(&conn->messages);
		ib_dma_sync_single_for_cpu(conn->dev->ib, rx->dma, RBLK_MSG_SIZE, DMA_FROM_DEVICE);
		conn->ops->recv(conn, rx);
	}
	rcu_read_unlock();
}

static int rblk_rx_post(struct rblk_rx *rx)
{
	struct rblk_conn *conn = rx->conn;
	struct ib_sge sge = {
		.addr	= rx->dma,
		.length	= RBLK_MSG_SIZE,
		.lkey	= conn->qp->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe		= &rx->cqe,
		.sg_list	= &sge,
		.num_sge	= 1,
	};

	return rblk_fault(RBLK_FAULT_RECV) ?: ib_post_recv(conn->qp, &wr, NULL);
}

/**
 * rblk_rx_repost - give a received message's buffer back to its connection
 * @rx: the message; not used by the caller any more
 *
 * Context: Any, but not once rblk_conn_destroy() was called. Does not sleep.
 */
void rblk_rx_repost(struct rblk_rx *rx)
{
	struct rblk_conn *conn = rx->conn;

	ib_dma_sync_single_for_device(conn->dev->ib, rx->dma, RBLK_MSG_SIZE, DMA_FROM_DEVICE);
	if (rblk_rx_post(rx))
		rblk_conn_fail(conn, -EIO, "a receive could not be posted");
}
EXPORT_SYMBOL_GPL(rblk_rx_repost);

static void *rblk_buf_alloc(struct ib_device *ib, u64 *dma, enum dma_data_direction dir)
{
	void *buf = kzalloc(RBLK_MSG_SIZE, GFP_KERNEL);

	if (!buf)
		return NULL;
	*dma = ib_dma_map_single(ib, buf, RBLK_MSG_SIZE, dir);
	if (ib_dma_mapping_error(ib, *dma)) {
		kfree(buf);
		return NULL;
	}
	return buf;
}

static void rblk_buf_free(struct ib_device *ib, void *buf, u64 dma, enum dma_data_direction dir)
{
	if (!buf)
		return;
	ib_dma_unmap_single(ib, dma, RBLK_MSG_SIZE, dir);
	kfree(buf);
}

/**
 * rblk_msgs_create - give a connection its message buffers and post its receives
 * @conn: the connection, with its QP, not connected yet
 *
 * Context: Process context. Sleeps.
 * Return: 0 or a negative errno; rblk_conn_destroy() is due in both cases.
 */
int rblk_msgs_create(struct rblk_conn *conn)
{
	struct ib_device *ib = conn->dev->ib;
	int i, err;

	conn->tx = kcalloc(RBLK_CTL_TX, sizeof(*conn->tx), GFP_KERNEL);
	conn->rx = kcalloc(RBLK_CTL_RX, sizeof(*conn->rx), GFP_KERNEL);
	if (!conn->tx || !conn->rx)
		return -ENOMEM;
	rblk_slots_init(&conn->tx_slots, RBLK_CTL_TX);
	for (i = 0; i < RBLK_CTL_TX; i++) {
		struct rblk_tx *tx = &conn->tx[i];

		tx->conn = conn;
		tx->cqe.done = rblk_tx_done;
		tx->buf = rblk_buf_alloc(ib, &tx->dma, DMA_TO_DEVICE);
		if (!tx->buf)
			return -ENOMEM;
	}
	for (i = 0; i < RBLK_CTL_RX; i++) {
		struct rblk_rx *rx = &conn->rx[i];

		rx->conn = conn;
		rx->cqe.done = rblk_rx_done;
		rx->buf = rblk_buf_alloc(ib, &rx->dma, DMA_FROM_DEVICE);
		if (!rx->buf)
			return -ENOMEM;
		err = rblk_rx_post(rx);
		if (err)
			return err;
		conn->nr_rx++;
	}
	return 0;
}
EXPORT_SYMBOL_GPL(rblk_msgs_create);

/**
 * rblk_msgs_destroy - free what rblk_msgs_create() made, however far it came
 * @conn: the connection, whose QP and CQ are gone
 *
 * Context: Process context.
 */
void rblk_msgs_destroy(struct rblk_conn *conn)
{
	int i;

	for (i = 0; conn->tx && i < RBLK_CTL_TX; i++)
		rblk_buf_free(conn->dev->ib, conn->tx[i].buf, conn->tx[i].dma, DMA_TO_DEVICE);
	for (i = 0; conn->rx && i < RBLK_CTL_RX; i++)
		rblk_buf_free(conn->dev->ib, conn->rx[i].buf, conn->rx[i].dma, DMA_FROM_DEVICE);
	kfree(conn->tx);
	kfree(conn->rx);
	conn->tx = NULL;
	conn->rx = NULL;
	conn->nr_rx = 0;
}

/**
 * rblk_conn_tx_free - how many messages could be sent now
 * @conn: the connection, with message buffers
 *
 * Context: Any. Does not sleep.
 * Return: free buffers.
 */
u32 rblk_conn_tx_free(struct rblk_conn *conn)
{
	unsigned long flags;
	u32 nr;

	spin_lock_irqsave(&conn->tx_lock, flags);
	nr = conn->tx_slots.nr - conn->tx_slots.taken;
	spin_unlock_irqrestore(&conn->tx_lock, flags);
	return nr;
}
EXPORT_SYMBOL_GPL(rblk_conn_tx_free);

/**
 * rblk_conn_send - send a message
 * @conn: the connection, with message buffers, connected
 * @msg: the message
 *
 * Context: Any. Does not sleep.
 * Return: 0: it is on its way, and an error would go through @conn->ops->error.
 * -EBUSY: all buffers are on their way already. Another negative errno: the
 * message cannot be encoded or posted.
 */
int rblk_conn_send(struct rblk_conn *conn, const struct rblk_msg *msg)
{
	struct ib_device *ib = conn->dev->ib;
	struct ib_sge sge = { .lkey = conn->qp->pd->local_dma_lkey };
	struct ib_send_wr wr = {
		.opcode		= IB_WR_SEND,
		.send_flags	= IB_SEND_SIGNALED,
		.sg_list	= &sge,
		.num_sge	= 1,
	};
	struct rblk_tx *tx;
	unsigned long flags;
	int slot, len, err;

	spin_lock_irqsave(&conn->tx_lock, flags);
	slot = rblk_slots_get(&conn->tx_slots);
	spin_unlock_irqrestore(&conn->tx_lock, flags);
	if (slot < 0)
		return -EBUSY;
	tx = &conn->tx[slot];

	ib_dma_sync_single_for_cpu(ib, tx->dma, RBLK_MSG_SIZE, DMA_TO_DEVICE);
	len = rblk_wire_encode(msg, tx->buf, RBLK_MSG_SIZE);
	ib_dma_sync_single_for_device(ib, tx->dma, RBLK_MSG_SIZE, DMA_TO_DEVICE);
	err = len;
	if (len > 0) {
		sge.addr = tx->dma;
		sge.length = len;
		wr.wr_cqe = &tx->cqe;
		err = rblk_fault(RBLK_FAULT_SEND) ?: ib_post_send(conn->qp, &wr, NULL);
	}
	if (err) {
		spin_lock_irqsave(&conn->tx_lock, flags);
		rblk_slots_put(&conn->tx_slots, slot);
		spin_unlock_irqrestore(&conn->tx_lock, flags);
	}
	return err;
}
EXPORT_SYMBOL_GPL(rblk_conn_send);

static void rblk_probe_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rblk_conn *conn = container_of(wc->wr_cqe, struct rblk_conn, probe);

	if (wc->status != IB_WC_SUCCESS)
		rblk_msg_failed(conn, wc);
	clear_bit(0, &conn->probing);
	wake_up_all(&conn->wait);
}

/**
 * rblk_conn_probe - see whether the peer's device is there
 * @conn: the connection, of a send queue that is RBLK_CTL_PROBES longer than its messages;
 *	nobody destroys it meanwhile
 *
 * A WRITE of no bytes needs no key, no receive and no CPU of the peer, only that its device
 * acknowledges it: so a peer that is busy, or stopped, is not taken for one that is dead.
 * If it does not, the connection breaks. Where the last one is on its way yet, nothing is done.
 * Whoever wants to know waits on @conn->wait until it is not.
 *
 * Context: Any. Does not sleep.
 * Return: 0 or a negative errno.
 */
int rblk_conn_probe(struct rblk_conn *conn)
{
	const struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe		= &conn->probe,
			.opcode		= IB_WR_RDMA_WRITE,
			.send_flags	= IB_SEND_SIGNALED,
		},
	};
	int err;

	if (test_and_set_bit(0, &conn->probing))
		return 0;
	conn->probe.done = rblk_probe_done;
	err = rblk_fault(RBLK_FAULT_SEND) ?: ib_post_send(conn->qp, &wr.wr, NULL);
	if (err)
		clear_bit(0, &conn->probing);
	return err;
}
EXPORT_SYMBOL_GPL(rblk_conn_probe);
