/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rblk

#if !defined(_RBLK_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _RBLK_TRACE_H

#include <linux/tracepoint.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include <rblk/conn.h>
#include <rblk/path_state.h>

/* A connection is told apart by its pointer, hashed as %p prints it. */
DECLARE_EVENT_CLASS(rblk_conn_class,
	TP_PROTO(const struct rblk_conn *conn),
	TP_ARGS(conn),
	TP_STRUCT__entry(
		__field(const void *, conn)
		__field(u32, qpn)
	),
	TP_fast_assign(
		__entry->conn = conn;
		__entry->qpn = conn->qpn;
	),
	TP_printk("conn=%p qpn=%u", __entry->conn, __entry->qpn)
);

DEFINE_EVENT(rblk_conn_class, rblk_conn_established,
	TP_PROTO(const struct rblk_conn *conn), TP_ARGS(conn));

DEFINE_EVENT(rblk_conn_class, rblk_conn_destroy,
	TP_PROTO(const struct rblk_conn *conn), TP_ARGS(conn));

TRACE_EVENT(rblk_conn_connect,
	TP_PROTO(const struct rblk_conn *conn, const struct rblk_req *req),
	TP_ARGS(conn, req),
	TP_STRUCT__entry(
		__field(const void *, conn)
		__field(u32, generation)
		__field(u16, kind)
		__field(u16, path)
		__field(u16, queue)
	),
	TP_fast_assign(
		__entry->conn = conn;
		__entry->generation = req->generation;
		__entry->kind = req->kind;
		__entry->path = req->path;
		__entry->queue = req->queue;
	),
	TP_printk("conn=%p kind=%u path=%u generation=%u queue=%u", __entry->conn,
		  __entry->kind, __entry->path, __entry->generation, __entry->queue)
);

/* READs in flight that a queue pair may have: its own, and those of the peer. */
TRACE_EVENT(rblk_conn_reads,
	TP_PROTO(const struct rblk_conn *conn, const struct ib_qp_attr *attr),
	TP_ARGS(conn, attr),
	TP_STRUCT__entry(
		__field(const void *, conn)
		__field(u8, init)
		__field(u8, resp)
	),
	TP_fast_assign(
		__entry->conn = conn;
		__entry->init = attr->max_rd_atomic;
		__entry->resp = attr->max_dest_rd_atomic;
	),
	TP_printk("conn=%p init=%u resp=%u", __entry->conn, __entry->init, __entry->resp)
);

TRACE_EVENT(rblk_conn_cm_event,
	TP_PROTO(const struct rblk_conn *conn, u32 event, int status),
	TP_ARGS(conn, event, status),
	TP_STRUCT__entry(
		__field(const void *, conn)
		__field(u32, event)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->conn = conn;
		__entry->event = event;
		__entry->status = status;
	),
	TP_printk("conn=%p event=%u status=%d", __entry->conn, __entry->event,
		  __entry->status)
);

TRACE_EVENT(rblk_conn_error,
	TP_PROTO(const struct rblk_conn *conn, int err, const char *what),
	TP_ARGS(conn, err, what),
	TP_STRUCT__entry(
		__field(const void *, conn)
		__field(int, err)
		__string(what, what)
	),
	TP_fast_assign(
		__entry->conn = conn;
		__entry->err = err;
		__assign_str(what);
	),
	TP_printk("conn=%p err=%d %s", __entry->conn, __entry->err, __get_str(what))
);

TRACE_EVENT(rblk_reject,
	TP_PROTO(u32 status),
	TP_ARGS(status),
	TP_STRUCT__entry(__field(u32, status)),
	TP_fast_assign(__entry->status = status;),
	TP_printk("status=%u", __entry->status)
);

TRACE_EVENT(rblk_mr_register,
	TP_PROTO(const struct rblk_conn *conn, const struct ib_mr *mr, int access, int err),
	TP_ARGS(conn, mr, access, err),
	TP_STRUCT__entry(
		__field(const void *, conn)
		__field(u64, iova)
		__field(u64, length)
		__field(int, access)
		__field(int, err)
	),
	TP_fast_assign(
		__entry->conn = conn;
		__entry->iova = mr->iova;
		__entry->length = mr->length;
		__entry->access = access;
		__entry->err = err;
	),
	TP_printk("conn=%p iova=%llu length=%llu access=%#x err=%d", __entry->conn,
		  __entry->iova, __entry->length, __entry->access, __entry->err)
);

TRACE_EVENT(rblk_path_state,
	TP_PROTO(u32 path, u32 generation, u32 from, u32 to),
	TP_ARGS(path, generation, from, to),
	TP_STRUCT__entry(
		__field(u32, path)
		__field(u32, generation)
		__field(u32, from)
		__field(u32, to)
	),
	TP_fast_assign(
		__entry->path = path;
		__entry->generation = generation;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("path=%u generation=%u from=%u to=%u", __entry->path,
		  __entry->generation, __entry->from, __entry->to)
);

TRACE_EVENT(rblk_request_start,
	TP_PROTO(u32 device, u32 queue, u32 tag, u64 offset, u32 len, bool write, bool mr),
	TP_ARGS(device, queue, tag, offset, len, write, mr),
	TP_STRUCT__entry(
		__field(u32, device)
		__field(u32, queue)
		__field(u32, tag)
		__field(u64, offset)
		__field(u32, len)
		__field(bool, write)
		__field(bool, mr)
	),
	TP_fast_assign(
		__entry->device = device;
		__entry->queue = queue;
		__entry->tag = tag;
		__entry->offset = offset;
		__entry->len = len;
		__entry->write = write;
		__entry->mr = mr;
	),
	TP_printk("rblk%u queue=%u tag=%u %s offset=%llu len=%u%s", __entry->device,
		  __entry->queue, __entry->tag, __entry->write ? "write" : "read",
		  __entry->offset, __entry->len, __entry->mr ? " mr" : "")
);

TRACE_EVENT(rblk_request_end,
	TP_PROTO(u32 device, u32 queue, u32 tag, int status),
	TP_ARGS(device, queue, tag, status),
	TP_STRUCT__entry(
		__field(u32, device)
		__field(u32, queue)
		__field(u32, tag)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->device = device;
		__entry->queue = queue;
		__entry->tag = tag;
		__entry->status = status;
	),
	TP_printk("rblk%u queue=%u tag=%u status=%d", __entry->device, __entry->queue,
		  __entry->tag, __entry->status)
);

#endif /* _RBLK_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH rblk
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
