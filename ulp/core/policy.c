// SPDX-License-Identifier: GPL-2.0
/* Over which path a request goes. */
#include <linux/bitops.h>
#include <linux/export.h>
#include <linux/limits.h>

#include <rblk/policy.h>

/* The one of number TURN, counted round and round. */
static u32 rblk_policy_turn(unsigned long able, u32 turn)
{
	turn %= hweight_long(able);
	while (turn--)
		able &= able - 1;
	return __ffs(able);
}

static u64 rblk_policy_cost(enum rblk_policy policy, const struct rblk_load *load)
{
	if (policy == RBLK_POLICY_MIN_INFLIGHT)
		return load->in_flight;
	/* What nobody knows may be slow, or dead: its turn to be looked at comes. */
	return load->latency_ns ?: U64_MAX;
}

/**
 * rblk_policy_pick - choose a path
 * @policy: how
 * @able: a bit for each path that could take the request, at least one
 * @turn: requests so far
 * @load: of each path in @able, by the number of its bit; round-robin and preferred
 *	do not read it
 *
 * Of two that cost the same it is the one whose turn is next, so that none is left out. With
 * min-latency a path that was slow once is looked at again and again: how fast it is now,
 * only a request can show.
 *
 * Context: Any.
 * Return: the number of the path.
 */
u32 rblk_policy_pick(enum rblk_policy policy, unsigned long able, u32 turn,
		     const struct rblk_load load[])
{
	u32 nr = hweight_long(able), best, next, i;
	u64 least, cost;

	switch (policy) {
	case RBLK_POLICY_MIN_LATENCY:
		if (!(turn % RBLK_POLICY_LOOK))
			return rblk_policy_turn(able, turn / RBLK_POLICY_LOOK);
		fallthrough;
	case RBLK_POLICY_MIN_INFLIGHT:
		best = rblk_policy_turn(able, turn);
		least = rblk_policy_cost(policy, &load[best]);
		for (i = 1; i < nr; i++) {
			next = rblk_policy_turn(able, turn % nr + i);
			cost = rblk_policy_cost(policy, &load[next]);
			if (cost < least) {
				best = next;
				least = cost;
			}
		}
		return best;
	case RBLK_POLICY_ROUND_ROBIN:
		return rblk_policy_turn(able, turn);
	default:
		return __ffs(able);
	}
}
EXPORT_SYMBOL_GPL(rblk_policy_pick);
