// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the wire codec.
 *
 * What is decoded lies in an allocation of just its length, so that KASAN sees a
 * byte read too many.
 */
#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "wire_equal.h"
#include "wire_golden.h"

/* Offsets of the fields of each message, from its first byte. */
#define AT_TYPE			0
#define AT_STATUS		2
#define AT_LEN			4
#define BODY(_body, _field)	(16 + offsetof(struct rblk_wire_##_body, _field))

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

static void patch(u8 *buf, const struct patch *p)
{
	u8 i;

	for (i = 0; i < p->width; i++)
		buf[p->at + i] = p->to >> (8 * i);
}

static void put_len(u8 *buf, u32 len)
{
	put_unaligned_le32(len, buf + AT_LEN);
}

/* A copy of just @len bytes of @data, or zeroes where @data ends. */
static u8 *exact(struct kunit *test, const void *data, size_t data_len, size_t len)
{
	u8 *buf = kzalloc(len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	memcpy(buf, data, min(data_len, len));
	return buf;
}

/* -EBADMSG, and nothing of it in the decoded form. */
static void expect_bad(struct kunit *test, const void *buf, size_t len, const char *what)
{
	struct rblk_msg msg;

	memset(&msg, 0xff, sizeof(msg));
	KUNIT_EXPECT_EQ_MSG(test, rblk_wire_decode(buf, len, &msg), -EBADMSG, "%s, %zu bytes",
			    what, len);
	KUNIT_EXPECT_TRUE(test, !memchr_inv(&msg, 0, sizeof(msg)));
}

KUNIT_ARRAY_PARAM_DESC(golden, golden_msgs, desc);

static void wire_golden_encode(struct kunit *test)
{
	/* Arrange: to find bytes that were left as they were */
	const struct golden_msg *g = test->param_value;
	u8 *buf = kunit_kmalloc(test, g->len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	memset(buf, 0xff, g->len);

	/* Act */
	KUNIT_ASSERT_EQ(test, rblk_wire_encode(&g->msg, buf, g->len), (int)g->len);

	/* Assert */
	KUNIT_EXPECT_MEMEQ(test, buf, g->wire, g->len);
}

static void wire_golden_decode(struct kunit *test)
{
	const struct golden_msg *g = test->param_value;
	size_t off;

	/* At any alignment, ending where KASAN looks. */
	for (off = 0; off < 8; off++) {
		/* Arrange */
		u8 *buf = kunit_kzalloc(test, off + g->len, GFP_KERNEL);
		struct rblk_msg msg;

		KUNIT_ASSERT_NOT_NULL(test, buf);
		memcpy(buf + off, g->wire, g->len);
		memset(&msg, 0xff, sizeof(msg));

		/* Act */
		KUNIT_ASSERT_EQ(test, rblk_wire_decode(buf + off, g->len, &msg), 0);

		/* Assert */
		expect_equal(test, &msg, &g->msg);
	}
}

static void wire_encode_sizes(struct kunit *test)
{
	const struct golden_msg *g = test->param_value;
	size_t size, off;

	for (size = 0; size < g->len + 16; size++) {
		/* Arrange */
		u8 *buf = kmalloc(size, GFP_KERNEL);
		int ret;

		KUNIT_ASSERT_NOT_NULL(test, buf);
		memset(buf, 0xa5, size);

		/* Act */
		ret = rblk_wire_encode(&g->msg, buf, size);

		/* Assert: all or nothing */
		if (size < g->len) {
			KUNIT_EXPECT_EQ(test, ret, -EMSGSIZE);
			KUNIT_EXPECT_TRUE(test, !memchr_inv(buf, 0xa5, size));
		} else {
			KUNIT_EXPECT_EQ(test, ret, (int)g->len);
			KUNIT_EXPECT_TRUE(test, !memchr_inv(buf + g->len, 0xa5, size - g->len));
		}
		kfree(buf);
	}
	for (off = 1; off < 8; off++) {
		u8 *buf = kunit_kzalloc(test, off + g->len, GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, buf);
		KUNIT_EXPECT_EQ(test, rblk_wire_encode(&g->msg, buf + off, g->len), (int)g->len);
		KUNIT_EXPECT_MEMEQ(test, buf + off, g->wire, g->len);
	}
}

/* Cut at each length, with the true length in the header and with the old one. */
static void wire_truncated(struct kunit *test)
{
	const struct golden_msg *g = test->param_value;
	size_t len;

	for (len = 0; len < g->len; len++) {
		u8 *buf = exact(test, g->wire, g->len, len);

		expect_bad(test, buf, len, "old length");
		if (len >= 8) {
			put_len(buf, len);
			expect_bad(test, buf, len, "true length");
		}
		kfree(buf);
	}
}

static void wire_extended(struct kunit *test)
{
	const struct golden_msg *g = test->param_value;
	size_t len;

	for (len = g->len + 1; len <= 4200; len += len < g->len + 70 ? 1 : 67) {
		u8 *buf = exact(test, g->wire, g->len, len);

		expect_bad(test, buf, len, "old length");
		put_len(buf, len);
		expect_bad(test, buf, len, "true length");
		kfree(buf);
	}
}

static void wire_length_field(struct kunit *test)
{
	const struct golden_msg *g = test->param_value;
	const u32 lens[] = {
		0, 1, 15, 16, g->len - 1, g->len + 1, g->len + 4, g->len << 8, g->len << 24,
		4095, 4096, 4097, 0x7fffffff, 0x80000000, 0x80000000 | g->len, U32_MAX - 15,
		U32_MAX,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		u8 *buf = exact(test, g->wire, g->len, g->len);

		if (lens[i] == g->len)
			put_len(buf, 0);
		else
			put_len(buf, lens[i]);
		expect_bad(test, buf, g->len, "length field");
		kfree(buf);
	}
}

/* Each byte of the header with each other value. */
static void wire_header_bytes(struct kunit *test)
{
	const struct golden_msg *g = test->param_value;
	bool reply = g->wire[1] == 0x80, body = g->len > 16;
	u8 *buf = exact(test, g->wire, g->len, g->len);
	int at, x;

	for (at = 0; at < 16; at++) {
		for (x = 1; x < 256; x++) {
			/* Arrange */
			u8 value = g->wire[at] ^ x;
			struct rblk_msg msg;
			bool good;
			int err;

			buf[at] = value;

			/* Act */
			err = rblk_wire_decode(buf, g->len, &msg);

			/* Assert */
			switch (at) {
			case 0:
			case 1:	/* may be another message of that length */
				good = !err && msg.type == (buf[0] | buf[1] << 8) &&
				       (msg.type & 0x7fff) >= 1 && (msg.type & 0x7fff) <= 10;
				good = good || err == -EBADMSG;
				break;
			case 2:	/* a reason, which comes alone and in a reply */
				if (reply && !body && (value ? value <= 15 : g->msg.type != 0x8003))
					good = !err && msg.status == value;
				else
					good = err == -EBADMSG;
				break;
			case 8 ... 11:
				good = !err && msg.tag == get_unaligned_le32(buf + 8);
				break;
			case 12 ... 15:
				good = !err;
				break;
			default:
				good = err == -EBADMSG;
				break;
			}
			KUNIT_EXPECT_TRUE_MSG(test, good, "byte %d is 0x%02x: %d", at, value, err);
		}
		buf[at] = g->wire[at];
	}
	kfree(buf);
}

struct field_case {
	const char *desc;
	enum golden_index golden;
	struct patch patches[4];
	bool ok;
};

#define TYPE(_to)			{ AT_TYPE, 2, (_to) }
#define STATUS(_to)			{ AT_STATUS, 2, (_to) }
#define F(_body, _field, _width, _to)	{ BODY(_body, _field), (_width), (_to) }

/* Patches for the geometry of an open reply, whose fields depend on each other. */
#define GEO(_size, _block, _shift, _extents) {				\
	F(open_reply, size, 8, _size), F(open_reply, block_size, 4, _block), \
	F(open_reply, extent_shift, 1, _shift), F(open_reply, extents, 4, _extents) \
}

static const struct field_case field_cases[] = {
	{ "type 0", G_PING, { TYPE(0) }, false },
	{ "type 7 without its body", G_PING, { TYPE(7) }, false },
	{ "type 8 without its body", G_PING, { TYPE(8) }, false },
	{ "type 9", G_PING, { TYPE(9) }, false },
	{ "type 0x0600", G_PING, { TYPE(0x0600) }, false },
	{ "type 0xffff", G_PING, { TYPE(0xffff) }, false },
	{ "type reply to nothing", G_PING, { TYPE(0x8000) }, false },
	{ "type reply to ping", G_PING, { TYPE(0x8006) }, false },
	{ "type refusal of ping", G_PING, { TYPE(0x8006), STATUS(6) }, false },
	{ "status in a ping", G_PING, { STATUS(6) }, false },
	{ "status in a hello", G_HELLO, { STATUS(1) }, false },
	{ "status in a reply with a body", G_HELLO_REPLY, { STATUS(1) }, false },
	{ "status of a ready reply", G_READY_REPLY, { STATUS(11) }, true },
	{ "status 14", G_REFUSAL, { STATUS(14) }, true },
	{ "status 15", G_REFUSAL, { STATUS(15) }, true },
	{ "status 16", G_REFUSAL, { STATUS(16) }, false },
	{ "status 0x0600", G_REFUSAL, { STATUS(0x0600) }, false },
	{ "status 0xffff", G_REFUSAL, { STATUS(0xffff) }, false },
	{ "open reply without body", G_REFUSAL, { STATUS(0) }, false },
	{ "refused hello", G_REFUSAL, { TYPE(0x8001), STATUS(2) }, true },
	{ "refused extents", G_REFUSAL, { TYPE(0x8004) }, true },
	{ "refused close", G_REFUSAL, { TYPE(0x8005) }, true },

	{ "hello queues 0", G_HELLO, { F(hello, queues, 2, 0) }, false },
	{ "hello queues 1", G_HELLO, { F(hello, queues, 2, 1) }, true },
	{ "hello queues 128", G_HELLO, { F(hello, queues, 2, 128) }, true },
	{ "hello queues 129", G_HELLO, { F(hello, queues, 2, 129) }, false },
	{ "hello queues 256", G_HELLO, { F(hello, queues, 2, 256) }, false },
	{ "hello queues 65535", G_HELLO, { F(hello, queues, 2, 65535) }, false },
	{ "hello depth 0", G_HELLO, { F(hello, depth, 2, 0) }, false },
	{ "hello depth 1", G_HELLO, { F(hello, depth, 2, 1) }, true },
	{ "hello depth 1024", G_HELLO, { F(hello, depth, 2, 1024) }, true },
	{ "hello depth 1025", G_HELLO, { F(hello, depth, 2, 1025) }, false },
	{ "hello depth 65535", G_HELLO, { F(hello, depth, 2, 65535) }, false },
	{ "hello features none", G_HELLO, { F(hello, features, 8, 0),
	  F(hello, mandatory, 8, 0) }, true },
	{ "hello features all", G_HELLO, { F(hello, features, 8, U64_MAX),
	  F(hello, mandatory, 8, U64_MAX) }, true },
	{ "hello reserved", G_HELLO, { F(hello, reserved, 4, U32_MAX) }, true },

	{ "hello reply queues 0", G_HELLO_REPLY, { F(hello_reply, queues, 2, 0) }, false },
	{ "hello reply queues 128", G_HELLO_REPLY, { F(hello_reply, queues, 2, 128) }, true },
	{ "hello reply queues 129", G_HELLO_REPLY, { F(hello_reply, queues, 2, 129) }, false },
	{ "hello reply depth 0", G_HELLO_REPLY, { F(hello_reply, depth, 2, 0) }, false },
	{ "hello reply depth 1024", G_HELLO_REPLY, { F(hello_reply, depth, 2, 1024) }, true },
	{ "hello reply depth 1025", G_HELLO_REPLY, { F(hello_reply, depth, 2, 1025) }, false },
	{ "hello reply token 0", G_HELLO_REPLY, { F(hello_reply, token, 8, 0) }, false },
	{ "hello reply token high half", G_HELLO_REPLY, { F(hello_reply, token, 4, 0) }, true },
	{ "hello reply token all", G_HELLO_REPLY, { F(hello_reply, token, 8, U64_MAX) }, true },
	{ "hello reply server null", G_HELLO_REPLY, { F(hello_reply, server[0], 8, 0),
	  F(hello_reply, server[8], 8, 0) }, false },
	{ "hello reply server half null", G_HELLO_REPLY, { F(hello_reply, server[0], 8, 0) },
	  true },
	{ "hello reply device 0", G_HELLO_REPLY, { F(hello_reply, device, 4, 0) }, true },
	{ "hello reply device all", G_HELLO_REPLY, { F(hello_reply, device, 4, U32_MAX) }, true },

	{ "ready queues 0", G_READY, { F(ready, queues, 2, 0) }, false },
	{ "ready queues 1", G_READY, { F(ready, queues, 2, 1) }, true },
	{ "ready queues 128", G_READY, { F(ready, queues, 2, 128) }, true },
	{ "ready queues 129", G_READY, { F(ready, queues, 2, 129) }, false },
	{ "ready queues 65535", G_READY, { F(ready, queues, 2, 65535) }, false },
	{ "ready reserved", G_READY, { F(ready, reserved, 6, U64_MAX) }, true },

	{ "open flags 0", G_OPEN, { F(open, flags, 4, 0) }, true },
	{ "open shared", G_OPEN, { F(open, flags, 4, 2) }, false },
	{ "open read-only and shared", G_OPEN, { F(open, flags, 4, 3) }, false },
	{ "open steal", G_OPEN, { F(open, flags, 4, 4) }, true },
	{ "open read-only and steal", G_OPEN, { F(open, flags, 4, 5) }, false },
	{ "open shared and steal", G_OPEN, { F(open, flags, 4, 6) }, false },
	{ "open again", G_OPEN, { F(open, flags, 4, 8) }, true },
	{ "open read-only and again", G_OPEN, { F(open, flags, 4, 9) }, false },
	{ "open steal and again", G_OPEN, { F(open, flags, 4, 12) }, false },
	{ "open flag 16", G_OPEN, { F(open, flags, 4, 16) }, false },
	{ "open flag 2^31", G_OPEN, { F(open, flags, 4, 0x80000001) }, false },
	{ "open writer epoch, not again", G_OPEN, { F(open, writer_epoch, 4, 1) }, true },
	{ "open again, writer epoch all", G_OPEN_AGAIN, { F(open, writer_epoch, 4, U32_MAX) },
	  true },

	{ "open reply flags 0", G_OPEN_REPLY, { F(open_reply, flags, 4, 0) }, true },
	{ "open reply flags 4", G_OPEN_REPLY, { F(open_reply, flags, 4, 4) }, false },
	{ "open reply flags all", G_OPEN_REPLY, { F(open_reply, flags, 4, U32_MAX) }, false },
	{ "open reply handle 0", G_OPEN_REPLY, { F(open_reply, handle, 4, 0) }, true },
	{ "open reply handle all", G_OPEN_REPLY, { F(open_reply, handle, 4, U32_MAX) }, true },
	{ "open reply incarnation null", G_OPEN_REPLY, { F(open_reply, incarnation[0], 8, 0),
	  F(open_reply, incarnation[8], 8, 0) }, false },
	{ "open reply backing 0", G_OPEN_REPLY, { F(open_reply, backing, 1, 0) }, false },
	{ "open reply backing 2, extents", G_OPEN_REPLY, { F(open_reply, backing, 1, 2) }, false },
	{ "open reply backing 255", G_OPEN_REPLY, { F(open_reply, backing, 1, 255) }, false },
	{ "open reply reserved", G_OPEN_REPLY, { F(open_reply, reserved0, 2, 0xffff) }, true },
	{ "open reply writer epoch 0", G_OPEN_REPLY, { F(open_reply, writer_epoch, 4, 0) }, true },
	{ "open reply writer epoch all", G_OPEN_REPLY,
	  { F(open_reply, writer_epoch, 4, U32_MAX) }, true },
	{ "one sector", G_OPEN_REPLY, GEO(512, 512, 26, 1), true },
	{ "64 GiB", G_OPEN_REPLY, GEO(0x1000000000, 4096, 26, 1024), true },
	{ "largest", G_OPEN_REPLY, GEO(0x4000000000000, 512, 26, 0x1000000), true },
	{ "too large", G_OPEN_REPLY, GEO(0x4000000000200, 512, 30, 0x100001), false },
	{ "2^63", G_OPEN_REPLY, GEO(0x8000000000000000, 512, 30, 0), false },
	{ "2^64 - 512", G_OPEN_REPLY, GEO(0xfffffffffffffe00, 512, 30, 0), false },
	{ "2^64 - 1", G_OPEN_REPLY, GEO(U64_MAX, 512, 30, 0), false },
	{ "empty", G_OPEN_REPLY, GEO(0, 512, 26, 0), false },
	{ "empty with an extent", G_OPEN_REPLY, GEO(0, 512, 26, 1), false },
	{ "half a sector more", G_OPEN_REPLY, GEO(0x100100, 512, 26, 1), false },
	{ "half a block", G_OPEN_REPLY, GEO(0x100200, 1024, 26, 1), false },
	{ "block 0", G_OPEN_REPLY, GEO(0x100000, 0, 26, 1), false },
	{ "block 1", G_OPEN_REPLY, GEO(0x100000, 1, 26, 1), false },
	{ "block 3", G_OPEN_REPLY, GEO(0x300000, 3, 26, 1), false },
	{ "block 256", G_OPEN_REPLY, GEO(0x100000, 256, 26, 1), false },
	{ "block 1536", G_OPEN_REPLY, GEO(0x300000, 1536, 26, 1), false },
	{ "block 4096", G_OPEN_REPLY, GEO(0x100000, 4096, 26, 1), true },
	{ "block 65536", G_OPEN_REPLY, GEO(0x100000, 65536, 26, 1), true },
	{ "block 131072", G_OPEN_REPLY, GEO(0x100000, 131072, 26, 1), false },
	{ "block 2^31", G_OPEN_REPLY, GEO(0x80000000, 0x80000000, 30, 2), false },
	{ "block 2^32 - 1", G_OPEN_REPLY, GEO(0x100000, U32_MAX, 26, 1), false },
	{ "shift 0", G_OPEN_REPLY, GEO(512, 512, 0, 512), false },
	{ "shift 20", G_OPEN_REPLY, GEO(0x100000, 512, 20, 1), false },
	{ "shift 21", G_OPEN_REPLY, GEO(0x400000, 512, 21, 2), true },
	{ "shift 30", G_OPEN_REPLY, GEO(0x40000200, 512, 30, 2), true },
	{ "shift 31", G_OPEN_REPLY, GEO(0x100000, 512, 31, 1), false },
	{ "shift 64", G_OPEN_REPLY, GEO(0x100000, 512, 64, 1), false },
	{ "shift 85, which is 21 modulo 64", G_OPEN_REPLY, GEO(0x400000, 512, 85, 2), false },
	{ "shift 255", G_OPEN_REPLY, GEO(0x100000, 512, 255, 1), false },
	{ "extents 0", G_OPEN_REPLY, GEO(0x400000, 512, 21, 0), false },
	{ "extents too few", G_OPEN_REPLY, GEO(0x400200, 512, 21, 2), false },
	{ "extents too many", G_OPEN_REPLY, GEO(0x400000, 512, 21, 3), false },
	{ "extents at most", G_OPEN_REPLY, GEO(0x200000000000, 512, 21, 0x1000000), true },
	{ "extents over the limit", G_OPEN_REPLY, GEO(0x200000000200, 512, 21, 0x1000001),
	  false },
	{ "extents 2^32 - 1", G_OPEN_REPLY, GEO(0x400000, 512, 21, U32_MAX), false },

	{ "extents first 0", G_EXTENTS, { F(extents, first, 4, 0) }, true },
	{ "extents first last", G_EXTENTS, { F(extents, first, 4, 0xffffff) }, true },
	{ "extents first beyond", G_EXTENTS, { F(extents, first, 4, 0x1000000) }, false },
	{ "extents first 2^32 - 1", G_EXTENTS, { F(extents, first, 4, U32_MAX) }, false },

	{ "count 0", G_EXTENTS_REPLY, { F(extents_reply, count, 4, 0) }, false },
	{ "count 0 and no keys", G_EXTENTS_REPLY, { { AT_LEN, 4, 32 },
	  F(extents_reply, count, 4, 0) }, false },
	{ "count 2", G_EXTENTS_REPLY, { F(extents_reply, count, 4, 2) }, false },
	{ "count 4", G_EXTENTS_REPLY, { F(extents_reply, count, 4, 4) }, false },
	{ "count 1016", G_EXTENTS_REPLY, { F(extents_reply, count, 4, 1016) }, false },
	{ "count 1017", G_EXTENTS_REPLY, { F(extents_reply, count, 4, 1017) }, false },
	{ "count 2^30 + 3, times 4 is 12", G_EXTENTS_REPLY,
	  { F(extents_reply, count, 4, 0x40000003) }, false },
	{ "count 2^31 + 3", G_EXTENTS_REPLY, { F(extents_reply, count, 4, 0x80000003) }, false },
	{ "count 2^32 - 1", G_EXTENTS_REPLY, { F(extents_reply, count, 4, U32_MAX) }, false },
	{ "keys up to the last extent", G_EXTENTS_REPLY,
	  { F(extents_reply, first, 4, 0xfffffd) }, true },
	{ "keys beyond the last extent", G_EXTENTS_REPLY,
	  { F(extents_reply, first, 4, 0xfffffe) }, false },
	{ "first and count wrap", G_EXTENTS_REPLY,
	  { F(extents_reply, first, 4, 0xfffffffd) }, false },
	{ "first 2^32 - 1", G_EXTENTS_REPLY, { F(extents_reply, first, 4, U32_MAX) }, false },
	{ "extents reply reserved", G_EXTENTS_REPLY,
	  { F(extents_reply, reserved, 4, U32_MAX) }, true },

	{ "close handle 0", G_CLOSE, { F(close, handle, 4, 0) }, true },
	{ "close handle all", G_CLOSE, { F(close, handle, 4, U32_MAX) }, true },
	{ "fence path 0", G_FENCE, { F(fence, path, 2, 0) }, true },
	{ "fence path 63", G_FENCE, { F(fence, path, 2, 63) }, true },
	{ "fence path 64", G_FENCE, { F(fence, path, 2, 64) }, false },
	{ "fence path 65535", G_FENCE, { F(fence, path, 2, 65535) }, false },
	{ "fence generation 0", G_FENCE, { F(fence, generation, 4, 0) }, false },
	{ "fence generation 1", G_FENCE, { F(fence, generation, 4, 1) }, true },
	{ "fence generation all", G_FENCE, { F(fence, generation, 4, U32_MAX) }, true },
	{ "fence reserved", G_FENCE, { F(fence, reserved, 2, 0xffff) }, true },
	{ "close reserved", G_CLOSE, { F(close, reserved, 4, U32_MAX) }, true },
	{ "revoke reason 14", G_REVOKE, { F(revoke, reason, 2, 14) }, true },
	{ "revoke reason 15", G_REVOKE, { F(revoke, reason, 2, 15) }, true },
	{ "revoke reason 16", G_REVOKE, { F(revoke, reason, 2, 16) }, false },
	{ "revoke reason 65535", G_REVOKE, { F(revoke, reason, 2, 65535) }, false },
	{ "revoke reserved", G_REVOKE, { F(revoke, reserved, 2, 0xffff) }, true },
	{ "resize handle 0", G_RESIZE, { F(resize, handle, 4, 0) }, true },
	{ "resize to 0", G_RESIZE, { F(resize, size, 8, 0) }, false },
	{ "resize to 1", G_RESIZE, { F(resize, size, 8, 1) }, false },
	{ "resize to 512", G_RESIZE, { F(resize, size, 8, 512) }, true },
	{ "resize to 513", G_RESIZE, { F(resize, size, 8, 513) }, false },
	{ "resize to 2^50", G_RESIZE, { F(resize, size, 8, 0x4000000000000) }, true },
	{ "resize to 2^50 + 512", G_RESIZE, { F(resize, size, 8, 0x4000000000200) }, false },
	{ "resize to 2^64 - 512", G_RESIZE, { F(resize, size, 8, U64_MAX - 511) }, false },
	{ "resize without content", G_RESIZE, { F(resize, incarnation, 8, 0),
	  { BODY(resize, incarnation) + 8, 8, 0 } }, false },
	{ "resize half of an incarnation", G_RESIZE, { F(resize, incarnation, 8, 0) }, true },
	{ "resize reserved", G_RESIZE, { F(resize, reserved, 4, U32_MAX) }, true },
};

KUNIT_ARRAY_PARAM_DESC(field, field_cases, desc);

static void wire_fields(struct kunit *test)
{
	/* Arrange */
	const struct field_case *c = test->param_value;
	const struct golden_msg *g = &golden_msgs[c->golden];
	u8 *buf = exact(test, g->wire, g->len, g->len);
	struct rblk_msg msg;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(c->patches); i++)
		patch(buf, &c->patches[i]);

	/* Act, Assert */
	if (c->ok)
		KUNIT_EXPECT_EQ(test, rblk_wire_decode(buf, g->len, &msg), 0);
	else
		expect_bad(test, buf, g->len, c->desc);
	kfree(buf);
}

struct name_case {
	const char *desc;
	char name[64];
	bool ok;
};

static const struct name_case name_cases[] = {
	{ "short", "a", true },
	{ "63 characters", { [0 ... 62] = 'a' }, true },
	{ "no NUL", { [0 ... 63] = 'a' }, false },
	{ "empty", "", false },
	{ "dot dot", "..", false },
	{ "slash", "a/b", false },
	{ "space", "a b", false },
	{ "only 0xff", { [0 ... 63] = 0xff }, false },
	{ "a second name behind the NUL", "a\0b", false },
	{ "a byte at the end", { 'a', [63] = 'b' }, false },
	{ "a control byte at the end", { 'a', [63] = 1 }, false },
	{ "a NUL first", "\0a", false },
};

KUNIT_ARRAY_PARAM_DESC(name, name_cases, desc);

static void wire_names(struct kunit *test)
{
	/* Arrange */
	const struct name_case *c = test->param_value;
	u8 *hello = exact(test, golden_hello, sizeof(golden_hello), sizeof(golden_hello));
	u8 *open = exact(test, golden_open, sizeof(golden_open), sizeof(golden_open));
	struct rblk_msg msg = golden_msgs[G_OPEN].msg;
	u8 out[128];

	memcpy(hello + BODY(hello, client), c->name, 64);
	memcpy(open + BODY(open, export), c->name, 64);
	memcpy(msg.open.export, c->name, 64);

	/* Act, Assert: what is refused from a peer is not sent to one */
	KUNIT_EXPECT_EQ(test, rblk_wire_encode(&msg, out, sizeof(out)), c->ok ? 88 : -EINVAL);
	KUNIT_EXPECT_EQ(test, rblk_wire_decode(hello, sizeof(golden_hello), &msg),
			c->ok ? 0 : -EBADMSG);
	KUNIT_EXPECT_EQ(test, rblk_wire_decode(open, sizeof(golden_open), &msg),
			c->ok ? 0 : -EBADMSG);
	kfree(hello);
	kfree(open);
}

struct refuse_case {
	const char *desc;
	struct rblk_msg msg;
};

#define A_SERVER { { 1 } }

static const struct refuse_case refuse_cases[] = {
	{ "type 0", { .type = 0 } },
	{ "type 11", { .type = 11 } },
	{ "resize to 0", { .type = 9, .resize.incarnation = A_SERVER } },
	{ "resize to 513", { .type = 9, .resize = { .size = 513, .incarnation = A_SERVER } } },
	{ "resize beyond 2^50", { .type = 9,
	  .resize = { .size = 0x4000000000200, .incarnation = A_SERVER } } },
	{ "resize without content", { .type = 9, .resize.size = 512 } },
	{ "fence path", { .type = 8, .fence = { .path = 64, .generation = 1 } } },
	{ "fence generation", { .type = 8, .fence = { .path = 1 } } },
	{ "revoke reason", { .type = 7, .revoke.reason = RBLK_STATUS_NR } },
	{ "reply to revoke", { .type = 0x8007 } },
	{ "reply to ping", { .type = 0x8006 } },
	{ "refusal of ping", { .type = 0x8006, .status = RBLK_BUSY } },
	{ "status in a ping", { .type = 6, .status = RBLK_BUSY } },
	{ "unknown status", { .type = 0x8003, .status = RBLK_STATUS_NR } },
	{ "negative status", { .type = 0x8003, .status = -1 } },
	{ "hello queues", { .type = 1, .hello = { .client = "a", .queues = 0, .depth = 1 } } },
	{ "hello depth", { .type = 1, .hello = { .client = "a", .queues = 1, .depth = 1025 } } },
	{ "hello reply token", { .type = 0x8001, .hello_reply = {
	  .server = A_SERVER, .token = 0, .queues = 1, .depth = 1 } } },
	{ "hello reply server", { .type = 0x8001, .hello_reply = {
	  .token = 1, .queues = 1, .depth = 1 } } },
	{ "ready queues", { .type = 2, .ready.queues = 129 } },
	{ "open shared", { .type = 3, .open = { .export = "a", .flags = 2 } } },
	{ "open read-only and steal", { .type = 3, .open = { .export = "a", .flags = 5 } } },
	{ "open reply steal", { .type = 0x8003, .open_reply = { .size = 0x200000, .flags = 4,
	  .incarnation = A_SERVER, .block_size = 512, .extent_shift = 21,
	  .backing = RBLK_WIRE_MEMORY, .extents = 1 } } },
	{ "open reply extents", { .type = 0x8003, .open_reply = { .size = 0x400000,
	  .incarnation = A_SERVER, .block_size = 512, .extent_shift = 21,
	  .backing = RBLK_WIRE_MEMORY, .extents = 3 } } },
	{ "extents first", { .type = 4, .extents.first = 0x1000000 } },
	{ "no keys", { .type = 0x8004, .extents_reply = { .rkeys = golden_rkeys } } },
	{ "too many keys", { .type = 0x8004, .extents_reply = { .count = 1017,
	  .rkeys = golden_rkeys } } },
	{ "count wraps", { .type = 0x8004, .extents_reply = { .count = 0x40000003,
	  .rkeys = golden_rkeys } } },
};

KUNIT_ARRAY_PARAM_DESC(refuse, refuse_cases, desc);

static void wire_encode_refuses(struct kunit *test)
{
	/* Arrange */
	const struct refuse_case *c = test->param_value;
	u8 *buf = kunit_kmalloc(test, RBLK_MSG_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	memset(buf, 0xa5, RBLK_MSG_SIZE);

	/* Act */
	KUNIT_EXPECT_EQ(test, rblk_wire_encode(&c->msg, buf, RBLK_MSG_SIZE), -EINVAL);

	/* Assert */
	KUNIT_EXPECT_TRUE(test, !memchr_inv(buf, 0xa5, RBLK_MSG_SIZE));
}

static void wire_most_keys(struct kunit *test)
{
	/* Arrange */
	u32 *rkeys = kunit_kcalloc(test, 1016, sizeof(u32), GFP_KERNEL);
	u8 *buf = kunit_kzalloc(test, RBLK_MSG_SIZE, GFP_KERNEL);
	struct rblk_msg out, msg = {
		.type = 0x8004,
		.extents_reply = { .first = 7, .count = 1016, .rkeys = rkeys },
	};
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, rkeys);
	KUNIT_ASSERT_NOT_NULL(test, buf);
	for (i = 0; i < 1016; i++)
		rkeys[i] = 0x01010101 * (i & 0xff) + i;

	/* Act */
	KUNIT_ASSERT_EQ(test, rblk_wire_encode(&msg, buf, 4096), 4096);
	KUNIT_ASSERT_EQ(test, rblk_wire_decode(buf, 4096, &out), 0);

	/* Assert */
	KUNIT_EXPECT_EQ(test, RBLK_RKEYS_MAX, 1016);
	KUNIT_EXPECT_NULL(test, out.extents_reply.rkeys);
	KUNIT_EXPECT_PTR_EQ(test, (const u8 *)out.extents_reply.wire_rkeys, buf + 32);
	expect_equal(test, &out, &msg);
}

static void wire_features(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rblk_wire_unknown_features(0), 0);
	KUNIT_EXPECT_EQ(test, rblk_wire_unknown_features(1), 1);
	KUNIT_EXPECT_EQ(test, rblk_wire_unknown_features(U64_MAX), U64_MAX);
}

/* The limits of the format, which no version may widen silently. */
static bool name_in_range(const char name[64])
{
	size_t len = strnlen(name, 64);

	return len >= 1 && len <= 63 && !strpbrk(name, "/ %\n\t\\") && strcmp(name, "..");
}

static bool msg_in_range(const struct rblk_msg *m)
{
	if (m->status)
		return m->status <= 15 && m->type & 0x8000;
	switch (m->type) {
	case 0x0001:
		return name_in_range(m->hello.client) && m->hello.queues >= 1 &&
		       m->hello.queues <= 128 && m->hello.depth >= 1 && m->hello.depth <= 1024;
	case 0x8001:
		return m->hello_reply.queues >= 1 && m->hello_reply.queues <= 128 &&
		       m->hello_reply.depth >= 1 && m->hello_reply.depth <= 1024 &&
		       m->hello_reply.token;
	case 0x0002:
		return m->ready.queues >= 1 && m->ready.queues <= 128;
	case 0x0003:
		return name_in_range(m->open.export) &&
		       (m->open.flags <= 1 || m->open.flags == 4 || m->open.flags == 8);
	case 0x8003:
		if (m->open_reply.flags > 3 || !m->open_reply.size)
			return false;
		if (m->open_reply.backing == 2)
			return m->open_reply.size <= 0x4000000000000 &&
			       m->open_reply.size % m->open_reply.block_size == 0 &&
			       !m->open_reply.extent_shift && !m->open_reply.extents;
		return m->open_reply.size <= 0x4000000000000 &&
		       m->open_reply.block_size >= 512 && m->open_reply.block_size <= 65536 &&
		       m->open_reply.size % m->open_reply.block_size == 0 &&
		       m->open_reply.extent_shift >= 21 && m->open_reply.extent_shift <= 30 &&
		       m->open_reply.backing == 1 && m->open_reply.extents >= 1 &&
		       m->open_reply.extents <= 0x1000000 &&
		       (u64)m->open_reply.extents << m->open_reply.extent_shift >=
			       m->open_reply.size;
	case 0x0004:
		return m->extents.first < 0x1000000;
	case 0x8004:
		return m->extents_reply.count >= 1 && m->extents_reply.count <= 1016 &&
		       (u64)m->extents_reply.first + m->extents_reply.count <= 0x1000000;
	case 0x0008:
		return m->fence.path < 64 && m->fence.generation;
	case 0x0007:
		return m->revoke.reason <= 15;
	case 0x0009:
		return m->resize.size && m->resize.size <= 0x4000000000000 &&
		       m->resize.size % 512 == 0;
	case 0x000a:
		return m->limits.handle;
	case 0x800a:
		return m->limits_reply.handle && m->limits_reply.flags <= 7 &&
		       (m->limits_reply.flags & 3) != 2 && m->limits_reply.max_io >= 4096 &&
		       m->limits_reply.physical_block_size >= 512 &&
		       !m->limits_reply.max_discard == !m->limits_reply.discard_granularity;
	case 0x8009:
	case 0x8002:
	case 0x0005:
	case 0x8005:
	case 0x0006:
	case 0x8008:
		return true;
	}
	return false;
}

#define SEED		0x72626c6b
#define MUTATIONS	40000

/* Mostly single bytes, the values that break sums more often than others. */
static void mutate(struct rnd_state *rnd, u8 *buf, size_t len)
{
	static const u8 edges[] = { 0, 1, 0x7f, 0x80, 0xfe, 0xff };
	u32 n = 1 + prandom_u32_state(rnd) % 4;

	while (n--) {
		u32 at = prandom_u32_state(rnd) % len, how = prandom_u32_state(rnd);

		if (how & 1)
			buf[at] = how >> 8;
		else if (how & 2)
			buf[at] = edges[(how >> 8) % ARRAY_SIZE(edges)];
		else if (how & 4)
			buf[at] ^= 1 << ((how >> 8) & 7);
		else
			memset(buf + at, edges[(how >> 8) % ARRAY_SIZE(edges)],
			       min(len - at, (size_t)(1 << ((how >> 16) & 3))));
	}
}

/*
 * An error, or a message within its limits that we could have sent ourselves.
 */
static void wire_mutations(struct kunit *test)
{
	u32 *rkeys = kunit_kcalloc(test, 1016, sizeof(u32), GFP_KERNEL);
	u8 *out = kunit_kzalloc(test, RBLK_MSG_SIZE, GFP_KERNEL);
	u32 n, i, good = 0, bad = 0;
	struct rnd_state rnd;

	KUNIT_ASSERT_NOT_NULL(test, rkeys);
	KUNIT_ASSERT_NOT_NULL(test, out);
	prandom_seed_state(&rnd, SEED);
	for (n = 0; n < MUTATIONS; n++) {
		/* Arrange */
		const struct golden_msg *g = &golden_msgs[n % ARRAY_SIZE(golden_msgs)];
		size_t len = g->len;
		struct rblk_msg msg;
		int err;
		u8 *buf;

		if (prandom_u32_state(&rnd) % 8 == 0)
			len = 1 + prandom_u32_state(&rnd) % (g->len + 32);
		buf = exact(test, g->wire, g->len, len);
		mutate(&rnd, buf, len);
		/* Or else nearly all would fail at the length. */
		if (len >= 8 && prandom_u32_state(&rnd) % 8)
			put_len(buf, len);

		/* Act */
		err = rblk_wire_decode(buf, len, &msg);

		/* Assert */
		if (err) {
			bad += err != -EBADMSG || memchr_inv(&msg, 0, sizeof(msg));
		} else {
			good++;
			bad += !msg_in_range(&msg);
			if (msg.type == 0x8004 && !msg.status) {
				for (i = 0; i < msg.extents_reply.count; i++)
					rkeys[i] = le32_to_cpu(msg.extents_reply.wire_rkeys[i]);
				msg.extents_reply.rkeys = rkeys;
			}
			bad += rblk_wire_encode(&msg, out, RBLK_MSG_SIZE) != (int)len;
		}
		kfree(buf);
	}
	KUNIT_EXPECT_EQ(test, bad, 0);
	KUNIT_EXPECT_GT(test, good, MUTATIONS / 20);
	kunit_info(test, "seed 0x%x, %u mutations, %u still good\n", SEED, MUTATIONS, good);
}

static struct kunit_case wire_tests[] = {
	KUNIT_CASE_PARAM(wire_golden_encode, golden_gen_params),
	KUNIT_CASE_PARAM(wire_golden_decode, golden_gen_params),
	KUNIT_CASE_PARAM(wire_encode_sizes, golden_gen_params),
	KUNIT_CASE_PARAM(wire_truncated, golden_gen_params),
	KUNIT_CASE_PARAM(wire_extended, golden_gen_params),
	KUNIT_CASE_PARAM(wire_length_field, golden_gen_params),
	KUNIT_CASE_PARAM(wire_header_bytes, golden_gen_params),
	KUNIT_CASE_PARAM(wire_fields, field_gen_params),
	KUNIT_CASE_PARAM(wire_names, name_gen_params),
	KUNIT_CASE_PARAM(wire_encode_refuses, refuse_gen_params),
	KUNIT_CASE(wire_most_keys),
	KUNIT_CASE(wire_features),
	KUNIT_CASE(wire_mutations),
	{ }
};

static struct kunit_suite wire_suite = {
	.name = "rblk_wire",
	.test_cases = wire_tests,
};

kunit_test_suite(wire_suite);
