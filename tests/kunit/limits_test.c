// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the plans. The devices are as their drivers describe them in
 * Linux 6.12, with usual values where the firmware decides; the numbers expected
 * were worked out by hand.
 */
#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/string.h>

#include <rblk/limits.h>

#define CAPS(_qp_wr, _cqe, _sge, _sge_rd, _fr, _mr, _init, _resp, _sizes, _size) \
	.max_qp_wr = (_qp_wr), .max_cqe = (_cqe),			\
	.max_send_sge = (_sge), .max_sge_rd = (_sge_rd),		\
	.max_fr_pages = (_fr), .max_mr = (_mr),				\
	.max_init_rd = (_init), .max_resp_rd = (_resp), .vectors = 2,	\
	.page_sizes = (_sizes), .max_mr_size = (_size)

static const struct rblk_dev_caps rxe = {
	CAPS(1048576, 32767, 32, 32, 512, 524287, 128, 128, 0xfffff000, U64_MAX),
};

static const struct rblk_dev_caps siw = {
	CAPS(32768, 3276800, 6, 1, 256, 1024000, 128, 128, 0x1000, U64_MAX),
	.iwarp = true, .mr_counts_sg = true,
};

static const struct rblk_dev_caps mlx5 = {
	CAPS(32768, 4194303, 30, 30, 65536, 16777216, 16, 16, ~0xfffULL, U64_MAX),
};

static const struct rblk_dev_caps irdma = {
	CAPS(4063, 1048575, 13, 13, 262144, 4194302, 255, 127, 0x40201000, 0x200000000000),
};

static const struct rblk_dev_caps irdma_iwarp = {
	CAPS(4063, 1048575, 13, 13, 262144, 4194302, 255, 127, 0x40201000, 0x200000000000),
	.iwarp = true,
};

static const struct rblk_dev_caps bnxt = {
	CAPS(65407, 8388607, 6, 6, 512, 262144, 126, 126, 0x7ffff000, 0x8000000000),
};

static const struct rblk_dev_caps hns = {
	CAPS(32768, 4194303, 64, 64, 512, 1048576, 128, 128, 0xffff000, U64_MAX),
};

static const struct rblk_dev_caps cxgb4 = {
	CAPS(1023, 65535, 17, 1, 128, 524288, 32, 32, 0xffff000, U64_MAX),
	.iwarp = true,
};

static const struct rblk_dev_caps mlx4 = {
	CAPS(16351, 4194303, 32, 30, 511, 524032, 16, 16, 0xfffffe00, U64_MAX),
};

static const struct rblk_dev_caps erdma = {
	CAPS(8192, 1048576, 6, 1, 512, 1048576, 128, 128, 0x7ffff000, 0x10000000000),
	.iwarp = true,
};

/* Devices that cannot be. */

#define HUGE_CAPS CAPS(U32_MAX, U32_MAX, U32_MAX, U32_MAX, U32_MAX, U32_MAX, U32_MAX, U32_MAX, \
		       U64_MAX, U64_MAX)

static const struct rblk_dev_caps zero = { };

static const struct rblk_dev_caps one = {
	CAPS(1, 1, 1, 1, 1, 1, 1, 1, 1, 1),
};

static const struct rblk_dev_caps huge = {
	HUGE_CAPS,
};

static const struct rblk_dev_caps huge_iwarp = {
	HUGE_CAPS, .iwarp = true,
};

static const struct rblk_dev_caps huge_sg = {
	HUGE_CAPS, .mr_counts_sg = true,
};

/**
 * struct change - an attribute of a device that is not as usual
 * @on: is there one?
 * @at: its offset in struct rblk_dev_caps
 * @to: the value
 */
struct change {
	bool on;
	u8 at;
	u64 to;
};

#define SET(_field, _to) { true, offsetof(struct rblk_dev_caps, _field), (_to) }

static struct rblk_dev_caps changed(const struct rblk_dev_caps *dev, const struct change *change)
{
	struct rblk_dev_caps caps = *dev;
	void *field = (void *)&caps + change->at;

	if (!change->on)
		return caps;
	/* The two of 64 bits are behind all those of 32. */
	if (change->at >= offsetof(struct rblk_dev_caps, page_sizes))
		*(u64 *)field = change->to;
	else
		*(u32 *)field = change->to;
	return caps;
}

struct queue_case {
	const char *desc;
	const struct rblk_dev_caps *dev;
	struct change set;
	struct rblk_queue_want want;
	struct rblk_queue_plan plan;	/* all zero: refused */
	const char *why;
};

/* What a device with 16 SGEs or more gets when it has no use for MRs. */
#define WITHOUT_MRS { 128, 16, 16, 0, 0, 16, 1048576, 258, 260, 16 }

static const char no_reads[] = "the device cannot send RDMA READs";
static const char no_write_sge[] = "the device takes no scatter-gather entry in an RDMA WRITE";
static const char no_read_sge[] = "the device takes no scatter-gather entry in an RDMA READ";
static const char too_small[] = "the queues of the device are too small for one request";
static const char no_iwarp[] = "iWARP needs fast registrations of at least two 4 KiB pages";
static const char no_forced[] =
	"no fast registrations of at least two 4 KiB pages, but they are forced";

static const struct queue_case queue_cases[] = {
	/* depth, write and read SGEs, MR pages, MRs, segments, bytes, SQ, CQ, READs */
	{ "rxe", &rxe, { }, { 128 }, { 128, 16, 16, 257, 128, 257, 1048576, 386, 388, 16 } },
	{ "siw", &siw, { }, { 128 }, { 128, 6, 0, 256, 128, 256, 1044480, 386, 388, 16 } },
	{ "mlx5", &mlx5, { }, { 128 }, { 128, 16, 16, 257, 128, 257, 1048576, 386, 388, 16 } },
	{ "irdma", &irdma, { }, { 128 }, { 128, 13, 13, 257, 128, 257, 1048576, 386, 388, 16 } },
	{ "irdma iwarp", &irdma_iwarp, { }, { 128 },
	  { 128, 13, 0, 257, 128, 257, 1048576, 386, 388, 16 } },
	{ "bnxt", &bnxt, { }, { 128 }, { 128, 6, 6, 257, 128, 257, 1048576, 386, 388, 16 } },
	{ "hns", &hns, { }, { 128 }, { 128, 16, 16, 257, 128, 257, 1048576, 386, 388, 16 } },
	{ "cxgb4", &cxgb4, { }, { 128 }, { 128, 16, 0, 128, 128, 128, 520192, 386, 388, 16 } },
	{ "mlx4", &mlx4, { }, { 128 }, { 128, 16, 16, 257, 128, 257, 1048576, 386, 388, 16 } },
	{ "erdma", &erdma, { }, { 128 }, { 128, 6, 0, 257, 128, 257, 1048576, 386, 388, 16 } },

	{ "rxe forced", &rxe, { }, { 128, true },
	  { 128, 0, 0, 257, 128, 257, 1048576, 386, 388, 16 } },
	{ "siw forced", &siw, { }, { 128, true },
	  { 128, 0, 0, 256, 128, 256, 1044480, 386, 388, 16 } },
	{ "rxe few pages forced", &rxe, SET(max_fr_pages, 4), { 128, true },
	  { 128, 0, 0, 4, 128, 4, 12288, 386, 388, 16 } },
	{ "rxe no pages forced", &rxe, SET(max_fr_pages, 1), { 128, true }, { }, no_forced },

	/* What is asked. */
	{ "depth 0", &rxe, { }, { 0 }, { }, "the depth of a queue is at least 1" },
	{ "depth 1", &rxe, { }, { 1 }, { 1, 16, 16, 257, 1, 257, 1048576, 5, 7, 16 } },
	{ "depth 1024", &rxe, { }, { 1024 },
	  { 1024, 16, 16, 257, 1024, 257, 1048576, 3074, 3076, 16 } },
	{ "depth 1025", &rxe, { }, { 1025 },
	  { 1024, 16, 16, 257, 1024, 257, 1048576, 3074, 3076, 16 } },
	{ "depth UINT_MAX", &rxe, { }, { U32_MAX },
	  { 1024, 16, 16, 257, 1024, 257, 1048576, 3074, 3076, 16 } },
	{ "cxgb4 depth 1024", &cxgb4, { }, { 1024 },
	  { 340, 16, 0, 128, 340, 128, 520192, 1022, 1024, 16 } },

	/* The send queue: data, REG_MR and LOCAL_INV for each, and two more. */
	{ "SQ 386", &rxe, SET(max_qp_wr, 386), { 128 },
	  { 128, 16, 16, 257, 128, 257, 1048576, 386, 388, 16 } },
	{ "SQ 385", &rxe, SET(max_qp_wr, 385), { 128 },
	  { 127, 16, 16, 257, 127, 257, 1048576, 383, 385, 16 } },
	{ "SQ 64", &rxe, SET(max_qp_wr, 64), { 128 },
	  { 20, 16, 16, 257, 20, 257, 1048576, 62, 64, 16 } },
	{ "SQ 16", &rxe, SET(max_qp_wr, 16), { 128 },
	  { 4, 16, 16, 257, 4, 257, 1048576, 14, 16, 16 } },
	{ "SQ 5", &rxe, SET(max_qp_wr, 5), { 128 }, { 1, 16, 16, 257, 1, 257, 1048576, 5, 7, 16 } },
	{ "SQ 4", &rxe, SET(max_qp_wr, 4), { 128 }, { }, too_small },
	{ "SQ 2", &rxe, SET(max_qp_wr, 2), { 128 }, { }, too_small },
	{ "SQ 1", &rxe, SET(max_qp_wr, 1), { 128 }, { }, too_small },
	{ "SQ 0", &rxe, SET(max_qp_wr, 0), { 128 }, { }, too_small },

	/* The completion queue: two more for the drain of the receive queue. */
	{ "CQ 388", &rxe, SET(max_cqe, 388), { 128 },
	  { 128, 16, 16, 257, 128, 257, 1048576, 386, 388, 16 } },
	{ "CQ 387", &rxe, SET(max_cqe, 387), { 128 },
	  { 127, 16, 16, 257, 127, 257, 1048576, 383, 385, 16 } },
	{ "CQ 64", &rxe, SET(max_cqe, 64), { 128 },
	  { 20, 16, 16, 257, 20, 257, 1048576, 62, 64, 16 } },
	{ "CQ 7", &rxe, SET(max_cqe, 7), { 128 }, { 1, 16, 16, 257, 1, 257, 1048576, 5, 7, 16 } },
	{ "CQ 6", &rxe, SET(max_cqe, 6), { 128 }, { }, too_small },
	{ "CQ 3", &rxe, SET(max_cqe, 3), { 128 }, { }, too_small },
	{ "CQ 1", &rxe, SET(max_cqe, 1), { 128 }, { }, too_small },
	{ "CQ 0", &rxe, SET(max_cqe, 0), { 128 }, { }, too_small },

	/* Memory regions: none is as good as no fast registration. */
	{ "MRs 10", &rxe, SET(max_mr, 10), { 128 },
	  { 10, 16, 16, 257, 10, 257, 1048576, 32, 34, 16 } },
	{ "MRs 1", &rxe, SET(max_mr, 1), { 128 }, { 1, 16, 16, 257, 1, 257, 1048576, 5, 7, 16 } },
	{ "MRs 0", &rxe, SET(max_mr, 0), { 128 }, WITHOUT_MRS },
	{ "siw MRs 0", &siw, SET(max_mr, 0), { 128 }, { }, no_iwarp },

	/* Pages of a fast registration. */
	{ "pages 0", &rxe, SET(max_fr_pages, 0), { 128 }, WITHOUT_MRS },
	{ "pages 1", &rxe, SET(max_fr_pages, 1), { 128 }, WITHOUT_MRS },
	{ "pages 16", &rxe, SET(max_fr_pages, 16), { 128 }, WITHOUT_MRS },
	{ "pages 17", &rxe, SET(max_fr_pages, 17), { 128 },
	  { 128, 16, 16, 17, 128, 17, 65536, 386, 388, 16 } },
	{ "pages 256", &rxe, SET(max_fr_pages, 256), { 128 },
	  { 128, 16, 16, 256, 128, 256, 1044480, 386, 388, 16 } },
	{ "pages 257", &rxe, SET(max_fr_pages, 257), { 128 },
	  { 128, 16, 16, 257, 128, 257, 1048576, 386, 388, 16 } },
	{ "pages UINT_MAX", &rxe, SET(max_fr_pages, U32_MAX), { 128 },
	  { 128, 16, 16, 257, 128, 257, 1048576, 386, 388, 16 } },
	{ "siw pages 0", &siw, SET(max_fr_pages, 0), { 128 }, { }, no_iwarp },
	{ "siw pages 1", &siw, SET(max_fr_pages, 1), { 128 }, { }, no_iwarp },
	{ "siw pages 2", &siw, SET(max_fr_pages, 2), { 128 },
	  { 128, 6, 0, 2, 128, 2, 4096, 386, 388, 16 } },
	{ "no MRs, SQ 4", &(const struct rblk_dev_caps){ .max_qp_wr = 4, .max_cqe = 100,
		.max_send_sge = 2, .max_sge_rd = 2, .max_init_rd = 1 }, { }, { 128 },
	  { 1, 2, 2, 0, 0, 2, 1048576, 4, 6, 1 } },
	{ "no MRs, SQ 3", &(const struct rblk_dev_caps){ .max_qp_wr = 3, .max_cqe = 100,
		.max_send_sge = 2, .max_sge_rd = 2, .max_init_rd = 1 }, { }, { 128 },
	  { }, too_small },
	{ "no MRs, CQ 6", &(const struct rblk_dev_caps){ .max_qp_wr = 100, .max_cqe = 6,
		.max_send_sge = 9, .max_sge_rd = 1, .max_init_rd = 1 }, { }, { 128 },
	  { 1, 9, 1, 0, 0, 1, 1048576, 4, 6, 1 } },
	{ "no MRs, CQ 5", &(const struct rblk_dev_caps){ .max_qp_wr = 100, .max_cqe = 5,
		.max_send_sge = 9, .max_sge_rd = 1, .max_init_rd = 1 }, { }, { 128 },
	  { }, too_small },

	/* Bytes of a registration. */
	{ "MR size not told", &rxe, SET(max_mr_size, 0), { 128 },
	  { 128, 16, 16, 257, 128, 257, 1048576, 386, 388, 16 } },
	{ "MR size 1", &rxe, SET(max_mr_size, 1), { 128 }, WITHOUT_MRS },
	{ "MR size 64 KiB", &rxe, SET(max_mr_size, 65536), { 128 }, WITHOUT_MRS },
	{ "MR size 68 KiB", &rxe, SET(max_mr_size, 69632), { 128 },
	  { 128, 16, 16, 17, 128, 17, 65536, 386, 388, 16 } },
	{ "MR size 72 KiB less a byte", &rxe, SET(max_mr_size, 73727), { 128 },
	  { 128, 16, 16, 17, 128, 17, 65536, 386, 388, 16 } },
	{ "MR size 2^31", &rxe, SET(max_mr_size, 0x80000000), { 128 },
	  { 128, 16, 16, 257, 128, 257, 1048576, 386, 388, 16 } },
	{ "MR size 2^32", &rxe, SET(max_mr_size, 0x100000000), { 128 },
	  { 128, 16, 16, 257, 128, 257, 1048576, 386, 388, 16 } },
	{ "MR size 2^44", &rxe, SET(max_mr_size, 0x100000000000), { 128 },
	  { 128, 16, 16, 257, 128, 257, 1048576, 386, 388, 16 } },
	{ "siw MR size 8191", &siw, SET(max_mr_size, 8191), { 128 }, { }, no_iwarp },

	/* Page sizes: those of the client are of 4 KiB. */
	{ "no 4 KiB pages", &rxe, SET(page_sizes, 0x200000), { 128 }, WITHOUT_MRS },
	{ "no page sizes", &rxe, SET(page_sizes, 0), { 128 }, WITHOUT_MRS },
	{ "no page sizes but SG entries", &siw, SET(page_sizes, 0), { 128 },
	  { 128, 6, 0, 256, 128, 256, 1044480, 386, 388, 16 } },
	{ "iwarp without 4 KiB pages", &cxgb4, SET(page_sizes, 0), { 128 }, { }, no_iwarp },

	/* SGEs. */
	{ "write SGEs 0", &rxe, SET(max_send_sge, 0), { 128 }, { }, no_write_sge },
	{ "read SGEs 0", &rxe, SET(max_sge_rd, 0), { 128 }, { }, no_read_sge },
	{ "siw read SGEs 0", &siw, SET(max_sge_rd, 0), { 128 }, { }, no_read_sge },
	{ "write SGEs 1", &rxe, SET(max_send_sge, 1), { 128 },
	  { 128, 1, 1, 257, 128, 257, 1048576, 386, 388, 16 } },
	{ "read SGEs 1", &rxe, SET(max_sge_rd, 1), { 128 },
	  { 128, 16, 1, 257, 128, 257, 1048576, 386, 388, 16 } },
	{ "write SGEs 15", &rxe, SET(max_send_sge, 15), { 128 },
	  { 128, 15, 15, 257, 128, 257, 1048576, 386, 388, 16 } },
	{ "write SGEs 17", &rxe, SET(max_send_sge, 17), { 128 },
	  { 128, 16, 16, 257, 128, 257, 1048576, 386, 388, 16 } },

	/* A device that repeats registrations has none, where it can do without. */
	{ "replays", &rxe, SET(mr_replays, 1), { 128 }, WITHOUT_MRS },
	{ "replays, forced", &rxe, SET(mr_replays, 1), { 128, true },
	  { 128, 0, 0, 257, 128, 257, 1048576, 386, 388, 16 } },
	{ "replays iwarp", &siw, SET(mr_replays, 1), { 128 },
	  { 128, 6, 0, 256, 128, 256, 1044480, 386, 388, 16 } },

	/* Each queue keeps MRs of its own. */
	{ "512 MRs for 4 queues", &rxe, SET(max_mr, 512), { 128, .queues = 4 },
	  { 128, 16, 16, 257, 128, 257, 1048576, 386, 388, 16 } },
	{ "511 MRs for 4 queues", &rxe, SET(max_mr, 511), { 128, .queues = 4 },
	  { 127, 16, 16, 257, 127, 257, 1048576, 383, 385, 16 } },
	{ "3 MRs for 4 queues", &rxe, SET(max_mr, 3), { 128, .queues = 4 }, { }, too_small },

	/* READs in flight. */
	{ "READs 0", &rxe, SET(max_init_rd, 0), { 128 }, { }, no_reads },
	{ "READs 1", &rxe, SET(max_init_rd, 1), { 128 },
	  { 128, 16, 16, 257, 128, 257, 1048576, 386, 388, 1 } },
	{ "READs 17", &rxe, SET(max_init_rd, 17), { 128 },
	  { 128, 16, 16, 257, 128, 257, 1048576, 386, 388, 16 } },

	/* What a queue of the client does not depend on. */
	{ "incoming READs 0", &rxe, SET(max_resp_rd, 0), { 128 },
	  { 128, 16, 16, 257, 128, 257, 1048576, 386, 388, 16 } },
	{ "vectors 0", &rxe, SET(vectors, 0), { 128 },
	  { 128, 16, 16, 257, 128, 257, 1048576, 386, 388, 16 } },

	{ "all 0", &zero, { }, { 128 }, { }, no_reads },
	{ "all 1", &one, { }, { 128 }, { }, too_small },
	{ "all UINT_MAX", &huge, { }, { U32_MAX },
	  { 1024, 16, 16, 257, 1024, 257, 1048576, 3074, 3076, 16 } },
	{ "all UINT_MAX iwarp", &huge_iwarp, { }, { U32_MAX },
	  { 1024, 16, 0, 257, 1024, 257, 1048576, 3074, 3076, 16 } },
	{ "all UINT_MAX SG", &huge_sg, { }, { U32_MAX },
	  { 1024, 16, 16, 257, 1024, 257, 1048576, 3074, 3076, 16 } },
};

KUNIT_ARRAY_PARAM_DESC(queue, queue_cases, desc);

static void limits_queue(struct kunit *test)
{
	/* Arrange */
	const struct queue_case *c = test->param_value;
	struct rblk_dev_caps caps = changed(c->dev, &c->set);
	struct rblk_queue_plan plan;
	const char *why = NULL;
	int err;

	memset(&plan, 0xff, sizeof(plan));

	/* Act */
	err = rblk_plan_queue(&caps, &c->want, &plan, &why);

	/* Assert */
	KUNIT_EXPECT_EQ(test, err, c->plan.depth ? 0 : c->want.depth ? -ENODEV : -EINVAL);
	KUNIT_EXPECT_STREQ(test, why ?: "", c->why ?: "");
	KUNIT_EXPECT_EQ(test, plan.depth, c->plan.depth);
	KUNIT_EXPECT_EQ(test, plan.write_sge, c->plan.write_sge);
	KUNIT_EXPECT_EQ(test, plan.read_sge, c->plan.read_sge);
	KUNIT_EXPECT_EQ(test, plan.mr_pages, c->plan.mr_pages);
	KUNIT_EXPECT_EQ(test, plan.mrs, c->plan.mrs);
	KUNIT_EXPECT_EQ(test, plan.max_segments, c->plan.max_segments);
	KUNIT_EXPECT_EQ(test, plan.max_io, c->plan.max_io);
	KUNIT_EXPECT_EQ(test, plan.sq_wrs, c->plan.sq_wrs);
	KUNIT_EXPECT_EQ(test, plan.cq_entries, c->plan.cq_entries);
	KUNIT_EXPECT_EQ(test, plan.init_rd, c->plan.init_rd);
}

/* The next digit of a number, as a value worth a try. */
static u32 pick(u32 *digits)
{
	static const u32 vals[] = { 1, 2, 5, 16, 17, 64, 257, 512, 65535, 0x80000000, U32_MAX };
	u32 digit = *digits % ARRAY_SIZE(vals);

	*digits /= ARRAY_SIZE(vals);
	return vals[digit];
}

/* A plan for any device is within the device and holds what it promises. */
static void limits_queue_sweep(struct kunit *test)
{
	/* Arrange */
	struct rblk_dev_caps caps = rxe;
	struct rblk_queue_want want = { };
	struct rblk_queue_plan p;
	u32 n, i, good = 0, bad = 0;
	const char *why;

	for (n = 0; n < 4 * 11 * 11 * 11 * 11 * 11; n++) {
		i = n;
		caps.max_qp_wr = pick(&i);
		caps.max_cqe = pick(&i);
		caps.max_send_sge = pick(&i);
		caps.max_sge_rd = pick(&i);
		caps.max_fr_pages = pick(&i);
		caps.iwarp = i & 1;
		want.force_mr = i & 2;
		i = n / 7;
		want.depth = pick(&i);

		/* Act */
		if (rblk_plan_queue(&caps, &want, &p, &why))
			continue;
		good++;

		/* Assert: all at once, as a million expectations are slow */
		if (!p.depth || p.depth > want.depth || p.depth > 1024 ||
		    p.sq_wrs > caps.max_qp_wr || p.cq_entries > caps.max_cqe ||
		    p.write_sge > caps.max_send_sge || p.read_sge > caps.max_sge_rd ||
		    p.read_sge > caps.max_send_sge ||
		    p.write_sge > 16 || p.read_sge > 16 ||
		    p.mr_pages > caps.max_fr_pages || p.mr_pages == 1 ||
		    !p.max_segments || p.max_io < 4096 || p.max_io > 1048576 ||
		    (p.mrs ? p.mrs != p.depth : !!p.mr_pages) ||
		    (!p.mrs && (p.max_segments > p.write_sge || p.max_segments > p.read_sge)) ||
		    (p.mrs && p.max_segments > p.mr_pages) ||
		    (p.mrs && p.sq_wrs <= 3 * p.depth) || p.sq_wrs <= 2 * p.depth ||
		    p.cq_entries <= p.sq_wrs || (caps.iwarp && p.read_sge) ||
		    (want.force_mr && (p.read_sge || p.write_sge || !p.mrs)))
			bad++;
	}
	KUNIT_EXPECT_EQ(test, bad, 0);
	KUNIT_EXPECT_GT(test, good, 100000);
	kunit_info(test, "%u devices, plans for %u\n", n, good);
}

struct msgs_case {
	const char *desc;
	const struct rblk_dev_caps *dev;
	struct change set;
	u32 sends;
	u32 recvs;
	struct rblk_msg_plan plan;	/* all zero: refused */
	const char *why;
};

static const char sq_small[] = "the send queue of the device is too small";
static const char rq_small[] = "the receive queue of the device is too small";
static const char cq_small[] = "the completion queue of the device is too small";
static const char no_answer[] = "the device cannot answer RDMA READs";

static const struct msgs_case msgs_cases[] = {
	/* SQ, RQ, CQ, READs */
	{ "nothing to say", &rxe, { }, 0, 0, { 2, 2, 4, 16 } },
	{ "one each", &rxe, { }, 1, 1, { 3, 2, 5, 16 } },
	{ "rxe 8 and 16", &rxe, { }, 8, 16, { 10, 17, 27, 16 } },
	{ "siw 8 and 16", &siw, { }, 8, 16, { 10, 17, 27, 16 } },
	{ "mlx4 8 and 16", &mlx4, { }, 8, 16, { 10, 17, 27, 16 } },
	{ "SQ as large as it gets", &rxe, SET(max_qp_wr, 10), 8, 1, { 10, 2, 12, 16 } },
	{ "SQ too small by one", &rxe, SET(max_qp_wr, 9), 8, 1, { }, sq_small },
	{ "RQ as large as it gets", &rxe, SET(max_qp_wr, 10), 1, 9, { 3, 10, 13, 16 } },
	{ "RQ too small by one", &rxe, SET(max_qp_wr, 10), 1, 10, { }, rq_small },
	{ "CQ as large as it gets", &rxe, SET(max_cqe, 27), 8, 16, { 10, 17, 27, 16 } },
	{ "CQ too small by one", &rxe, SET(max_cqe, 26), 8, 16, { }, cq_small },
	{ "SQ 0", &rxe, SET(max_qp_wr, 0), 0, 0, { }, sq_small },
	{ "SQ 2", &rxe, SET(max_qp_wr, 2), 0, 0, { 2, 2, 4, 16 } },
	{ "CQ 0", &rxe, SET(max_cqe, 0), 0, 0, { }, cq_small },
	{ "READs 0", &rxe, SET(max_resp_rd, 0), 8, 16, { }, no_answer },
	{ "READs 1", &rxe, SET(max_resp_rd, 1), 8, 16, { 10, 17, 27, 1 } },
	{ "READs 17", &rxe, SET(max_resp_rd, 17), 8, 16, { 10, 17, 27, 16 } },
	{ "outgoing READs 0", &rxe, SET(max_init_rd, 0), 8, 16, { 10, 17, 27, 16 } },
	{ "no fast registrations", &rxe, SET(max_fr_pages, 0), 8, 16, { 10, 17, 27, 16 } },
	{ "no MRs", &rxe, SET(max_mr, 0), 8, 16, { 10, 17, 27, 16 } },
	{ "all 0", &zero, { }, 0, 0, { }, no_answer },
	{ "all 1", &one, { }, 0, 0, { }, sq_small },
	{ "all UINT_MAX", &huge, { }, 8, 16, { 10, 17, 27, 16 } },
	{ "sends wrap", &huge, { }, U32_MAX, 1, { }, sq_small },
	{ "sends wrap by one", &huge, { }, U32_MAX - 1, 1, { }, sq_small },
	{ "sends fill it", &huge, { }, U32_MAX - 2, 1, { }, cq_small },
	{ "sends fill all but", &huge, { }, U32_MAX - 4, 1, { U32_MAX - 2, 2, U32_MAX, 16 } },
	{ "recvs wrap", &huge, { }, 1, U32_MAX, { }, rq_small },
	{ "recvs fill it", &huge, { }, 1, U32_MAX - 1, { }, cq_small },
	{ "recvs fill all but", &huge, { }, 1, U32_MAX - 4, { 3, U32_MAX - 3, U32_MAX, 16 } },
};

KUNIT_ARRAY_PARAM_DESC(msgs, msgs_cases, desc);

static void limits_msgs(struct kunit *test)
{
	/* Arrange */
	const struct msgs_case *c = test->param_value;
	struct rblk_dev_caps caps = changed(c->dev, &c->set);
	struct rblk_msg_plan plan;
	const char *why = NULL;
	int err;

	memset(&plan, 0xff, sizeof(plan));

	/* Act */
	err = rblk_plan_msgs(&caps, c->sends, c->recvs, &plan, &why);

	/* Assert */
	KUNIT_EXPECT_EQ(test, err, c->plan.sq_wrs ? 0 : -ENODEV);
	KUNIT_EXPECT_STREQ(test, why ?: "", c->why ?: "");
	KUNIT_EXPECT_EQ(test, plan.sq_wrs, c->plan.sq_wrs);
	KUNIT_EXPECT_EQ(test, plan.rq_wrs, c->plan.rq_wrs);
	KUNIT_EXPECT_EQ(test, plan.cq_entries, c->plan.cq_entries);
	KUNIT_EXPECT_EQ(test, plan.resp_rd, c->plan.resp_rd);
}

struct export_case {
	const char *desc;
	const struct rblk_dev_caps *dev;
	struct change set;
	u8 want;
	bool small_pages;
	struct rblk_export_plan plan;	/* all zero: refused */
	const char *why;
};

static const char no_fr[] = "the device has no fast registrations";
static const char no_pages[] = "the device registers pages of neither 4 KiB nor 2 MiB";
static const char no_cover[] = "a registration of the device covers less than 2 MiB";
static const char small_extent[] = "an extent is at least 2 MiB";

static const struct export_case export_cases[] = {
	/* extent shift, page shift, MR entries */
	{ "rxe", &rxe, { }, 26, false, { 26, 21, 32 } },
	{ "siw", &siw, { }, 26, false, { 26, 12, 32 } },
	{ "mlx5", &mlx5, { }, 26, false, { 26, 21, 32 } },
	{ "irdma", &irdma, { }, 26, false, { 26, 21, 32 } },
	{ "irdma iwarp", &irdma_iwarp, { }, 26, false, { 26, 21, 32 } },
	{ "bnxt", &bnxt, { }, 26, false, { 26, 21, 32 } },
	{ "hns", &hns, { }, 26, false, { 26, 21, 32 } },
	{ "cxgb4", &cxgb4, { }, 26, false, { 26, 21, 32 } },
	{ "mlx4", &mlx4, { }, 26, false, { 26, 21, 32 } },
	{ "erdma", &erdma, { }, 26, false, { 26, 21, 32 } },

	{ "rxe small pages", &rxe, { }, 26, true, { 21, 12, 512 } },
	{ "siw small pages", &siw, { }, 26, true, { 26, 12, 32 } },
	{ "mlx5 small pages", &mlx5, { }, 26, true, { 26, 12, 16384 } },
	{ "irdma small pages", &irdma, { }, 26, true, { 26, 12, 16384 } },
	{ "bnxt small pages", &bnxt, { }, 26, true, { 21, 12, 512 } },
	{ "hns small pages", &hns, { }, 26, true, { 21, 12, 512 } },
	{ "cxgb4 small pages", &cxgb4, { }, 26, true, { }, no_cover },
	{ "mlx4 small pages", &mlx4, { }, 26, true, { }, no_cover },
	{ "erdma small pages", &erdma, { }, 26, true, { 21, 12, 512 } },

	{ "rxe 1 GiB", &rxe, { }, 30, false, { 30, 21, 512 } },
	{ "siw 1 GiB", &siw, { }, 30, false, { 29, 12, 256 } },
	{ "mlx5 1 GiB", &mlx5, { }, 30, false, { 30, 21, 512 } },
	{ "mlx5 1 GiB small pages", &mlx5, { }, 30, true, { 28, 12, 65536 } },
	{ "irdma 1 GiB small pages", &irdma, { }, 30, true, { 30, 12, 262144 } },
	{ "cxgb4 1 GiB", &cxgb4, { }, 30, false, { 28, 21, 128 } },
	{ "mlx4 1 GiB", &mlx4, { }, 30, false, { 29, 21, 256 } },

	{ "want 0", &rxe, { }, 0, false, { }, small_extent },
	{ "want 1 MiB", &rxe, { }, 20, false, { }, small_extent },
	{ "want 2 MiB", &rxe, { }, 21, false, { 21, 21, 1 } },
	{ "want 2 MiB siw", &siw, { }, 21, false, { 21, 12, 1 } },
	{ "want 4 MiB", &rxe, { }, 22, false, { 22, 21, 2 } },
	{ "want 2 GiB", &rxe, { }, 31, false, { 30, 21, 512 } },
	{ "want 2^255", &huge, { }, 255, false, { 30, 21, 512 } },

	{ "MR size not told", &rxe, SET(max_mr_size, 0), 26, false, { 26, 21, 32 } },
	{ "MR size 1", &rxe, SET(max_mr_size, 1), 26, false, { }, no_cover },
	{ "MR size 2 MiB less a byte", &rxe, SET(max_mr_size, 0x1fffff), 26, false, { }, no_cover },
	{ "MR size 2 MiB", &rxe, SET(max_mr_size, 0x200000), 26, false, { 21, 21, 1 } },
	{ "MR size 3 MiB", &rxe, SET(max_mr_size, 0x300000), 26, false, { 21, 21, 1 } },
	{ "MR size 4 MiB siw", &siw, SET(max_mr_size, 0x400000), 26, false, { 22, 12, 2 } },
	{ "MR size 2^31", &rxe, SET(max_mr_size, 0x80000000), 30, false, { 30, 21, 512 } },
	{ "MR size 2^32", &rxe, SET(max_mr_size, 0x100000000), 30, false, { 30, 21, 512 } },
	{ "MR size 2^40", &rxe, SET(max_mr_size, 0x10000000000), 30, false, { 30, 21, 512 } },

	{ "pages 0", &rxe, SET(max_fr_pages, 0), 26, false, { }, no_fr },
	{ "pages 1", &rxe, SET(max_fr_pages, 1), 26, false, { 21, 21, 1 } },
	{ "pages 16", &rxe, SET(max_fr_pages, 16), 26, false, { 25, 21, 16 } },
	{ "pages 31", &rxe, SET(max_fr_pages, 31), 26, false, { 25, 21, 16 } },
	{ "pages 511 small", &rxe, SET(max_fr_pages, 511), 26, true, { }, no_cover },
	{ "pages 1023 small", &rxe, SET(max_fr_pages, 1023), 26, true, { 21, 12, 512 } },
	{ "pages UINT_MAX", &rxe, SET(max_fr_pages, U32_MAX), 30, false, { 30, 21, 512 } },
	{ "pages UINT_MAX small", &rxe, SET(max_fr_pages, U32_MAX), 30, true, { 30, 12, 262144 } },
	{ "siw entries 1", &siw, SET(max_fr_pages, 1), 26, false, { 21, 12, 1 } },

	{ "only 4 KiB pages", &rxe, SET(page_sizes, 0x1000), 26, false, { 21, 12, 512 } },
	{ "only 2 MiB pages", &rxe, SET(page_sizes, 0x200000), 26, false, { 26, 21, 32 } },
	{ "only 2 MiB pages, small", &rxe, SET(page_sizes, 0x200000), 26, true, { }, no_pages },
	{ "only 1 GiB pages", &rxe, SET(page_sizes, 0x40000000), 26, false, { }, no_pages },
	{ "no page sizes", &rxe, SET(page_sizes, 0), 26, false, { }, no_pages },
	{ "no page sizes siw", &siw, SET(page_sizes, 0), 26, false, { 26, 12, 32 } },

	{ "MRs 0", &rxe, SET(max_mr, 0), 26, false, { }, no_fr },
	{ "QP 0", &rxe, SET(max_qp_wr, 0), 26, false, { 26, 21, 32 } },
	{ "all 0", &zero, { }, 26, false, { }, no_fr },
	{ "all 1", &one, { }, 26, false, { }, no_pages },
	{ "all UINT_MAX", &huge, { }, 26, false, { 26, 21, 32 } },
	{ "all UINT_MAX SG", &huge_sg, { }, 30, false, { 30, 12, 512 } },
};

KUNIT_ARRAY_PARAM_DESC(export, export_cases, desc);

static void limits_export(struct kunit *test)
{
	/* Arrange */
	const struct export_case *c = test->param_value;
	struct rblk_dev_caps caps = changed(c->dev, &c->set);
	struct rblk_export_plan plan;
	const char *why = NULL;
	int err;

	memset(&plan, 0xff, sizeof(plan));

	/* Act */
	err = rblk_plan_export(&caps, c->want, c->small_pages, &plan, &why);

	/* Assert */
	KUNIT_EXPECT_EQ(test, err, c->plan.extent_shift ? 0 : c->want < 21 ? -EINVAL : -ENODEV);
	KUNIT_EXPECT_STREQ(test, why ?: "", c->why ?: "");
	KUNIT_EXPECT_EQ(test, plan.extent_shift, c->plan.extent_shift);
	KUNIT_EXPECT_EQ(test, plan.page_shift, c->plan.page_shift);
	KUNIT_EXPECT_EQ(test, plan.mr_entries, c->plan.mr_entries);
}

struct queues_case {
	const char *desc;
	u32 want, cpus, limit, queues;
};

static const struct queues_case queues_cases[] = {
	{ "one for each CPU", 0, 4, 0, 4 },
	{ "as wanted", 2, 4, 0, 2 },
	{ "one", 1, 4, 8, 1 },
	{ "more than CPUs", 8, 4, 0, 4 },
	{ "limited", 0, 16, 4, 4 },
	{ "limited below wanted", 8, 16, 4, 4 },
	{ "limit of 1", 8, 16, 1, 1 },
	{ "nothing known", 0, 0, 0, 1 },
	{ "only a limit", 0, 0, 6, 6 },
	{ "only wanted", 6, 0, 0, 6 },
	{ "most", 128, 256, 0, 128 },
	{ "too many CPUs", 0, 129, 0, 128 },
	{ "all UINT_MAX", U32_MAX, U32_MAX, U32_MAX, 128 },
};

KUNIT_ARRAY_PARAM_DESC(queues, queues_cases, desc);

static void limits_queues(struct kunit *test)
{
	const struct queues_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, rblk_plan_queues(c->want, c->cpus, c->limit), c->queues);
}

static struct kunit_case limits_tests[] = {
	KUNIT_CASE_PARAM(limits_queue, queue_gen_params),
	KUNIT_CASE(limits_queue_sweep),
	KUNIT_CASE_PARAM(limits_msgs, msgs_gen_params),
	KUNIT_CASE_PARAM(limits_export, export_gen_params),
	KUNIT_CASE_PARAM(limits_queues, queues_gen_params),
	{ }
};

static struct kunit_suite limits_suite = {
	.name = "rblk_limits",
	.test_cases = limits_tests,
};

kunit_test_suite(limits_suite);
