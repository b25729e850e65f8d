// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of the pauses between attempts. */
#include <kunit/test.h>
#include <linux/limits.h>

#include <rblk/backoff.h>

struct pause_case {
	const char *desc;
	u32 attempt;
	u32 most;	/* with the smallest random number */
	u32 least;	/* with the greatest */
};

static const struct pause_case pause_cases[] = {
	{ "first", 0, 100, 50 },
	{ "second", 1, 200, 100 },
	{ "third", 2, 400, 200 },
	{ "seventh", 6, 6400, 3200 },
	{ "at the limit", 7, 10000, 5000 },
	{ "beyond it", 8, 10000, 5000 },
	{ "shift 15", 15, 10000, 5000 },
	{ "shift 16", 16, 10000, 5000 },
	{ "shift 32", 32, 10000, 5000 },
	{ "2^32 - 1", U32_MAX, 10000, 5000 },
};

KUNIT_ARRAY_PARAM_DESC(pause, pause_cases, desc);

static void backoff_ends(struct kunit *test)
{
	/* Arrange */
	const struct pause_case *c = test->param_value;

	/* Act, Assert */
	KUNIT_EXPECT_EQ(test, rblk_backoff_ms(c->attempt, 0), c->most);
	KUNIT_EXPECT_EQ(test, rblk_backoff_ms(c->attempt, U32_MAX), c->least);
}

/* Chance moves it evenly: a quarter of the numbers, a quarter of the way. */
static void backoff_spread(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rblk_backoff_ms(7, 0x40000000), 8750);
	KUNIT_EXPECT_EQ(test, rblk_backoff_ms(7, 0x80000000), 7500);
	KUNIT_EXPECT_EQ(test, rblk_backoff_ms(7, 0xc0000000), 6250);
}

static struct kunit_case backoff_tests[] = {
	KUNIT_CASE_PARAM(backoff_ends, pause_gen_params),
	KUNIT_CASE(backoff_spread),
	{ }
};

static struct kunit_suite backoff_suite = {
	.name = "rblk_backoff",
	.test_cases = backoff_tests,
};

kunit_test_suite(backoff_suite);
