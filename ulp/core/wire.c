// SPDX-License-Identifier: GPL-2.0
/*
 * The codec of the wire format.
 *
 * For each message there is one function that says whether its decoded form
 * makes sense. It guards both directions: what a peer sent is refused, and what
 * we would send is caught before a peer refuses it.
 *
 * The buffers may have any alignment, so the wire structs are copied.
 */
#include <linux/array_size.h>
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/log2.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include <rblk/extent.h>
#include <rblk/name.h>
#include <rblk/wire.h>

#include "wire_limits.h"

#define RBLK_BLOCK_SIZE_MIN	512
#define RBLK_BLOCK_SIZE_MAX	65536

static bool rblk_queues_ok(u16 queues)
{
	return queues >= 1 && queues <= RBLK_QUEUES_MAX;
}

static bool rblk_depth_ok(u16 depth)
{
	return depth >= 1 && depth <= RBLK_DEPTH_MAX;
}

static bool rblk_req_ok(const struct rblk_req *req)
{
	if (!rblk_depth_ok(req->depth) || req->path >= RBLK_PATHS_MAX ||
	    uuid_is_null(&req->session))
		return false;
	switch (req->kind) {
	case RBLK_CONN_CONTROL:
		return !req->queue && !req->token;
	case RBLK_CONN_IO:
	case RBLK_CONN_DISK:
		return req->queue < RBLK_QUEUES_MAX && req->token;
	}
	return false;
}

/**
 * rblk_wire_encode_req - make the private data of a connect request
 * @req: the request; @version of it is ignored, we speak only one
 * @wire: to fill in
 *
 * Context: Any.
 */
void rblk_wire_encode_req(const struct rblk_req *req, struct rblk_wire_req *wire)
{
	memset(wire, 0, sizeof(*wire));
	wire->version = cpu_to_le16(RBLK_WIRE_VERSION);
	wire->magic = cpu_to_le32(RBLK_WIRE_MAGIC);
	wire->kind = req->kind;
	wire->queue = cpu_to_le16(req->queue);
	wire->depth = cpu_to_le16(req->depth);
	wire->path = cpu_to_le16(req->path);
	export_uuid(wire->session, &req->session);
	wire->generation = cpu_to_le32(req->generation);
	wire->token = cpu_to_le64(req->token);
}
EXPORT_SYMBOL_GPL(rblk_wire_encode_req);

/**
 * rblk_wire_decode_req - check the private data of a connect request
 * @data: what came; any alignment
 * @len: bytes of it; InfiniBand pads, so there may be more than was sent
 * @req: to fill in
 *
 * Context: Any.
 * Return: 0; -EBADMSG if it makes no sense; -EPROTONOSUPPORT if it is of another
 * version, then only @version of @req is set. All zero with -EBADMSG.
 */
int rblk_wire_decode_req(const void *data, size_t len, struct rblk_req *req)
{
	struct rblk_wire_req wire;
	struct rblk_req out = { };

	memset(req, 0, sizeof(*req));
	if (len < sizeof(wire))
		return -EBADMSG;
	memcpy(&wire, data, sizeof(wire));
	if (le32_to_cpu(wire.magic) != RBLK_WIRE_MAGIC)
		return -EBADMSG;
	out.version = le16_to_cpu(wire.version);
	if (out.version != RBLK_WIRE_VERSION) {
		/* What follows may mean anything in another version. */
		req->version = out.version;
		return -EPROTONOSUPPORT;
	}
	out.kind = wire.kind;
	out.queue = le16_to_cpu(wire.queue);
	out.depth = le16_to_cpu(wire.depth);
	out.path = le16_to_cpu(wire.path);
	import_uuid(&out.session, wire.session);
	out.generation = le32_to_cpu(wire.generation);
	out.token = le64_to_cpu(wire.token);
	if (!rblk_req_ok(&out))
		return -EBADMSG;
	*req = out;
	return 0;
}
EXPORT_SYMBOL_GPL(rblk_wire_decode_req);

/* A depth goes with an accept only. */
static bool rblk_rep_ok(const struct rblk_rep *rep)
{
	if (rep->status == RBLK_OK)
		return rblk_depth_ok(rep->depth);
	return rblk_status_known(rep->status) && !rep->depth;
}

/**
 * rblk_wire_encode_rep - make the private data of an accept or a reject
 * @rep: the answer; @version of it is ignored, we speak only one
 * @wire: to fill in
 *
 * Context: Any.
 */
void rblk_wire_encode_rep(const struct rblk_rep *rep, struct rblk_wire_rep *wire)
{
	memset(wire, 0, sizeof(*wire));
	wire->magic = cpu_to_le32(RBLK_WIRE_MAGIC);
	wire->version = cpu_to_le16(RBLK_WIRE_VERSION);
	wire->status = cpu_to_le16(rep->status);
	wire->depth = cpu_to_le16(rep->depth);
}
EXPORT_SYMBOL_GPL(rblk_wire_encode_rep);

/**
 * rblk_wire_decode_rep - check the private data of an accept or a reject
 * @data: what came; any alignment
 * @len: bytes of it; InfiniBand pads, so there may be more than was sent
 * @rep: to fill in
 *
 * Context: Any.
 * Return: 0; -EBADMSG if it makes no sense; -EPROTONOSUPPORT if it is of another
 * version, then only @version of @rep is set. All zero with -EBADMSG.
 */
int rblk_wire_decode_rep(const void *data, size_t len, struct rblk_rep *rep)
{
	struct rblk_wire_rep wire;
	struct rblk_rep out = { };
	u16 status;

	memset(rep, 0, sizeof(*rep));
	if (len < sizeof(wire))
		return -EBADMSG;
	memcpy(&wire, data, sizeof(wire));
	if (le32_to_cpu(wire.magic) != RBLK_WIRE_MAGIC)
		return -EBADMSG;
	out.version = le16_to_cpu(wire.version);
	if (out.version != RBLK_WIRE_VERSION) {
		rep->version = out.version;
		return -EPROTONOSUPPORT;
	}
	status = le16_to_cpu(wire.status);
	if (!rblk_status_known(status))
		return -EBADMSG;
	out.status = status;
	out.depth = le16_to_cpu(wire.depth);
	if (!rblk_rep_ok(&out))
		return -EBADMSG;
	*rep = out;
	return 0;
}
EXPORT_SYMBOL_GPL(rblk_wire_decode_rep);

/* The padding too: what is not checked could be used as a hidden channel. */
static bool rblk_wire_name_ok(const char name[RBLK_NAME_SIZE])
{
	size_t len;

	if (!rblk_name_ok(name, RBLK_NAME_SIZE))
		return false;
	len = strlen(name);
	return !memchr_inv(name + len, 0, RBLK_NAME_SIZE - len);
}

static bool rblk_hello_ok(const struct rblk_msg *msg)
{
	const struct rblk_msg_hello *hello = &msg->hello;

	return rblk_wire_name_ok(hello->client) && rblk_queues_ok(hello->queues) &&
	       rblk_depth_ok(hello->depth);
}

static void rblk_hello_encode(const struct rblk_msg *msg, void *body)
{
	struct rblk_wire_hello wire = {
		.features = cpu_to_le64(msg->hello.features),
		.mandatory = cpu_to_le64(msg->hello.mandatory),
		.queues = cpu_to_le16(msg->hello.queues),
		.depth = cpu_to_le16(msg->hello.depth),
	};

	memcpy(wire.client, msg->hello.client, sizeof(wire.client));
	memcpy(body, &wire, sizeof(wire));
}

static void rblk_hello_decode(const void *body, struct rblk_msg *msg)
{
	struct rblk_wire_hello wire;

	memcpy(&wire, body, sizeof(wire));
	msg->hello.features = le64_to_cpu(wire.features);
	msg->hello.mandatory = le64_to_cpu(wire.mandatory);
	memcpy(msg->hello.client, wire.client, sizeof(wire.client));
	msg->hello.queues = le16_to_cpu(wire.queues);
	msg->hello.depth = le16_to_cpu(wire.depth);
}

static bool rblk_hello_reply_ok(const struct rblk_msg *msg)
{
	const struct rblk_msg_hello_reply *hello = &msg->hello_reply;

	return !uuid_is_null(&hello->server) && hello->token &&
	       rblk_queues_ok(hello->queues) && rblk_depth_ok(hello->depth);
}

static void rblk_hello_reply_encode(const struct rblk_msg *msg, void *body)
{
	struct rblk_wire_hello_reply wire = {
		.features = cpu_to_le64(msg->hello_reply.features),
		.mandatory = cpu_to_le64(msg->hello_reply.mandatory),
		.token = cpu_to_le64(msg->hello_reply.token),
		.queues = cpu_to_le16(msg->hello_reply.queues),
		.depth = cpu_to_le16(msg->hello_reply.depth),
		.device = cpu_to_le32(msg->hello_reply.device),
	};

	export_uuid(wire.server, &msg->hello_reply.server);
	memcpy(body, &wire, sizeof(wire));
}

static void rblk_hello_reply_decode(const void *body, struct rblk_msg *msg)
{
	struct rblk_wire_hello_reply wire;

	memcpy(&wire, body, sizeof(wire));
	msg->hello_reply.features = le64_to_cpu(wire.features);
	msg->hello_reply.mandatory = le64_to_cpu(wire.mandatory);
	import_uuid(&msg->hello_reply.server, wire.server);
	msg->hello_reply.token = le64_to_cpu(wire.token);
	msg->hello_reply.queues = le16_to_cpu(wire.queues);
	msg->hello_reply.depth = le16_to_cpu(wire.depth);
	msg->hello_reply.device = le32_to_cpu(wire.device);
}

static bool rblk_ready_ok(const struct rblk_msg *msg)
{
	return rblk_queues_ok(msg->ready.queues);
}

static void rblk_ready_encode(const struct rblk_msg *msg, void *body)
{
	struct rblk_wire_ready wire = {
		.queues = cpu_to_le16(msg->ready.queues),
	};

	memcpy(body, &wire, sizeof(wire));
}

static void rblk_ready_decode(const void *body, struct rblk_msg *msg)
{
	struct rblk_wire_ready wire;

	memcpy(&wire, body, sizeof(wire));
	msg->ready.queues = le16_to_cpu(wire.queues);
}

static bool rblk_open_ok(const struct rblk_msg *msg)
{
	/* Who only reads takes nothing from a writer, and who comes back robs nobody. */
	return rblk_wire_name_ok(msg->open.export) &&
	       (!msg->open.flags || msg->open.flags == RBLK_OPEN_READ_ONLY ||
		msg->open.flags == RBLK_OPEN_STEAL || msg->open.flags == RBLK_OPEN_AGAIN);
}

static void rblk_open_encode(const struct rblk_msg *msg, void *body)
{
	struct rblk_wire_open wire = {
		.flags = cpu_to_le32(msg->open.flags),
		.writer_epoch = cpu_to_le32(msg->open.writer_epoch),
	};

	memcpy(wire.export, msg->open.export, sizeof(wire.export));
	memcpy(body, &wire, sizeof(wire));
}

static void rblk_open_decode(const void *body, struct rblk_msg *msg)
{
	struct rblk_wire_open wire;

	memcpy(&wire, body, sizeof(wire));
	memcpy(msg->open.export, wire.export, sizeof(wire.export));
	msg->open.flags = le32_to_cpu(wire.flags);
	msg->open.writer_epoch = le32_to_cpu(wire.writer_epoch);
}

static bool rblk_open_reply_ok(const struct rblk_msg *msg)
{
	const struct rblk_msg_open_reply *open = &msg->open_reply;
	struct rblk_extents ext;

	if (open->flags & ~RBLK_OPEN_FLAGS || uuid_is_null(&open->incarnation))
		return false;
	if (!is_power_of_2(open->block_size) || open->block_size < RBLK_BLOCK_SIZE_MIN ||
	    open->block_size > RBLK_BLOCK_SIZE_MAX || open->size & (open->block_size - 1))
		return false;
	switch (open->backing) {
	case RBLK_WIRE_MEMORY:
		/* Checks the size and the shift, and tells how many extents they make. */
		return !rblk_extents_init(&ext, open->size, open->extent_shift) &&
		       open->extents == ext.nr;
	case RBLK_WIRE_DISK:
		return open->size && open->size <= RBLK_SIZE_MAX && !open->extent_shift &&
		       !open->extents;
	}
	return false;
}

static void rblk_open_reply_encode(const struct rblk_msg *msg, void *body)
{
	struct rblk_wire_open_reply wire = {
		.handle = cpu_to_le32(msg->open_reply.handle),
		.flags = cpu_to_le32(msg->open_reply.flags),
		.size = cpu_to_le64(msg->open_reply.size),
		.block_size = cpu_to_le32(msg->open_reply.block_size),
		.extent_shift = msg->open_reply.extent_shift,
		.backing = msg->open_reply.backing,
		.extents = cpu_to_le32(msg->open_reply.extents),
		.writer_epoch = cpu_to_le32(msg->open_reply.writer_epoch),
	};

	export_uuid(wire.incarnation, &msg->open_reply.incarnation);
	memcpy(body, &wire, sizeof(wire));
}

static void rblk_open_reply_decode(const void *body, struct rblk_msg *msg)
{
	struct rblk_wire_open_reply wire;

	memcpy(&wire, body, sizeof(wire));
	msg->open_reply.handle = le32_to_cpu(wire.handle);
	msg->open_reply.flags = le32_to_cpu(wire.flags);
	msg->open_reply.size = le64_to_cpu(wire.size);
	import_uuid(&msg->open_reply.incarnation, wire.incarnation);
	msg->open_reply.block_size = le32_to_cpu(wire.block_size);
	msg->open_reply.extent_shift = wire.extent_shift;
	msg->open_reply.backing = wire.backing;
	msg->open_reply.extents = le32_to_cpu(wire.extents);
	msg->open_reply.writer_epoch = le32_to_cpu(wire.writer_epoch);
}

static bool rblk_extents_ok(const struct rblk_msg *msg)
{
	return msg->extents.first < RBLK_EXTENTS_MAX;
}

static void rblk_extents_encode(const struct rblk_msg *msg, void *body)
{
	struct rblk_wire_extents wire = {
		.handle = cpu_to_le32(msg->extents.handle),
		.first = cpu_to_le32(msg->extents.first),
	};

	memcpy(body, &wire, sizeof(wire));
}

static void rblk_extents_decode(const void *body, struct rblk_msg *msg)
{
	struct rblk_wire_extents wire;

	memcpy(&wire, body, sizeof(wire));
	msg->extents.handle = le32_to_cpu(wire.handle);
	msg->extents.first = le32_to_cpu(wire.first);
}

static bool rblk_extents_reply_ok(const struct rblk_msg *msg)
{
	const struct rblk_msg_extents_reply *ext = &msg->extents_reply;

	return ext->count >= 1 && ext->count <= RBLK_RKEYS_MAX &&
	       ext->first < RBLK_EXTENTS_MAX &&
	       ext->count <= RBLK_EXTENTS_MAX - ext->first;
}

static void rblk_extents_reply_encode(const struct rblk_msg *msg, void *body)
{
	struct rblk_wire_extents_reply wire = {
		.handle = cpu_to_le32(msg->extents_reply.handle),
		.first = cpu_to_le32(msg->extents_reply.first),
		.count = cpu_to_le32(msg->extents_reply.count),
	};
	u8 *rkeys = body + sizeof(wire);
	u32 i;

	memcpy(body, &wire, sizeof(wire));
	for (i = 0; i < msg->extents_reply.count; i++)
		put_unaligned_le32(msg->extents_reply.rkeys[i], rkeys + i * sizeof(__le32));
}

static void rblk_extents_reply_decode(const void *body, struct rblk_msg *msg)
{
	struct rblk_wire_extents_reply wire;

	memcpy(&wire, body, sizeof(wire));
	msg->extents_reply.handle = le32_to_cpu(wire.handle);
	msg->extents_reply.first = le32_to_cpu(wire.first);
	msg->extents_reply.count = le32_to_cpu(wire.count);
	msg->extents_reply.wire_rkeys = body + sizeof(wire);
}

/* The server chooses handles; whether one is open, the caller knows. */
static bool rblk_close_ok(const struct rblk_msg *msg)
{
	return true;
}

static void rblk_close_encode(const struct rblk_msg *msg, void *body)
{
	struct rblk_wire_close wire = {
		.handle = cpu_to_le32(msg->close.handle),
	};

	memcpy(body, &wire, sizeof(wire));
}

static void rblk_close_decode(const void *body, struct rblk_msg *msg)
{
	struct rblk_wire_close wire;

	memcpy(&wire, body, sizeof(wire));
	msg->close.handle = le32_to_cpu(wire.handle);
}

/* As of a reply, one that is not known cannot be told to anybody. */
static bool rblk_revoke_ok(const struct rblk_msg *msg)
{
	return rblk_status_known(msg->revoke.reason);
}

static void rblk_revoke_encode(const struct rblk_msg *msg, void *body)
{
	struct rblk_wire_revoke wire = {
		.handle = cpu_to_le32(msg->revoke.handle),
		.reason = cpu_to_le16(msg->revoke.reason),
	};

	memcpy(body, &wire, sizeof(wire));
}

static void rblk_revoke_decode(const void *body, struct rblk_msg *msg)
{
	struct rblk_wire_revoke wire;

	memcpy(&wire, body, sizeof(wire));
	msg->revoke.handle = le32_to_cpu(wire.handle);
	msg->revoke.reason = le16_to_cpu(wire.reason);
}

/* The first attempt of a path is generation 1. */
static bool rblk_fence_ok(const struct rblk_msg *msg)
{
	return msg->fence.path < RBLK_PATHS_MAX && msg->fence.generation;
}

static void rblk_fence_encode(const struct rblk_msg *msg, void *body)
{
	struct rblk_wire_fence wire = {
		.path = cpu_to_le16(msg->fence.path),
		.generation = cpu_to_le32(msg->fence.generation),
	};

	memcpy(body, &wire, sizeof(wire));
}

static void rblk_fence_decode(const void *body, struct rblk_msg *msg)
{
	struct rblk_wire_fence wire;

	memcpy(&wire, body, sizeof(wire));
	msg->fence.path = le16_to_cpu(wire.path);
	msg->fence.generation = le32_to_cpu(wire.generation);
}

/* The block size of the export, the caller knows. */
static bool rblk_resize_ok(const struct rblk_msg *msg)
{
	const struct rblk_msg_resize *resize = &msg->resize;

	return resize->size && resize->size <= RBLK_SIZE_MAX &&
	       !(resize->size & (RBLK_BLOCK_SIZE_MIN - 1)) && !uuid_is_null(&resize->incarnation);
}

static void rblk_resize_encode(const struct rblk_msg *msg, void *body)
{
	struct rblk_wire_resize wire = {
		.handle = cpu_to_le32(msg->resize.handle),
		.size = cpu_to_le64(msg->resize.size),
	};

	export_uuid(wire.incarnation, &msg->resize.incarnation);
	memcpy(body, &wire, sizeof(wire));
}

static void rblk_resize_decode(const void *body, struct rblk_msg *msg)
{
	struct rblk_wire_resize wire;

	memcpy(&wire, body, sizeof(wire));
	msg->resize.handle = le32_to_cpu(wire.handle);
	msg->resize.size = le64_to_cpu(wire.size);
	import_uuid(&msg->resize.incarnation, wire.incarnation);
}

/**
 * struct rblk_codec - how the body of one type of message is handled
 * @type: as on the wire
 * @body: bytes of the body, without the keys of an EXTENTS reply
 * @ok: does the decoded form make sense? NULL, as the others, without a body
 * @encode: from the decoded form
 * @decode: into the decoded form; there are @body bytes to read
 */
struct rblk_codec {
	u16 type;
	u16 body;
	bool (*ok)(const struct rblk_msg *msg);
	void (*encode)(const struct rblk_msg *msg, void *body);
	void (*decode)(const void *body, struct rblk_msg *msg);
};

static const struct rblk_codec rblk_codecs[] = {
	{
		RBLK_MSG_HELLO, sizeof(struct rblk_wire_hello),
		rblk_hello_ok, rblk_hello_encode, rblk_hello_decode,
	}, {
		RBLK_MSG_HELLO | RBLK_MSG_REPLY, sizeof(struct rblk_wire_hello_reply),
		rblk_hello_reply_ok, rblk_hello_reply_encode, rblk_hello_reply_decode,
	}, {
		RBLK_MSG_READY, sizeof(struct rblk_wire_ready),
		rblk_ready_ok, rblk_ready_encode, rblk_ready_decode,
	}, {
		.type = RBLK_MSG_READY | RBLK_MSG_REPLY,
	}, {
		RBLK_MSG_OPEN, sizeof(struct rblk_wire_open),
		rblk_open_ok, rblk_open_encode, rblk_open_decode,
	}, {
		RBLK_MSG_OPEN | RBLK_MSG_REPLY, sizeof(struct rblk_wire_open_reply),
		rblk_open_reply_ok, rblk_open_reply_encode, rblk_open_reply_decode,
	}, {
		RBLK_MSG_EXTENTS, sizeof(struct rblk_wire_extents),
		rblk_extents_ok, rblk_extents_encode, rblk_extents_decode,
	}, {
		RBLK_MSG_EXTENTS | RBLK_MSG_REPLY, sizeof(struct rblk_wire_extents_reply),
		rblk_extents_reply_ok, rblk_extents_reply_encode,
		rblk_extents_reply_decode,
	}, {
		RBLK_MSG_CLOSE, sizeof(struct rblk_wire_close),
		rblk_close_ok, rblk_close_encode, rblk_close_decode,
	}, {
		.type = RBLK_MSG_CLOSE | RBLK_MSG_REPLY,
	}, {
		.type = RBLK_MSG_PING,
	}, {
		RBLK_MSG_REVOKE, sizeof(struct rblk_wire_revoke),
		rblk_revoke_ok, rblk_revoke_encode, rblk_revoke_decode,
	}, {
		RBLK_MSG_FENCE, sizeof(struct rblk_wire_fence),
		rblk_fence_ok, rblk_fence_encode, rblk_fence_decode,
	}, {
		.type = RBLK_MSG_FENCE | RBLK_MSG_REPLY,
	}, {
		RBLK_MSG_RESIZE, sizeof(struct rblk_wire_resize),
		rblk_resize_ok, rblk_resize_encode, rblk_resize_decode,
	}, {
		.type = RBLK_MSG_RESIZE | RBLK_MSG_REPLY,
	}, {
		RBLK_MSG_LIMITS, sizeof(struct rblk_wire_limits),
		rblk_limits_ok, rblk_limits_encode, rblk_limits_decode,
	}, {
		RBLK_MSG_LIMITS | RBLK_MSG_REPLY, sizeof(struct rblk_wire_limits_reply),
		rblk_limits_reply_ok, rblk_limits_reply_encode, rblk_limits_reply_decode,
	},
};

static const struct rblk_codec *rblk_codec_find(u16 type)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rblk_codecs); i++) {
		if (rblk_codecs[i].type == type)
			return &rblk_codecs[i];
	}
	return NULL;
}

/* The keys of an EXTENTS reply; its count was checked. */
static size_t rblk_msg_tail(const struct rblk_msg *msg)
{
	if (msg->type != (RBLK_MSG_EXTENTS | RBLK_MSG_REPLY))
		return 0;
	return msg->extents_reply.count * sizeof(__le32);
}

/**
 * rblk_wire_encode - make a control message
 * @msg: what to say
 * @buf: where to put it; any alignment
 * @size: bytes there are at @buf
 *
 * Context: Any.
 * Return: bytes of the message; -EINVAL if the peer would refuse it as
 * malformed; -EMSGSIZE if it is longer than @size, then @buf is untouched.
 */
int rblk_wire_encode(const struct rblk_msg *msg, void *buf, size_t size)
{
	const struct rblk_codec *codec = rblk_codec_find(msg->type);
	struct rblk_wire_hdr hdr = { };
	size_t len = sizeof(hdr);

	if (!codec || !rblk_status_known(msg->status))
		return -EINVAL;
	if (msg->status != RBLK_OK) {
		if (!(msg->type & RBLK_MSG_REPLY))
			return -EINVAL;
		/* The reason is all that the other side gets. */
		codec = NULL;
	} else if (codec->ok) {
		if (!codec->ok(msg))
			return -EINVAL;
		len += codec->body + rblk_msg_tail(msg);
	}
	if (len > size)
		return -EMSGSIZE;
	hdr.type = cpu_to_le16(msg->type);
	hdr.status = cpu_to_le16(msg->status);
	hdr.len = cpu_to_le32(len);
	hdr.tag = cpu_to_le32(msg->tag);
	memcpy(buf, &hdr, sizeof(hdr));
	if (codec && codec->encode)
		codec->encode(msg, buf + sizeof(hdr));
	return len;
}
EXPORT_SYMBOL_GPL(rblk_wire_encode);

static int rblk_wire_decode_hdr(const void *buf, size_t len, struct rblk_msg *msg)
{
	struct rblk_wire_hdr hdr;
	u16 status;

	if (len < sizeof(hdr) || len > RBLK_MSG_SIZE)
		return -EBADMSG;
	memcpy(&hdr, buf, sizeof(hdr));
	status = le16_to_cpu(hdr.status);
	if (le32_to_cpu(hdr.len) != len || !rblk_status_known(status))
		return -EBADMSG;
	msg->type = le16_to_cpu(hdr.type);
	msg->status = status;
	msg->tag = le32_to_cpu(hdr.tag);
	return 0;
}

/**
 * rblk_wire_decode - check a control message
 * @buf: what came; any alignment
 * @len: bytes of it
 * @msg: to fill in; the keys of an EXTENTS reply stay in @buf, aligned to 4
 *	bytes if @buf is
 *
 * That a message fits the state of the connection, and a reply its request, is
 * for the caller to check; so are mandatory features, see
 * rblk_wire_unknown_features().
 *
 * Context: Any.
 * Return: 0; -EBADMSG if it makes no sense, then @msg is all zero.
 */
int rblk_wire_decode(const void *buf, size_t len, struct rblk_msg *msg)
{
	const struct rblk_codec *codec;
	size_t body;

	memset(msg, 0, sizeof(*msg));
	if (rblk_wire_decode_hdr(buf, len, msg))
		goto bad;
	codec = rblk_codec_find(msg->type);
	if (!codec)
		goto bad;
	body = len - sizeof(struct rblk_wire_hdr);
	if (msg->status != RBLK_OK) {
		if (!(msg->type & RBLK_MSG_REPLY) || body)
			goto bad;
		return 0;
	}
	if (body < codec->body)
		goto bad;
	if (codec->decode) {
		codec->decode(buf + sizeof(struct rblk_wire_hdr), msg);
		if (!codec->ok(msg))
			goto bad;
	}
	if (body != codec->body + rblk_msg_tail(msg))
		goto bad;
	return 0;

bad:
	memset(msg, 0, sizeof(*msg));
	return -EBADMSG;
}
EXPORT_SYMBOL_GPL(rblk_wire_decode);

/**
 * rblk_wire_unknown_features - what a peer insists on and we do not know
 * @mandatory: from the peer's HELLO or its reply
 *
 * Context: Any.
 * Return: the unknown bits, 0 if we can go on.
 */
u64 rblk_wire_unknown_features(u64 mandatory)
{
	return mandatory & ~RBLK_FEATURES;
}
EXPORT_SYMBOL_GPL(rblk_wire_unknown_features);
