/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The wire format of rblk: private data of the connection set-up, and messages
 * of the control connection. Everything is little-endian and padded by hand.
 *
 * Nothing outside ulp/core/wire.c and wire_limits.c touches a struct rblk_wire_*: all
 * others use the decoded forms, whose fields were checked, whichever side sent them.
 */
#ifndef _RBLK_WIRE_H
#define _RBLK_WIRE_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/types.h>
#include <linux/uuid.h>
#include <rblk/status.h>

#define RBLK_WIRE_MAGIC		0x6b6c6272	/* "rblk" in memory */
#define RBLK_WIRE_VERSION	1
#define RBLK_PORT		7471

#define RBLK_NAME_MAX		63	/* bytes, without the NUL */
#define RBLK_NAME_SIZE		(RBLK_NAME_MAX + 1)
#define RBLK_MSG_SIZE		4096	/* largest control message, bytes */

#define RBLK_QUEUES_MAX		128	/* I/O connections of a path */
#define RBLK_DEPTH_MAX		1024	/* requests in flight on one of them */
#define RBLK_PATHS_MAX		64	/* paths of a session */
#define RBLK_EXTENT_SHIFT_MIN	21	/* 2 MiB */
#define RBLK_EXTENT_SHIFT_MAX	30	/* 1 GiB */
#define RBLK_SIZE_MAX		BIT_ULL(50)	/* bytes of an export */
#define RBLK_EXTENTS_MAX	0x1000000U	/* 64 MiB each: 1 PiB */

/* Features, both ways. A peer refuses mandatory bits it does not know. */
#define RBLK_FEATURES		0ULL

enum rblk_conn_kind {
	RBLK_CONN_CONTROL = 1,
	RBLK_CONN_IO = 2,
	RBLK_CONN_DISK = 3,	/* requests to disks */
};

enum rblk_wire_backing {
	RBLK_WIRE_MEMORY = 1,
	RBLK_WIRE_DISK = 2,	/* has no extents: extent_shift and extents are 0 */
};

/**
 * struct rblk_wire_req - private data of a connect request, at most 56 bytes
 * @cma: stays 0: rdma_cm may use these bytes with AF_IB addresses
 * @version: RBLK_WIRE_VERSION
 * @magic: RBLK_WIRE_MAGIC
 * @kind: enum rblk_conn_kind
 * @reserved0: 0
 * @queue: index of an I/O or disk connection, 0 for a control connection
 * @depth: requests in flight that the client wants on it
 * @path: index of the path in its session
 * @session: id of the session
 * @generation: of the path
 * @reserved1: 0
 * @token: from the hello reply, shows that an I/O or disk connection belongs to the
 *	path; 0 for a control connection
 */
struct rblk_wire_req {
	u8	cma[2];
	__le16	version;
	__le32	magic;
	u8	kind;
	u8	reserved0;
	__le16	queue;
	__le16	depth;
	__le16	path;
	u8	session[16];
	__le32	generation;
	__le32	reserved1;
	__le64	token;
};

static_assert(sizeof(struct rblk_wire_req) == 48);

/**
 * struct rblk_wire_rep - private data of an accept (at most 196 bytes) and of a
 *	reject (at most 148 bytes)
 * @magic: RBLK_WIRE_MAGIC
 * @version: the version the server speaks
 * @status: enum rblk_status: RBLK_OK in an accept, the reason in a reject
 * @depth: requests in flight that the server allows on this connection, at least
 *	1; 0 in a reject
 * @reserved: 0
 */
struct rblk_wire_rep {
	__le32	magic;
	__le16	version;
	__le16	status;
	__le16	depth;
	u8	reserved[6];
};

static_assert(sizeof(struct rblk_wire_rep) == 16);

/* Messages of the control connection. A reply has the top bit set. */
enum rblk_msg_type {
	RBLK_MSG_HELLO = 1,
	RBLK_MSG_READY = 2,
	RBLK_MSG_OPEN = 3,
	RBLK_MSG_EXTENTS = 4,
	RBLK_MSG_CLOSE = 5,
	RBLK_MSG_PING = 6,
	RBLK_MSG_REVOKE = 7,
	RBLK_MSG_FENCE = 8,
	RBLK_MSG_RESIZE = 9,
	RBLK_MSG_LIMITS = 10,
	RBLK_MSG_REPLY = 0x8000,
};

/**
 * struct rblk_wire_hdr - starts every control message
 * @type: enum rblk_msg_type
 * @status: enum rblk_status in a reply, 0 otherwise; a reply with another
 *	status than RBLK_OK is this header alone
 * @len: bytes of the whole message, this header included
 * @tag: chosen by the asking side, repeated in the reply
 * @reserved: 0
 */
struct rblk_wire_hdr {
	__le16	type;
	__le16	status;
	__le32	len;
	__le32	tag;
	__le32	reserved;
};

static_assert(sizeof(struct rblk_wire_hdr) == 16);

/* HELLO, the first message, from the client. */
struct rblk_wire_hello {
	__le64	features;	/* known */
	__le64	mandatory;	/* refuse me if you do not know them */
	char	client[RBLK_NAME_SIZE];
	__le16	queues;		/* I/O connections wanted */
	__le16	depth;
	__le32	reserved;
};

static_assert(sizeof(struct rblk_wire_hello) == 88);

struct rblk_wire_hello_reply {
	__le64	features;
	__le64	mandatory;
	u8	server[16];	/* new each time the server module is loaded */
	__le64	token;
	__le16	queues;		/* I/O connections allowed */
	__le16	depth;
	__le32	device;		/* where the path ends: a number of the server's; 0 is unknown */
};

static_assert(sizeof(struct rblk_wire_hello_reply) == 48);

/* READY: all I/O connections of the path are up. The reply is a header. */
struct rblk_wire_ready {
	__le16	queues;
	u8	reserved[6];
};

static_assert(sizeof(struct rblk_wire_ready) == 8);

#define RBLK_OPEN_READ_ONLY	BIT(0)
#define RBLK_OPEN_SHARED	BIT(1)	/* in the reply only */
#define RBLK_OPEN_STEAL		BIT(2)	/* in the request only: from another writer */
#define RBLK_OPEN_AGAIN		BIT(3)	/* the same: it was open for writing before */
#define RBLK_OPEN_FLAGS		(RBLK_OPEN_READ_ONLY | RBLK_OPEN_SHARED)

struct rblk_wire_open {
	char	export[RBLK_NAME_SIZE];
	__le32	flags;
	__le32	writer_epoch;	/* with RBLK_OPEN_AGAIN: as it was */
};

static_assert(sizeof(struct rblk_wire_open) == 72);

struct rblk_wire_open_reply {
	__le32	handle;		/* names the open export on this path */
	__le32	flags;
	__le64	size;		/* bytes */
	u8	incarnation[16];
	__le32	block_size;	/* logical, bytes */
	u8	extent_shift;
	u8	backing;	/* enum rblk_wire_backing */
	u8	reserved0[2];
	__le32	extents;
	__le32	writer_epoch;	/* counts sessions that opened it for writing */
};

static_assert(sizeof(struct rblk_wire_open_reply) == 48);

/* EXTENTS: the remote keys of an open memory export, from one on. */
struct rblk_wire_extents {
	__le32	handle;
	__le32	first;
};

static_assert(sizeof(struct rblk_wire_extents) == 8);

struct rblk_wire_extents_reply {
	__le32	handle;
	__le32	first;
	__le32	count;
	__le32	reserved;
	__le32	rkeys[];
};

static_assert(sizeof(struct rblk_wire_extents_reply) == 16);

#define RBLK_RKEYS_MAX	((RBLK_MSG_SIZE - sizeof(struct rblk_wire_hdr) - \
			  sizeof(struct rblk_wire_extents_reply)) / sizeof(__le32))

/*
 * CLOSE, from the client: the reply is a header. After it, no key of the open is
 * valid.
 */
struct rblk_wire_close {
	__le32	handle;
	__le32	reserved;
};

static_assert(sizeof(struct rblk_wire_close) == 8);

/*
 * REVOKE, from the server, has no reply: the client ends its I/O on the open and closes
 * it, or loses the path.
 */
struct rblk_wire_revoke {
	__le32	handle;
	__le16	reason;		/* enum rblk_status: RBLK_OK the export was removed */
	__le16	reserved;
};

static_assert(sizeof(struct rblk_wire_revoke) == 8);

/*
 * FENCE, from the client, about another path of its session: the reply is a header. After
 * it nothing that was sent on that path, in this generation or an older one, has any
 * effect any more, and no such connection is accepted.
 */
struct rblk_wire_fence {
	__le16	path;
	__le16	reserved;
	__le32	generation;
};

static_assert(sizeof(struct rblk_wire_fence) == 8);

/*
 * RESIZE, from the server, has no reply: the open has another size from now on. With the
 * incarnation as it was it is larger; with another one it is smaller, and what was beyond is
 * lost. From the client, who repeats it, it is a question, and the reply is a header: it has
 * the keys for that size and uses none any more that are not of it.
 */
struct rblk_wire_resize {
	__le32	handle;
	__le32	reserved;
	__le64	size;		/* bytes */
	u8	incarnation[16];
};

static_assert(sizeof(struct rblk_wire_resize) == 32);

/* LIMITS, from the client, of an open disk. */
struct rblk_wire_limits {
	__le32	handle;
	__le32	reserved;
};

static_assert(sizeof(struct rblk_wire_limits) == 8);

#define RBLK_LIMITS_WRITE_CACHE	BIT(0)	/* what is written is stable after a flush only */
#define RBLK_LIMITS_FUA		BIT(1)	/* with a write cache only */
#define RBLK_LIMITS_ROTATIONAL	BIT(2)
#define RBLK_LIMITS_FLAGS	(RBLK_LIMITS_WRITE_CACHE | RBLK_LIMITS_FUA | RBLK_LIMITS_ROTATIONAL)

/* All in bytes; 0 is unknown, or that the disk cannot do it. */
struct rblk_wire_limits_reply {
	__le32	handle;
	__le32	flags;
	__le32	physical_block_size;
	__le32	io_min;
	__le32	io_opt;
	__le32	max_io;			/* of a read or a write, at least a page of 4 KiB */
	__le32	max_discard;
	__le32	discard_granularity;	/* not 0 where max_discard is not */
	__le32	discard_alignment;
	__le32	max_write_zeroes;
	__le32	max_secure_erase;
	__le32	reserved;
};

static_assert(sizeof(struct rblk_wire_limits_reply) == 48);

/* Decoded forms, in host order, every field in its range. */

struct rblk_req {
	u16			version;
	enum rblk_conn_kind	kind;
	u16			queue;
	u16			depth;
	u16			path;
	uuid_t			session;
	u32			generation;
	u64			token;
};

struct rblk_rep {
	u16			version;
	enum rblk_status	status;
	u16			depth;
};

struct rblk_msg_hello {
	u64	features;
	u64	mandatory;
	char	client[RBLK_NAME_SIZE];
	u16	queues;
	u16	depth;
};

struct rblk_msg_hello_reply {
	u64	features;
	u64	mandatory;
	uuid_t	server;
	u64	token;
	u16	queues;
	u16	depth;
	u32	device;
};

struct rblk_msg_ready {
	u16	queues;
};

struct rblk_msg_open {
	char	export[RBLK_NAME_SIZE];
	u32	flags;
	u32	writer_epoch;
};

struct rblk_msg_open_reply {
	u32			handle;
	u32			flags;
	u64			size;
	uuid_t			incarnation;
	u32			block_size;
	u8			extent_shift;
	enum rblk_wire_backing	backing;
	u32			extents;
	u32			writer_epoch;
};

struct rblk_msg_extents {
	u32	handle;
	u32	first;
};

struct rblk_msg_extents_reply {
	u32		handle;
	u32		first;
	u32		count;
	const u32	*rkeys;		/* to encode */
	const __le32	*wire_rkeys;	/* decoded: in the message's buffer */
};

struct rblk_msg_close {
	u32	handle;
};

struct rblk_msg_revoke {
	u32			handle;
	enum rblk_status	reason;
};

struct rblk_msg_fence {
	u16	path;
	u32	generation;
};

struct rblk_msg_resize {
	u32	handle;
	u64	size;
	uuid_t	incarnation;
};

struct rblk_msg_limits {
	u32	handle;
};

struct rblk_msg_limits_reply {
	u32	handle;
	u32	flags;
	u32	physical_block_size;
	u32	io_min;
	u32	io_opt;
	u32	max_io;
	u32	max_discard;
	u32	discard_granularity;
	u32	discard_alignment;
	u32	max_write_zeroes;
	u32	max_secure_erase;
};

/**
 * struct rblk_msg - a control message, decoded or to be encoded
 * @type: enum rblk_msg_type, with RBLK_MSG_REPLY in a reply
 * @status: of a reply; with another than RBLK_OK no body follows
 * @tag: which request a reply answers
 * @hello: body of HELLO
 * @hello_reply: body of its reply
 * @ready: body of READY
 * @open: body of OPEN
 * @open_reply: body of its reply
 * @extents: body of EXTENTS
 * @extents_reply: body of its reply
 * @close: body of CLOSE
 * @revoke: body of REVOKE
 * @fence: body of FENCE
 * @resize: body of RESIZE
 * @limits: body of LIMITS
 * @limits_reply: body of its reply
 */
struct rblk_msg {
	u16			type;
	enum rblk_status	status;
	u32			tag;
	union {
		struct rblk_msg_hello		hello;
		struct rblk_msg_hello_reply	hello_reply;
		struct rblk_msg_ready		ready;
		struct rblk_msg_open		open;
		struct rblk_msg_open_reply	open_reply;
		struct rblk_msg_extents		extents;
		struct rblk_msg_extents_reply	extents_reply;
		struct rblk_msg_close		close;
		struct rblk_msg_revoke		revoke;
		struct rblk_msg_fence		fence;
		struct rblk_msg_resize		resize;
		struct rblk_msg_limits		limits;
		struct rblk_msg_limits_reply	limits_reply;
	};
};

void rblk_wire_encode_req(const struct rblk_req *req, struct rblk_wire_req *wire);
int rblk_wire_decode_req(const void *data, size_t len, struct rblk_req *req);
void rblk_wire_encode_rep(const struct rblk_rep *rep, struct rblk_wire_rep *wire);
int rblk_wire_decode_rep(const void *data, size_t len, struct rblk_rep *rep);
int rblk_wire_encode(const struct rblk_msg *msg, void *buf, size_t size);
int rblk_wire_decode(const void *buf, size_t len, struct rblk_msg *msg);
u64 rblk_wire_unknown_features(u64 mandatory);

#endif /* _RBLK_WIRE_H */
