// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of the slots. */
#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/string.h>

#include <rblk/slots.h>

struct init_case {
	const char *desc;
	u32 nr;
	int err;
};

static const struct init_case init_cases[] = {
	{ "0", 0, -EINVAL },
	{ "1", 1, 0 },
	{ "2", 2, 0 },
	{ "31", 31, 0 },
	{ "32", 32, 0 },
	{ "63", 63, 0 },
	{ "64", 64, 0 },
	{ "65", 65, -EINVAL },
	{ "2^31", 0x80000000, -EINVAL },
	{ "2^32 - 1", U32_MAX, -EINVAL },
};

KUNIT_ARRAY_PARAM_DESC(init, init_cases, desc);

/* Whatever the number, it is exactly that many, in order, and they come back. */
static void slots_fill(struct kunit *test)
{
	/* Arrange */
	const struct init_case *c = test->param_value;
	u32 nr = c->err ? 0 : c->nr;
	struct rblk_slots slots;
	u32 i;

	memset(&slots, 0xff, sizeof(slots));

	/* Act, Assert */
	KUNIT_ASSERT_EQ(test, rblk_slots_init(&slots, c->nr), c->err);
	KUNIT_EXPECT_EQ(test, slots.nr, nr);
	KUNIT_EXPECT_EQ(test, slots.taken, 0);
	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_EQ(test, rblk_slots_get(&slots), i);
	KUNIT_EXPECT_EQ(test, slots.taken, nr);
	KUNIT_EXPECT_EQ(test, rblk_slots_get(&slots), -EBUSY);
	KUNIT_EXPECT_EQ(test, slots.taken, nr);
	for (i = nr; i > 0; i--)
		KUNIT_EXPECT_EQ(test, rblk_slots_put(&slots, i - 1), 0);
	KUNIT_EXPECT_EQ(test, slots.taken, 0);
	KUNIT_EXPECT_EQ(test, rblk_slots_put(&slots, 0), -EINVAL);
}

static void slots_lowest_first(struct kunit *test)
{
	/* Arrange */
	struct rblk_slots slots;
	int i;

	KUNIT_ASSERT_EQ(test, rblk_slots_init(&slots, 8), 0);
	for (i = 0; i < 8; i++)
		KUNIT_ASSERT_EQ(test, rblk_slots_get(&slots), i);

	/* Act */
	KUNIT_EXPECT_EQ(test, rblk_slots_put(&slots, 6), 0);
	KUNIT_EXPECT_EQ(test, rblk_slots_put(&slots, 2), 0);
	KUNIT_EXPECT_EQ(test, rblk_slots_put(&slots, 4), 0);

	/* Assert */
	KUNIT_EXPECT_EQ(test, slots.taken, 5);
	KUNIT_EXPECT_EQ(test, rblk_slots_get(&slots), 2);
	KUNIT_EXPECT_EQ(test, rblk_slots_get(&slots), 4);
	KUNIT_EXPECT_EQ(test, rblk_slots_get(&slots), 6);
	KUNIT_EXPECT_EQ(test, rblk_slots_get(&slots), -EBUSY);
}

/* Slot numbers may come from a peer: nonsense must change nothing. */
static void slots_bad_put(struct kunit *test)
{
	/* Arrange */
	static const u32 bad[] = { 3, 4, 5, 63, 64, 65, 128, 0x7fffffff, 0x80000000, U32_MAX };
	struct rblk_slots slots, before;
	size_t i;

	KUNIT_ASSERT_EQ(test, rblk_slots_init(&slots, 5), 0);
	KUNIT_ASSERT_EQ(test, rblk_slots_get(&slots), 0);
	KUNIT_ASSERT_EQ(test, rblk_slots_get(&slots), 1);
	KUNIT_ASSERT_EQ(test, rblk_slots_get(&slots), 2);
	before = slots;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		/* Act */
		int err = rblk_slots_put(&slots, bad[i]);

		/* Assert */
		KUNIT_EXPECT_EQ(test, err, -EINVAL);
		KUNIT_EXPECT_EQ(test, slots.taken, before.taken);
		KUNIT_EXPECT_EQ(test, slots.nr, before.nr);
		KUNIT_EXPECT_TRUE(test, bitmap_equal(slots.used, before.used, RBLK_SLOTS_MAX));
	}
}

static void slots_double_put(struct kunit *test)
{
	/* Arrange */
	struct rblk_slots slots;

	KUNIT_ASSERT_EQ(test, rblk_slots_init(&slots, 2), 0);
	KUNIT_ASSERT_EQ(test, rblk_slots_get(&slots), 0);
	KUNIT_ASSERT_EQ(test, rblk_slots_get(&slots), 1);

	/* Act, Assert */
	KUNIT_EXPECT_EQ(test, rblk_slots_put(&slots, 0), 0);
	KUNIT_EXPECT_EQ(test, rblk_slots_put(&slots, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, slots.taken, 1);
	KUNIT_EXPECT_EQ(test, rblk_slots_get(&slots), 0);
	KUNIT_EXPECT_EQ(test, rblk_slots_get(&slots), -EBUSY);
}

static struct kunit_case slots_tests[] = {
	KUNIT_CASE_PARAM(slots_fill, init_gen_params),
	KUNIT_CASE(slots_lowest_first),
	KUNIT_CASE(slots_bad_put),
	KUNIT_CASE(slots_double_put),
	{ }
};

static struct kunit_suite slots_suite = {
	.name = "rblk_slots",
	.test_cases = slots_tests,
};

kunit_test_suite(slots_suite);
