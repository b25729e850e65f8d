/* SPDX-License-Identifier: GPL-2.0 */
/* Over which path a request goes. */
#ifndef _RBLK_POLICY_H
#define _RBLK_POLICY_H

#include <linux/types.h>

/**
 * enum rblk_policy - how the I/O of a session is spread over its paths
 * @RBLK_POLICY_PREFERRED: over one, the others stand by
 * @RBLK_POLICY_ROUND_ROBIN: over all in turn
 * @RBLK_POLICY_MIN_INFLIGHT: over that with the fewest requests in flight
 * @RBLK_POLICY_MIN_LATENCY: over that which was the fastest of late
 * @RBLK_POLICY_NR: how many there are
 *
 * Part of the netlink ABI.
 */
enum rblk_policy {
	RBLK_POLICY_PREFERRED,
	RBLK_POLICY_ROUND_ROBIN,
	RBLK_POLICY_MIN_INFLIGHT,
	RBLK_POLICY_MIN_LATENCY,
	RBLK_POLICY_NR
};

/* With min-latency one request in so many goes over the next path in turn, to be timed. */
#define RBLK_POLICY_LOOK	32

/**
 * struct rblk_load - what there is to know of a path
 * @in_flight: requests on it now
 * @latency_ns: how long they took of late; 0 if nobody knows
 */
struct rblk_load {
	u32	in_flight;
	u64	latency_ns;
};

u32 rblk_policy_pick(enum rblk_policy policy, unsigned long able, u32 turn,
		     const struct rblk_load load[]);

#endif /* _RBLK_POLICY_H */
