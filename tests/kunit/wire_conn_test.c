// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the private data that goes with the set-up of a connection. As
 * in the tests of the messages, KASAN sees a byte read too many.
 */
#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include <rblk/wire.h>

/* Made by another implementation, as the messages in wire_golden.h. */

static const u8 req_control[48] = {
	0x00, 0x00, 0x01, 0x00, 0x72, 0x62, 0x6c, 0x6b,
	0x01, 0x00, 0x00, 0x00, 0x23, 0x01, 0x2a, 0x00,
	0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7,
	0xc8, 0xc9, 0xca, 0xcb, 0xcc, 0xcd, 0xce, 0xcf,
	0xf4, 0xf3, 0xf2, 0xf1, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};

static const u8 req_io[48] = {
	0x00, 0x00, 0x01, 0x00, 0x72, 0x62, 0x6c, 0x6b,
	0x02, 0x00, 0x7e, 0x00, 0x45, 0x03, 0x3f, 0x00,
	0xd0, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7,
	0xd8, 0xd9, 0xda, 0xdb, 0xdc, 0xdd, 0xde, 0xdf,
	0x24, 0x23, 0x22, 0x21, 0x00, 0x00, 0x00, 0x00,
	0x48, 0x47, 0x46, 0x45, 0x44, 0x43, 0x42, 0x41,
};

static const u8 req_disk[48] = {
	0x00, 0x00, 0x01, 0x00, 0x72, 0x62, 0x6c, 0x6b,
	0x03, 0x00, 0x5d, 0x00, 0xab, 0x02, 0x11, 0x00,
	0xe0, 0xe1, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7,
	0xe8, 0xe9, 0xea, 0xeb, 0xec, 0xed, 0xee, 0xef,
	0x34, 0x33, 0x32, 0x31, 0x00, 0x00, 0x00, 0x00,
	0x58, 0x57, 0x56, 0x55, 0x54, 0x53, 0x52, 0x51,
};

static const u8 accept[16] = {
	0x72, 0x62, 0x6c, 0x6b, 0x01, 0x00, 0x00, 0x00,
	0x56, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};

static const u8 reject[16] = {
	0x72, 0x62, 0x6c, 0x6b, 0x01, 0x00, 0x04, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};

#define CONTROL_SESSION { { 0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, \
			    0xc8, 0xc9, 0xca, 0xcb, 0xcc, 0xcd, 0xce, 0xcf } }
#define IO_SESSION { { 0xd0, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, \
			    0xd8, 0xd9, 0xda, 0xdb, 0xdc, 0xdd, 0xde, 0xdf } }
#define DISK_SESSION { { 0xe0, 0xe1, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, \
			    0xe8, 0xe9, 0xea, 0xeb, 0xec, 0xed, 0xee, 0xef } }

struct req_golden {
	const char *desc;
	const u8 *wire;
	struct rblk_req req;
};

static const struct req_golden req_goldens[] = {
	{ "control", req_control, {
		.version = 1,
		.kind = RBLK_CONN_CONTROL,
		.depth = 0x123,
		.path = 0x2a,
		.session = CONTROL_SESSION,
		.generation = 0xf1f2f3f4,
	} },
	{ "io", req_io, {
		.version = 1,
		.kind = RBLK_CONN_IO,
		.queue = 0x7e,
		.depth = 0x345,
		.path = 0x3f,
		.session = IO_SESSION,
		.generation = 0x21222324,
		.token = 0x4142434445464748,
	} },
	{ "disk", req_disk, {
		.version = 1,
		.kind = RBLK_CONN_DISK,
		.queue = 0x5d,
		.depth = 0x2ab,
		.path = 0x11,
		.session = DISK_SESSION,
		.generation = 0x31323334,
		.token = 0x5152535455565758,
	} },
};

KUNIT_ARRAY_PARAM_DESC(req_golden, req_goldens, desc);

struct rep_golden {
	const char *desc;
	const u8 *wire;
	struct rblk_rep rep;
};

static const struct rep_golden rep_goldens[] = {
	{ "accept", accept, { .version = 1, .status = RBLK_OK, .depth = 0x356 } },
	{ "reject", reject, { .version = 1, .status = RBLK_DENIED } },
};

KUNIT_ARRAY_PARAM_DESC(rep_golden, rep_goldens, desc);

static void expect_req(struct kunit *test, const struct rblk_req *a, const struct rblk_req *b)
{
	KUNIT_EXPECT_EQ(test, a->version, b->version);
	KUNIT_EXPECT_EQ(test, (int)a->kind, (int)b->kind);
	KUNIT_EXPECT_EQ(test, a->queue, b->queue);
	KUNIT_EXPECT_EQ(test, a->depth, b->depth);
	KUNIT_EXPECT_EQ(test, a->path, b->path);
	KUNIT_EXPECT_MEMEQ(test, &a->session, &b->session, 16);
	KUNIT_EXPECT_EQ(test, a->generation, b->generation);
	KUNIT_EXPECT_EQ(test, a->token, b->token);
}

static void conn_req_golden(struct kunit *test)
{
	/* Arrange */
	const struct req_golden *g = test->param_value;
	struct rblk_req req = g->req;
	struct rblk_wire_req wire;
	size_t off;

	memset(&wire, 0xff, sizeof(wire));
	req.version = 77;	/* of no meaning to the encoder */

	/* Act */
	rblk_wire_encode_req(&req, &wire);

	/* Assert */
	KUNIT_EXPECT_MEMEQ(test, (const u8 *)&wire, g->wire, 48);

	/* Act, Assert: back, at each alignment */
	for (off = 0; off < 8; off++) {
		u8 *buf = kunit_kzalloc(test, off + 48, GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, buf);
		memcpy(buf + off, g->wire, 48);
		memset(&req, 0xff, sizeof(req));
		KUNIT_ASSERT_EQ(test, rblk_wire_decode_req(buf + off, 48, &req), 0);
		expect_req(test, &req, &g->req);
	}
}

static void conn_rep_golden(struct kunit *test)
{
	/* Arrange */
	const struct rep_golden *g = test->param_value;
	struct rblk_rep rep = g->rep;
	struct rblk_wire_rep wire;
	size_t off;

	memset(&wire, 0xff, sizeof(wire));
	rep.version = 77;

	/* Act */
	rblk_wire_encode_rep(&rep, &wire);

	/* Assert */
	KUNIT_EXPECT_MEMEQ(test, (const u8 *)&wire, g->wire, 16);

	/* Act, Assert: back, at each alignment */
	for (off = 0; off < 8; off++) {
		u8 *buf = kunit_kzalloc(test, off + 16, GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, buf);
		memcpy(buf + off, g->wire, 16);
		memset(&rep, 0xff, sizeof(rep));
		KUNIT_ASSERT_EQ(test, rblk_wire_decode_rep(buf + off, 16, &rep), 0);
		KUNIT_EXPECT_EQ(test, rep.version, 1);
		KUNIT_EXPECT_EQ(test, (int)rep.status, (int)g->rep.status);
		KUNIT_EXPECT_EQ(test, rep.depth, g->rep.depth);
	}
}

/* Any error leaves nothing but, of another version, its number. */
static void expect_bad_req(struct kunit *test, const void *buf, size_t len, int want, u16 version,
			   const char *what)
{
	struct rblk_req req;

	memset(&req, 0xff, sizeof(req));
	KUNIT_EXPECT_EQ_MSG(test, rblk_wire_decode_req(buf, len, &req), want, "%s, %zu bytes",
			    what, len);
	KUNIT_EXPECT_EQ(test, req.version, version);
	req.version = 0;
	KUNIT_EXPECT_TRUE(test, !memchr_inv(&req, 0, sizeof(req)));
}

static void expect_bad_rep(struct kunit *test, const void *buf, size_t len, int want, u16 version,
			   const char *what)
{
	struct rblk_rep rep;

	memset(&rep, 0xff, sizeof(rep));
	KUNIT_EXPECT_EQ_MSG(test, rblk_wire_decode_rep(buf, len, &rep), want, "%s, %zu bytes",
			    what, len);
	KUNIT_EXPECT_EQ(test, rep.version, version);
	rep.version = 0;
	KUNIT_EXPECT_TRUE(test, !memchr_inv(&rep, 0, sizeof(rep)));
}

/* Cut at each length; then padded as InfiniBand does, and with rubbish. */
static void conn_req_lengths(struct kunit *test)
{
	const struct req_golden *g = test->param_value;
	struct rblk_req req;
	size_t len;

	for (len = 0; len <= 256; len++) {
		u8 *buf = kmalloc(len, GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, buf);
		memset(buf, len & 1 ? 0xff : 0, len);
		memcpy(buf, g->wire, min_t(size_t, len, 48));
		if (len < 48) {
			expect_bad_req(test, buf, len, -EBADMSG, 0, "cut");
		} else {
			KUNIT_EXPECT_EQ(test, rblk_wire_decode_req(buf, len, &req), 0);
			expect_req(test, &req, &g->req);
		}
		kfree(buf);
	}
	expect_bad_req(test, NULL, 0, -EBADMSG, 0, "no data");
}

static void conn_rep_lengths(struct kunit *test)
{
	const struct rep_golden *g = test->param_value;
	struct rblk_rep rep;
	size_t len;

	for (len = 0; len <= 256; len++) {
		u8 *buf = kmalloc(len, GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, buf);
		memset(buf, len & 1 ? 0xff : 0, len);
		memcpy(buf, g->wire, min_t(size_t, len, 16));
		if (len < 16) {
			expect_bad_rep(test, buf, len, -EBADMSG, 0, "cut");
		} else {
			KUNIT_EXPECT_EQ(test, rblk_wire_decode_rep(buf, len, &rep), 0);
			KUNIT_EXPECT_EQ(test, rep.depth, g->rep.depth);
		}
		kfree(buf);
	}
	expect_bad_rep(test, NULL, 0, -EBADMSG, 0, "no data");
}

/* Each bit of the magic, and the magic of a machine of the other byte order. */
static void conn_magic(struct kunit *test)
{
	u8 req[48], rep[16];
	int bit;

	for (bit = 0; bit < 32; bit++) {
		/* Arrange */
		memcpy(req, req_io, sizeof(req));
		memcpy(rep, accept, sizeof(rep));
		req[4 + bit / 8] ^= 1 << (bit % 8);
		rep[bit / 8] ^= 1 << (bit % 8);

		/* Act, Assert */
		expect_bad_req(test, req, 48, -EBADMSG, 0, "magic");
		expect_bad_rep(test, rep, 16, -EBADMSG, 0, "magic");
	}
	memcpy(req, req_io, sizeof(req));
	memcpy(rep, accept, sizeof(rep));
	put_unaligned_be32(RBLK_WIRE_MAGIC, req + 4);
	put_unaligned_be32(RBLK_WIRE_MAGIC, rep);
	expect_bad_req(test, req, 48, -EBADMSG, 0, "swapped magic");
	expect_bad_rep(test, rep, 16, -EBADMSG, 0, "swapped magic");
	put_unaligned_le32(0, req + 4);
	put_unaligned_le32(0, rep);
	expect_bad_req(test, req, 48, -EBADMSG, 0, "no magic");
	expect_bad_rep(test, rep, 16, -EBADMSG, 0, "no magic");
}

/* The magic counts before the version: without it there is no version. */
static void conn_versions(struct kunit *test)
{
	static const u16 versions[] = { 0, 2, 3, 0x0100, 0x0101, 0x7fff, 0x8001, 0xffff };
	u8 req[48], rep[16];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(versions); i++) {
		/* Arrange: nonsense in all fields that another version may use */
		memset(req, 0xff, sizeof(req));
		memset(rep, 0xff, sizeof(rep));
		memcpy(req, req_io, 8);
		memcpy(rep, accept, 4);
		put_unaligned_le16(versions[i], req + 2);
		put_unaligned_le16(versions[i], rep + 4);

		/* Act, Assert */
		expect_bad_req(test, req, 48, -EPROTONOSUPPORT, versions[i], "version");
		expect_bad_rep(test, rep, 16, -EPROTONOSUPPORT, versions[i], "version");

		/* Arrange */
		req[4] ^= 1;
		rep[0] ^= 1;

		/* Act, Assert */
		expect_bad_req(test, req, 48, -EBADMSG, 0, "version without magic");
		expect_bad_rep(test, rep, 16, -EBADMSG, 0, "version without magic");
	}
}

/**
 * struct patch - a field that is not as in the golden bytes
 * @at: its offset
 * @width: its bytes
 * @to: its value
 */
struct patch {
	u8 at;
	u8 width;
	u64 to;
};

struct field_case {
	const char *desc;
	const u8 *wire;
	struct patch patches[2];
	bool ok;
};

#define REQ(_field, _width, _to) { offsetof(struct rblk_wire_req, _field), (_width), (_to) }
#define REP(_field, _width, _to) { offsetof(struct rblk_wire_rep, _field), (_width), (_to) }

static const struct field_case req_cases[] = {
	{ "bytes of rdma_cm", req_io, { REQ(cma, 2, 0xffff) }, true },
	{ "reserved0", req_io, { REQ(reserved0, 1, 0xff) }, true },
	{ "reserved1", req_io, { REQ(reserved1, 4, U32_MAX) }, true },
	{ "kind 0", req_io, { REQ(kind, 1, 0) }, false },
	{ "kind 3", req_io, { REQ(kind, 1, 3) }, true },
	{ "kind 4", req_io, { REQ(kind, 1, 4) }, false },
	{ "kind 255", req_io, { REQ(kind, 1, 255) }, false },
	{ "control with a queue and a token", req_io, { REQ(kind, 1, 1) }, false },
	{ "control with a queue", req_control, { REQ(queue, 2, 1) }, false },
	{ "control with a queue 256", req_control, { REQ(queue, 2, 256) }, false },
	{ "control with a token", req_control, { REQ(token, 8, 1) }, false },
	{ "control with a high token", req_control, { REQ(token, 8, 0x100000000) }, false },
	{ "io without a token", req_io, { REQ(token, 8, 0) }, false },
	{ "io with half a token", req_io, { REQ(token, 4, 0) }, true },
	{ "io queue 0", req_io, { REQ(queue, 2, 0) }, true },
	{ "io queue 127", req_io, { REQ(queue, 2, 127) }, true },
	{ "io queue 128", req_io, { REQ(queue, 2, 128) }, false },
	{ "io queue 65535", req_io, { REQ(queue, 2, 65535) }, false },
	{ "io depth 0", req_io, { REQ(depth, 2, 0) }, false },
	{ "io depth 1", req_io, { REQ(depth, 2, 1) }, true },
	{ "io depth 1024", req_io, { REQ(depth, 2, 1024) }, true },
	{ "io depth 1025", req_io, { REQ(depth, 2, 1025) }, false },
	{ "io depth 65535", req_io, { REQ(depth, 2, 65535) }, false },
	{ "control depth 0", req_control, { REQ(depth, 2, 0) }, false },
	{ "control depth 1024", req_control, { REQ(depth, 2, 1024) }, true },
	{ "control depth 1025", req_control, { REQ(depth, 2, 1025) }, false },
	{ "disk without a token", req_disk, { REQ(token, 8, 0) }, false },
	{ "disk queue 0", req_disk, { REQ(queue, 2, 0) }, true },
	{ "disk queue 127", req_disk, { REQ(queue, 2, 127) }, true },
	{ "disk queue 128", req_disk, { REQ(queue, 2, 128) }, false },
	{ "disk queue 65535", req_disk, { REQ(queue, 2, 65535) }, false },
	{ "disk depth 0", req_disk, { REQ(depth, 2, 0) }, false },
	{ "disk depth 1", req_disk, { REQ(depth, 2, 1) }, true },
	{ "disk depth 1024", req_disk, { REQ(depth, 2, 1024) }, true },
	{ "disk depth 1025", req_disk, { REQ(depth, 2, 1025) }, false },
	{ "disk path 64", req_disk, { REQ(path, 2, 64) }, false },
	{ "disk session null", req_disk, { REQ(session[0], 8, 0), REQ(session[8], 8, 0) }, false },
	{ "path 0", req_io, { REQ(path, 2, 0) }, true },
	{ "path 63", req_io, { REQ(path, 2, 63) }, true },
	{ "path 64", req_io, { REQ(path, 2, 64) }, false },
	{ "path 65535", req_control, { REQ(path, 2, 65535) }, false },
	{ "generation 0", req_io, { REQ(generation, 4, 0) }, true },
	{ "generation all", req_io, { REQ(generation, 4, U32_MAX) }, true },
	{ "session null", req_io, { REQ(session[0], 8, 0), REQ(session[8], 8, 0) }, false },
	{ "session null, control", req_control,
	  { REQ(session[0], 8, 0), REQ(session[8], 8, 0) }, false },
	{ "session first half null", req_io, { REQ(session[0], 8, 0) }, true },
	{ "session second half null", req_io, { REQ(session[8], 8, 0) }, true },
};

KUNIT_ARRAY_PARAM_DESC(req_field, req_cases, desc);

static const struct field_case rep_cases[] = {
	{ "reserved", accept, { REP(reserved, 6, U64_MAX) }, true },
	{ "accept depth 0", accept, { REP(depth, 2, 0) }, false },
	{ "accept depth 1", accept, { REP(depth, 2, 1) }, true },
	{ "accept depth 1024", accept, { REP(depth, 2, 1024) }, true },
	{ "accept depth 1025", accept, { REP(depth, 2, 1025) }, false },
	{ "accept depth 65535", accept, { REP(depth, 2, 65535) }, false },
	{ "reject with a depth", reject, { REP(depth, 2, 1) }, false },
	{ "reject made an accept", reject, { REP(status, 2, 0) }, false },
	{ "reject malformed", reject, { REP(status, 2, 1) }, true },
	{ "reject internal", reject, { REP(status, 2, 14) }, true },
	{ "reject written", reject, { REP(status, 2, 15) }, true },
	{ "status 16", reject, { REP(status, 2, 16) }, false },
	{ "status 0x0100", reject, { REP(status, 2, 0x0100) }, false },
	{ "status 0x8000", reject, { REP(status, 2, 0x8000) }, false },
	{ "status 0xffff", reject, { REP(status, 2, 0xffff) }, false },
};

KUNIT_ARRAY_PARAM_DESC(rep_field, rep_cases, desc);

static void change(u8 *buf, const struct field_case *c)
{
	int i, j;

	for (i = 0; i < 2; i++) {
		for (j = 0; j < c->patches[i].width; j++)
			buf[c->patches[i].at + j] = c->patches[i].to >> (8 * j);
	}
}

static void conn_req_fields(struct kunit *test)
{
	/* Arrange */
	const struct field_case *c = test->param_value;
	struct rblk_req req;
	u8 buf[48];

	memcpy(buf, c->wire, sizeof(buf));
	change(buf, c);

	/* Act, Assert */
	if (c->ok)
		KUNIT_EXPECT_EQ(test, rblk_wire_decode_req(buf, sizeof(buf), &req), 0);
	else
		expect_bad_req(test, buf, sizeof(buf), -EBADMSG, 0, c->desc);
}

static void conn_rep_fields(struct kunit *test)
{
	/* Arrange */
	const struct field_case *c = test->param_value;
	struct rblk_rep rep;
	u8 buf[16];

	memcpy(buf, c->wire, sizeof(buf));
	change(buf, c);

	/* Act, Assert */
	if (c->ok)
		KUNIT_EXPECT_EQ(test, rblk_wire_decode_rep(buf, sizeof(buf), &rep), 0);
	else
		expect_bad_rep(test, buf, sizeof(buf), -EBADMSG, 0, c->desc);
}

static bool req_in_range(const struct rblk_req *req)
{
	return req->version == 1 && req->kind >= 1 && req->kind <= 3 && req->queue < 128 &&
	       req->depth >= 1 && req->depth <= 1024 && req->path < 64 &&
	       (req->kind == 1) == !req->token && (req->kind != 1 || !req->queue);
}

/* Each byte of each kind with each value. */
static void conn_every_byte(struct kunit *test)
{
	u32 at, value, bad = 0;
	struct rblk_req req;
	struct rblk_rep rep;
	u8 buf[48];
	int i, err;

	for (i = 0; i < ARRAY_SIZE(req_goldens); i++) {
		for (at = 0; at < 48; at++) {
			memcpy(buf, req_goldens[i].wire, 48);
			for (value = 0; value < 256; value++) {
				buf[at] = value;
				err = rblk_wire_decode_req(buf, 48, &req);
				if (!err)
					bad += !req_in_range(&req);
				else if (at == 2 || at == 3)
					bad += err != -EPROTONOSUPPORT ||
					       req.version != get_unaligned_le16(buf + 2);
				else
					bad += err != -EBADMSG;
			}
		}
	}
	for (i = 0; i < ARRAY_SIZE(rep_goldens); i++) {
		for (at = 0; at < 16; at++) {
			memcpy(buf, rep_goldens[i].wire, 16);
			for (value = 0; value < 256; value++) {
				buf[at] = value;
				err = rblk_wire_decode_rep(buf, 16, &rep);
				if (!err)
					bad += rep.version != 1 || (u32)rep.status > 15 ||
					       rep.depth > 1024 || !rep.depth != !!rep.status;
				else if (at == 4 || at == 5)
					bad += err != -EPROTONOSUPPORT ||
					       rep.version != get_unaligned_le16(buf + 4);
				else
					bad += err != -EBADMSG;
			}
		}
	}
	KUNIT_EXPECT_EQ(test, bad, 0);
}

#define SEED		0x72626c6b
#define MUTATIONS	20000

static void conn_mutations(struct kunit *test)
{
	u32 n, i, good = 0, bad = 0;
	struct rnd_state rnd;

	prandom_seed_state(&rnd, SEED);
	for (n = 0; n < MUTATIONS; n++) {
		/* Arrange */
		u8 *buf = kmemdup(req_goldens[n % ARRAY_SIZE(req_goldens)].wire, 48, GFP_KERNEL);
		struct rblk_wire_req again;
		struct rblk_req req;
		int err;

		KUNIT_ASSERT_NOT_NULL(test, buf);
		for (i = prandom_u32_state(&rnd) % 4; i < 4; i++)
			buf[prandom_u32_state(&rnd) % 48] = prandom_u32_state(&rnd);

		/* Act */
		err = rblk_wire_decode_req(buf, 48, &req);

		/* Assert: what is good comes back, the reserved bytes aside */
		if (!err) {
			good++;
			bad += !req_in_range(&req);
			rblk_wire_encode_req(&req, &again);
			memset(buf, 0, 2);
			buf[9] = 0;
			memset(buf + 36, 0, 4);
			bad += !!memcmp(buf, &again, 48);
		} else {
			bad += err != -EBADMSG && err != -EPROTONOSUPPORT;
		}
		kfree(buf);
	}
	KUNIT_EXPECT_EQ(test, bad, 0);
	KUNIT_EXPECT_GT(test, good, MUTATIONS / 20);
	kunit_info(test, "seed 0x%x, %u mutations, %u still good\n", SEED, MUTATIONS, good);
}

static struct kunit_case wire_conn_tests[] = {
	KUNIT_CASE_PARAM(conn_req_golden, req_golden_gen_params),
	KUNIT_CASE_PARAM(conn_rep_golden, rep_golden_gen_params),
	KUNIT_CASE_PARAM(conn_req_lengths, req_golden_gen_params),
	KUNIT_CASE_PARAM(conn_rep_lengths, rep_golden_gen_params),
	KUNIT_CASE(conn_magic),
	KUNIT_CASE(conn_versions),
	KUNIT_CASE_PARAM(conn_req_fields, req_field_gen_params),
	KUNIT_CASE_PARAM(conn_rep_fields, rep_field_gen_params),
	KUNIT_CASE(conn_every_byte),
	KUNIT_CASE(conn_mutations),
	{ }
};

static struct kunit_suite wire_conn_suite = {
	.name = "rblk_wire_conn",
	.test_cases = wire_conn_tests,
};

kunit_test_suite(wire_conn_suite);
