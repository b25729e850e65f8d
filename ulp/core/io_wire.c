// SPDX-License-Identifier: GPL-2.0
/*
 * The codec of requests to disks and of their responses.
 *
 * As for control messages, one function says whether a decoded form makes sense, and it
 * guards both directions. What depends on the connection is for the caller to check: whether
 * the tag is below its depth and free, the turn the next one, the handle open, and the range
 * within the export.
 */
#include <linux/array_size.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/limits.h>
#include <linux/string.h>

#include <rblk/io_wire.h>
#include <rblk/limits.h>
#include <rblk/wire.h>

#define RBLK_IO_SECTOR	512

/**
 * struct rblk_io_rule - what a request of one op has
 * @known: there is such an op
 * @flags: all that it may have
 * @range: an offset and a length
 * @data: memory of the client's
 */
struct rblk_io_rule {
	bool known;
	u8 flags;
	bool range;
	bool data;
};

static const struct rblk_io_rule rblk_io_rules[] = {
	[RBLK_IO_READ] = {
		.known = true, .range = true, .data = true,
	},
	[RBLK_IO_WRITE] = {
		.known = true, .flags = RBLK_IO_FUA, .range = true, .data = true,
	},
	[RBLK_IO_FLUSH] = {
		.known = true,
	},
	[RBLK_IO_DISCARD] = {
		.known = true, .range = true,
	},
	[RBLK_IO_WRITE_ZEROES] = {
		.known = true, .flags = RBLK_IO_FUA | RBLK_IO_NO_UNMAP, .range = true,
	},
	[RBLK_IO_SECURE_ERASE] = {
		.known = true, .range = true,
	},
};

static bool rblk_io_range_ok(const struct rblk_io_req *req)
{
	if (!req->length || (req->offset | req->length) & (RBLK_IO_SECTOR - 1))
		return false;
	/* In this order no sum is needed, so nothing can wrap. */
	return req->offset < RBLK_SIZE_MAX && req->length <= RBLK_SIZE_MAX - req->offset;
}

static bool rblk_io_data_ok(const struct rblk_io_req *req)
{
	return req->rkey && req->length <= RBLK_IO_MAX && req->address <= U64_MAX - req->length;
}

static bool rblk_io_req_ok(const struct rblk_io_req *req)
{
	const struct rblk_io_rule *rule;

	/* Compilers differ in the sign of an enum. */
	if ((unsigned int)req->op >= ARRAY_SIZE(rblk_io_rules))
		return false;
	rule = &rblk_io_rules[req->op];
	if (!rule->known || req->flags & ~rule->flags)
		return false;
	if (req->tag >= RBLK_DEPTH_MAX || !req->handle || !req->turn)
		return false;
	if (rule->range ? !rblk_io_range_ok(req) : req->offset || req->length)
		return false;
	return rule->data ? rblk_io_data_ok(req) : !req->rkey && !req->address;
}

/**
 * rblk_io_encode_req - make a request to a disk
 * @req: what to ask for
 * @wire: to fill in
 *
 * Context: Any.
 * Return: 0; -EINVAL if the server would refuse it as malformed, then @wire is untouched.
 */
int rblk_io_encode_req(const struct rblk_io_req *req, struct rblk_wire_io_req *wire)
{
	struct rblk_wire_io_req out = { };

	if (!rblk_io_req_ok(req))
		return -EINVAL;
	out.op = req->op;
	out.flags = req->flags;
	out.tag = cpu_to_le16(req->tag);
	out.handle = cpu_to_le32(req->handle);
	out.offset = cpu_to_le64(req->offset);
	out.length = cpu_to_le32(req->length);
	out.rkey = cpu_to_le32(req->rkey);
	out.address = cpu_to_le64(req->address);
	out.turn = cpu_to_le32(req->turn);
	memcpy(wire, &out, sizeof(out));
	return 0;
}
EXPORT_SYMBOL_GPL(rblk_io_encode_req);

/**
 * rblk_io_decode_req - check a request to a disk
 * @data: what came; any alignment
 * @len: bytes of it
 * @req: to fill in
 *
 * Context: Any.
 * Return: 0; -EBADMSG if it makes no sense, then @req is all zero.
 */
int rblk_io_decode_req(const void *data, size_t len, struct rblk_io_req *req)
{
	struct rblk_wire_io_req wire;
	struct rblk_io_req out = { };

	memset(req, 0, sizeof(*req));
	if (len != sizeof(wire))
		return -EBADMSG;
	memcpy(&wire, data, sizeof(wire));
	out.op = wire.op;
	out.flags = wire.flags;
	out.tag = le16_to_cpu(wire.tag);
	out.handle = le32_to_cpu(wire.handle);
	out.offset = le64_to_cpu(wire.offset);
	out.length = le32_to_cpu(wire.length);
	out.rkey = le32_to_cpu(wire.rkey);
	out.address = le64_to_cpu(wire.address);
	out.turn = le32_to_cpu(wire.turn);
	if (!rblk_io_req_ok(&out))
		return -EBADMSG;
	*req = out;
	return 0;
}
EXPORT_SYMBOL_GPL(rblk_io_decode_req);

static bool rblk_io_rsp_ok(const struct rblk_io_rsp *rsp)
{
	return rsp->tag < RBLK_DEPTH_MAX && (unsigned int)rsp->status < RBLK_IO_STATUS_NR &&
	       rsp->turn;
}

/**
 * rblk_io_encode_rsp - make a response to a request
 * @rsp: what to answer
 * @wire: to fill in
 *
 * Context: Any.
 * Return: 0; -EINVAL if the client would refuse it as malformed, then @wire is untouched.
 */
int rblk_io_encode_rsp(const struct rblk_io_rsp *rsp, struct rblk_wire_io_rsp *wire)
{
	struct rblk_wire_io_rsp out = { };

	if (!rblk_io_rsp_ok(rsp))
		return -EINVAL;
	out.tag = cpu_to_le16(rsp->tag);
	out.status = rsp->status;
	out.turn = cpu_to_le32(rsp->turn);
	memcpy(wire, &out, sizeof(out));
	return 0;
}
EXPORT_SYMBOL_GPL(rblk_io_encode_rsp);

/**
 * rblk_io_decode_rsp - check a response to a request
 * @data: what came; any alignment
 * @len: bytes of it
 * @rsp: to fill in
 *
 * Context: Any.
 * Return: 0; -EBADMSG if it makes no sense, then @rsp is all zero.
 */
int rblk_io_decode_rsp(const void *data, size_t len, struct rblk_io_rsp *rsp)
{
	struct rblk_wire_io_rsp wire;
	struct rblk_io_rsp out = { };

	memset(rsp, 0, sizeof(*rsp));
	if (len != sizeof(wire))
		return -EBADMSG;
	memcpy(&wire, data, sizeof(wire));
	out.tag = le16_to_cpu(wire.tag);
	out.status = wire.status;
	out.turn = le32_to_cpu(wire.turn);
	if (!rblk_io_rsp_ok(&out))
		return -EBADMSG;
	*rsp = out;
	return 0;
}
EXPORT_SYMBOL_GPL(rblk_io_decode_rsp);

/* Each is here once, so that the client's users see what the server's disk said. */
static const blk_status_t rblk_io_statuses[] = {
	[RBLK_IO_OK] = BLK_STS_OK,
	[RBLK_IO_ERROR] = BLK_STS_IOERR,
	[RBLK_IO_NOT_SUPPORTED] = BLK_STS_NOTSUPP,
	[RBLK_IO_NO_SPACE] = BLK_STS_NOSPC,
	[RBLK_IO_MEDIUM] = BLK_STS_MEDIUM,
	[RBLK_IO_TARGET] = BLK_STS_TARGET,
	[RBLK_IO_PROTECTION] = BLK_STS_PROTECTION,
	[RBLK_IO_TIMEOUT] = BLK_STS_TIMEOUT,
	[RBLK_IO_RESERVATION] = BLK_STS_RESV_CONFLICT,
	[RBLK_IO_GONE] = BLK_STS_OFFLINE,
};

static_assert(ARRAY_SIZE(rblk_io_statuses) == RBLK_IO_STATUS_NR);

/**
 * rblk_io_status_from_blk - what to answer for a status of the block layer
 * @status: as a bio ended
 *
 * Context: Any.
 * Return: the status for the wire; RBLK_IO_ERROR if it has none for @status.
 */
enum rblk_io_status rblk_io_status_from_blk(blk_status_t status)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rblk_io_statuses); i++) {
		if (rblk_io_statuses[i] == status)
			return i;
	}
	return RBLK_IO_ERROR;
}
EXPORT_SYMBOL_GPL(rblk_io_status_from_blk);

/**
 * rblk_io_status_to_blk - what to end a request with
 * @status: any value
 *
 * Context: Any.
 * Return: the status for the block layer; BLK_STS_IOERR if @status is out of range.
 */
blk_status_t rblk_io_status_to_blk(enum rblk_io_status status)
{
	if ((unsigned int)status >= ARRAY_SIZE(rblk_io_statuses))
		return BLK_STS_IOERR;
	return rblk_io_statuses[status];
}
EXPORT_SYMBOL_GPL(rblk_io_status_to_blk);
