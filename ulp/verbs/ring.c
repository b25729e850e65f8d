// SPDX-License-Identifier: GPL-2.0
/* Buffers of one size for the messages of a connection. See include/rblk/ring.h. */
#include <linux/module.h>
#include <linux/slab.h>
#include <rblk/fault.h>
#include <rblk/ring.h>

/**
 * rblk_ring_create - make buffers for the messages of a connection
 * @ring: to fill in
 * @conn: the connection, with its QP
 * @nr: how many
 * @size: bytes of each
 * @dir: DMA_FROM_DEVICE to receive into, DMA_TO_DEVICE to send from
 * @done: what the completion of any of them calls
 *
 * Context: Process context. Sleeps.
 * Return: 0, or a negative errno and there are none.
 */
int rblk_ring_create(struct rblk_ring *ring, struct rblk_conn *conn, u32 nr, u32 size,
		     enum dma_data_direction dir,
		     void (*done)(struct ib_cq *cq, struct ib_wc *wc))
{
	struct ib_device *ib = conn->dev->ib;
	u32 i;

	ring->buf = kcalloc(nr, size, GFP_KERNEL);
	ring->cqes = kcalloc(nr, sizeof(*ring->cqes), GFP_KERNEL);
	if (!ring->buf || !ring->cqes)
		goto err_free;
	ring->dma = ib_dma_map_single(ib, ring->buf, (size_t)nr * size, dir);
	if (ib_dma_mapping_error(ib, ring->dma))
		goto err_free;
	for (i = 0; i < nr; i++)
		ring->cqes[i].done = done;
	ring->conn = conn;
	ring->nr = nr;
	ring->size = size;
	ring->dir = dir;
	return 0;

err_free:
	kfree(ring->cqes);
	kfree(ring->buf);
	*ring = (struct rblk_ring){ };
	return -ENOMEM;
}
EXPORT_SYMBOL_GPL(rblk_ring_create);

/**
 * rblk_ring_receive - post a receive into a buffer
 * @ring: the buffers
 * @index: which one; the caller does not use it any more
 *
 * Context: Any. Does not sleep.
 * Return: 0 or a negative errno.
 */
int rblk_ring_receive(struct rblk_ring *ring, u32 index)
{
	struct ib_sge sge = rblk_ring_sge(ring, index);
	struct ib_recv_wr wr = {
		.wr_cqe		= &ring->cqes[index],
		.sg_list	= &sge,
		.num_sge	= 1,
	};

	rblk_ring_for_device(ring, index);
	return rblk_fault(RBLK_FAULT_RECV) ?: ib_post_recv(ring->conn->qp, &wr, NULL);
}
EXPORT_SYMBOL_GPL(rblk_ring_receive);

/**
 * rblk_ring_receive_all - post a receive into each buffer
 * @ring: the buffers, of a connection that is not connected yet
 *
 * Context: Process context. Does not sleep.
 * Return: 0 or a negative errno; the connection is to be destroyed then.
 */
int rblk_ring_receive_all(struct rblk_ring *ring)
{
	u32 i;
	int err;

	for (i = 0; i < ring->nr; i++) {
		err = rblk_ring_receive(ring, i);
		if (err)
			return err;
		/* The drain waits for receives where there are some. */
		ring->conn->nr_rx++;
	}
	return 0;
}
EXPORT_SYMBOL_GPL(rblk_ring_receive_all);

/**
 * rblk_ring_destroy - free buffers
 * @ring: the buffers; if there are none, nothing is done
 *
 * Context: Process context. The connection's QP and CQ are gone, and its device is there.
 */
void rblk_ring_destroy(struct rblk_ring *ring)
{
	if (!ring->conn)
		return;
	ib_dma_unmap_single(ring->conn->dev->ib, ring->dma, (size_t)ring->nr * ring->size,
			    ring->dir);
	kfree(ring->cqes);
	kfree(ring->buf);
	*ring = (struct rblk_ring){ };
}
EXPORT_SYMBOL_GPL(rblk_ring_destroy);
