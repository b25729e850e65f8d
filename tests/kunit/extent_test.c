// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of the extents of a memory export. */
#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/sizes.h>

#include <rblk/extent.h>

struct init_case {
	const char *desc;
	u64 size;
	u8 shift;
	int err;
	u32 nr;
	u32 last;	/* bytes of the last extent */
};

static const struct init_case init_cases[] = {
	{ "one byte", 1, 21, 0, 1, 1 },
	{ "one sector", 512, 26, 0, 1, 512 },
	{ "just under one extent", 0x1fffff, 21, 0, 1, 0x1fffff },
	{ "one extent", 0x200000, 21, 0, 1, 0x200000 },
	{ "one extent and a byte", 0x200001, 21, 0, 2, 1 },
	{ "64 GiB", 0x1000000000, 26, 0, 1024, 0x4000000 },
	{ "64 GiB less a sector", 0xffffffe00, 26, 0, 1024, 0x3fffe00 },
	{ "1 GiB extents", 0x80000000, 30, 0, 2, 0x40000000 },
	{ "most extents of 2 MiB", 0x200000000000, 21, 0, 0x1000000, 0x200000 },
	{ "one extent too many", 0x200000000001, 21, -EFBIG, 0, 0 },
	{ "largest size", 0x4000000000000, 26, 0, 0x1000000, 0x4000000 },
	{ "largest size, 1 GiB", 0x4000000000000, 30, 0, 0x100000, 0x40000000 },
	{ "too large by a byte", 0x4000000000001, 30, -EFBIG, 0, 0 },
	{ "2^63", 0x8000000000000000, 30, -EFBIG, 0, 0 },
	{ "2^64 - 1", U64_MAX, 30, -EFBIG, 0, 0 },
	{ "empty", 0, 26, -EINVAL, 0, 0 },
	{ "shift 0", 4096, 0, -EINVAL, 0, 0 },
	{ "shift 20", 4096, 20, -EINVAL, 0, 0 },
	{ "shift 31", 4096, 31, -EINVAL, 0, 0 },
	{ "shift 64", 4096, 64, -EINVAL, 0, 0 },
	{ "shift 255", 4096, 255, -EINVAL, 0, 0 },
};

KUNIT_ARRAY_PARAM_DESC(init, init_cases, desc);

static void extent_init(struct kunit *test)
{
	/* Arrange: what is left from before must not shine through */
	const struct init_case *c = test->param_value;
	struct rblk_extents ext = { .size = 77, .nr = 77, .shift = 77 };

	/* Act */
	int err = rblk_extents_init(&ext, c->size, c->shift);

	/* Assert */
	KUNIT_EXPECT_EQ(test, err, c->err);
	KUNIT_EXPECT_EQ(test, ext.nr, c->nr);
	KUNIT_EXPECT_EQ(test, ext.size, err ? 0 : c->size);
	KUNIT_EXPECT_EQ(test, ext.shift, err ? 0 : c->shift);
	if (!err)
		KUNIT_EXPECT_EQ(test, rblk_extent_len(&ext, c->nr - 1), c->last);
	KUNIT_EXPECT_EQ(test, rblk_extent_len(&ext, c->nr), 0);
	KUNIT_EXPECT_EQ(test, rblk_extent_len(&ext, U32_MAX), 0);
}

struct find_case {
	const char *desc;
	u64 offset;
	u32 len;
	int err;
	u32 index;
};

/* In an export of 5 MiB: extents of 2, 2 and 1 MiB. */
static const struct find_case find_cases[] = {
	{ "first byte", 0, 1, 0, 0 },
	{ "first sector", 0, 512, 0, 0 },
	{ "all of the first", 0, 0x200000, 0, 0 },
	{ "end of the first", 0x1ff000, 0x1000, 0, 0 },
	{ "last byte of the first", 0x1fffff, 1, 0, 0 },
	{ "crosses by a byte", 0x1fffff, 2, -EINVAL, 0 },
	{ "crosses by a sector", 0x1ff000, 0x1200, -EINVAL, 0 },
	{ "longer than an extent", 0, 0x200001, -EINVAL, 0 },
	{ "start of the second", 0x200000, 1, 0, 1 },
	{ "all of the second", 0x200000, 0x200000, 0, 1 },
	{ "unaligned in the second", 0x212345, 0x1234, 0, 1 },
	{ "over the whole second", 0x1fffff, 0x200002, -EINVAL, 0 },
	{ "all of the last", 0x400000, 0x100000, 0, 2 },
	{ "last byte", 0x4fffff, 1, 0, 2 },
	{ "one byte beyond", 0x4fffff, 2, -ERANGE, 0 },
	{ "a full extent in the last", 0x400000, 0x200000, -ERANGE, 0 },
	{ "at the end", 0x500000, 1, -ERANGE, 0 },
	{ "behind the end", 0x500001, 1, -ERANGE, 0 },
	{ "nothing at 0", 0, 0, -EINVAL, 0 },
	{ "nothing at the end", 0x500000, 0, -EINVAL, 0 },
	{ "longest length", 0, U32_MAX, -ERANGE, 0 },
	{ "longest length inside", 0x200000, U32_MAX, -ERANGE, 0 },
	{ "sum wraps to 0", U64_MAX, 1, -ERANGE, 0 },
	{ "sum wraps into the export", U64_MAX - 0xfff, 0x2000, -ERANGE, 0 },
	{ "offset 2^63", 0x8000000000000000, 512, -ERANGE, 0 },
	{ "offset 2^32", 0x100000000, 512, -ERANGE, 0 },
};

KUNIT_ARRAY_PARAM_DESC(find, find_cases, desc);

static void extent_find(struct kunit *test)
{
	/* Arrange */
	const struct find_case *c = test->param_value;
	struct rblk_extents ext;
	u32 index = 0xdead;
	int err;

	KUNIT_ASSERT_EQ(test, rblk_extents_init(&ext, 0x500000, 21), 0);

	/* Act */
	err = rblk_extent_find(&ext, c->offset, c->len, &index);

	/* Assert */
	KUNIT_EXPECT_EQ(test, err, c->err);
	KUNIT_EXPECT_EQ(test, index, err ? 0xdead : c->index);
}

static void extent_find_far(struct kunit *test)
{
	/* Arrange: offsets that do not fit in 32 bits */
	struct rblk_extents ext;
	u32 index;

	KUNIT_ASSERT_EQ(test, rblk_extents_init(&ext, 0x4000000000000, 26), 0);

	/* Act, Assert */
	KUNIT_EXPECT_EQ(test, rblk_extent_find(&ext, 0x3fffffffff000, 0x1000, &index), 0);
	KUNIT_EXPECT_EQ(test, index, 0xffffff);
	KUNIT_EXPECT_EQ(test, rblk_extent_find(&ext, 0x3fffffffff000, 0x1001, &index), -ERANGE);
	KUNIT_EXPECT_EQ(test, rblk_extent_start(&ext, 0xffffff), 0x3fffffc000000);
	KUNIT_EXPECT_EQ(test, rblk_extent_len(&ext, 0xffffff), 0x4000000);
}

static void extent_none(struct kunit *test)
{
	/* Arrange: as left by an init that failed */
	struct rblk_extents ext;
	u32 index;

	KUNIT_ASSERT_EQ(test, rblk_extents_init(&ext, 0, 26), -EINVAL);

	/* Act, Assert */
	KUNIT_EXPECT_EQ(test, rblk_extent_find(&ext, 0, 512, &index), -ERANGE);
	KUNIT_EXPECT_EQ(test, rblk_extent_len(&ext, 0), 0);
}

static void extent_pieces_make_the_whole(struct kunit *test)
{
	/* Arrange */
	static const u64 starts[] = { 0, 0x200000, 0x400000 };
	static const u32 lens[] = { 0x200000, 0x200000, 0x100000 };
	struct rblk_extents ext;
	u32 i;

	KUNIT_ASSERT_EQ(test, rblk_extents_init(&ext, 0x500000, 21), 0);
	KUNIT_ASSERT_EQ(test, ext.nr, 3);

	/* Act, Assert */
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, rblk_extent_start(&ext, i), starts[i]);
		KUNIT_EXPECT_EQ(test, rblk_extent_len(&ext, i), lens[i]);
	}
}

static struct kunit_case extent_tests[] = {
	KUNIT_CASE_PARAM(extent_init, init_gen_params),
	KUNIT_CASE_PARAM(extent_find, find_gen_params),
	KUNIT_CASE(extent_find_far),
	KUNIT_CASE(extent_none),
	KUNIT_CASE(extent_pieces_make_the_whole),
	{ }
};

static struct kunit_suite extent_suite = {
	.name = "rblk_extent",
	.test_cases = extent_tests,
};

kunit_test_suite(extent_suite);
