// SPDX-License-Identifier: GPL-2.0
/* Fillers of the server's objects, and the notifications that use them. */
#include <net/genetlink.h>
#include <net/net_namespace.h>
#include <uapi/linux/rblk_server.h>
#include "netlink_fill.h"
#include "netlink_gen.h"

/* The family is there; under rblk_srv_lock. */
static bool rblk_srv_events_on;

/**
 * rblk_srv_events - send events, or send none any more
 * @on: the netlink family is registered
 *
 * Context: Process context. Sleeps.
 */
void rblk_srv_events(bool on)
{
	mutex_lock(&rblk_srv_lock);
	rblk_srv_events_on = on;
	mutex_unlock(&rblk_srv_lock);
}

static int rblk_srv_put_addr(struct sk_buff *skb, int attr, const struct sockaddr_storage *addr)
{
	u8 data[RBLK_ADDR_LEN];

	rblk_addr_encode(addr, data);
	return nla_put(skb, attr, sizeof(data), data);
}

static int rblk_srv_finish(struct sk_buff *skb, void *hdr, int err)
{
	if (err)
		genlmsg_cancel(skb, hdr);
	else
		genlmsg_end(skb, hdr);
	return err;
}

/**
 * rblk_srv_fill_export - put an export into a message
 * @skb: the message
 * @export: the export
 * @portid: whom it is for
 * @seq: of the request
 * @flags: of the message
 * @cmd: which it is
 *
 * Context: Process context. Does not sleep. The caller holds rblk_srv_lock.
 * Return: 0, or -EMSGSIZE and @skb is as before.
 */
int rblk_srv_fill_export(struct sk_buff *skb, const struct rblk_srv_export *export,
			 u32 portid, u32 seq, int flags, u8 cmd)
{
	void *hdr = genlmsg_put(skb, portid, seq, &rblk_server_nl_family, flags, cmd);
	int err = 0;
	u32 i;

	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_string(skb, RBLK_SERVER_A_EXPORT_NAME, export->name) ||
	    nla_put_uint(skb, RBLK_SERVER_A_EXPORT_SIZE, export->size) ||
	    (export->numa_node != NUMA_NO_NODE &&
	     nla_put_s32(skb, RBLK_SERVER_A_EXPORT_NUMA_NODE, export->numa_node)) ||
	    (export->allow_any && nla_put_flag(skb, RBLK_SERVER_A_EXPORT_ALLOW_ANY)) ||
	    (export->shared && nla_put_flag(skb, RBLK_SERVER_A_EXPORT_SHARED)) ||
	    (export->read_only && nla_put_flag(skb, RBLK_SERVER_A_EXPORT_READ_ONLY)) ||
	    nla_put(skb, RBLK_SERVER_A_EXPORT_INCARNATION, sizeof(uuid_t),
		    &export->incarnation) ||
	    nla_put_u32(skb, RBLK_SERVER_A_EXPORT_BACKING,
			export->disk ? RBLK_SERVER_BACKING_DISK : RBLK_SERVER_BACKING_MEMORY) ||
	    (export->disk &&
	     nla_put_string(skb, RBLK_SERVER_A_EXPORT_DEVICE, export->disk->path)) ||
	    (export->disk && READ_ONCE(export->disk->failed) &&
	     nla_put_flag(skb, RBLK_SERVER_A_EXPORT_FAILED)) ||
	    nla_put_u32(skb, RBLK_SERVER_A_EXPORT_BLOCK_SIZE, rblk_srv_block_size(export)) ||
	    nla_put_u32(skb, RBLK_SERVER_A_EXPORT_READERS, export->readers) ||
	    nla_put_u32(skb, RBLK_SERVER_A_EXPORT_WRITERS, export->writers))
		err = -EMSGSIZE;
	for (i = 0; !err && i < export->nr_allow; i++)
		err = nla_put_string(skb, RBLK_SERVER_A_EXPORT_ALLOW, export->allow[i]);
	return rblk_srv_finish(skb, hdr, err);
}

/**
 * rblk_srv_fill_listener - put a listener into a message
 * @skb: the message
 * @info: the listener
 * @portid: whom it is for
 * @seq: of the request
 * @flags: of the message
 * @cmd: which it is
 *
 * Context: Process context. Does not sleep.
 * Return: 0, or -EMSGSIZE and @skb is as before.
 */
int rblk_srv_fill_listener(struct sk_buff *skb, const struct rblk_srv_listener_info *info,
			   u32 portid, u32 seq, int flags, u8 cmd)
{
	void *hdr = genlmsg_put(skb, portid, seq, &rblk_server_nl_family, flags, cmd);
	u32 state = info->listening ? RBLK_SERVER_LISTENER_STATE_LISTENING :
				      RBLK_SERVER_LISTENER_STATE_WAITING;
	int err = 0;

	if (!hdr)
		return -EMSGSIZE;
	if (rblk_srv_put_addr(skb, RBLK_SERVER_A_LISTENER_ADDR, &info->addr) ||
	    nla_put_u32(skb, RBLK_SERVER_A_LISTENER_STATE, state) ||
	    (info->rdma_device[0] &&
	     nla_put_string(skb, RBLK_SERVER_A_LISTENER_RDMA_DEVICE, info->rdma_device)) ||
	    (info->error && nla_put_string(skb, RBLK_SERVER_A_LISTENER_ERROR, info->error)))
		err = -EMSGSIZE;
	return rblk_srv_finish(skb, hdr, err);
}

static int rblk_srv_fill_path(struct sk_buff *skb, struct rblk_srv_path *path)
{
	struct nlattr *nest = nla_nest_start(skb, RBLK_SERVER_A_SESSION_PATH);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(skb, RBLK_SERVER_A_PATH_INDEX, path->index) ||
	    nla_put_u32(skb, RBLK_SERVER_A_PATH_GENERATION, path->generation) ||
	    rblk_srv_put_addr(skb, RBLK_SERVER_A_PATH_CLIENT, &path->client) ||
	    rblk_srv_put_addr(skb, RBLK_SERVER_A_PATH_LOCAL, &path->local) ||
	    (path->rdma_device[0] &&
	     nla_put_string(skb, RBLK_SERVER_A_PATH_RDMA_DEVICE, path->rdma_device)) ||
	    nla_put_u32(skb, RBLK_SERVER_A_PATH_QUEUES, READ_ONCE(path->nr_up)) ||
	    (READ_ONCE(path->state) == RBLK_SRV_READY &&
	     nla_put_flag(skb, RBLK_SERVER_A_PATH_LIVE)) ||
	    nla_put_uint(skb, RBLK_SERVER_A_PATH_MESSAGES,
			 atomic64_read(&path->control.messages))) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * rblk_srv_fill_session - put a session into a message
 * @skb: the message
 * @session: the session
 * @portid: whom it is for
 * @seq: of the request
 * @flags: of the message
 * @cmd: which it is
 *
 * Context: Process context. Does not sleep. The caller holds rblk_srv_lock.
 * Return: 0, or -EMSGSIZE and @skb is as before.
 */
int rblk_srv_fill_session(struct sk_buff *skb, struct rblk_srv_session *session,
			  u32 portid, u32 seq, int flags, u8 cmd)
{
	bool alone = !skb->len;
	void *hdr = genlmsg_put(skb, portid, seq, &rblk_server_nl_family, flags, cmd);
	const struct rblk_srv_open *open;
	struct rblk_srv_path *path;
	int err = 0, list = 0;

	if (!hdr)
		return -EMSGSIZE;
	if (nla_put(skb, RBLK_SERVER_A_SESSION_ID, sizeof(uuid_t), &session->id) ||
	    nla_put_string(skb, RBLK_SERVER_A_SESSION_CLIENT_NAME, session->client))
		err = -EMSGSIZE;
	list_for_each_entry(path, &session->paths, session_entry) {
		if (!list)
			list = rblk_srv_fill_path(skb, path);
		list_for_each_entry(open, &path->opens, entry)
			if (!list)
				list = nla_put_string(skb, RBLK_SERVER_A_SESSION_EXPORT,
						      open->export->name);
	}
	/* One that fits no message is cut short: it must not hide those behind it. */
	return rblk_srv_finish(skb, hdr, err ?: alone ? 0 : list);
}

/* An event is a courtesy: it must never make anything wait for memory. */
static struct sk_buff *rblk_srv_event_new(size_t size)
{
	return genlmsg_new(size, GFP_NOWAIT | __GFP_NOWARN);
}

static void rblk_srv_event_send(struct sk_buff *skb, int err)
{
	lockdep_assert_held(&rblk_srv_lock);
	if (err || !rblk_srv_events_on)
		nlmsg_free(skb);
	else
		genlmsg_multicast_netns(&rblk_server_nl_family, &init_net, skb, 0,
					RBLK_SERVER_NLGRP_EVENTS, GFP_NOWAIT);
}

/**
 * rblk_srv_notify_export - tell who listens that an export came, changed or goes
 * @export: the export
 * @cmd: RBLK_SERVER_CMD_EXPORT_*_NTF
 *
 * Context: Process context. Does not sleep. The caller holds rblk_srv_lock.
 */
void rblk_srv_notify_export(struct rblk_srv_export *export, u8 cmd)
{
	struct sk_buff *skb = rblk_srv_event_new(RBLK_SRV_EXPORT_MSG_SIZE);

	lockdep_assert_held(&rblk_srv_lock);
	if (skb)
		rblk_srv_event_send(skb, rblk_srv_fill_export(skb, export, 0, 0, 0, cmd));
}

/**
 * rblk_srv_notify_session - tell who listens that a session came, changed or goes
 * @session: the session
 * @cmd: RBLK_SERVER_CMD_SESSION_*_NTF
 *
 * Context: Process context. Does not sleep. The caller holds rblk_srv_lock.
 */
void rblk_srv_notify_session(struct rblk_srv_session *session, u8 cmd)
{
	struct sk_buff *skb = rblk_srv_event_new(RBLK_SRV_SESSION_MSG_SIZE);

	lockdep_assert_held(&rblk_srv_lock);
	if (skb)
		rblk_srv_event_send(skb, rblk_srv_fill_session(skb, session, 0, 0, 0, cmd));
}

/**
 * rblk_srv_notify_listener - tell who listens that a listener came, changed or went
 * @info: the listener
 *
 * Context: Process context. Does not sleep. The caller holds rblk_srv_lock.
 */
void rblk_srv_notify_listener(const struct rblk_srv_listener_info *info)
{
	struct sk_buff *skb = rblk_srv_event_new(GENLMSG_DEFAULT_SIZE);

	u8 cmd = RBLK_SERVER_CMD_LISTENER_CHANGE_NTF;

	if (skb)
		rblk_srv_event_send(skb, rblk_srv_fill_listener(skb, info, 0, 0, 0, cmd));
}
