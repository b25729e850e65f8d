// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of what the control connection says of disks: the rules of LIMITS, of its reply,
 * and of a reply to OPEN without extents. The tests of the codec as a whole have these messages
 * too.
 */
#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "wire_golden.h"

/**
 * struct patch - a field of a message that is not as in the golden one
 * @at: offset in the message
 * @width: bytes, 0 for no patch
 * @to: the value
 */
struct patch {
	u16 at;
	u8 width;
	u64 to;
};

struct disk_case {
	const char *desc;
	enum golden_index golden;
	struct patch patches[3];
	bool ok;
};

#define F(_body, _field, _width, _to) \
	{ 16 + offsetof(struct rblk_wire_##_body, _field), (_width), (_to) }
#define L(_field, _to)	F(limits_reply, _field, 4, _to)
#define O(_field, _width, _to)	F(open_reply, _field, _width, _to)

static const struct disk_case disk_cases[] = {
	{ "handle 0", G_LIMITS, { F(limits, handle, 4, 0) }, false },
	{ "handle 1", G_LIMITS, { F(limits, handle, 4, 1) }, true },
	{ "handle high", G_LIMITS, { F(limits, handle, 4, 0x80000000) }, true },
	{ "reserved", G_LIMITS, { F(limits, reserved, 4, U32_MAX) }, true },
	{ "length of the reply", G_LIMITS, { { 4, 4, 64 } }, false },
	{ "status", G_LIMITS, { { 2, 2, 1 } }, false },
	{ "no body", G_PING, { { 0, 2, 10 } }, false },
	{ "reply without its body", G_REFUSAL, { { 0, 2, 0x800a }, { 2, 2, 0 } }, false },
	{ "refused", G_REFUSAL, { { 0, 2, 0x800a } }, true },
	{ "refusal with a body", G_LIMITS_REPLY, { { 2, 2, 1 } }, false },

	{ "reply handle 0", G_LIMITS_REPLY, { L(handle, 0) }, false },
	{ "reply handle 1", G_LIMITS_REPLY, { L(handle, 1) }, true },
	{ "reply reserved", G_LIMITS_REPLY, { L(reserved, U32_MAX) }, true },
	{ "flags 0", G_LIMITS_REPLY, { L(flags, 0) }, true },
	{ "cache", G_LIMITS_REPLY, { L(flags, 1) }, true },
	{ "FUA alone", G_LIMITS_REPLY, { L(flags, 2) }, false },
	{ "cache and FUA", G_LIMITS_REPLY, { L(flags, 3) }, true },
	{ "rotational", G_LIMITS_REPLY, { L(flags, 4) }, true },
	{ "FUA and rotational", G_LIMITS_REPLY, { L(flags, 6) }, false },
	{ "flag 8", G_LIMITS_REPLY, { L(flags, 8) }, false },
	{ "flag 8 and all known", G_LIMITS_REPLY, { L(flags, 15) }, false },
	{ "flag 2^31", G_LIMITS_REPLY, { L(flags, 0x80000000) }, false },
	{ "physical 0", G_LIMITS_REPLY, { L(physical_block_size, 0) }, false },
	{ "physical 1", G_LIMITS_REPLY, { L(physical_block_size, 1) }, false },
	{ "physical 256", G_LIMITS_REPLY, { L(physical_block_size, 256) }, false },
	{ "physical 512", G_LIMITS_REPLY, { L(physical_block_size, 512) }, true },
	{ "physical 513", G_LIMITS_REPLY, { L(physical_block_size, 513) }, false },
	{ "physical 1536", G_LIMITS_REPLY, { L(physical_block_size, 1536) }, false },
	{ "physical 2^31", G_LIMITS_REPLY, { L(physical_block_size, 0x80000000) }, true },
	{ "physical all", G_LIMITS_REPLY, { L(physical_block_size, U32_MAX) }, false },
	{ "io_min 0", G_LIMITS_REPLY, { L(io_min, 0) }, true },
	{ "io_min 1", G_LIMITS_REPLY, { L(io_min, 1) }, false },
	{ "io_min 511", G_LIMITS_REPLY, { L(io_min, 511) }, false },
	{ "io_min 512", G_LIMITS_REPLY, { L(io_min, 512) }, true },
	{ "io_min 768", G_LIMITS_REPLY, { L(io_min, 768) }, false },
	{ "io_opt 0", G_LIMITS_REPLY, { L(io_opt, 0) }, true },
	{ "io_opt 256", G_LIMITS_REPLY, { L(io_opt, 256) }, false },
	{ "io_opt 513", G_LIMITS_REPLY, { L(io_opt, 513) }, false },
	{ "io_opt most", G_LIMITS_REPLY, { L(io_opt, 0xfffffe00) }, true },
	{ "max_io 0", G_LIMITS_REPLY, { L(max_io, 0) }, false },
	{ "max_io 3584", G_LIMITS_REPLY, { L(max_io, 3584) }, false },
	{ "max_io 4095", G_LIMITS_REPLY, { L(max_io, 4095) }, false },
	{ "max_io 4096", G_LIMITS_REPLY, { L(max_io, 4096) }, true },
	{ "max_io 4097", G_LIMITS_REPLY, { L(max_io, 4097) }, false },
	{ "max_io 4608", G_LIMITS_REPLY, { L(max_io, 4608) }, true },
	{ "max_io most", G_LIMITS_REPLY, { L(max_io, 0xfffffe00) }, true },
	{ "max_io all", G_LIMITS_REPLY, { L(max_io, U32_MAX) }, false },
	{ "no discard", G_LIMITS_REPLY, { L(max_discard, 0), L(discard_granularity, 0),
	  L(discard_alignment, 0) }, true },
	{ "no discard, an alignment", G_LIMITS_REPLY, { L(max_discard, 0),
	  L(discard_granularity, 0) }, true },
	{ "no discard, a granularity", G_LIMITS_REPLY, { L(max_discard, 0) }, false },
	{ "discard, no granularity", G_LIMITS_REPLY, { L(discard_granularity, 0) }, false },
	{ "max_discard 256", G_LIMITS_REPLY, { L(max_discard, 256) }, false },
	{ "max_discard 512", G_LIMITS_REPLY, { L(max_discard, 512) }, true },
	{ "max_discard most", G_LIMITS_REPLY, { L(max_discard, 0xfffffe00) }, true },
	{ "max_discard all", G_LIMITS_REPLY, { L(max_discard, U32_MAX) }, false },
	{ "granularity 1", G_LIMITS_REPLY, { L(discard_granularity, 1) }, false },
	{ "granularity 512", G_LIMITS_REPLY, { L(discard_granularity, 512) }, true },
	{ "granularity 768", G_LIMITS_REPLY, { L(discard_granularity, 768) }, false },
	{ "alignment 0", G_LIMITS_REPLY, { L(discard_alignment, 0) }, true },
	{ "alignment 1", G_LIMITS_REPLY, { L(discard_alignment, 1) }, false },
	{ "alignment 256", G_LIMITS_REPLY, { L(discard_alignment, 256) }, false },
	{ "alignment all", G_LIMITS_REPLY, { L(discard_alignment, U32_MAX) }, false },
	{ "max_write_zeroes 0", G_LIMITS_REPLY, { L(max_write_zeroes, 0) }, true },
	{ "max_write_zeroes 1", G_LIMITS_REPLY, { L(max_write_zeroes, 1) }, false },
	{ "max_write_zeroes 256", G_LIMITS_REPLY, { L(max_write_zeroes, 256) }, false },
	{ "max_write_zeroes 512", G_LIMITS_REPLY, { L(max_write_zeroes, 512) }, true },
	{ "max_secure_erase 0", G_LIMITS_REPLY, { L(max_secure_erase, 0) }, true },
	{ "max_secure_erase 1", G_LIMITS_REPLY, { L(max_secure_erase, 1) }, false },
	{ "max_secure_erase 256", G_LIMITS_REPLY, { L(max_secure_erase, 256) }, false },
	{ "max_secure_erase 512", G_LIMITS_REPLY, { L(max_secure_erase, 512) }, true },

	{ "disk made memory", G_OPEN_DISK, { O(backing, 1, 1) }, false },
	{ "backing 0", G_OPEN_DISK, { O(backing, 1, 0) }, false },
	{ "backing 3", G_OPEN_DISK, { O(backing, 1, 3) }, false },
	{ "backing 255", G_OPEN_DISK, { O(backing, 1, 255) }, false },
	{ "memory made a disk", G_OPEN_REPLY, { O(backing, 1, 2) }, false },
	{ "memory made a whole disk", G_OPEN_REPLY, { O(backing, 1, 2), O(extent_shift, 1, 0),
	  O(extents, 4, 0) }, true },
	{ "a shift", G_OPEN_DISK, { O(extent_shift, 1, 1) }, false },
	{ "a good shift", G_OPEN_DISK, { O(extent_shift, 1, 26) }, false },
	{ "an extent", G_OPEN_DISK, { O(extents, 4, 1) }, false },
	{ "extents 2^31", G_OPEN_DISK, { O(extents, 4, 0x80000000) }, false },
	{ "as many extents as memory has", G_OPEN_DISK, { O(extent_shift, 1, 21),
	  O(extents, 4, 2331) }, false },
	{ "size 0", G_OPEN_DISK, { O(size, 8, 0) }, false },
	{ "size 256", G_OPEN_DISK, { O(size, 8, 256) }, false },
	{ "size 512", G_OPEN_DISK, { O(size, 8, 512) }, true },
	{ "size 2^50", G_OPEN_DISK, { O(size, 8, 0x4000000000000) }, true },
	{ "size 2^50 + 512", G_OPEN_DISK, { O(size, 8, 0x4000000000200) }, false },
	{ "size 2^64 - 512", G_OPEN_DISK, { O(size, 8, U64_MAX - 511) }, false },
	{ "half a block", G_OPEN_DISK, { O(size, 8, 0x100200), O(block_size, 4, 1024) }, false },
	{ "block 0", G_OPEN_DISK, { O(size, 8, 0x100000), O(block_size, 4, 0) }, false },
	{ "block 256", G_OPEN_DISK, { O(size, 8, 0x100000), O(block_size, 4, 256) }, false },
	{ "block 1536", G_OPEN_DISK, { O(size, 8, 0x300000), O(block_size, 4, 1536) }, false },
	{ "block 4096", G_OPEN_DISK, { O(size, 8, 0x100000), O(block_size, 4, 4096) }, true },
	{ "block 65536", G_OPEN_DISK, { O(size, 8, 0x100000), O(block_size, 4, 65536) }, true },
	{ "block 131072", G_OPEN_DISK, { O(size, 8, 0x100000), O(block_size, 4, 131072) },
	  false },
	{ "disk handle 0", G_OPEN_DISK, { O(handle, 4, 0) }, true },
	{ "disk flags 3", G_OPEN_DISK, { O(flags, 4, 3) }, true },
	{ "disk flags 4", G_OPEN_DISK, { O(flags, 4, 4) }, false },
	{ "disk incarnation null", G_OPEN_DISK, { O(incarnation[0], 8, 0),
	  O(incarnation[8], 8, 0) }, false },
	{ "disk reserved", G_OPEN_DISK, { O(reserved0, 2, 0xffff) }, true },
};

KUNIT_ARRAY_PARAM_DESC(disk, disk_cases, desc);

static void limits_fields(struct kunit *test)
{
	/* Arrange */
	const struct disk_case *c = test->param_value;
	const struct golden_msg *g = &golden_msgs[c->golden];
	u8 *buf = kmemdup(g->wire, g->len, GFP_KERNEL);
	struct rblk_msg msg;
	size_t i, j;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	for (i = 0; i < ARRAY_SIZE(c->patches); i++) {
		for (j = 0; j < c->patches[i].width; j++)
			buf[c->patches[i].at + j] = c->patches[i].to >> (8 * j);
	}
	memset(&msg, 0xff, sizeof(msg));

	/* Act, Assert */
	KUNIT_EXPECT_EQ(test, rblk_wire_decode(buf, g->len, &msg), c->ok ? 0 : -EBADMSG);
	if (!c->ok)
		KUNIT_EXPECT_TRUE(test, !memchr_inv(&msg, 0, sizeof(msg)));
	kfree(buf);
}

/* The sizes of a disk, each with each of its bits: what is below 512 is none. */
static void limits_every_bit(struct kunit *test)
{
	static const u8 sizes[] = {
		offsetof(struct rblk_msg_limits_reply, io_min),
		offsetof(struct rblk_msg_limits_reply, io_opt),
		offsetof(struct rblk_msg_limits_reply, max_io),
		offsetof(struct rblk_msg_limits_reply, max_discard),
		offsetof(struct rblk_msg_limits_reply, discard_granularity),
		offsetof(struct rblk_msg_limits_reply, discard_alignment),
		offsetof(struct rblk_msg_limits_reply, max_write_zeroes),
		offsetof(struct rblk_msg_limits_reply, max_secure_erase),
	};
	size_t i;
	int bit;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (bit = 0; bit < 32; bit++) {
			/* Arrange */
			struct rblk_msg msg = golden_msgs[G_LIMITS_REPLY].msg;
			u8 buf[64], want = bit < 9 ? 0xa5 : 0;

			*(u32 *)((u8 *)&msg.limits_reply + sizes[i]) |= BIT(bit);
			memset(buf, 0xa5, sizeof(buf));

			/* Act */
			KUNIT_EXPECT_EQ_MSG(test, rblk_wire_encode(&msg, buf, sizeof(buf)),
					    bit < 9 ? -EINVAL : 64, "size %zu, bit %d", i, bit);

			/* Assert: all or nothing; the last bytes are reserved */
			KUNIT_EXPECT_TRUE(test, !memchr_inv(buf + 60, want, 4));
			if (bit < 9)
				KUNIT_EXPECT_TRUE(test, !memchr_inv(buf, want, sizeof(buf)));
		}
	}
}

struct refuse_case {
	const char *desc;
	struct rblk_msg msg;
};

#define A_CONTENT { { 1 } }
#define REPLY(...) { .type = 0x800a, .limits_reply = { .handle = 1, \
	.physical_block_size = 512, .max_io = 4096, __VA_ARGS__ } }
#define DISK(...) { .type = 0x8003, .open_reply = { .size = 0x100000, .block_size = 512, \
	.backing = RBLK_WIRE_DISK, .incarnation = A_CONTENT, __VA_ARGS__ } }

/* What a peer would refuse is not sent to one. */
static const struct refuse_case refuse_cases[] = {
	{ "limits of no handle", { .type = 10 } },
	{ "status in limits", { .type = 10, .status = RBLK_BUSY, .limits.handle = 1 } },
	{ "reply of no handle", { .type = 0x800a, .limits_reply = {
	  .physical_block_size = 512, .max_io = 4096 } } },
	{ "reply without physical blocks", { .type = 0x800a, .limits_reply = {
	  .handle = 1, .max_io = 4096 } } },
	{ "reply without max_io", { .type = 0x800a, .limits_reply = {
	  .handle = 1, .physical_block_size = 512 } } },
	{ "FUA alone", REPLY(.flags = 2) },
	{ "flag 8", REPLY(.flags = 8) },
	{ "discard without granularity", REPLY(.max_discard = 512) },
	{ "granularity without discard", REPLY(.discard_granularity = 512) },
	{ "disk with a shift", DISK(.extent_shift = 26) },
	{ "disk with an extent", DISK(.extents = 1) },
};

KUNIT_ARRAY_PARAM_DESC(refuse, refuse_cases, desc);

static void limits_encode_refuses(struct kunit *test)
{
	/* Arrange */
	const struct refuse_case *c = test->param_value;
	u8 buf[64];

	memset(buf, 0xa5, sizeof(buf));

	/* Act */
	KUNIT_EXPECT_EQ(test, rblk_wire_encode(&c->msg, buf, sizeof(buf)), -EINVAL);

	/* Assert */
	KUNIT_EXPECT_TRUE(test, !memchr_inv(buf, 0xa5, sizeof(buf)));
}

/* That they are refused for what they are, and not for what all of them lack. */
static void limits_encode_takes(struct kunit *test)
{
	static const struct rblk_msg good[] = { REPLY(), DISK() };
	size_t i;
	u8 buf[64];

	for (i = 0; i < ARRAY_SIZE(good); i++)
		KUNIT_EXPECT_EQ(test, rblk_wire_encode(&good[i], buf, sizeof(buf)), 64);
}

static struct kunit_case wire_limits_tests[] = {
	KUNIT_CASE_PARAM(limits_fields, disk_gen_params),
	KUNIT_CASE(limits_every_bit),
	KUNIT_CASE_PARAM(limits_encode_refuses, refuse_gen_params),
	KUNIT_CASE(limits_encode_takes),
	{ }
};

static struct kunit_suite wire_limits_suite = {
	.name = "rblk_wire_limits",
	.test_cases = wire_limits_tests,
};

kunit_test_suite(wire_limits_suite);
