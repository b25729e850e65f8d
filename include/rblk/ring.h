/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Buffers of one size for the messages of a connection, in one piece that is mapped once.
 */
#ifndef _RBLK_RING_H
#define _RBLK_RING_H

#include <rdma/ib_verbs.h>
#include <rblk/conn.h>

/**
 * struct rblk_ring - buffers of one size
 * @conn: the connection, NULL while there are none
 * @buf: the first of them
 * @cqes: one for each; @done of those that are for receives is set
 * @dma: of @buf
 * @nr: how many
 * @size: bytes of each
 * @dir: which way they go
 */
struct rblk_ring {
	struct rblk_conn	*conn;
	void			*buf;
	struct ib_cqe		*cqes;
	u64			dma;
	u32			nr;
	u32			size;
	enum dma_data_direction	dir;
};

int rblk_ring_create(struct rblk_ring *ring, struct rblk_conn *conn, u32 nr, u32 size,
		     enum dma_data_direction dir,
		     void (*done)(struct ib_cq *cq, struct ib_wc *wc));
int rblk_ring_receive(struct rblk_ring *ring, u32 index);
int rblk_ring_receive_all(struct rblk_ring *ring);
void rblk_ring_destroy(struct rblk_ring *ring);

static inline u32 rblk_ring_index(const struct rblk_ring *ring, const struct ib_cqe *cqe)
{
	return cqe - ring->cqes;
}

static inline void *rblk_ring_buf(const struct rblk_ring *ring, u32 index)
{
	return ring->buf + (size_t)index * ring->size;
}

/* To be used by this side. */
static inline void rblk_ring_for_cpu(const struct rblk_ring *ring, u32 index)
{
	ib_dma_sync_single_for_cpu(ring->conn->dev->ib, ring->dma + (u64)index * ring->size,
				   ring->size, ring->dir);
}

/* To be used by the device. */
static inline void rblk_ring_for_device(const struct rblk_ring *ring, u32 index)
{
	ib_dma_sync_single_for_device(ring->conn->dev->ib, ring->dma + (u64)index * ring->size,
				      ring->size, ring->dir);
}

static inline struct ib_sge rblk_ring_sge(const struct rblk_ring *ring, u32 index)
{
	return (struct ib_sge) {
		.addr	= ring->dma + (u64)index * ring->size,
		.length	= ring->size,
		.lkey	= ring->conn->qp->pd->local_dma_lkey,
	};
}

#endif /* _RBLK_RING_H */
