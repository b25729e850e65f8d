// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of the life of a path: all pairs of states. */
#include <kunit/test.h>
#include <linux/bits.h>
#include <linux/limits.h>

#include <rblk/path_state.h>

struct from_case {
	const char *name;
	enum rblk_path_state from;
	int value;		/* in the netlink ABI */
	const char *to;		/* a letter for each state that may follow, in order */
};

static const struct from_case from_cases[] = {
	/*                                      NCLfxBR */
	{ "new", RBLK_PATH_NEW, 0,             ".C....R" },
	{ "connecting", RBLK_PATH_CONNECTING, 1, "..Lf..R" },
	{ "live", RBLK_PATH_LIVE, 2,           "...f..R" },
	{ "failed", RBLK_PATH_FAILED, 3,       "....xBR" },
	{ "fenced", RBLK_PATH_FENCED, 4,       ".C...BR" },
	{ "backoff", RBLK_PATH_BACKOFF, 5,     ".C..x.R" },
	{ "removed", RBLK_PATH_REMOVED, 6,     "N......" },
};

KUNIT_ARRAY_PARAM_DESC(from, from_cases, name);

static void path_state_row(struct kunit *test)
{
	/* Arrange */
	const struct from_case *c = test->param_value;
	int to;

	KUNIT_ASSERT_EQ(test, (int)RBLK_PATH_STATES, 7);
	KUNIT_ASSERT_EQ(test, (int)c->from, c->value);

	/* Act, Assert */
	for (to = 0; to < 7; to++)
		KUNIT_EXPECT_EQ_MSG(test, rblk_path_state_allowed(c->from, to), c->to[to] != '.',
				    "%s to %s", c->name, from_cases[to].name);
}

static void path_state_names(struct kunit *test)
{
	const struct from_case *c = test->param_value;

	KUNIT_EXPECT_STREQ(test, rblk_path_state_name(c->from), c->name);
}

/* The fence: from FAILED nothing but a new handshake leads back to life. */
static void path_state_no_way_round_the_handshake(struct kunit *test)
{
	/* Arrange: what can be reached from FAILED without CONNECTING */
	u32 seen = BIT(RBLK_PATH_FAILED), before;
	int from, to;

	/* Act */
	do {
		before = seen;
		for (from = 0; from < RBLK_PATH_STATES; from++) {
			for (to = 0; to < RBLK_PATH_STATES; to++) {
				if (seen & BIT(from) && to != RBLK_PATH_CONNECTING &&
				    rblk_path_state_allowed(from, to))
					seen |= BIT(to);
			}
		}
	} while (seen != before);

	/* Assert */
	KUNIT_EXPECT_EQ(test, seen, BIT(RBLK_PATH_FAILED) | BIT(RBLK_PATH_FENCED) |
			BIT(RBLK_PATH_BACKOFF) | BIT(RBLK_PATH_REMOVED) |
			BIT(RBLK_PATH_NEW));
}

static void path_state_out_of_range(struct kunit *test)
{
	/* Arrange */
	static const int bad[] = { 7, 8, 31, 32, 33, 64, INT_MAX, -1, INT_MIN };
	size_t i;
	int state;

	/* Act, Assert */
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		for (state = 0; state < 7; state++) {
			KUNIT_EXPECT_FALSE(test, rblk_path_state_allowed(state, bad[i]));
			KUNIT_EXPECT_FALSE(test, rblk_path_state_allowed(bad[i], state));
		}
		KUNIT_EXPECT_FALSE(test, rblk_path_state_allowed(bad[i], bad[i]));
		KUNIT_EXPECT_STREQ(test, rblk_path_state_name(bad[i]), "unknown");
	}
}

static struct kunit_case path_state_tests[] = {
	KUNIT_CASE_PARAM(path_state_row, from_gen_params),
	KUNIT_CASE_PARAM(path_state_names, from_gen_params),
	KUNIT_CASE(path_state_no_way_round_the_handshake),
	KUNIT_CASE(path_state_out_of_range),
	{ }
};

static struct kunit_suite path_state_suite = {
	.name = "rblk_path_state",
	.test_cases = path_state_tests,
};

kunit_test_suite(path_state_suite);
