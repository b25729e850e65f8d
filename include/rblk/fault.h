/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Faults on order, for tests: a step of a set-up fails, an allocation in a work
 * fails, a device says it can do less than it can. Built with the KUnit tests of a
 * kernel that has fault injection; otherwise all of this compiles to nothing.
 *
 * Orders are given in debugfs, rblk/fault/NAME of each point, see
 * Documentation/testing.md.
 */
#ifndef _RBLK_FAULT_H
#define _RBLK_FAULT_H

#include <linux/err.h>
#include <rdma/ib_verbs.h>
#include <rblk/limits.h>

#define RBLK_FAULT_SWEEP_MS	1000
#define RBLK_FAULT_CM_END_MS	20000

/* Points that fail with an errno. Each pass counts: the k-th is the k-th connection's. */
enum rblk_fault {
	RBLK_FAULT_CM_ID,	/* make a CM id */
	RBLK_FAULT_ADDR,	/* resolve the address */
	RBLK_FAULT_ROUTE,	/* resolve the route */
	RBLK_FAULT_DEV,		/* join the device */
	RBLK_FAULT_PD,
	RBLK_FAULT_CQ,
	RBLK_FAULT_QP,
	RBLK_FAULT_MR,		/* make an MR */
	RBLK_FAULT_MAP_MR,	/* give an MR its pages */
	RBLK_FAULT_REG,		/* post a registration of exported memory */
	RBLK_FAULT_RECV,	/* post a receive */
	RBLK_FAULT_SEND,	/* post a message */
	RBLK_FAULT_CONNECT,
	RBLK_FAULT_ACCEPT,
	RBLK_FAULT_LISTEN,
	RBLK_FAULT_TAGS,	/* make the tag set */
	RBLK_FAULT_DISK,	/* make the disk */
	RBLK_FAULT_ADD_DISK,	/* add it */
	RBLK_FAULT_POST,	/* post a READ or a WRITE */
	RBLK_FAULT_INV,		/* post an invalidation */
	RBLK_FAULT_FENCE,	/* end a path that another one asks to end: not yet */
	RBLK_FAULT_SWEEP,	/* sweep a lost path: only after RBLK_FAULT_SWEEP_MS */
	RBLK_FAULT_CM_END,	/* be done with a CM id: only after RBLK_FAULT_CM_END_MS */

	/* Works, in which one allocation fails. Each run of the work is a pass. */
	RBLK_FAULT_WORK_ACCEPT,
	RBLK_FAULT_WORK_MESSAGE,
	RBLK_FAULT_WORK_PING,
	RBLK_FAULT_WORK_END,
	RBLK_FAULT_WORK_LISTEN,
	RBLK_FAULT_WORK_FAIL,
	RBLK_FAULT_WORK_REVOKE,
	RBLK_FAULT_WORK_CONNECT,

	RBLK_FAULTS
};

#ifdef CONFIG_INFINIBAND_RBLK_FAULTS
int rblk_fault(enum rblk_fault point);
void rblk_fault_work_begin(enum rblk_fault point);
void rblk_fault_work_end(enum rblk_fault point);
void rblk_fault_clamp(struct rblk_dev_caps *caps);
void rblk_fault_reads(const struct ib_qp_attr *attr);
bool rblk_fault_hurry(void);
bool rblk_fault_unfenced(void);
int rblk_fault_init(void);
void rblk_fault_exit(void);
#else
static inline int rblk_fault(enum rblk_fault point)
{
	return 0;
}

static inline void rblk_fault_work_begin(enum rblk_fault point)
{
}

static inline void rblk_fault_work_end(enum rblk_fault point)
{
}

static inline void rblk_fault_clamp(struct rblk_dev_caps *caps)
{
}

static inline void rblk_fault_reads(const struct ib_qp_attr *attr)
{
}

static inline bool rblk_fault_hurry(void)
{
	return false;
}

static inline bool rblk_fault_unfenced(void)
{
	return false;
}

static inline int rblk_fault_init(void)
{
	return 0;
}

static inline void rblk_fault_exit(void)
{
}
#endif

/* What MAKE returns, a pointer, or the point's error as one. */
#define rblk_fault_or(point, make)				\
({								\
	int fault_ = rblk_fault(point);				\
								\
	fault_ ? ERR_PTR(fault_) : (make);			\
})

#endif /* _RBLK_FAULT_H */
