// SPDX-License-Identifier: GPL-2.0
/*
 * Memory as the backing of an export: zeroed blocks of 2 MiB.
 *
 * Large blocks make few page-list entries, and few TLB misses in a device. They
 * are taken without force: an export that does not fit is refused and nothing is
 * killed for it.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "server.h"

#define RBLK_BLOCK_ORDER	(RBLK_BLOCK_SHIFT - PAGE_SHIFT)
#define RBLK_RESERVE		32	/* one part in so many of all memory stays free */

/**
 * rblk_srv_memory_left - is there so much memory to be had?
 * @size: bytes
 * @share: one in so many of all the memory is to be left
 *
 * Not what can be had by pushing everybody else out: this memory is not swapped and belongs to
 * nobody that the OOM killer could find, so it would kill others.
 *
 * Context: Any.
 * Return: true if so.
 */
bool rblk_srv_memory_left(u64 size, u32 share)
{
	long left = si_mem_available() - (long)(totalram_pages() / share);

	return left >= 0 && size >> PAGE_SHIFT <= left;
}

/**
 * rblk_srv_memory_alloc - get memory for an export
 * @memory: to fill in
 * @size: bytes, a multiple of a block
 * @numa_node: where, or NUMA_NO_NODE
 * @what: why it failed, in words
 *
 * Context: Process context. Sleeps, interruptible.
 * Return: 0, -ENOMEM or -EINTR; nothing is held after a failure.
 */
int rblk_srv_memory_alloc(struct rblk_srv_memory *memory, u64 size, int numa_node,
			  const char **what)
{
	gfp_t gfp = GFP_KERNEL | __GFP_ZERO | __GFP_COMP | __GFP_NORETRY | __GFP_NOWARN;
	u64 nr = size >> RBLK_BLOCK_SHIFT;
	struct page *page;
	int err = -ENOMEM;

	*memory = (struct rblk_srv_memory){ };
	/* Where it was asked for, or nowhere. */
	if (numa_node != NUMA_NO_NODE)
		gfp |= __GFP_THISNODE;
	*what = "not enough free memory in blocks of 2 MiB";
	if (nr > U32_MAX || !rblk_srv_memory_left(size, RBLK_RESERVE))
		return -ENOMEM;
	memory->blocks = kvcalloc(nr, sizeof(*memory->blocks), GFP_KERNEL | __GFP_NOWARN);
	if (!memory->blocks)
		return -ENOMEM;
	while (memory->nr_blocks < nr) {
		if (signal_pending(current)) {
			*what = "interrupted";
			err = -EINTR;
			goto err_free;
		}
		page = alloc_pages_node(numa_node, gfp, RBLK_BLOCK_ORDER);
		if (!page)
			goto err_free;
		memory->blocks[memory->nr_blocks++] = page;
		cond_resched();
	}
	return 0;

err_free:
	rblk_srv_memory_free(memory);
	return err;
}

/**
 * rblk_srv_memory_free - give memory back
 * @memory: the memory; a block that a registration covers is freed with that
 *
 * Context: Process context. Sleeps.
 */
void rblk_srv_memory_free(struct rblk_srv_memory *memory)
{
	while (memory->nr_blocks) {
		put_page(memory->blocks[--memory->nr_blocks]);
		cond_resched();
	}
	kvfree(memory->blocks);
	memory->blocks = NULL;
}
