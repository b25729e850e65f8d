// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of the choice of a path. */
#include <kunit/test.h>
#include <linux/bits.h>
#include <linux/limits.h>

#include <rblk/policy.h>

/* Only those that are able are ever looked at: the others would win each comparison. */
static const struct rblk_load loads[8] = {
	[1] = { .in_flight = 3, .latency_ns = 200 },
	[4] = { .in_flight = 2, .latency_ns = 300 },
	[7] = { .in_flight = 2, .latency_ns = 100 },
};

struct pick_case {
	const char *desc;
	enum rblk_policy policy;
	unsigned long able;
	u32 turn;
	u32 path;
};

static const struct pick_case pick_cases[] = {
	{ "preferred, one", RBLK_POLICY_PREFERRED, BIT(5), 3, 5 },
	{ "preferred, three", RBLK_POLICY_PREFERRED, BIT(1) | BIT(4) | BIT(7), 2, 1 },
	{ "round-robin, one", RBLK_POLICY_ROUND_ROBIN, BIT(7), 12345, 7 },
	{ "round-robin, 0", RBLK_POLICY_ROUND_ROBIN, BIT(1) | BIT(4) | BIT(7), 0, 1 },
	{ "round-robin, 1", RBLK_POLICY_ROUND_ROBIN, BIT(1) | BIT(4) | BIT(7), 1, 4 },
	{ "round-robin, 2", RBLK_POLICY_ROUND_ROBIN, BIT(1) | BIT(4) | BIT(7), 2, 7 },
	{ "round-robin, 3", RBLK_POLICY_ROUND_ROBIN, BIT(1) | BIT(4) | BIT(7), 3, 1 },
	{ "round-robin, last", RBLK_POLICY_ROUND_ROBIN, BIT(0) | BIT(2), U32_MAX, 2 },
	{ "min-inflight, one", RBLK_POLICY_MIN_INFLIGHT, BIT(1), 9, 1 },
	{ "min-inflight, two", RBLK_POLICY_MIN_INFLIGHT, BIT(1) | BIT(4), 8, 4 },
	{ "min-inflight, equal, turn 0", RBLK_POLICY_MIN_INFLIGHT, BIT(4) | BIT(7), 0, 4 },
	{ "min-inflight, equal, turn 1", RBLK_POLICY_MIN_INFLIGHT, BIT(4) | BIT(7), 1, 7 },
	{ "min-inflight, turn of the full one", RBLK_POLICY_MIN_INFLIGHT,
	  BIT(1) | BIT(4) | BIT(7), 3, 4 },
	{ "min-inflight, last turn", RBLK_POLICY_MIN_INFLIGHT, BIT(1) | BIT(4), U32_MAX, 4 },
	{ "min-latency, one", RBLK_POLICY_MIN_LATENCY, BIT(4), 1, 4 },
	{ "min-latency, three", RBLK_POLICY_MIN_LATENCY, BIT(1) | BIT(4) | BIT(7), 1, 7 },
	{ "min-latency, two", RBLK_POLICY_MIN_LATENCY, BIT(1) | BIT(4), 31, 1 },
	{ "min-latency, unknown is slowest", RBLK_POLICY_MIN_LATENCY, BIT(1) | BIT(2), 1, 1 },
	{ "min-latency, unknown is looked at", RBLK_POLICY_MIN_LATENCY, BIT(1) | BIT(2), 32, 2 },
	{ "min-latency, both unknown", RBLK_POLICY_MIN_LATENCY, BIT(2) | BIT(3), 1, 3 },
	{ "min-latency, look 0", RBLK_POLICY_MIN_LATENCY, BIT(1) | BIT(4) | BIT(7), 0, 1 },
	{ "min-latency, look 1", RBLK_POLICY_MIN_LATENCY, BIT(1) | BIT(4) | BIT(7), 32, 4 },
	{ "min-latency, after a look", RBLK_POLICY_MIN_LATENCY, BIT(1) | BIT(4) | BIT(7), 33, 7 },
	{ "min-latency, look 2", RBLK_POLICY_MIN_LATENCY, BIT(1) | BIT(4) | BIT(7), 64, 7 },
};

KUNIT_ARRAY_PARAM_DESC(pick, pick_cases, desc);

static void policy_pick(struct kunit *test)
{
	/* Arrange */
	const struct pick_case *c = test->param_value;

	/* Act, Assert */
	KUNIT_EXPECT_EQ(test, rblk_policy_pick(c->policy, c->able, c->turn, loads), c->path);
}

/* Where all are equal, each of three paths gets a third. */
static void policy_even(struct kunit *test)
{
	static const struct rblk_load equal[8];
	enum rblk_policy policy;
	u32 nr[8], turn;

	for (policy = RBLK_POLICY_ROUND_ROBIN; policy < RBLK_POLICY_NR; policy++) {
		memset(nr, 0, sizeof(nr));
		for (turn = 0; turn < 96 * 3; turn++)
			nr[rblk_policy_pick(policy, BIT(0) | BIT(3) | BIT(6), turn, equal)]++;
		KUNIT_EXPECT_EQ(test, nr[0], 96);
		KUNIT_EXPECT_EQ(test, nr[3], 96);
		KUNIT_EXPECT_EQ(test, nr[6], 96);
	}
}

static struct kunit_case policy_tests[] = {
	KUNIT_CASE_PARAM(policy_pick, pick_gen_params),
	KUNIT_CASE(policy_even),
	{ }
};

static struct kunit_suite policy_suite = {
	.name = "rblk_policy",
	.test_cases = policy_tests,
};

kunit_test_suite(policy_suite);
