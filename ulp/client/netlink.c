// SPDX-License-Identifier: GPL-2.0
/*
 * The bodies of the netlink operations. The tables around them are generated from
 * Documentation/netlink/specs/rblk-client.yaml. Get, dump and notification of an
 * object share one filler.
 */
#include <linux/blkdev.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include <rblk/name.h>
#include <uapi/linux/rblk_client.h>
#include "client.h"
#include "netlink.h"
#include "netlink_gen.h"

/* What a path takes in a message, with all its queues. */
#define RBLK_CLT_PATH_MSG	(512 + RBLK_QUEUES_MAX * sizeof(u32))

static_assert(RBLK_CLT_PATHS == RBLK_CLIENT_MAX_PATHS);
static_assert((int)RBLK_POLICY_PREFERRED == (int)RBLK_CLIENT_POLICY_PREFERRED);
static_assert((int)RBLK_POLICY_MIN_LATENCY == (int)RBLK_CLIENT_POLICY_MIN_LATENCY);

/* The family is there; under rblk_clt_lock. */
static bool rblk_clt_events_on;

static void rblk_clt_events(bool on)
{
	mutex_lock(&rblk_clt_lock);
	rblk_clt_events_on = on;
	mutex_unlock(&rblk_clt_lock);
}

static int rblk_clt_fill_queue(struct sk_buff *skb, const struct rblk_clt_device *dev, u32 i)
{
	const struct rblk_clt_stats *stats = &dev->stats[i];
	struct nlattr *nest = nla_nest_start(skb, RBLK_CLIENT_A_DEVICE_QUEUE);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(skb, RBLK_CLIENT_A_QUEUE_INDEX, i) ||
	    nla_put_uint(skb, RBLK_CLIENT_A_QUEUE_READS, READ_ONCE(stats->reads)) ||
	    nla_put_uint(skb, RBLK_CLIENT_A_QUEUE_WRITES, READ_ONCE(stats->writes)) ||
	    nla_put_uint(skb, RBLK_CLIENT_A_QUEUE_READ_BYTES, READ_ONCE(stats->read_bytes)) ||
	    nla_put_uint(skb, RBLK_CLIENT_A_QUEUE_WRITE_BYTES, READ_ONCE(stats->write_bytes)) ||
	    nla_put_uint(skb, RBLK_CLIENT_A_QUEUE_ERRORS, READ_ONCE(stats->errors))) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

static int rblk_clt_fill_device_facts(struct sk_buff *skb, struct rblk_clt_device *dev)
{
	struct rblk_clt_session *session = dev->session;
	bool disk = dev->backing == RBLK_WIRE_DISK;
	const char *what = NULL;
	u32 state = rblk_clt_device_state(dev, &what);
	struct sockaddr_storage server;

	rblk_clt_session_server(session, &server);
	if (nla_put_u32(skb, RBLK_CLIENT_A_DEVICE_INDEX, dev->index) ||
	    nla_put_string(skb, RBLK_CLIENT_A_DEVICE_NAME, dev->disk->disk_name) ||
	    nla_put_string(skb, RBLK_CLIENT_A_DEVICE_EXPORT, dev->export) ||
	    rblk_clt_put_addr(skb, RBLK_CLIENT_A_DEVICE_SERVER, &server) ||
	    nla_put_string(skb, RBLK_CLIENT_A_DEVICE_CLIENT_NAME, session->client) ||
	    (dev->read_only && nla_put_flag(skb, RBLK_CLIENT_A_DEVICE_READ_ONLY)) ||
	    nla_put_u32(skb, RBLK_CLIENT_A_DEVICE_QUEUES, dev->nr_queues) ||
	    nla_put_u32(skb, RBLK_CLIENT_A_DEVICE_DEPTH, session->tag_set.queue_depth) ||
	    nla_put_u32(skb, RBLK_CLIENT_A_DEVICE_STATE, state) ||
	    (state != RBLK_CLIENT_DEVICE_STATE_REMOVING && what &&
	     nla_put_string(skb, RBLK_CLIENT_A_DEVICE_REASON, what)) ||
	    nla_put_u32(skb, RBLK_CLIENT_A_DEVICE_NO_PATH_TIMEOUT_MS,
			READ_ONCE(dev->no_path_ms)) ||
	    nla_put_u32(skb, RBLK_CLIENT_A_DEVICE_POLICY, READ_ONCE(session->policy)) ||
	    nla_put_u32(skb, RBLK_CLIENT_A_DEVICE_WRITE_ORDER, READ_ONCE(session->write_order)) ||
	    (!session->reconnect && nla_put_flag(skb, RBLK_CLIENT_A_DEVICE_NO_RECONNECT)) ||
	    nla_put_uint(skb, RBLK_CLIENT_A_DEVICE_SIZE, dev->ext.size) ||
	    nla_put_u32(skb, RBLK_CLIENT_A_DEVICE_BLOCK_SIZE, dev->block_size) ||
	    (!disk &&
	     (nla_put_uint(skb, RBLK_CLIENT_A_DEVICE_EXTENT_SIZE, 1ULL << dev->ext.shift) ||
	      nla_put_u32(skb, RBLK_CLIENT_A_DEVICE_EXTENTS, dev->ext.nr))) ||
	    nla_put_u32(skb, RBLK_CLIENT_A_DEVICE_MAX_IO,
			disk ? min(dev->limits.max_io, session->plan.max_io) :
			       session->plan.max_io) ||
	    nla_put_u32(skb, RBLK_CLIENT_A_DEVICE_BACKING,
			disk ? RBLK_CLIENT_BACKING_DISK : RBLK_CLIENT_BACKING_MEMORY) ||
	    (dev->shared && nla_put_flag(skb, RBLK_CLIENT_A_DEVICE_SHARED)) ||
	    nla_put(skb, RBLK_CLIENT_A_DEVICE_INCARNATION, sizeof(uuid_t), &dev->incarnation) ||
	    nla_put(skb, RBLK_CLIENT_A_DEVICE_SESSION_ID, sizeof(uuid_t), &session->id) ||
	    nla_put_u32(skb, RBLK_CLIENT_A_DEVICE_OPENERS, disk_openers(dev->disk)))
		return -EMSGSIZE;
	return 0;
}

/* The caller holds rblk_clt_lock. */
static int rblk_clt_fill_device(struct sk_buff *skb, struct rblk_clt_device *dev, u32 portid,
				u32 seq, int flags, u8 cmd)
{
	void *hdr = genlmsg_put(skb, portid, seq, &rblk_client_nl_family, flags, cmd);
	int err;
	u32 i;

	if (!hdr)
		return -EMSGSIZE;
	err = rblk_clt_fill_device_facts(skb, dev);
	for (i = 0; !err && i < dev->nr_queues; i++)
		err = rblk_clt_fill_queue(skb, dev, i);
	if (err) {
		genlmsg_cancel(skb, hdr);
		return err;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/* The caller holds rblk_clt_lock. */
static int rblk_clt_fill_session(struct sk_buff *skb, struct rblk_clt_session *session,
				 u32 portid, u32 seq, int flags, u8 cmd)
{
	void *hdr = genlmsg_put(skb, portid, seq, &rblk_client_nl_family, flags, cmd);
	const struct rblk_clt_device *dev;
	u32 in_flight[RBLK_CLT_PATHS];
	u32 i, devices = 0;
	int err = 0;

	if (!hdr)
		return -EMSGSIZE;
	list_for_each_entry(dev, &rblk_clt_devices, entry)
		devices += dev->session == session;
	if (nla_put(skb, RBLK_CLIENT_A_SESSION_ID, sizeof(uuid_t), &session->id) ||
	    nla_put_string(skb, RBLK_CLIENT_A_SESSION_CLIENT_NAME, session->client) ||
	    (!uuid_is_null(&session->server_id) &&
	     nla_put(skb, RBLK_CLIENT_A_SESSION_SERVER_ID, sizeof(uuid_t),
		     &session->server_id)) ||
	    nla_put_u32(skb, RBLK_CLIENT_A_SESSION_DEVICES, devices))
		err = -EMSGSIZE;
	rblk_clt_in_flight(session, in_flight);
	for (i = 0; !err && i < RBLK_CLT_PATHS; i++)
		err = rblk_clt_fill_path(skb, &session->paths[i], in_flight[i]);
	if (err) {
		genlmsg_cancel(skb, hdr);
		return err;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/* An event is a courtesy: it must never make recovery wait for memory. */
static void rblk_clt_multicast(struct sk_buff *skb, int err)
{
	lockdep_assert_held(&rblk_clt_lock);
	if (err || !rblk_clt_events_on)
		nlmsg_free(skb);
	else
		genlmsg_multicast_netns(&rblk_client_nl_family, &init_net, skb, 0,
					RBLK_CLIENT_NLGRP_EVENTS, GFP_NOWAIT);
}

/**
 * rblk_clt_notify_device - tell who listens that a device came, changed or went
 * @dev: the device
 * @cmd: RBLK_CLIENT_CMD_DEVICE_*_NTF
 *
 * Context: Process context. Does not sleep. The caller holds rblk_clt_lock.
 */
void rblk_clt_notify_device(struct rblk_clt_device *dev, u8 cmd)
{
	struct sk_buff *skb;

	lockdep_assert_held(&rblk_clt_lock);
	skb = genlmsg_new(GENLMSG_DEFAULT_SIZE + dev->nr_queues * 128, GFP_NOWAIT | __GFP_NOWARN);
	if (skb)
		rblk_clt_multicast(skb, rblk_clt_fill_device(skb, dev, 0, 0, 0, cmd));
}

/**
 * rblk_clt_notify_session - tell who listens that a session came, changed or went
 * @session: the session
 * @cmd: RBLK_CLIENT_CMD_SESSION_*_NTF
 *
 * Context: Process context. Does not sleep. The caller holds rblk_clt_lock.
 */
void rblk_clt_notify_session(struct rblk_clt_session *session, u8 cmd)
{
	size_t size = GENLMSG_DEFAULT_SIZE;
	struct sk_buff *skb;
	u32 i;

	lockdep_assert_held(&rblk_clt_lock);
	for (i = 0; i < RBLK_CLT_PATHS; i++)
		if (READ_ONCE(session->paths[i].state) != RBLK_PATH_REMOVED)
			size += RBLK_CLT_PATH_MSG;
	skb = genlmsg_new(size, GFP_NOWAIT | __GFP_NOWARN);
	if (skb)
		rblk_clt_multicast(skb, rblk_clt_fill_session(skb, session, 0, 0, 0, cmd));
}

static bool rblk_clt_route_known(const struct rblk_clt_map_args *args,
				 const struct rblk_clt_route *route)
{
	u32 i;

	for (i = 0; i < args->nr_routes; i++)
		if (rblk_clt_route_equal(&args->routes[i], route))
			return true;
	return false;
}

/* The first route is that of the device; further ones follow. */
static int rblk_clt_parse_routes(struct genl_info *info, struct rblk_clt_map_args *args)
{
	struct nlattr *route[RBLK_CLIENT_A_ROUTE_MAX + 1];
	struct netlink_ext_ack *extack = info->extack;
	struct rblk_clt_route further;
	struct nlattr *attr;
	int err, rem;

	err = rblk_clt_parse_route(extack, info->attrs[RBLK_CLIENT_A_DEVICE_SERVER],
				   info->attrs[RBLK_CLIENT_A_DEVICE_SOURCE], &args->routes[0]);
	if (err)
		return err;
	args->nr_routes = 1;
	nlmsg_for_each_attr_type(attr, RBLK_CLIENT_A_DEVICE_ROUTE, info->nlhdr, GENL_HDRLEN,
				 rem) {
		err = nla_parse_nested(route, RBLK_CLIENT_A_ROUTE_MAX, attr,
				       rblk_client_route_nl_policy, extack);
		if (err)
			return err;
		if (!route[RBLK_CLIENT_A_ROUTE_SERVER]) {
			NL_SET_ERR_MSG_ATTR(extack, attr, "a route needs a server");
			return -EINVAL;
		}
		if (!args->reconnect) {
			NL_SET_ERR_MSG_ATTR(extack, attr,
					    "I/O goes from one path to another only if it may wait: not with no-reconnect");
			return -EINVAL;
		}
		memset(&further, 0, sizeof(further));
		err = rblk_clt_parse_route(extack, route[RBLK_CLIENT_A_ROUTE_SERVER],
					   route[RBLK_CLIENT_A_ROUTE_SOURCE], &further);
		if (err)
			return err;
		if (rblk_clt_route_known(args, &further)) {
			NL_SET_ERR_MSG_ATTR(extack, attr, "the same path is named twice");
			return -EINVAL;
		}
		if (args->nr_routes == RBLK_CLT_PATHS) {
			NL_SET_ERR_MSG_ATTR(extack, attr, "a session has 8 paths at the most");
			return -EINVAL;
		}
		args->routes[args->nr_routes++] = further;
	}
	return 0;
}

/* MS keeps its value if nothing is said. */
static int rblk_clt_parse_no_path(struct genl_info *info, u32 *ms)
{
	struct nlattr *attr = info->attrs[RBLK_CLIENT_A_DEVICE_NO_PATH_TIMEOUT_MS];
	u32 want;

	if (!attr)
		return 0;
	want = nla_get_u32(attr);
	if (want > RBLK_CLIENT_MAX_NO_PATH_TIMEOUT_MS && want != RBLK_CLT_FOR_EVER) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "a day at the most, or 4294967295 for ever");
		return -EINVAL;
	}
	*ms = want;
	return 0;
}

static int rblk_clt_parse_map(struct genl_info *info, struct rblk_clt_map_args *args)
{
	struct nlattr **attrs = info->attrs;
	struct rblk_clt_tune tune;
	struct nlattr *attr;
	u32 ms = 0, i;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, RBLK_CLIENT_A_DEVICE_SERVER) ||
	    GENL_REQ_ATTR_CHECK(info, RBLK_CLIENT_A_DEVICE_EXPORT) ||
	    GENL_REQ_ATTR_CHECK(info, RBLK_CLIENT_A_DEVICE_CLIENT_NAME)) {
		GENL_SET_ERR_MSG(info, "server, export and client name are needed");
		return -EINVAL;
	}
	if (!net_eq(genl_info_net(info), &init_net)) {
		GENL_SET_ERR_MSG(info, "rblk works in the initial network namespace only");
		return -EOPNOTSUPP;
	}
	args->reconnect = !nla_get_flag(attrs[RBLK_CLIENT_A_DEVICE_NO_RECONNECT]);
	err = rblk_clt_parse_routes(info, args);
	if (err)
		return err;
	attr = attrs[RBLK_CLIENT_A_DEVICE_EXPORT];
	nla_strscpy(args->export, attr, sizeof(args->export));
	if (!rblk_name_ok(args->export, sizeof(args->export))) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "not a name that an export can have");
		return -EINVAL;
	}
	attr = attrs[RBLK_CLIENT_A_DEVICE_CLIENT_NAME];
	nla_strscpy(args->client, attr, sizeof(args->client));
	if (!rblk_name_ok(args->client, sizeof(args->client))) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "not a name that a client can have");
		return -EINVAL;
	}
	args->read_only = nla_get_flag(attrs[RBLK_CLIENT_A_DEVICE_READ_ONLY]);
	attr = attrs[RBLK_CLIENT_A_DEVICE_STEAL];
	args->steal = nla_get_flag(attr);
	if (args->steal && args->read_only) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "to read there is nothing to take over: not with read-only");
		return -EINVAL;
	}
	if (attrs[RBLK_CLIENT_A_DEVICE_QUEUES])
		args->queues = nla_get_u32(attrs[RBLK_CLIENT_A_DEVICE_QUEUES]);
	if (attrs[RBLK_CLIENT_A_DEVICE_DEPTH])
		args->depth = nla_get_u32(attrs[RBLK_CLIENT_A_DEVICE_DEPTH]);
	if (attrs[RBLK_CLIENT_A_DEVICE_TIMEOUT_MS])
		ms = nla_get_u32(attrs[RBLK_CLIENT_A_DEVICE_TIMEOUT_MS]);
	rblk_clt_parse_tune(attrs, &tune);
	for (i = 0; i < args->nr_routes; i++)
		rblk_clt_tune(&args->routes[i].tuning, &tune);
	args->policy = RBLK_POLICY_NR;
	if (attrs[RBLK_CLIENT_A_DEVICE_POLICY])
		args->policy = nla_get_u32(attrs[RBLK_CLIENT_A_DEVICE_POLICY]);
	args->write_order = RBLK_CLT_ANY_ORDER;
	if (attrs[RBLK_CLIENT_A_DEVICE_WRITE_ORDER])
		args->write_order = nla_get_u32(attrs[RBLK_CLIENT_A_DEVICE_WRITE_ORDER]);
	attr = attrs[RBLK_CLIENT_A_DEVICE_POLICY] ?: attrs[RBLK_CLIENT_A_DEVICE_WRITE_ORDER];
	if (attr && !args->reconnect) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "a session that does not reconnect has one path: not with no-reconnect");
		return -EINVAL;
	}
	args->deadline = jiffies + (ms ? msecs_to_jiffies(ms) : RBLK_CLT_MAP_TIMEOUT);
	args->no_path_ms = RBLK_CLT_NO_PATH_MS;
	return rblk_clt_parse_no_path(info, &args->no_path_ms);
}

int rblk_client_nl_map_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rblk_clt_map_args *args;
	struct sk_buff *reply;
	char name[DISK_NAME_LEN];
	u32 index;
	void *hdr;
	int err;

	args = kzalloc(sizeof(*args), GFP_KERNEL);
	if (!args)
		return -ENOMEM;
	err = rblk_clt_parse_map(info, args);
	if (err)
		goto err_args;
	/* Before the work: afterwards there is nothing left that can fail. */
	reply = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!reply) {
		err = -ENOMEM;
		goto err_args;
	}
	err = rblk_clt_map(args, &index, info->extack);
	/* netlink_rcv_skb() sends no ack for -EINTR: the caller would wait for ever. */
	if (err == -EINTR || err == -ERESTARTSYS)
		err = -ECANCELED;
	if (err)
		goto err_free;
	snprintf(name, sizeof(name), "rblk%u", index);
	hdr = genlmsg_iput(reply, info);
	if (!hdr || nla_put_u32(reply, RBLK_CLIENT_A_DEVICE_INDEX, index) ||
	    nla_put_string(reply, RBLK_CLIENT_A_DEVICE_NAME, name)) {
		err = -EMSGSIZE;
		goto err_free;
	}
	genlmsg_end(reply, hdr);
	kfree(args);
	return genlmsg_reply(reply, info);

err_free:
	nlmsg_free(reply);
err_args:
	kfree(args);
	return err;
}

int rblk_client_nl_unmap_doit(struct sk_buff *skb, struct genl_info *info)
{
	if (GENL_REQ_ATTR_CHECK(info, RBLK_CLIENT_A_DEVICE_INDEX)) {
		GENL_SET_ERR_MSG(info, "the device's index is needed");
		return -EINVAL;
	}
	return rblk_clt_unmap(nla_get_u32(info->attrs[RBLK_CLIENT_A_DEVICE_INDEX]),
			      nla_get_flag(info->attrs[RBLK_CLIENT_A_DEVICE_FORCE]),
			      info->extack);
}

int rblk_client_nl_device_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *policy = info->attrs[RBLK_CLIENT_A_DEVICE_POLICY];
	struct nlattr *order = info->attrs[RBLK_CLIENT_A_DEVICE_WRITE_ORDER];
	struct nlattr *wait = info->attrs[RBLK_CLIENT_A_DEVICE_NO_PATH_TIMEOUT_MS];
	struct rblk_clt_device *dev;
	u32 ms = 0;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, RBLK_CLIENT_A_DEVICE_INDEX)) {
		GENL_SET_ERR_MSG(info, "the device's index is needed");
		return -EINVAL;
	}
	if (!policy && !order && !wait) {
		GENL_SET_ERR_MSG(info, "there is no setting in it");
		return -EINVAL;
	}
	err = rblk_clt_parse_no_path(info, &ms);
	if (err)
		return err;
	mutex_lock(&rblk_clt_lock);
	dev = rblk_clt_device_find(nla_get_u32(info->attrs[RBLK_CLIENT_A_DEVICE_INDEX]));
	if (!dev) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[RBLK_CLIENT_A_DEVICE_INDEX],
				    "there is no such device");
		err = -ENODEV;
	} else if (!READ_ONCE(dev->session->reconnect)) {
		NL_SET_ERR_MSG_ATTR(info->extack, wait ?: policy ?: order,
				    "the session does not reconnect: nothing waits, and one path is all");
		err = -EOPNOTSUPP;
	} else {
		if (wait)
			rblk_clt_no_path_set(dev, ms);
		if (policy)
			rblk_clt_policy_set(dev->session, nla_get_u32(policy));
		if (order)
			rblk_clt_order_set(dev->session, nla_get_u32(order));
		rblk_clt_notify_device(dev, RBLK_CLIENT_CMD_DEVICE_CHANGE_NTF);
	}
	mutex_unlock(&rblk_clt_lock);
	return err;
}

int rblk_client_nl_device_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rblk_clt_device *dev;
	struct sk_buff *reply;
	int err = -ENODEV;

	if (GENL_REQ_ATTR_CHECK(info, RBLK_CLIENT_A_DEVICE_INDEX)) {
		GENL_SET_ERR_MSG(info, "the device's index is needed");
		return -EINVAL;
	}
	reply = genlmsg_new(GENLMSG_DEFAULT_SIZE + RBLK_QUEUES_MAX * 128, GFP_KERNEL);
	if (!reply)
		return -ENOMEM;
	mutex_lock(&rblk_clt_lock);
	dev = rblk_clt_device_find(nla_get_u32(info->attrs[RBLK_CLIENT_A_DEVICE_INDEX]));
	if (dev)
		err = rblk_clt_fill_device(reply, dev, info->snd_portid, info->snd_seq, 0,
					   RBLK_CLIENT_CMD_DEVICE_GET);
	else
		GENL_SET_ERR_MSG(info, "there is no such device");
	mutex_unlock(&rblk_clt_lock);
	if (err) {
		nlmsg_free(reply);
		return err;
	}
	return genlmsg_reply(reply, info);
}

/* One device must fit the first buffer, which is 4 KiB unless more is asked for. */
int rblk_client_nl_device_get_start(struct netlink_callback *cb)
{
	cb->min_dump_alloc = GENLMSG_DEFAULT_SIZE + RBLK_QUEUES_MAX * 128;
	return 0;
}

/* A dump goes on after the last index it gave, whatever came and went meanwhile. */
int rblk_client_nl_device_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct rblk_clt_device *dev;
	int err = 0;
	u32 index;

	mutex_lock(&rblk_clt_lock);
	for (index = cb->args[0]; !err; index = dev->index + 1) {
		struct rblk_clt_device *pos;

		dev = NULL;
		list_for_each_entry(pos, &rblk_clt_devices, entry)
			if (pos->index >= index && (!dev || pos->index < dev->index))
				dev = pos;
		if (!dev)
			break;
		err = rblk_clt_fill_device(skb, dev, NETLINK_CB(cb->skb).portid,
					   cb->nlh->nlmsg_seq, NLM_F_MULTI,
					   RBLK_CLIENT_CMD_DEVICE_GET);
		if (!err)
			cb->args[0] = dev->index + 1;
	}
	mutex_unlock(&rblk_clt_lock);
	return skb->len ?: err;
}

/* So must one session, with all its paths. */
int rblk_client_nl_session_get_start(struct netlink_callback *cb)
{
	cb->min_dump_alloc = GENLMSG_DEFAULT_SIZE + RBLK_CLT_PATHS * RBLK_CLT_PATH_MSG;
	return 0;
}

int rblk_client_nl_session_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct rblk_clt_session *session;
	long skip = cb->args[0];
	struct nlmsghdr *nlh;
	int err = 0;

	mutex_lock(&rblk_clt_lock);
	/* It goes on by position: say so where the list changed between two parts. */
	cb->seq = rblk_clt_changes ?: 1;
	list_for_each_entry(session, &rblk_clt_sessions, entry) {
		if (skip-- > 0)
			continue;
		nlh = (struct nlmsghdr *)skb_tail_pointer(skb);
		err = rblk_clt_fill_session(skb, session, NETLINK_CB(cb->skb).portid,
					    cb->nlh->nlmsg_seq, NLM_F_MULTI,
					    RBLK_CLIENT_CMD_SESSION_GET);
		if (err)
			break;
		nl_dump_check_consistent(cb, nlh);
		cb->args[0]++;
	}
	mutex_unlock(&rblk_clt_lock);
	return skb->len ?: err;
}

/**
 * rblk_clt_netlink_init - offer the netlink family
 *
 * Context: Module load.
 * Return: 0, or a negative errno.
 */
int rblk_clt_netlink_init(void)
{
	int err = genl_register_family(&rblk_client_nl_family);

	if (!err)
		rblk_clt_events(true);
	return err;
}

/**
 * rblk_clt_netlink_exit - withdraw the netlink family
 *
 * Context: Module unload. No operation runs once it returns.
 */
void rblk_clt_netlink_exit(void)
{
	rblk_clt_events(false);
	genl_unregister_family(&rblk_client_nl_family);
}
