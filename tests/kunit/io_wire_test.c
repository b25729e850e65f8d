// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of requests to disks and of their responses. As in the tests of the messages,
 * KASAN sees a byte read too many.
 */
#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include <rblk/io_wire.h>

/* Made by another implementation, as the messages in wire_golden.h. */

static const u8 golden_read[40] = {
	0x01, 0x00, 0x23, 0x01, 0xa4, 0xa3, 0xa2, 0xa1,
	0x00, 0x9a, 0x78, 0x56, 0x34, 0x12, 0x00, 0x00,
	0x00, 0xe2, 0x0f, 0x00, 0x74, 0x73, 0x72, 0x71,
	0x88, 0x87, 0x86, 0x85, 0x84, 0x83, 0x82, 0x81,
	0xe4, 0xe3, 0xe2, 0xe1, 0x00, 0x00, 0x00, 0x00,
};

static const u8 golden_write[40] = {
	0x02, 0x01, 0xfe, 0x03, 0xa5, 0xa3, 0xa2, 0xa1,
	0x00, 0x6e, 0x50, 0x40, 0x30, 0x20, 0x00, 0x00,
	0x00, 0x12, 0x01, 0x00, 0x64, 0x63, 0x62, 0x61,
	0x98, 0x97, 0x96, 0x95, 0x94, 0x93, 0x92, 0x91,
	0xe5, 0xe3, 0xe2, 0xe1, 0x00, 0x00, 0x00, 0x00,
};

static const u8 golden_flush[40] = {
	0x03, 0x00, 0x45, 0x02, 0xa6, 0xa3, 0xa2, 0xa1,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0xe6, 0xe3, 0xe2, 0xe1, 0x00, 0x00, 0x00, 0x00,
};

static const u8 golden_discard[40] = {
	0x04, 0x00, 0x56, 0x02, 0xa7, 0xa3, 0xa2, 0xa1,
	0x00, 0x52, 0x41, 0x31, 0x21, 0x11, 0x01, 0x00,
	0x00, 0x54, 0x52, 0x51, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0xe7, 0xe3, 0xe2, 0xe1, 0x00, 0x00, 0x00, 0x00,
};

static const u8 golden_write_zeroes[40] = {
	0x05, 0x03, 0x67, 0x02, 0xa8, 0xa3, 0xa2, 0xa1,
	0x00, 0x54, 0x42, 0x32, 0x22, 0x12, 0x02, 0x00,
	0x00, 0x66, 0x62, 0x61, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0xe8, 0xe3, 0xe2, 0xe1, 0x00, 0x00, 0x00, 0x00,
};

static const u8 golden_secure_erase[40] = {
	0x06, 0x00, 0x78, 0x02, 0xa9, 0xa3, 0xa2, 0xa1,
	0x00, 0x56, 0x43, 0x33, 0x23, 0x13, 0x03, 0x00,
	0x00, 0x78, 0x72, 0x71, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0xe9, 0xe3, 0xe2, 0xe1, 0x00, 0x00, 0x00, 0x00,
};

static const u8 golden_done[16] = {
	0x23, 0x01, 0x00, 0x00, 0xf4, 0xf3, 0xf2, 0xf1,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};

static const u8 golden_gone[16] = {
	0xa5, 0x03, 0x09, 0x00, 0xd4, 0xd3, 0xd2, 0xd1,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};

struct req_golden {
	const char *desc;
	const u8 *wire;
	struct rblk_io_req req;
};

enum req_index { R_READ, R_WRITE, R_FLUSH, R_DISCARD, R_ZEROES, R_ERASE };

static const struct req_golden req_goldens[] = {
	[R_READ] = { "read", golden_read, {
		.op = RBLK_IO_READ,
		.tag = 0x123,
		.handle = 0xa1a2a3a4,
		.offset = 0x0123456789a00,
		.length = 0xfe200,
		.rkey = 0x71727374,
		.address = 0x8182838485868788,
		.turn = 0xe1e2e3e4,
	} },
	[R_WRITE] = { "write", golden_write, {
		.op = RBLK_IO_WRITE,
		.flags = RBLK_IO_FUA,
		.tag = 0x3fe,
		.handle = 0xa1a2a3a5,
		.offset = 0x0203040506e00,
		.length = 0x11200,
		.rkey = 0x61626364,
		.address = 0x9192939495969798,
		.turn = 0xe1e2e3e5,
	} },
	[R_FLUSH] = { "flush", golden_flush, {
		.op = RBLK_IO_FLUSH,
		.tag = 0x245,
		.handle = 0xa1a2a3a6,
		.turn = 0xe1e2e3e6,
	} },
	[R_DISCARD] = { "discard", golden_discard, {
		.op = RBLK_IO_DISCARD,
		.tag = 0x256,
		.handle = 0xa1a2a3a7,
		.offset = 0x1112131415200,
		.length = 0x51525400,
		.turn = 0xe1e2e3e7,
	} },
	[R_ZEROES] = { "write zeroes", golden_write_zeroes, {
		.op = RBLK_IO_WRITE_ZEROES,
		.flags = RBLK_IO_FUA | RBLK_IO_NO_UNMAP,
		.tag = 0x267,
		.handle = 0xa1a2a3a8,
		.offset = 0x2122232425400,
		.length = 0x61626600,
		.turn = 0xe1e2e3e8,
	} },
	[R_ERASE] = { "secure erase", golden_secure_erase, {
		.op = RBLK_IO_SECURE_ERASE,
		.tag = 0x278,
		.handle = 0xa1a2a3a9,
		.offset = 0x3132333435600,
		.length = 0x71727800,
		.turn = 0xe1e2e3e9,
	} },
};

KUNIT_ARRAY_PARAM_DESC(req_golden, req_goldens, desc);

struct rsp_golden {
	const char *desc;
	const u8 *wire;
	struct rblk_io_rsp rsp;
};

static const struct rsp_golden rsp_goldens[] = {
	{ "done", golden_done, { .tag = 0x123, .status = RBLK_IO_OK, .turn = 0xf1f2f3f4 } },
	{ "gone", golden_gone, { .tag = 0x3a5, .status = RBLK_IO_GONE, .turn = 0xd1d2d3d4 } },
};

KUNIT_ARRAY_PARAM_DESC(rsp_golden, rsp_goldens, desc);

static bool same_req(const struct rblk_io_req *a, const struct rblk_io_req *b)
{
	return a->op == b->op && a->flags == b->flags && a->tag == b->tag &&
	       a->handle == b->handle && a->offset == b->offset && a->length == b->length &&
	       a->rkey == b->rkey && a->address == b->address && a->turn == b->turn;
}

static bool same_rsp(const struct rblk_io_rsp *a, const struct rblk_io_rsp *b)
{
	return a->tag == b->tag && a->status == b->status && a->turn == b->turn;
}

/* The bytes as they are, good or not: what the encoder has to refuse as well. */
static struct rblk_io_req raw_req(const u8 *buf)
{
	return (struct rblk_io_req) {
		.op = buf[0],
		.flags = buf[1],
		.tag = get_unaligned_le16(buf + 2),
		.handle = get_unaligned_le32(buf + 4),
		.offset = get_unaligned_le64(buf + 8),
		.length = get_unaligned_le32(buf + 16),
		.rkey = get_unaligned_le32(buf + 20),
		.address = get_unaligned_le64(buf + 24),
		.turn = get_unaligned_le32(buf + 32),
	};
}

static struct rblk_io_rsp raw_rsp(const u8 *buf)
{
	return (struct rblk_io_rsp) {
		.tag = get_unaligned_le16(buf),
		.status = buf[2],
		.turn = get_unaligned_le32(buf + 4),
	};
}

/* What must come of 40 bytes, in both directions; all or nothing in each. */
static void expect_req(struct kunit *test, const u8 *buf, bool ok, const char *what, u32 value)
{
	struct rblk_io_req raw = raw_req(buf), req;
	struct rblk_wire_io_req wire;
	u8 again[40];

	memset(&req, 0xff, sizeof(req));
	memset(&wire, 0xa5, sizeof(wire));
	KUNIT_EXPECT_EQ_MSG(test, rblk_io_decode_req(buf, 40, &req), ok ? 0 : -EBADMSG,
			    "decode %s %u", what, value);
	KUNIT_EXPECT_EQ_MSG(test, rblk_io_encode_req(&raw, &wire), ok ? 0 : -EINVAL,
			    "encode %s %u", what, value);
	if (!ok) {
		KUNIT_EXPECT_TRUE(test, !memchr_inv(&req, 0, sizeof(req)));
		KUNIT_EXPECT_TRUE(test, !memchr_inv(&wire, 0xa5, sizeof(wire)));
		return;
	}
	memcpy(again, buf, 36);
	memset(again + 36, 0, 4);
	KUNIT_EXPECT_TRUE_MSG(test, same_req(&req, &raw), "%s %u", what, value);
	KUNIT_EXPECT_MEMEQ(test, (const u8 *)&wire, again, 40);
}

static void expect_rsp(struct kunit *test, const u8 *buf, bool ok, const char *what, u32 value)
{
	struct rblk_io_rsp raw = raw_rsp(buf), rsp;
	struct rblk_wire_io_rsp wire;
	u8 again[16] = { };

	memset(&rsp, 0xff, sizeof(rsp));
	memset(&wire, 0xa5, sizeof(wire));
	KUNIT_EXPECT_EQ_MSG(test, rblk_io_decode_rsp(buf, 16, &rsp), ok ? 0 : -EBADMSG,
			    "decode %s %u", what, value);
	KUNIT_EXPECT_EQ_MSG(test, rblk_io_encode_rsp(&raw, &wire), ok ? 0 : -EINVAL,
			    "encode %s %u", what, value);
	if (!ok) {
		KUNIT_EXPECT_TRUE(test, !memchr_inv(&rsp, 0, sizeof(rsp)));
		KUNIT_EXPECT_TRUE(test, !memchr_inv(&wire, 0xa5, sizeof(wire)));
		return;
	}
	memcpy(again, buf, 3);
	memcpy(again + 4, buf + 4, 4);
	KUNIT_EXPECT_TRUE_MSG(test, same_rsp(&rsp, &raw), "%s %u", what, value);
	KUNIT_EXPECT_MEMEQ(test, (const u8 *)&wire, again, 16);
}

static void io_req_golden(struct kunit *test)
{
	/* Arrange: to find bytes that were left as they were */
	const struct req_golden *g = test->param_value;
	struct rblk_wire_io_req wire;
	struct rblk_io_req req;
	size_t off;

	memset(&wire, 0xff, sizeof(wire));

	/* Act */
	KUNIT_ASSERT_EQ(test, rblk_io_encode_req(&g->req, &wire), 0);

	/* Assert */
	KUNIT_EXPECT_MEMEQ(test, (const u8 *)&wire, g->wire, 40);

	/* Act, Assert: back, at each alignment */
	for (off = 0; off < 8; off++) {
		u8 *buf = kunit_kzalloc(test, off + 40, GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, buf);
		memcpy(buf + off, g->wire, 40);
		memset(&req, 0xff, sizeof(req));
		KUNIT_ASSERT_EQ(test, rblk_io_decode_req(buf + off, 40, &req), 0);
		KUNIT_EXPECT_TRUE(test, same_req(&req, &g->req));
	}
}

static void io_rsp_golden(struct kunit *test)
{
	/* Arrange */
	const struct rsp_golden *g = test->param_value;
	struct rblk_wire_io_rsp wire;
	struct rblk_io_rsp rsp;
	size_t off;

	memset(&wire, 0xff, sizeof(wire));

	/* Act */
	KUNIT_ASSERT_EQ(test, rblk_io_encode_rsp(&g->rsp, &wire), 0);

	/* Assert */
	KUNIT_EXPECT_MEMEQ(test, (const u8 *)&wire, g->wire, 16);

	/* Act, Assert: back, at each alignment */
	for (off = 0; off < 8; off++) {
		u8 *buf = kunit_kzalloc(test, off + 16, GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, buf);
		memcpy(buf + off, g->wire, 16);
		memset(&rsp, 0xff, sizeof(rsp));
		KUNIT_ASSERT_EQ(test, rblk_io_decode_rsp(buf + off, 16, &rsp), 0);
		KUNIT_EXPECT_TRUE(test, same_rsp(&rsp, &g->rsp));
	}
}

/* Nothing pads these: each length but one is wrong. */
static void io_lengths(struct kunit *test)
{
	struct rblk_io_req req;
	struct rblk_io_rsp rsp;
	size_t len, i;

	for (len = 0; len <= 128; len++) {
		/* Arrange */
		u8 *buf = kzalloc(len, GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, buf);
		for (i = 0; i < ARRAY_SIZE(req_goldens); i++) {
			memcpy(buf, req_goldens[i].wire, min_t(size_t, len, 40));
			memset(&req, 0xff, sizeof(req));

			/* Act, Assert */
			KUNIT_EXPECT_EQ_MSG(test, rblk_io_decode_req(buf, len, &req),
					    len == 40 ? 0 : -EBADMSG, "request of %zu", len);
			KUNIT_EXPECT_EQ(test, !memchr_inv(&req, 0, sizeof(req)), len != 40);
		}
		for (i = 0; i < ARRAY_SIZE(rsp_goldens); i++) {
			memcpy(buf, rsp_goldens[i].wire, min_t(size_t, len, 16));
			memset(&rsp, 0xff, sizeof(rsp));
			KUNIT_EXPECT_EQ_MSG(test, rblk_io_decode_rsp(buf, len, &rsp),
					    len == 16 ? 0 : -EBADMSG, "response of %zu", len);
			KUNIT_EXPECT_EQ(test, !memchr_inv(&rsp, 0, sizeof(rsp)), len != 16);
		}
		kfree(buf);
	}
	KUNIT_EXPECT_EQ(test, rblk_io_decode_req(NULL, 0, &req), -EBADMSG);
	KUNIT_EXPECT_EQ(test, rblk_io_decode_rsp(NULL, 0, &rsp), -EBADMSG);
}

/* Each op with what each of the others has: data, a range alone, nothing. */
static void io_every_op(struct kunit *test)
{
	size_t i;
	u32 op;
	u8 buf[40];

	for (i = 0; i < ARRAY_SIZE(req_goldens); i++) {
		memcpy(buf, req_goldens[i].wire, 40);
		buf[1] = 0;
		for (op = 0; op < 256; op++) {
			bool ok;

			switch (i) {
			case R_READ:
			case R_WRITE:
				ok = op == 1 || op == 2;
				break;
			case R_FLUSH:
				ok = op == 3;
				break;
			default:
				ok = op == 4 || op == 5 || op == 6;
				break;
			}
			buf[0] = op;
			expect_req(test, buf, ok, req_goldens[i].desc, op);
		}
	}
}

static void io_every_flag(struct kunit *test)
{
	/* Arrange */
	static const u8 masks[] = {
		[R_READ] = 0, [R_WRITE] = 1, [R_FLUSH] = 0,
		[R_DISCARD] = 0, [R_ZEROES] = 3, [R_ERASE] = 0,
	};
	const struct req_golden *g = test->param_value;
	u8 mask = masks[g - req_goldens];
	u32 flags;
	u8 buf[40];

	memcpy(buf, g->wire, 40);
	for (flags = 0; flags < 256; flags++) {
		/* Act, Assert */
		buf[1] = flags;
		expect_req(test, buf, !(flags & ~mask), "flags", flags);
	}
}

static void io_tags(struct kunit *test)
{
	u8 req[40], rsp[16];
	u32 tag;

	memcpy(req, golden_read, 40);
	memcpy(rsp, golden_done, 16);
	/* All about the limit, and some up to the last: each that fails writes to the log. */
	for (tag = 0; tag <= U16_MAX; tag += tag < 1100 || tag >= U16_MAX - 16 ? 1 : 103) {
		put_unaligned_le16(tag, req + 2);
		put_unaligned_le16(tag, rsp);
		expect_req(test, req, tag < 1024, "tag", tag);
		expect_rsp(test, rsp, tag < 1024, "tag", tag);
	}
}

static void io_every_status(struct kunit *test)
{
	u32 status;
	u8 buf[16];

	memcpy(buf, golden_gone, 16);
	for (status = 0; status < 256; status++) {
		buf[2] = status;
		expect_rsp(test, buf, status < 10, "status", status);
	}
}

/**
 * struct patch - a field that is not as in the golden bytes
 * @at: its offset
 * @width: its bytes, 0 for no patch
 * @to: its value
 */
struct patch {
	u8 at;
	u8 width;
	u64 to;
};

struct req_case {
	const char *desc;
	enum req_index golden;
	struct patch patches[3];
	bool ok;
};

#define F(_field, _width, _to) \
	{ offsetof(struct rblk_wire_io_req, _field), (_width), (_to) }

static const struct req_case req_cases[] = {
	{ "handle 0", R_READ, { F(handle, 4, 0) }, false },
	{ "handle 0 of a flush", R_FLUSH, { F(handle, 4, 0) }, false },
	{ "handle 1", R_READ, { F(handle, 4, 1) }, true },
	{ "handle all", R_READ, { F(handle, 4, U32_MAX) }, true },
	{ "turn 0", R_READ, { F(turn, 4, 0) }, false },
	{ "turn 0 of a flush", R_FLUSH, { F(turn, 4, 0) }, false },
	{ "turn 1", R_READ, { F(turn, 4, 1) }, true },
	{ "turn all", R_READ, { F(turn, 4, U32_MAX) }, true },
	{ "reserved", R_READ, { F(reserved, 4, U32_MAX) }, true },
	{ "reserved of a flush", R_FLUSH, { F(reserved, 4, 1) }, true },

	{ "offset 0", R_READ, { F(offset, 8, 0) }, true },
	{ "offset 1", R_READ, { F(offset, 8, 1) }, false },
	{ "offset 256", R_READ, { F(offset, 8, 256) }, false },
	{ "offset 511", R_READ, { F(offset, 8, 511) }, false },
	{ "offset 512", R_READ, { F(offset, 8, 512) }, true },
	{ "offset 513", R_WRITE, { F(offset, 8, 513) }, false },
	{ "offset 256 of a discard", R_DISCARD, { F(offset, 8, 256) }, false },
	{ "offset 256 of zeroes", R_ZEROES, { F(offset, 8, 256) }, false },
	{ "offset 256 of an erase", R_ERASE, { F(offset, 8, 256) }, false },
	{ "length 0", R_READ, { F(length, 4, 0) }, false },
	{ "length 0 of a write", R_WRITE, { F(length, 4, 0) }, false },
	{ "length 0 of a discard", R_DISCARD, { F(length, 4, 0) }, false },
	{ "length 0 of zeroes", R_ZEROES, { F(length, 4, 0) }, false },
	{ "length 0 of an erase", R_ERASE, { F(length, 4, 0) }, false },
	{ "length 1", R_READ, { F(length, 4, 1) }, false },
	{ "length 256", R_READ, { F(length, 4, 256) }, false },
	{ "length 256 of a discard", R_DISCARD, { F(length, 4, 256) }, false },
	{ "length 511", R_READ, { F(length, 4, 511) }, false },
	{ "length 512", R_READ, { F(length, 4, 512) }, true },
	{ "length 513", R_READ, { F(length, 4, 513) }, false },
	{ "length 768", R_WRITE, { F(length, 4, 768) }, false },
	{ "length 1 MiB", R_READ, { F(length, 4, 0x100000) }, true },
	{ "length 1 MiB of a write", R_WRITE, { F(length, 4, 0x100000) }, true },
	{ "length 1 MiB + 512", R_READ, { F(length, 4, 0x100200) }, false },
	{ "length 1 MiB + 512 of a write", R_WRITE, { F(length, 4, 0x100200) }, false },
	{ "length most of a read", R_READ, { F(length, 4, 0xfffffe00) }, false },
	{ "length 1 MiB + 512 of a discard", R_DISCARD, { F(length, 4, 0x100200) }, true },
	{ "length most of a discard", R_DISCARD, { F(length, 4, 0xfffffe00) }, true },
	{ "length most of zeroes", R_ZEROES, { F(length, 4, 0xfffffe00) }, true },
	{ "length most of an erase", R_ERASE, { F(length, 4, 0xfffffe00) }, true },
	{ "length all of a discard", R_DISCARD, { F(length, 4, U32_MAX) }, false },

	{ "the last sector", R_READ, { F(offset, 8, 0x3fffffffffe00), F(length, 4, 512) }, true },
	{ "a sector beyond", R_READ, { F(offset, 8, 0x3fffffffffe00), F(length, 4, 1024) }, false },
	{ "at the end", R_READ, { F(offset, 8, 0x4000000000000), F(length, 4, 512) }, false },
	{ "behind the end", R_READ, { F(offset, 8, 0x4000000000200), F(length, 4, 512) }, false },
	{ "1 MiB at the end", R_WRITE, { F(offset, 8, 0x3fffffff00000),
	  F(length, 4, 0x100000) }, true },
	{ "1 MiB beyond", R_WRITE, { F(offset, 8, 0x3fffffff00200),
	  F(length, 4, 0x100000) }, false },
	{ "discard to the end", R_DISCARD, { F(offset, 8, 0x3ffff00000200),
	  F(length, 4, 0xfffffe00) }, true },
	{ "discard beyond", R_DISCARD, { F(offset, 8, 0x3ffff00000400), F(length, 4, 0xfffffe00) },
	  false },
	{ "zeroes beyond", R_ZEROES, { F(offset, 8, 0x3ffff00000400),
	  F(length, 4, 0xfffffe00) }, false },
	{ "erase beyond", R_ERASE, { F(offset, 8, 0x3ffff00000400),
	  F(length, 4, 0xfffffe00) }, false },
	{ "end wraps to 0", R_READ, { F(offset, 8, U64_MAX - 511), F(length, 4, 512) }, false },
	{ "end wraps to 512", R_READ, { F(offset, 8, U64_MAX - 511), F(length, 4, 1024) }, false },
	{ "end of a discard wraps", R_DISCARD, { F(offset, 8, U64_MAX - 511),
	  F(length, 4, 0xfffffe00) }, false },
	{ "offset 2^63", R_READ, { F(offset, 8, 0x8000000000000000) }, false },

	{ "rkey 0", R_READ, { F(rkey, 4, 0) }, false },
	{ "rkey 0 of a write", R_WRITE, { F(rkey, 4, 0) }, false },
	{ "rkey 0, address 0", R_READ, { F(rkey, 4, 0), F(address, 8, 0) }, false },
	{ "rkey 1", R_READ, { F(rkey, 4, 1) }, true },
	{ "rkey all", R_WRITE, { F(rkey, 4, U32_MAX) }, true },
	{ "rkey of a discard", R_DISCARD, { F(rkey, 4, 1) }, false },
	{ "rkey of zeroes", R_ZEROES, { F(rkey, 4, 0x80000000) }, false },
	{ "rkey of an erase", R_ERASE, { F(rkey, 4, 1) }, false },
	{ "address 0", R_READ, { F(address, 8, 0) }, true },
	{ "address odd", R_WRITE, { F(address, 8, 1) }, true },
	{ "address of a discard", R_DISCARD, { F(address, 8, 1) }, false },
	{ "address of zeroes", R_ZEROES, { F(address, 8, 0x100000000) }, false },
	{ "address of an erase", R_ERASE, { F(address, 8, 1) }, false },
	{ "address up to the last byte but one", R_READ, { F(address, 8, U64_MAX - 512),
	  F(length, 4, 512) }, true },
	{ "address wraps to 0", R_READ, { F(address, 8, U64_MAX - 511),
	  F(length, 4, 512) }, false },
	{ "address wraps to 1", R_WRITE, { F(address, 8, U64_MAX - 510),
	  F(length, 4, 512) }, false },
	{ "address wraps with 1 MiB", R_WRITE, { F(address, 8, U64_MAX - 0xfffff),
	  F(length, 4, 0x100000) }, false },
	{ "address with 1 MiB", R_WRITE, { F(address, 8, U64_MAX - 0x100000),
	  F(length, 4, 0x100000) }, true },
	{ "address all", R_READ, { F(address, 8, U64_MAX) }, false },

	{ "flush with an offset", R_FLUSH, { F(offset, 8, 512) }, false },
	{ "flush with a high offset", R_FLUSH, { F(offset, 8, 0x100000000) }, false },
	{ "flush with a length", R_FLUSH, { F(length, 4, 512) }, false },
	{ "flush with a range", R_FLUSH, { F(offset, 8, 512), F(length, 4, 512) }, false },
	{ "flush with an rkey", R_FLUSH, { F(rkey, 4, 1) }, false },
	{ "flush with an address", R_FLUSH, { F(address, 8, 1) }, false },
	{ "flush with a high address", R_FLUSH, { F(address, 8, 0x100000000) }, false },
	{ "flush with data", R_FLUSH, { F(length, 4, 512), F(rkey, 4, 1),
	  F(address, 8, 4096) }, false },
};

KUNIT_ARRAY_PARAM_DESC(req_field, req_cases, desc);

static void io_req_fields(struct kunit *test)
{
	/* Arrange */
	const struct req_case *c = test->param_value;
	size_t i, j;
	u8 buf[40];

	memcpy(buf, req_goldens[c->golden].wire, 40);
	for (i = 0; i < ARRAY_SIZE(c->patches); i++) {
		for (j = 0; j < c->patches[i].width; j++)
			buf[c->patches[i].at + j] = c->patches[i].to >> (8 * j);
	}

	/* Act, Assert */
	expect_req(test, buf, c->ok, c->desc, 0);
}

static void io_rsp_fields(struct kunit *test)
{
	u8 buf[16];

	memcpy(buf, golden_done, 16);
	put_unaligned_le32(0, buf + 4);
	expect_rsp(test, buf, false, "turn", 0);
	put_unaligned_le32(1, buf + 4);
	expect_rsp(test, buf, true, "turn", 1);
	put_unaligned_le32(U32_MAX, buf + 4);
	expect_rsp(test, buf, true, "turn", U32_MAX);
	buf[3] = 0xff;
	memset(buf + 8, 0xff, 8);
	expect_rsp(test, buf, true, "reserved", 0);
}

/* What is another value once it is cut to the byte on the wire. */
static void io_encode_refuses(struct kunit *test)
{
	static const int values[] = { 0x100, 0x101, 0x103, 0x10003, 0x7fffff03, -1, -253 };
	struct rblk_io_req req = req_goldens[R_FLUSH].req;
	struct rblk_io_rsp rsp = rsp_goldens[0].rsp;
	struct rblk_wire_io_req wire_req;
	struct rblk_wire_io_rsp wire_rsp;
	size_t i;

	memset(&wire_req, 0xa5, sizeof(wire_req));
	memset(&wire_rsp, 0xa5, sizeof(wire_rsp));
	for (i = 0; i < ARRAY_SIZE(values); i++) {
		req.op = values[i];
		rsp.status = values[i];
		KUNIT_EXPECT_EQ(test, rblk_io_encode_req(&req, &wire_req), -EINVAL);
		KUNIT_EXPECT_EQ(test, rblk_io_encode_rsp(&rsp, &wire_rsp), -EINVAL);
	}
	KUNIT_EXPECT_TRUE(test, !memchr_inv(&wire_req, 0xa5, sizeof(wire_req)));
	KUNIT_EXPECT_TRUE(test, !memchr_inv(&wire_rsp, 0xa5, sizeof(wire_rsp)));
}

/* The limits of the format, which no version may widen silently. */
static bool req_in_range(const struct rblk_io_req *req)
{
	bool data = req->op == 1 || req->op == 2;

	if (req->op < 1 || req->op > 6 || req->tag > 1023 || !req->handle || !req->turn)
		return false;
	if (req->flags > (req->op == 5 ? 3 : req->op == 2 ? 1 : 0))
		return false;
	if (req->op == 3)
		return !req->offset && !req->length && !req->rkey && !req->address;
	if (!req->length || req->length % 512 || req->offset % 512 ||
	    req->offset > 0x4000000000000 || req->offset + req->length > 0x4000000000000)
		return false;
	if (data)
		return req->rkey && req->length <= 0x100000 &&
		       req->address + req->length > req->address;
	return !req->rkey && !req->address;
}

#define SEED		0x72626c6b
#define MUTATIONS	60000

/* The oracle says of each what must come of it, not only that what came is in range. */
static void io_mutations(struct kunit *test)
{
	u32 n, i, good = 0, bad = 0;
	struct rnd_state rnd;

	prandom_seed_state(&rnd, SEED);
	for (n = 0; n < MUTATIONS; n++) {
		/* Arrange */
		u8 *buf = kmemdup(req_goldens[n % ARRAY_SIZE(req_goldens)].wire, 40, GFP_KERNEL);
		struct rblk_wire_io_req again;
		struct rblk_io_req raw, req;
		int err;

		KUNIT_ASSERT_NOT_NULL(test, buf);
		for (i = prandom_u32_state(&rnd) % 3; i < 3; i++)
			buf[prandom_u32_state(&rnd) % 40] = prandom_u32_state(&rnd);
		raw = raw_req(buf);

		/* Act */
		err = rblk_io_decode_req(buf, 40, &req);

		/* Assert: what is good comes back, the reserved bytes aside */
		if (req_in_range(&raw)) {
			good++;
			memset(buf + 36, 0, 4);
			bad += err || !same_req(&req, &raw) || rblk_io_encode_req(&req, &again) ||
			       memcmp(buf, &again, 40);
		} else {
			bad += err != -EBADMSG || memchr_inv(&req, 0, sizeof(req)) ||
			       rblk_io_encode_req(&raw, &again) != -EINVAL;
		}
		kfree(buf);
	}
	KUNIT_EXPECT_EQ(test, bad, 0);
	KUNIT_EXPECT_GT(test, good, MUTATIONS / 20);
	KUNIT_EXPECT_GT(test, MUTATIONS - good, MUTATIONS / 20);
	kunit_info(test, "seed 0x%x, %u mutations, %u still good\n", SEED, MUTATIONS, good);
}

/* The codes are on the wire: written out, not counted. */
static const struct {
	int code;
	enum rblk_io_status status;
	blk_status_t blk;
} status_rows[] = {
	{ 0, RBLK_IO_OK, BLK_STS_OK },
	{ 1, RBLK_IO_ERROR, BLK_STS_IOERR },
	{ 2, RBLK_IO_NOT_SUPPORTED, BLK_STS_NOTSUPP },
	{ 3, RBLK_IO_NO_SPACE, BLK_STS_NOSPC },
	{ 4, RBLK_IO_MEDIUM, BLK_STS_MEDIUM },
	{ 5, RBLK_IO_TARGET, BLK_STS_TARGET },
	{ 6, RBLK_IO_PROTECTION, BLK_STS_PROTECTION },
	{ 7, RBLK_IO_TIMEOUT, BLK_STS_TIMEOUT },
	{ 8, RBLK_IO_RESERVATION, BLK_STS_RESV_CONFLICT },
	{ 9, RBLK_IO_GONE, BLK_STS_OFFLINE },
};

static void io_status_rows(struct kunit *test)
{
	size_t i;

	KUNIT_EXPECT_EQ(test, (int)RBLK_IO_STATUS_NR, 10);
	for (i = 0; i < ARRAY_SIZE(status_rows); i++) {
		KUNIT_EXPECT_EQ(test, (int)status_rows[i].status, status_rows[i].code);
		KUNIT_EXPECT_EQ(test, (int)rblk_io_status_from_blk(status_rows[i].blk),
				status_rows[i].code);
		KUNIT_EXPECT_EQ(test,
				(__force u8)rblk_io_status_to_blk(status_rows[i].status),
				(__force u8)status_rows[i].blk);
	}
}

/* Whatever the block layer says, the peer can be told; nothing but OK says it is done. */
static void io_status_all_of_blk(struct kunit *test)
{
	u32 blk;
	size_t i;

	for (blk = 0; blk < 256; blk++) {
		int want = 1;

		for (i = 0; i < ARRAY_SIZE(status_rows); i++) {
			if ((__force u8)status_rows[i].blk == blk)
				want = status_rows[i].code;
		}
		KUNIT_EXPECT_EQ_MSG(test, (int)rblk_io_status_from_blk((__force blk_status_t)blk),
				    want, "blk %u", blk);
	}
}

static void io_status_out_of_range(struct kunit *test)
{
	static const int codes[] = { 10, 11, 255, 256, 0x7fff, INT_MAX, -1, INT_MIN };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(codes); i++) {
		enum rblk_io_status status = codes[i];

		KUNIT_EXPECT_EQ(test, (__force u8)rblk_io_status_to_blk(status),
				(__force u8)BLK_STS_IOERR);
	}
}

static struct kunit_case io_wire_tests[] = {
	KUNIT_CASE_PARAM(io_req_golden, req_golden_gen_params),
	KUNIT_CASE_PARAM(io_rsp_golden, rsp_golden_gen_params),
	KUNIT_CASE(io_lengths),
	KUNIT_CASE(io_every_op),
	KUNIT_CASE_PARAM(io_every_flag, req_golden_gen_params),
	KUNIT_CASE(io_tags),
	KUNIT_CASE(io_every_status),
	KUNIT_CASE_PARAM(io_req_fields, req_field_gen_params),
	KUNIT_CASE(io_rsp_fields),
	KUNIT_CASE(io_encode_refuses),
	KUNIT_CASE(io_mutations),
	KUNIT_CASE(io_status_rows),
	KUNIT_CASE(io_status_all_of_blk),
	KUNIT_CASE(io_status_out_of_range),
	{ }
};

static struct kunit_suite io_wire_suite = {
	.name = "rblk_io_wire",
	.test_cases = io_wire_tests,
};

kunit_test_suite(io_wire_suite);
