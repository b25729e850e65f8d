/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests to a disk, and the responses: messages of a disk connection. They have no header;
 * a request and its response name each other by the tag, and by its turn. Everything is
 * little-endian and padded by hand.
 *
 * Nothing outside ulp/core/io_wire.c touches a struct rblk_wire_io_*: all others use the
 * decoded forms, whose fields were checked, whichever side sent them.
 */
#ifndef _RBLK_IO_WIRE_H
#define _RBLK_IO_WIRE_H

#include <linux/bits.h>
#include <linux/blk_types.h>
#include <linux/build_bug.h>
#include <linux/limits.h>
#include <linux/types.h>

enum rblk_io_op {
	RBLK_IO_READ = 1,
	RBLK_IO_WRITE = 2,
	RBLK_IO_FLUSH = 3,
	RBLK_IO_DISCARD = 4,
	RBLK_IO_WRITE_ZEROES = 5,
	RBLK_IO_SECURE_ERASE = 6,
};

#define RBLK_IO_FUA		BIT(0)	/* WRITE, WRITE_ZEROES: it is stable when it is answered */
#define RBLK_IO_NO_UNMAP	BIT(1)	/* WRITE_ZEROES: what is zeroed stays allocated */

/* Of a response. Values are on the wire: add at the end, never renumber. */
enum rblk_io_status {
	RBLK_IO_OK = 0,
	RBLK_IO_ERROR,		/* of the disk, of no kind that follows */
	RBLK_IO_NOT_SUPPORTED,
	RBLK_IO_NO_SPACE,
	RBLK_IO_MEDIUM,
	RBLK_IO_TARGET,
	RBLK_IO_PROTECTION,
	RBLK_IO_TIMEOUT,
	RBLK_IO_RESERVATION,
	RBLK_IO_GONE,		/* the disk is no more, for good */
	RBLK_IO_STATUS_NR
};

/**
 * struct rblk_wire_io_req - a request, from the client
 * @op: enum rblk_io_op
 * @flags: RBLK_IO_FUA, RBLK_IO_NO_UNMAP
 * @tag: below the depth of the connection; of one request at a time
 * @handle: of the open
 * @offset: bytes, a multiple of 512; 0 for a flush
 * @length: bytes, a multiple of 512, not 0; 0 for a flush
 * @rkey: of the client's memory, to which a read writes, or from which a write is read; 0
 *	for all others
 * @address: of the data under that key; 0 where there is none
 * @turn: of the tag: one more with each use of it on this connection, from 1 on
 * @reserved: 0
 */
struct rblk_wire_io_req {
	u8	op;
	u8	flags;
	__le16	tag;
	__le32	handle;
	__le64	offset;
	__le32	length;
	__le32	rkey;
	__le64	address;
	__le32	turn;
	__le32	reserved;
};

static_assert(sizeof(struct rblk_wire_io_req) == 40);

/**
 * struct rblk_wire_io_rsp - a response, from the server
 * @tag: of the request
 * @status: enum rblk_io_status
 * @reserved0: 0
 * @turn: of the request
 * @reserved1: 0
 *
 * It is sent with invalidation of the request's key.
 */
struct rblk_wire_io_rsp {
	__le16	tag;
	u8	status;
	u8	reserved0;
	__le32	turn;
	__le64	reserved1;
};

static_assert(sizeof(struct rblk_wire_io_rsp) == 16);

/* Decoded forms, in host order, every field in its range. */

struct rblk_io_req {
	enum rblk_io_op	op;
	u8		flags;
	u16		tag;
	u32		handle;
	u64		offset;
	u32		length;
	u32		rkey;
	u64		address;
	u32		turn;
};

struct rblk_io_rsp {
	u16			tag;
	enum rblk_io_status	status;
	u32			turn;
};

/* 0 is never a turn. */
static inline u32 rblk_io_next_turn(u32 turn)
{
	return turn == U32_MAX ? 1 : turn + 1;
}

int rblk_io_encode_req(const struct rblk_io_req *req, struct rblk_wire_io_req *wire);
int rblk_io_decode_req(const void *data, size_t len, struct rblk_io_req *req);
int rblk_io_encode_rsp(const struct rblk_io_rsp *rsp, struct rblk_wire_io_rsp *wire);
int rblk_io_decode_rsp(const void *data, size_t len, struct rblk_io_rsp *rsp);
enum rblk_io_status rblk_io_status_from_blk(blk_status_t status);
blk_status_t rblk_io_status_to_blk(enum rblk_io_status status);

#endif /* _RBLK_IO_WIRE_H */
