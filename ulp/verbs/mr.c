// SPDX-License-Identifier: GPL-2.0
/*
 * Registration of exported memory by a fast-registration work request on the
 * control connection of a path.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <rblk/fault.h>
#include <rblk/mr.h>
#include <rblk/trace.h>

#define RBLK_REG_TIMEOUT	(10 * HZ)

static void rblk_mr_registered(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rblk_mr *rmr = container_of(wc->wr_cqe, struct rblk_mr, reg);
	struct rblk_conn *conn = cq->cq_context;

	rmr->status = wc->status;
	complete(&rmr->registered);
	wake_up_all(&conn->wait);
}

/* Return: 0; -EINPROGRESS if it may still complete; another negative errno. */
static int rblk_mr_post(struct rblk_mr *rmr, struct rblk_conn *conn, int access)
{
	struct ib_reg_wr wr = {
		.wr = {
			.wr_cqe		= &rmr->reg,
			.opcode		= IB_WR_REG_MR,
			.send_flags	= IB_SEND_SIGNALED,
		},
		.mr	= rmr->mr,
		.key	= rmr->mr->rkey,
		.access	= access,
	};
	int err;

	/* See struct rblk_dev_caps @mr_replays. An answer that is on its way is soon there. */
	if (conn->dev->caps.mr_replays &&
	    !wait_event_timeout(conn->wait,
				rblk_conn_tx_free(conn) == RBLK_CTL_TX || READ_ONCE(conn->error),
				RBLK_REG_TIMEOUT)) {
		rblk_conn_fail(conn, -ETIMEDOUT, "the peer takes no messages");
		return -ESHUTDOWN;
	}
	rmr->reg.done = rblk_mr_registered;
	init_completion(&rmr->registered);
	err = rblk_fault(RBLK_FAULT_REG) ?: ib_post_send(conn->qp, &wr.wr, NULL);
	if (err)
		return err;
	/* On a connection that is broken there is nothing to wait for. */
	wait_event_timeout(conn->wait,
			   completion_done(&rmr->registered) || READ_ONCE(conn->error),
			   RBLK_REG_TIMEOUT);
	if (!try_wait_for_completion(&rmr->registered))
		return -EINPROGRESS;
	return rmr->status == IB_WC_SUCCESS ? 0 : -EIO;
}

/* Also that the device has given it up: until then the pages are nobody else's. */
static void rblk_mr_put_pages(struct rblk_mr *rmr)
{
	struct scatterlist *sg;
	int i;

	for_each_sg(rmr->sgt.sgl, sg, rmr->sgt.orig_nents, i)
		put_page(sg_page(sg));
	sg_free_table(&rmr->sgt);
}

/**
 * rblk_mr_register - let a peer reach an extent of exported memory
 * @rmr: what is made; released with rblk_mr_release() once the QPs of the
 *	protection domain are destroyed
 * @conn: control connection of the path, connected, in @pd
 * @pd: protection domain of the path
 * @blocks: the extent's memory, in blocks of 1 << RBLK_BLOCK_SHIFT bytes; a reference on
 *	each is taken, and given back when the device has given up the registration
 * @nr_blocks: how many, at least 1
 * @plan: how this device registers exports
 * @iova: address of the extent on the wire: its offset in the export
 * @read_only: the peer may not write
 *
 * Context: Process context. Sleeps.
 * Return: 0 and the key is @rmr->mr->rkey. -EINPROGRESS: the device did not complete
 * it in time; the connection is broken, and @rmr stays as it is until the queue pair
 * is destroyed. Another negative errno, and @rmr is empty.
 */
int rblk_mr_register(struct rblk_mr *rmr, struct rblk_conn *conn, struct ib_pd *pd,
		     struct page **blocks, u32 nr_blocks, const struct rblk_export_plan *plan,
		     u64 iova, bool read_only)
{
	int access = IB_ACCESS_REMOTE_READ;
	struct ib_device *ib = pd->device;
	struct scatterlist *sg;
	int mapped, nents, i, err;

	/* A remote write needs the local right too. */
	if (!read_only)
		access |= IB_ACCESS_REMOTE_WRITE | IB_ACCESS_LOCAL_WRITE;
	rmr->dir = read_only ? DMA_TO_DEVICE : DMA_BIDIRECTIONAL;
	err = sg_alloc_table(&rmr->sgt, nr_blocks, GFP_KERNEL);
	if (err)
		return err;
	for_each_sg(rmr->sgt.sgl, sg, nr_blocks, i) {
		get_page(blocks[i]);
		sg_set_page(sg, blocks[i], 1U << RBLK_BLOCK_SHIFT, 0);
	}

	/* The IOMMU may merge entries: the MR takes what came out of it. */
	mapped = ib_dma_map_sg(ib, rmr->sgt.sgl, rmr->sgt.orig_nents, rmr->dir);
	if (!mapped) {
		err = -ENOMEM;
		goto err_table;
	}
	rmr->mr = rblk_fault_or(RBLK_FAULT_MR,
				ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, plan->mr_entries));
	if (IS_ERR(rmr->mr)) {
		err = PTR_ERR(rmr->mr);
		goto err_unmap;
	}
	nents = rblk_fault(RBLK_FAULT_MAP_MR) ?:
		ib_map_mr_sg(rmr->mr, rmr->sgt.sgl, mapped, NULL, 1U << plan->page_shift);
	if (nents != mapped) {
		err = nents < 0 ? nents : -EINVAL;
		goto err_mr;
	}
	/*
	 * The wire address is the offset in the export: no address of this
	 * machine leaves it, and the client computes with offsets alone.
	 */
	rmr->mr->iova = iova;
	ib_update_fast_reg_key(rmr->mr, get_random_u8());

	err = rblk_mr_post(rmr, conn, access);
	trace_rblk_mr_register(conn, rmr->mr, access, err);
	if (err == -EINPROGRESS) {
		int cause = READ_ONCE(conn->error);

		/* If the connection was broken already, that is why. */
		rblk_conn_fail(conn, cause ?: -ETIMEDOUT,
			       cause ? READ_ONCE(conn->error_what) ?: "the connection is lost" :
			       "a registration did not complete");
		return err;
	}
	if (err)
		goto err_mr;
	return 0;

err_mr:
	/* As with rblk_mr_release(): lost rather than freed. */
	if (ib_dereg_mr(rmr->mr)) {
		rmr->mr = NULL;
		return err;
	}
err_unmap:
	ib_dma_unmap_sg(ib, rmr->sgt.sgl, rmr->sgt.orig_nents, rmr->dir);
err_table:
	rblk_mr_put_pages(rmr);
	rmr->mr = NULL;
	return err;
}
EXPORT_SYMBOL_GPL(rblk_mr_register);

/**
 * rblk_mr_release - take a registration back
 * @rmr: the registration; an empty one is left alone
 * @dev: its device
 *
 * Context: Process context. Sleeps. When it returns, no peer can reach the memory
 * through @rmr.
 * Return: whether it is so. If the device refuses, the memory is never freed.
 */
bool rblk_mr_release(struct rblk_mr *rmr, struct rblk_dev *dev)
{
	int err;

	if (!rmr->mr)
		return true;
	err = ib_dereg_mr(rmr->mr);
	if (err) {
		pr_err_ratelimited("rblk: %s keeps a registration (%d): its memory is lost\n",
				   dev->ib->name, err);
		return false;
	}
	ib_dma_unmap_sg(dev->ib, rmr->sgt.sgl, rmr->sgt.orig_nents, rmr->dir);
	rblk_mr_put_pages(rmr);
	rmr->mr = NULL;
	return true;
}
EXPORT_SYMBOL_GPL(rblk_mr_release);
