// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of the status table. */
#include <kunit/test.h>
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/string.h>

#include <rblk/status.h>

struct status_case {
	const char *name;
	enum rblk_status status;
	u16 code;
	int err;
	bool transient;
};

/* The codes are on the wire and the names in traces: written out, not counted. */
static const struct status_case status_cases[] = {
	{ "ok", RBLK_OK, 0, 0, false },
	{ "malformed", RBLK_MALFORMED, 1, -EBADMSG, false },
	{ "version", RBLK_VERSION, 2, -EPROTONOSUPPORT, false },
	{ "feature", RBLK_FEATURE, 3, -EOPNOTSUPP, false },
	{ "denied", RBLK_DENIED, 4, -EACCES, false },
	{ "no-export", RBLK_NO_EXPORT, 5, -ENOENT, false },
	{ "busy", RBLK_BUSY, 6, -EBUSY, false },
	{ "read-only", RBLK_READ_ONLY, 7, -EROFS, false },
	{ "limit", RBLK_LIMIT, 8, -EUSERS, false },
	{ "no-memory", RBLK_NO_MEMORY, 9, -ENOMEM, true },
	{ "shutdown", RBLK_SHUTDOWN, 10, -ESHUTDOWN, true },
	{ "no-session", RBLK_NO_SESSION, 11, -ESTALE, true },
	{ "duplicate", RBLK_DUPLICATE, 12, -EEXIST, false },
	{ "device", RBLK_DEVICE, 13, -ENODEV, false },
	{ "internal", RBLK_INTERNAL, 14, -EREMOTEIO, true },
	{ "written", RBLK_WRITTEN, 15, -ENODATA, false },
};

KUNIT_ARRAY_PARAM_DESC(status, status_cases, name);

static void status_row(struct kunit *test)
{
	/* Arrange */
	const struct status_case *c = test->param_value;

	/* Act, Assert */
	KUNIT_EXPECT_EQ(test, (int)c->status, c->code);
	KUNIT_EXPECT_TRUE(test, rblk_status_known(c->code));
	KUNIT_EXPECT_EQ(test, rblk_status_errno(c->status), c->err);
	KUNIT_EXPECT_EQ(test, rblk_status_transient(c->status), c->transient);
	KUNIT_EXPECT_STREQ(test, rblk_status_name(c->status), c->name);
	KUNIT_EXPECT_EQ(test, (int)rblk_status_from_errno(c->err), c->code);
}

/* A text is shown after a colon, so it begins small and has no full stop. */
static void status_text(struct kunit *test)
{
	/* Arrange */
	const struct status_case *c = test->param_value;
	const char *text;
	size_t len, i;

	/* Act */
	text = rblk_status_text(c->status);

	/* Assert */
	KUNIT_ASSERT_NOT_NULL(test, text);
	len = strlen(text);
	KUNIT_EXPECT_GE(test, len, 8);
	KUNIT_EXPECT_LE(test, len, 70);
	KUNIT_EXPECT_TRUE(test, islower(text[0]));
	KUNIT_EXPECT_NE(test, text[len - 1], '.');
	for (i = 0; i < len; i++)
		KUNIT_EXPECT_TRUE(test, isascii(text[i]) && isprint(text[i]));
}

static void status_all_rows_tested(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, (int)RBLK_STATUS_NR, 16);
	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(status_cases), 16);
}

/* Two statuses with one text could not be told apart by the person. */
static void status_texts_differ(struct kunit *test)
{
	int a, b;

	for (a = 0; a < RBLK_STATUS_NR; a++) {
		for (b = a + 1; b < RBLK_STATUS_NR; b++)
			KUNIT_EXPECT_STRNEQ(test, rblk_status_text(a), rblk_status_text(b));
	}
}

static void status_denied_text(struct kunit *test)
{
	KUNIT_EXPECT_STREQ(test, rblk_status_text(RBLK_DENIED),
			   "the server's access list does not name this client");
}

static void status_out_of_range(struct kunit *test)
{
	/* Arrange */
	static const int codes[] = { 16, 17, 255, 0x7fff, 0xffff, INT_MAX, -1, INT_MIN };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(codes); i++) {
		enum rblk_status status = codes[i];

		/* Act, Assert */
		KUNIT_EXPECT_EQ(test, rblk_status_errno(status), -EREMOTEIO);
		KUNIT_EXPECT_FALSE(test, rblk_status_transient(status));
		KUNIT_EXPECT_STREQ(test, rblk_status_name(status), "unknown");
		KUNIT_EXPECT_NOT_NULL(test, rblk_status_text(status));
	}
	KUNIT_EXPECT_FALSE(test, rblk_status_known(16));
	KUNIT_EXPECT_FALSE(test, rblk_status_known(0x8000));
	KUNIT_EXPECT_FALSE(test, rblk_status_known(0xffff));
}

static void status_from_unknown_errno(struct kunit *test)
{
	static const int errs[] = { -EINVAL, -EIO, -ETIMEDOUT, -4095, EBUSY, 1, INT_MAX, INT_MIN };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(errs); i++)
		KUNIT_EXPECT_EQ(test, (int)rblk_status_from_errno(errs[i]), 14);
}

static struct kunit_case status_tests[] = {
	KUNIT_CASE_PARAM(status_row, status_gen_params),
	KUNIT_CASE_PARAM(status_text, status_gen_params),
	KUNIT_CASE(status_all_rows_tested),
	KUNIT_CASE(status_texts_differ),
	KUNIT_CASE(status_denied_text),
	KUNIT_CASE(status_out_of_range),
	KUNIT_CASE(status_from_unknown_errno),
	{ }
};

static struct kunit_suite status_suite = {
	.name = "rblk_status",
	.test_cases = status_tests,
};

kunit_test_suite(status_suite);

/* Once for all suites of the module. */
MODULE_DESCRIPTION("KUnit tests of the rblk core");
MODULE_LICENSE("GPL");
