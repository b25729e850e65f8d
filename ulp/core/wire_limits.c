// SPDX-License-Identifier: GPL-2.0
/* The part of the codec of the wire format that is about the limits of a disk. */
#include <linux/log2.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include <rblk/wire.h>

#include "wire_limits.h"

#define RBLK_LIMITS_SECTOR	512

/**
 * rblk_limits_ok - does a LIMITS make sense?
 * @msg: decoded
 *
 * Context: Any.
 * Return: true if it does.
 */
bool rblk_limits_ok(const struct rblk_msg *msg)
{
	return msg->limits.handle;
}

/**
 * rblk_limits_encode - make the body of a LIMITS
 * @msg: what to say
 * @body: where to put it; any alignment
 *
 * Context: Any.
 */
void rblk_limits_encode(const struct rblk_msg *msg, void *body)
{
	struct rblk_wire_limits wire = {
		.handle = cpu_to_le32(msg->limits.handle),
	};

	memcpy(body, &wire, sizeof(wire));
}

/**
 * rblk_limits_decode - read the body of a LIMITS
 * @body: what came; any alignment
 * @msg: to fill in
 *
 * Context: Any.
 */
void rblk_limits_decode(const void *body, struct rblk_msg *msg)
{
	struct rblk_wire_limits wire;

	memcpy(&wire, body, sizeof(wire));
	msg->limits.handle = le32_to_cpu(wire.handle);
}

/**
 * rblk_limits_reply_ok - does a reply to LIMITS make sense?
 * @msg: decoded
 *
 * Context: Any.
 * Return: true if it does.
 */
bool rblk_limits_reply_ok(const struct rblk_msg *msg)
{
	const struct rblk_msg_limits_reply *limits = &msg->limits_reply;
	u32 sizes;

	if (!limits->handle || limits->flags & ~RBLK_LIMITS_FLAGS)
		return false;
	/* Without a cache, all that was written is stable when it is answered. */
	if (limits->flags & RBLK_LIMITS_FUA && !(limits->flags & RBLK_LIMITS_WRITE_CACHE))
		return false;
	if (!is_power_of_2(limits->physical_block_size) || limits->max_io < SZ_4K)
		return false;
	/* One that is no multiple leaves its low bits here. */
	sizes = limits->physical_block_size | limits->io_min | limits->io_opt | limits->max_io |
		limits->max_discard | limits->discard_granularity | limits->discard_alignment |
		limits->max_write_zeroes | limits->max_secure_erase;
	if (sizes & (RBLK_LIMITS_SECTOR - 1))
		return false;
	return !limits->max_discard == !limits->discard_granularity;
}

/**
 * rblk_limits_reply_encode - make the body of a reply to LIMITS
 * @msg: what to say
 * @body: where to put it; any alignment
 *
 * Context: Any.
 */
void rblk_limits_reply_encode(const struct rblk_msg *msg, void *body)
{
	const struct rblk_msg_limits_reply *limits = &msg->limits_reply;
	struct rblk_wire_limits_reply wire = {
		.handle = cpu_to_le32(limits->handle),
		.flags = cpu_to_le32(limits->flags),
		.physical_block_size = cpu_to_le32(limits->physical_block_size),
		.io_min = cpu_to_le32(limits->io_min),
		.io_opt = cpu_to_le32(limits->io_opt),
		.max_io = cpu_to_le32(limits->max_io),
		.max_discard = cpu_to_le32(limits->max_discard),
		.discard_granularity = cpu_to_le32(limits->discard_granularity),
		.discard_alignment = cpu_to_le32(limits->discard_alignment),
		.max_write_zeroes = cpu_to_le32(limits->max_write_zeroes),
		.max_secure_erase = cpu_to_le32(limits->max_secure_erase),
	};

	memcpy(body, &wire, sizeof(wire));
}

/**
 * rblk_limits_reply_decode - read the body of a reply to LIMITS
 * @body: what came; any alignment
 * @msg: to fill in
 *
 * Context: Any.
 */
void rblk_limits_reply_decode(const void *body, struct rblk_msg *msg)
{
	struct rblk_msg_limits_reply *limits = &msg->limits_reply;
	struct rblk_wire_limits_reply wire;

	memcpy(&wire, body, sizeof(wire));
	limits->handle = le32_to_cpu(wire.handle);
	limits->flags = le32_to_cpu(wire.flags);
	limits->physical_block_size = le32_to_cpu(wire.physical_block_size);
	limits->io_min = le32_to_cpu(wire.io_min);
	limits->io_opt = le32_to_cpu(wire.io_opt);
	limits->max_io = le32_to_cpu(wire.max_io);
	limits->max_discard = le32_to_cpu(wire.max_discard);
	limits->discard_granularity = le32_to_cpu(wire.discard_granularity);
	limits->discard_alignment = le32_to_cpu(wire.discard_alignment);
	limits->max_write_zeroes = le32_to_cpu(wire.max_write_zeroes);
	limits->max_secure_erase = le32_to_cpu(wire.max_secure_erase);
}
