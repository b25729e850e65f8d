/* SPDX-License-Identifier: GPL-2.0 */
/* Two control messages that must say the same. */
#ifndef _RBLK_WIRE_EQUAL_H
#define _RBLK_WIRE_EQUAL_H

#include <kunit/test.h>
#include <linux/unaligned.h>
#include <rblk/wire.h>

static void expect_equal(struct kunit *test, const struct rblk_msg *a, const struct rblk_msg *b)
{
	u32 i;

	KUNIT_ASSERT_EQ(test, a->type, b->type);
	KUNIT_EXPECT_EQ(test, (int)a->status, (int)b->status);
	KUNIT_EXPECT_EQ(test, a->tag, b->tag);
	if (a->status != RBLK_OK)
		return;
	switch (a->type) {
	case 0x0001:
		KUNIT_EXPECT_EQ(test, a->hello.features, b->hello.features);
		KUNIT_EXPECT_EQ(test, a->hello.mandatory, b->hello.mandatory);
		KUNIT_EXPECT_MEMEQ(test, a->hello.client, b->hello.client, 64);
		KUNIT_EXPECT_EQ(test, a->hello.queues, b->hello.queues);
		KUNIT_EXPECT_EQ(test, a->hello.depth, b->hello.depth);
		break;
	case 0x8001:
		KUNIT_EXPECT_EQ(test, a->hello_reply.features, b->hello_reply.features);
		KUNIT_EXPECT_EQ(test, a->hello_reply.mandatory, b->hello_reply.mandatory);
		KUNIT_EXPECT_MEMEQ(test, &a->hello_reply.server, &b->hello_reply.server, 16);
		KUNIT_EXPECT_EQ(test, a->hello_reply.token, b->hello_reply.token);
		KUNIT_EXPECT_EQ(test, a->hello_reply.queues, b->hello_reply.queues);
		KUNIT_EXPECT_EQ(test, a->hello_reply.depth, b->hello_reply.depth);
		KUNIT_EXPECT_EQ(test, a->hello_reply.device, b->hello_reply.device);
		break;
	case 0x0002:
		KUNIT_EXPECT_EQ(test, a->ready.queues, b->ready.queues);
		break;
	case 0x0003:
		KUNIT_EXPECT_MEMEQ(test, a->open.export, b->open.export, 64);
		KUNIT_EXPECT_EQ(test, a->open.flags, b->open.flags);
		KUNIT_EXPECT_EQ(test, a->open.writer_epoch, b->open.writer_epoch);
		break;
	case 0x8003:
		KUNIT_EXPECT_EQ(test, a->open_reply.handle, b->open_reply.handle);
		KUNIT_EXPECT_EQ(test, a->open_reply.flags, b->open_reply.flags);
		KUNIT_EXPECT_EQ(test, a->open_reply.size, b->open_reply.size);
		KUNIT_EXPECT_MEMEQ(test, &a->open_reply.incarnation,
				   &b->open_reply.incarnation, 16);
		KUNIT_EXPECT_EQ(test, a->open_reply.block_size, b->open_reply.block_size);
		KUNIT_EXPECT_EQ(test, a->open_reply.extent_shift, b->open_reply.extent_shift);
		KUNIT_EXPECT_EQ(test, (int)a->open_reply.backing, (int)b->open_reply.backing);
		KUNIT_EXPECT_EQ(test, a->open_reply.extents, b->open_reply.extents);
		KUNIT_EXPECT_EQ(test, a->open_reply.writer_epoch, b->open_reply.writer_epoch);
		break;
	case 0x0004:
		KUNIT_EXPECT_EQ(test, a->extents.handle, b->extents.handle);
		KUNIT_EXPECT_EQ(test, a->extents.first, b->extents.first);
		break;
	case 0x8004:
		KUNIT_EXPECT_EQ(test, a->extents_reply.handle, b->extents_reply.handle);
		KUNIT_EXPECT_EQ(test, a->extents_reply.first, b->extents_reply.first);
		KUNIT_ASSERT_EQ(test, a->extents_reply.count, b->extents_reply.count);
		for (i = 0; i < a->extents_reply.count; i++)
			KUNIT_EXPECT_EQ(test, get_unaligned_le32(a->extents_reply.wire_rkeys + i),
					b->extents_reply.rkeys[i]);
		break;
	case 0x0005:
		KUNIT_EXPECT_EQ(test, a->close.handle, b->close.handle);
		break;
	case 0x0007:
		KUNIT_EXPECT_EQ(test, a->revoke.handle, b->revoke.handle);
		KUNIT_EXPECT_EQ(test, (int)a->revoke.reason, (int)b->revoke.reason);
		break;
	case 0x0008:
		KUNIT_EXPECT_EQ(test, a->fence.path, b->fence.path);
		KUNIT_EXPECT_EQ(test, a->fence.generation, b->fence.generation);
		break;
	case 0x0009:
		KUNIT_EXPECT_EQ(test, a->resize.handle, b->resize.handle);
		KUNIT_EXPECT_EQ(test, a->resize.size, b->resize.size);
		KUNIT_EXPECT_TRUE(test, uuid_equal(&a->resize.incarnation,
						   &b->resize.incarnation));
		break;
	case 0x000a:
		KUNIT_EXPECT_EQ(test, a->limits.handle, b->limits.handle);
		break;
	case 0x800a:
		KUNIT_EXPECT_MEMEQ(test, &a->limits_reply, &b->limits_reply,
				   sizeof(a->limits_reply));
		break;
	case 0x8009:
	case 0x8002:
	case 0x8005:
	case 0x8008:
	case 0x0006:
		break;
	default:
		KUNIT_FAIL(test, "type 0x%04x", a->type);
	}
}

#endif /* _RBLK_WIRE_EQUAL_H */
