// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of the socket addresses. */
#include <kunit/test.h>
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <rblk/addr.h>

#define CONNECT	BIT(RBLK_ADDR_CONNECT)
#define LISTEN	BIT(RBLK_ADDR_LISTEN)
#define SOURCE	BIT(RBLK_ADDR_SOURCE)
#define PORTED	(CONNECT | LISTEN)
#define ALL	(PORTED | SOURCE)

union addr {
	u8 raw[RBLK_ADDR_LEN];
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

#define V4(_a, _b, _c, _d, _port) {					\
	.v4 = {								\
		.sin_family = AF_INET,					\
		.sin_port = cpu_to_be16(_port),				\
		.sin_addr.s_addr = cpu_to_be32((_a) << 24 | (_b) << 16 | (_c) << 8 | (_d)), \
	}								\
}

#define V6(_scope, _port, ...) {					\
	.v6 = {								\
		.sin6_family = AF_INET6,				\
		.sin6_port = cpu_to_be16(_port),			\
		.sin6_addr.s6_addr = { __VA_ARGS__ },			\
		.sin6_scope_id = (_scope),				\
	}								\
}

/* 10.0.0.1:7471 and then what only an IPv6 address has, from byte 8 on. */
#define LONG_V4(_scope, ...) {						\
	.v6 = {								\
		.sin6_family = AF_INET,					\
		.sin6_port = cpu_to_be16(7471),				\
		.sin6_flowinfo = cpu_to_be32(0x0a000001),		\
		.sin6_addr.s6_addr = { __VA_ARGS__ },			\
		.sin6_scope_id = (_scope),				\
	}								\
}

struct good_case {
	const char *desc;
	union addr in;
	u8 uses;
	const char *str;
};

static const struct good_case good_cases[] = {
	{ "IPv4", V4(10, 0, 0, 1, 7471), PORTED, "10.0.0.1:7471" },
	{ "IPv4 port 1", V4(10, 0, 0, 1, 1), PORTED, "10.0.0.1:1" },
	{ "IPv4 port 65535", V4(255, 255, 255, 254, 65535), PORTED, "255.255.255.254:65535" },
	{ "IPv4 loopback", V4(127, 0, 0, 1, 7471), PORTED, "127.0.0.1:7471" },
	{ "IPv4 below multicast", V4(223, 255, 255, 255, 7471), PORTED, "223.255.255.255:7471" },
	{ "IPv4 above multicast", V4(240, 0, 0, 0, 7471), PORTED, "240.0.0.0:7471" },
	{ "IPv4 wildcard", V4(0, 0, 0, 0, 7471), LISTEN, "0.0.0.0:7471" },
	{ "IPv4 source", V4(192, 168, 1, 2, 0), SOURCE, "192.168.1.2" },
	{ "IPv6 global", V6(0, 7471, 0x20, 0x01, 0x0d, 0xb8, [15] = 1), PORTED,
	  "[2001:db8::1]:7471" },
	{ "IPv6 loopback", V6(0, 7471, [15] = 1), PORTED, "[::1]:7471" },
	{ "IPv6 wildcard", V6(0, 7471, 0), LISTEN, "[::]:7471" },
	{ "IPv6 link-local", V6(3, 7471, 0xfe, 0x80, [15] = 1), PORTED, "[fe80::1%3]:7471" },
	{ "IPv6 link-local to febf", V6(3, 7471, 0xfe, 0xbf, [15] = 1), PORTED,
	  "[febf::1%3]:7471" },
	{ "IPv6 site-local is not link-local", V6(0, 7471, 0xfe, 0xc0, [15] = 1), PORTED,
	  "[fec0::1]:7471" },
	{ "IPv6 unique local", V6(0, 7471, 0xfd, 0x00, [15] = 2), PORTED, "[fd00::2]:7471" },
	{ "IPv6 scope of a global address is dropped",
	  V6(9, 7471, 0x20, 0x01, 0x0d, 0xb8, [15] = 1), PORTED, "[2001:db8::1]:7471" },
	{ "IPv6 longest", V6(U32_MAX, 65535, 0xfe, 0x80, 0x12, 0x34, 0x12, 0x34, 0x12, 0x34,
			     0x12, 0x34, 0x12, 0x34, 0x12, 0x34, 0x12, 0x34), PORTED,
	  "[fe80:1234:1234:1234:1234:1234:1234:1234%4294967295]:65535" },
	{ "IPv6 isatap", V6(U32_MAX, 65535, 0xfe, 0x80, 0x12, 0x34, 0x12, 0x34, 0x12, 0x34,
			    0x02, 0x00, 0x5e, 0xfe, 192, 168, 100, 200), PORTED,
	  "[fe80:1234:1234:1234:200:5efe:192.168.100.200%4294967295]:65535" },
	{ "IPv6 source", V6(0, 0, 0x20, 0x01, 0x0d, 0xb8, [15] = 1), SOURCE, "2001:db8::1" },
	{ "IPv6 link-local source", V6(12, 0, 0xfe, 0x80, [15] = 1), SOURCE, "fe80::1%12" },
};

KUNIT_ARRAY_PARAM_DESC(good, good_cases, desc);

/* Each use that allows it, byte by byte out of a buffer of just that length. */
static void addr_good(struct kunit *test)
{
	const struct good_case *c = test->param_value;
	enum rblk_addr_use use;

	for (use = RBLK_ADDR_CONNECT; use <= RBLK_ADDR_SOURCE; use++) {
		/* Arrange: unaligned, with KASAN's border at the end of it */
		u8 *buf = kunit_kmalloc(test, RBLK_ADDR_LEN + 1, GFP_KERNEL);
		struct sockaddr_storage addr;
		const char *why = NULL;
		char str[RBLK_ADDR_STR];
		u8 out[RBLK_ADDR_LEN];
		int err;

		KUNIT_ASSERT_NOT_NULL(test, buf);
		memcpy(buf + 1, c->in.raw, RBLK_ADDR_LEN);
		memset(&addr, 0xff, sizeof(addr));

		/* Act */
		err = rblk_addr_decode(buf + 1, RBLK_ADDR_LEN, use, &addr, &why);

		/* Assert */
		if (!(c->uses & BIT(use))) {
			KUNIT_EXPECT_EQ(test, err, -EINVAL);
			KUNIT_EXPECT_NOT_NULL(test, why);
			KUNIT_EXPECT_TRUE(test, !memchr_inv(&addr, 0, sizeof(addr)));
			continue;
		}
		KUNIT_ASSERT_EQ_MSG(test, err, 0, "%s", why ?: "");
		KUNIT_EXPECT_NULL(test, why);
		KUNIT_EXPECT_STREQ(test, rblk_addr_str(&addr, str), c->str);
		KUNIT_EXPECT_TRUE(test, rblk_addr_equal(&addr, &addr));

		/* Act, Assert: and back, but for a scope that was dropped */
		rblk_addr_encode(&addr, out);
		if (!strchr(c->str, '%'))
			memset(buf + 1 + offsetof(struct sockaddr_in6, sin6_scope_id), 0, 4);
		KUNIT_EXPECT_MEMEQ(test, out, buf + 1, RBLK_ADDR_LEN);
	}
}

struct bad_case {
	const char *desc;
	union addr in;
	u8 uses;	/* for which it is bad */
	int err;
	const char *why;
};

static const struct bad_case bad_cases[] = {
	{ "IPv4 without port", V4(10, 0, 0, 1, 0), PORTED, -EINVAL, "the port is missing" },
	{ "IPv4 source with port", V4(10, 0, 0, 1, 7471), SOURCE, -EINVAL,
	  "a source address has no port" },
	{ "IPv4 wildcard", V4(0, 0, 0, 0, 7471), CONNECT, -EINVAL,
	  "the wildcard address is good only to listen on" },
	{ "IPv4 wildcard source", V4(0, 0, 0, 0, 0), SOURCE, -EINVAL,
	  "the wildcard address is good only to listen on" },
	{ "IPv4 first multicast", V4(224, 0, 0, 0, 7471), ALL, -EINVAL, "a multicast address" },
	{ "IPv4 last multicast", V4(239, 255, 255, 255, 7471), ALL, -EINVAL,
	  "a multicast address" },
	{ "IPv4 broadcast", V4(255, 255, 255, 255, 7471), ALL, -EINVAL, "the broadcast address" },
	{ "IPv4 with something in the padding", LONG_V4(0, [0] = 1), ALL, -EINVAL,
	  "stray bytes after an IPv4 address" },
	{ "IPv4 with something at the end of it", LONG_V4(0, [7] = 1), ALL, -EINVAL,
	  "stray bytes after an IPv4 address" },
	{ "IPv4 with something behind", LONG_V4(0, [8] = 1), ALL, -EINVAL,
	  "stray bytes after an IPv4 address" },
	{ "IPv4 with something at the end", LONG_V4(1, [0] = 0), ALL, -EINVAL,
	  "stray bytes after an IPv4 address" },
	{ "IPv6 without port", V6(0, 0, 0x20, 0x01, [15] = 1), PORTED, -EINVAL,
	  "the port is missing" },
	{ "IPv6 source with port", V6(0, 7471, 0x20, 0x01, [15] = 1), SOURCE, -EINVAL,
	  "a source address has no port" },
	{ "IPv6 wildcard", V6(0, 7471, 0), CONNECT, -EINVAL,
	  "the wildcard address is good only to listen on" },
	{ "IPv6 multicast", V6(3, 7471, 0xff, 0x02, [15] = 1), ALL, -EINVAL,
	  "a multicast address" },
	{ "IPv6 v4-mapped", V6(0, 7471, [10] = 0xff, 0xff, 10, 0, 0, 1), ALL, -EINVAL,
	  "an IPv4 address written as IPv6; give it as IPv4" },
	{ "IPv6 v4-mapped wildcard", V6(0, 7471, [10] = 0xff, 0xff), ALL, -EINVAL,
	  "an IPv4 address written as IPv6; give it as IPv4" },
	{ "IPv6 link-local without scope", V6(0, 7471, 0xfe, 0x80, [15] = 1), ALL, -EINVAL,
	  "a link-local address needs an interface, as in fe80::1%eth0" },
	{ "IPv6 febf without scope", V6(0, 7471, 0xfe, 0xbf, [15] = 1), ALL, -EINVAL,
	  "a link-local address needs an interface, as in fe80::1%eth0" },
	{ "IPv6 with flow information",
	  { .v6 = { .sin6_family = AF_INET6, .sin6_port = cpu_to_be16(7471),
		    .sin6_flowinfo = cpu_to_be32(1), .sin6_addr.s6_addr = { 0x20, 0x01 } } },
	  ALL, -EINVAL, "IPv6 flow information is not supported" },
	{ "all zero", { }, ALL, -EAFNOSUPPORT, "neither an IPv4 nor an IPv6 address" },
	{ "AF_UNIX", { .v4.sin_family = AF_UNIX }, ALL, -EAFNOSUPPORT,
	  "neither an IPv4 nor an IPv6 address" },
	{ "AF_IB", { .v4.sin_family = AF_IB }, ALL, -EAFNOSUPPORT,
	  "neither an IPv4 nor an IPv6 address" },
	{ "all ones", { .raw = { [0 ... 27] = 0xff } }, ALL, -EAFNOSUPPORT,
	  "neither an IPv4 nor an IPv6 address" },
};

KUNIT_ARRAY_PARAM_DESC(bad, bad_cases, desc);

static void addr_bad(struct kunit *test)
{
	const struct bad_case *c = test->param_value;
	enum rblk_addr_use use;

	for (use = RBLK_ADDR_CONNECT; use <= RBLK_ADDR_SOURCE; use++) {
		/* Arrange */
		struct sockaddr_storage addr;
		const char *why = NULL;
		int err;

		if (!(c->uses & BIT(use)))
			continue;
		memset(&addr, 0xff, sizeof(addr));

		/* Act */
		err = rblk_addr_decode(c->in.raw, RBLK_ADDR_LEN, use, &addr, &why);

		/* Assert: refused, with the reason, and nothing of it left */
		KUNIT_EXPECT_EQ(test, err, c->err);
		KUNIT_EXPECT_STREQ(test, why ?: "", c->why);
		KUNIT_EXPECT_TRUE(test, !memchr_inv(&addr, 0, sizeof(addr)));
	}
}

static void addr_lengths(struct kunit *test)
{
	/* Arrange */
	static const union addr in = V4(10, 0, 0, 1, 7471);
	struct sockaddr_storage addr;
	const char *why;
	size_t len;

	for (len = 0; len <= 64; len++) {
		u8 *buf = kzalloc(len ?: 1, GFP_KERNEL);
		int err;

		KUNIT_ASSERT_NOT_NULL(test, buf);
		memcpy(buf, in.raw, min(len, sizeof(in)));
		why = NULL;

		/* Act */
		err = rblk_addr_decode(buf, len, RBLK_ADDR_CONNECT, &addr, &why);

		/* Assert */
		KUNIT_EXPECT_EQ(test, err, len == 28 ? 0 : -EINVAL);
		KUNIT_EXPECT_EQ(test, !why, len == 28);
		kfree(buf);
	}
}

/* The bytes that the tool puts into a netlink attribute, on this machine. */
static void addr_bytes(struct kunit *test)
{
	/* Arrange */
	static const u8 v6[RBLK_ADDR_LEN] = {
		[2] = 0x1d, 0x2f, [8] = 0xfe, 0x80, [23] = 0x01,
	};
	union addr in = { .v6 = { .sin6_family = AF_INET6, .sin6_scope_id = 3 } };
	const struct sockaddr_in6 *sin6;
	struct sockaddr_storage addr;
	const char *why = NULL;

	memcpy(in.raw + 2, v6 + 2, 22);

	/* Act */
	KUNIT_ASSERT_EQ(test, rblk_addr_decode(&in, 28, RBLK_ADDR_CONNECT, &addr, &why), 0);

	/* Assert */
	sin6 = (const struct sockaddr_in6 *)&addr;
	KUNIT_EXPECT_EQ(test, sin6->sin6_family, AF_INET6);
	KUNIT_EXPECT_EQ(test, ntohs(sin6->sin6_port), 7471);
	KUNIT_EXPECT_EQ(test, sin6->sin6_scope_id, 3);
	KUNIT_EXPECT_MEMEQ(test, &sin6->sin6_addr, v6 + 8, 16);
}

struct equal_case {
	const char *desc;
	union addr a;
	union addr b;
	bool equal;
};

static const struct equal_case equal_cases[] = {
	{ "IPv4 same", V4(10, 0, 0, 1, 7471), V4(10, 0, 0, 1, 7471), true },
	{ "IPv4 address", V4(10, 0, 0, 1, 7471), V4(10, 0, 0, 2, 7471), false },
	{ "IPv4 port", V4(10, 0, 0, 1, 7471), V4(10, 0, 0, 1, 7472), false },
	{ "IPv6 same", V6(0, 7471, 0x20, [15] = 1), V6(0, 7471, 0x20, [15] = 1), true },
	{ "IPv6 first byte", V6(0, 7471, 0x20, [15] = 1), V6(0, 7471, 0x21, [15] = 1), false },
	{ "IPv6 last byte", V6(0, 7471, 0x20, [15] = 1), V6(0, 7471, 0x20, [15] = 2), false },
	{ "IPv6 port", V6(0, 7471, 0x20, [15] = 1), V6(0, 1, 0x20, [15] = 1), false },
	{ "IPv6 scope means nothing", V6(1, 7471, 0x20, [15] = 1), V6(2, 7471, 0x20, [15] = 1),
	  true },
	{ "link-local same", V6(3, 1, 0xfe, 0x80, [15] = 1), V6(3, 1, 0xfe, 0x80, [15] = 1),
	  true },
	{ "link-local scope", V6(3, 1, 0xfe, 0x80, [15] = 1), V6(4, 1, 0xfe, 0x80, [15] = 1),
	  false },
	{ "families", V4(0, 0, 0, 0, 7471), V6(0, 7471, 0), false },
	{ "no address", { }, { }, false },
};

KUNIT_ARRAY_PARAM_DESC(equal, equal_cases, desc);

static void addr_equal(struct kunit *test)
{
	/* Arrange */
	const struct equal_case *c = test->param_value;
	struct sockaddr_storage a = { }, b = { };

	memcpy(&a, c->a.raw, RBLK_ADDR_LEN);
	memcpy(&b, c->b.raw, RBLK_ADDR_LEN);
	/* Nobody promises what is behind the address. */
	memset((u8 *)&b + RBLK_ADDR_LEN, 0xff, sizeof(b) - RBLK_ADDR_LEN);

	/* Act, Assert */
	KUNIT_EXPECT_EQ(test, rblk_addr_equal(&a, &b), c->equal);
	KUNIT_EXPECT_EQ(test, rblk_addr_equal(&b, &a), c->equal);
}

static void addr_no_address(struct kunit *test)
{
	/* Arrange */
	struct sockaddr_storage addr = { };
	u8 data[RBLK_ADDR_LEN];
	char str[RBLK_ADDR_STR];

	memset(data, 0xff, sizeof(data));

	/* Act */
	rblk_addr_encode(&addr, data);

	/* Assert */
	KUNIT_EXPECT_TRUE(test, !memchr_inv(data, 0, sizeof(data)));
	KUNIT_EXPECT_STREQ(test, rblk_addr_str(&addr, str), "(no address)");
	KUNIT_EXPECT_FALSE(test, rblk_addr_wildcard(&addr));
}

static void addr_wildcard(struct kunit *test)
{
	/* Arrange */
	static const struct {
		union addr in;
		bool wildcard;
	} cases[] = {
		{ V4(0, 0, 0, 0, 7471), true },
		{ V4(0, 0, 0, 1, 7471), false },
		{ V4(10, 0, 0, 0, 7471), false },
		{ V6(0, 7471, 0), true },
		{ V6(5, 7471, 0), true },
		{ V6(0, 7471, [15] = 1), false },
		{ V6(0, 7471, 0x20), false },
	};
	struct sockaddr_storage addr = { };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		memcpy(&addr, cases[i].in.raw, RBLK_ADDR_LEN);

		/* Act, Assert */
		KUNIT_EXPECT_EQ_MSG(test, rblk_addr_wildcard(&addr), cases[i].wildcard,
				    "case %zu", i);
	}
}

/* The port alone changes, in either family. */
static void addr_port(struct kunit *test)
{
	struct sockaddr_storage addr4 = { .ss_family = AF_INET }, want4 = addr4;
	struct sockaddr_storage addr6 = { .ss_family = AF_INET6 }, want6 = addr6;

	/* Arrange: port 7471 is 0x1d2f, at bytes 2 and 3 of both */
	((u8 *)&want4)[2] = 0x1d;
	((u8 *)&want4)[3] = 0x2f;
	((u8 *)&want6)[2] = 0x1d;
	((u8 *)&want6)[3] = 0x2f;

	/* Act */
	rblk_addr_set_port(&addr4, htons(7471));
	rblk_addr_set_port(&addr6, htons(7471));

	/* Assert */
	KUNIT_EXPECT_MEMEQ(test, &addr4, &want4, sizeof(addr4));
	KUNIT_EXPECT_MEMEQ(test, &addr6, &want6, sizeof(addr6));
	KUNIT_EXPECT_EQ(test, ntohs(rblk_addr_port(&want4)), 7471);
	KUNIT_EXPECT_EQ(test, ntohs(rblk_addr_port(&want6)), 7471);
}

static struct kunit_case addr_tests[] = {
	KUNIT_CASE_PARAM(addr_good, good_gen_params),
	KUNIT_CASE_PARAM(addr_bad, bad_gen_params),
	KUNIT_CASE_PARAM(addr_equal, equal_gen_params),
	KUNIT_CASE(addr_lengths),
	KUNIT_CASE(addr_bytes),
	KUNIT_CASE(addr_no_address),
	KUNIT_CASE(addr_wildcard),
	KUNIT_CASE(addr_port),
	{ }
};

static struct kunit_suite addr_suite = {
	.name = "rblk_addr",
	.test_cases = addr_tests,
};

kunit_test_suite(addr_suite);
