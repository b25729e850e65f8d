// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of the names of exports and clients. */
#include <kunit/test.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <rblk/name.h>

#define A16	"aaaaaaaaaaaaaaaa"
#define A63	A16 A16 A16 "aaaaaaaaaaaaaaa"

struct name_case {
	const char *desc;
	const char *name;
	bool ok;
};

static const struct name_case name_cases[] = {
	{ "one letter", "a", true },
	{ "one digit", "0", true },
	{ "every class", "AZaz09._:-", true },
	{ "nqn-like", "iqn.2024-01.org.example:disk_1", true },
	{ "looks like IPv6", "fe80::1", true },
	{ "looks like an option", "-v", true },
	{ "hidden file", ".a", true },
	{ "three dots", "...", true },
	{ "one dash", "-", true },
	{ "one colon", ":", true },
	{ "a word of sysfs", "ctl", true },
	{ "62 characters", A16 A16 A16 "aaaaaaaaaaaaaa", true },
	{ "63 characters", A63, true },
	{ "64 characters", A63 "a", false },
	{ "256 characters", A63 A63 A63 A63 "aaaa", false },
	{ "empty", "", false },
	{ "dot", ".", false },
	{ "dot dot", "..", false },
	{ "slash", "a/b", false },
	{ "only a slash", "/", false },
	{ "climbs", "../a", false },
	{ "backslash", "a\\b", false },
	{ "space inside", "a b", false },
	{ "space before", " a", false },
	{ "space after", "a ", false },
	{ "newline", "a\n", false },
	{ "tab", "a\tb", false },
	{ "escape", "\033[2J", false },
	{ "delete", "a\177", false },
	{ "percent s", "%s", false },
	{ "scope id", "fe80::1%eth1", false },
	{ "comma", "a,b", false },
	{ "equals", "a=b", false },
	{ "plus", "a+b", false },
	{ "at", "a@b", false },
	{ "glob", "a*", false },
	{ "dollar", "$a", false },
	{ "quote", "a'b", false },
	{ "semicolon", "a;b", false },
	{ "bracket", "[a]", false },
	{ "before 0", "a/0", false },
	{ "after Z", "a[", false },
	{ "before a", "a`", false },
	{ "after z", "a{", false },
	{ "UTF-8", "caf\xc3\xa9", false },
	{ "Latin-1 letter", "caf\xe9", false },
	{ "byte 0x80", "\x80", false },
	{ "byte 0xff", "\xff", false },
};

KUNIT_ARRAY_PARAM_DESC(name, name_cases, desc);

/* The buffer has not a byte more than the string, so KASAN sees a read beyond. */
static void name_table(struct kunit *test)
{
	/* Arrange */
	const struct name_case *c = test->param_value;
	size_t size = strlen(c->name) + 1;
	char *buf = kunit_kmalloc(test, size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	memcpy(buf, c->name, size);

	/* Act, Assert */
	KUNIT_EXPECT_EQ(test, rblk_name_ok(buf, size), c->ok);
}

static void name_needs_nul(struct kunit *test)
{
	/* Arrange */
	char *buf = kunit_kmalloc(test, 8, GFP_KERNEL);
	size_t size;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	memset(buf, 'a', 8);

	/* Act, Assert: no NUL in any part of it */
	for (size = 0; size <= 8; size++)
		KUNIT_EXPECT_FALSE(test, rblk_name_ok(buf, size));

	/* Act, Assert: a NUL in the last byte */
	buf[7] = '\0';
	KUNIT_EXPECT_TRUE(test, rblk_name_ok(buf, 8));
	KUNIT_EXPECT_FALSE(test, rblk_name_ok(buf, 7));
}

/* What is behind the NUL is no part of the name. */
static void name_ends_at_nul(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, rblk_name_ok("ok\0/%", 6));
	KUNIT_EXPECT_FALSE(test, rblk_name_ok("\0ok", 4));
}

static void name_every_byte(struct kunit *test)
{
	/* Arrange */
	static const char good[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-";
	char name[4] = "axa";
	int c;

	for (c = 1; c < 256; c++) {
		bool want = memchr(good, c, sizeof(good) - 1);

		/* Act */
		name[1] = c;

		/* Assert */
		KUNIT_EXPECT_EQ_MSG(test, rblk_name_ok(name, sizeof(name)), want,
				    "byte 0x%02x", c);
	}
}

static struct kunit_case name_tests[] = {
	KUNIT_CASE_PARAM(name_table, name_gen_params),
	KUNIT_CASE(name_needs_nul),
	KUNIT_CASE(name_ends_at_nul),
	KUNIT_CASE(name_every_byte),
	{ }
};

static struct kunit_suite name_suite = {
	.name = "rblk_name",
	.test_cases = name_tests,
};

kunit_test_suite(name_suite);
