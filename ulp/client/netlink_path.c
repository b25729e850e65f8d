// SPDX-License-Identifier: GPL-2.0
/* Paths in the netlink family: their facts, and the operations that change them. */
#include <linux/math64.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include <uapi/linux/rblk_client.h>
#include "client.h"
#include "netlink.h"
#include "netlink_gen.h"

/**
 * rblk_clt_put_addr - put an address into a message
 * @skb: the message
 * @attr: the attribute
 * @addr: the address
 *
 * Context: Any.
 * Return: 0, or -EMSGSIZE.
 */
int rblk_clt_put_addr(struct sk_buff *skb, int attr, const struct sockaddr_storage *addr)
{
	u8 data[RBLK_ADDR_LEN];

	rblk_addr_encode(addr, data);
	return nla_put(skb, attr, sizeof(data), data);
}

/* Of the generation there is; none while somebody connects it or tears it down. */
static int rblk_clt_fill_conns(struct sk_buff *skb, struct rblk_clt_path *path)
{
	struct rblk_conn_facts facts;
	struct nlattr *attr;
	u32 *qps, i;
	int err = 0;

	/* Not waited for: in the order of locks it comes before what the caller holds. */
	if (!mutex_trylock(&path->lock))
		return 0;
	if (!rblk_conn_facts(&path->control.conn, &facts))
		goto out;
	err = nla_put(skb, RBLK_CLIENT_A_PATH_SOURCE_GID, sizeof(facts.source_gid),
		      &facts.source_gid) ?:
	      nla_put(skb, RBLK_CLIENT_A_PATH_SERVER_GID, sizeof(facts.peer_gid),
		      &facts.peer_gid);
	if (!err && facts.lids)
		err = nla_put_u32(skb, RBLK_CLIENT_A_PATH_SOURCE_LID, facts.source_lid) ?:
		      nla_put_u32(skb, RBLK_CLIENT_A_PATH_SERVER_LID, facts.peer_lid) ?:
		      nla_put_u32(skb, RBLK_CLIENT_A_PATH_PKEY, facts.pkey) ?:
		      nla_put_u32(skb, RBLK_CLIENT_A_PATH_SL, facts.sl);
	if (err)
		goto out;
	attr = nla_reserve(skb, RBLK_CLIENT_A_PATH_QPS, (1 + path->nr_queues) * sizeof(u32));
	if (!attr) {
		err = -EMSGSIZE;
		goto out;
	}
	qps = nla_data(attr);
	qps[0] = facts.qpn;
	for (i = 0; i < path->nr_queues; i++)
		qps[1 + i] = path->queues[i].conn.qpn;
out:
	mutex_unlock(&path->lock);
	return err;
}

static int rblk_clt_fill_counters(struct sk_buff *skb, struct rblk_clt_path *path)
{
	struct rblk_clt_stats sum = {};
	u32 i, timed = 0;

	spin_lock_irq(&path->session->lock);
	for (i = 0; i < path->nr_stats; i++) {
		const struct rblk_clt_stats *stats = &path->stats[i];
		u64 latency = READ_ONCE(stats->latency_ns);

		sum.reads += READ_ONCE(stats->reads);
		sum.writes += READ_ONCE(stats->writes);
		sum.read_bytes += READ_ONCE(stats->read_bytes);
		sum.write_bytes += READ_ONCE(stats->write_bytes);
		sum.latency_ns += latency;
		timed += !!latency;
	}
	spin_unlock_irq(&path->session->lock);
	return nla_put_uint(skb, RBLK_CLIENT_A_PATH_READS, sum.reads) ?:
	       nla_put_uint(skb, RBLK_CLIENT_A_PATH_WRITES, sum.writes) ?:
	       nla_put_uint(skb, RBLK_CLIENT_A_PATH_READ_BYTES, sum.read_bytes) ?:
	       nla_put_uint(skb, RBLK_CLIENT_A_PATH_WRITE_BYTES, sum.write_bytes) ?:
	       (timed ? nla_put_uint(skb, RBLK_CLIENT_A_PATH_LATENCY_NS,
				     div_u64(sum.latency_ns, timed)) : 0);
}

/**
 * rblk_clt_path_facts - look at a path
 * @path: the path
 * @facts: takes what may change at any time, of one moment
 *
 * Context: Process context. Does not sleep.
 */
void rblk_clt_path_facts(struct rblk_clt_path *path, struct rblk_clt_path_facts *facts)
{
	struct rblk_clt_session *session = path->session;

	spin_lock_irq(&session->lock);
	*facts = (struct rblk_clt_path_facts) {
		.state		= path->state,
		.generation	= path->generation,
		.connects	= path->connects,
		.losses		= path->losses,
		.queues		= path->nr_queues,
		.active		= session->active & BIT(path->index),
		.drained	= path->drained,
		.what		= path->error_what,
		.tuning		= path->route.tuning,
		.server_device	= path->server_device,
		.source		= path->source,
		.server		= path->route.server,
		.rdma_port	= path->rdma_port,
	};
	strscpy(facts->rdma_device, path->rdma_device, sizeof(facts->rdma_device));
	spin_unlock_irq(&session->lock);
}

static int rblk_clt_fill_facts(struct sk_buff *skb, struct rblk_clt_path *path,
			       const struct rblk_clt_path_facts *facts, u32 in_flight)
{
	u32 reconnects = facts->connects ? facts->connects - 1 : 0;

	if (nla_put_u32(skb, RBLK_CLIENT_A_PATH_INDEX, path->index) ||
	    nla_put_u32(skb, RBLK_CLIENT_A_PATH_STATE, facts->state) ||
	    nla_put_u32(skb, RBLK_CLIENT_A_PATH_GENERATION, facts->generation) ||
	    (facts->source.ss_family &&
	     rblk_clt_put_addr(skb, RBLK_CLIENT_A_PATH_SOURCE, &facts->source)) ||
	    rblk_clt_put_addr(skb, RBLK_CLIENT_A_PATH_SERVER, &facts->server) ||
	    (facts->rdma_device[0] &&
	     nla_put_string(skb, RBLK_CLIENT_A_PATH_RDMA_DEVICE, facts->rdma_device)) ||
	    nla_put_u32(skb, RBLK_CLIENT_A_PATH_RDMA_PORT, facts->rdma_port) ||
	    nla_put_u32(skb, RBLK_CLIENT_A_PATH_QUEUES, facts->queues) ||
	    nla_put_u32(skb, RBLK_CLIENT_A_PATH_DEPTH, path->plan.depth) ||
	    nla_put_u32(skb, RBLK_CLIENT_A_PATH_RECONNECTS, reconnects) ||
	    nla_put_u32(skb, RBLK_CLIENT_A_PATH_LOSSES, facts->losses) ||
	    nla_put_u32(skb, RBLK_CLIENT_A_PATH_IN_FLIGHT, in_flight) ||
	    nla_put_u32(skb, RBLK_CLIENT_A_PATH_TOS, facts->tuning.tos) ||
	    nla_put_u32(skb, RBLK_CLIENT_A_PATH_ACK_TIMEOUT, facts->tuning.ack_timeout) ||
	    nla_put_u32(skb, RBLK_CLIENT_A_PATH_RETRY_COUNT, facts->tuning.retries) ||
	    (facts->server_device &&
	     nla_put_u32(skb, RBLK_CLIENT_A_PATH_SERVER_DEVICE, facts->server_device)) ||
	    (facts->what &&
	     nla_put_string(skb, RBLK_CLIENT_A_PATH_LAST_ERROR, facts->what)) ||
	    (facts->active && nla_put_flag(skb, RBLK_CLIENT_A_PATH_ACTIVE)) ||
	    (facts->drained && nla_put_flag(skb, RBLK_CLIENT_A_PATH_DRAINED)))
		return -EMSGSIZE;
	return 0;
}

/**
 * rblk_clt_fill_path - put the facts of a path into a message
 * @skb: the message
 * @path: the path; one that was removed is left out
 * @in_flight: requests on it
 *
 * Context: Process context. The caller holds rblk_clt_lock.
 * Return: 0, or -EMSGSIZE and the message is as it was.
 */
int rblk_clt_fill_path(struct sk_buff *skb, struct rblk_clt_path *path, u32 in_flight)
{
	struct rblk_clt_path_facts facts;
	struct nlattr *nest;
	int err = -EMSGSIZE;

	rblk_clt_path_facts(path, &facts);
	if (facts.state == RBLK_PATH_REMOVED)
		return 0;
	nest = nla_nest_start(skb, RBLK_CLIENT_A_SESSION_PATH);
	if (nest)
		err = rblk_clt_fill_facts(skb, path, &facts, in_flight) ?:
		      rblk_clt_fill_counters(skb, path) ?:
		      rblk_clt_fill_conns(skb, path);
	if (err)
		nla_nest_cancel(skb, nest);
	else
		nla_nest_end(skb, nest);
	return err;
}

static int rblk_clt_parse_parameter(struct nlattr *attr)
{
	return attr ? (int)nla_get_u32(attr) : -1;
}

/**
 * rblk_clt_parse_tune - read the parameters of paths
 * @attrs: the attributes, which the policy has checked
 * @tune: takes what is there
 *
 * Context: Process context.
 * Return: whether there is anything.
 */
bool rblk_clt_parse_tune(struct nlattr **attrs, struct rblk_clt_tune *tune)
{
	*tune = (struct rblk_clt_tune) {
		.tos		= rblk_clt_parse_parameter(attrs[RBLK_CLIENT_A_DEVICE_TOS]),
		.ack_timeout	= rblk_clt_parse_parameter(attrs[RBLK_CLIENT_A_DEVICE_ACK_TIMEOUT]),
		.retries	= rblk_clt_parse_parameter(attrs[RBLK_CLIENT_A_DEVICE_RETRY_COUNT]),
	};
	return tune->tos >= 0 || tune->ack_timeout >= 0 || tune->retries >= 0;
}

/**
 * rblk_clt_parse_route - check a route
 * @extack: takes the reason of a refusal
 * @server: address of the server
 * @source: address of this node, or NULL for what the routes choose
 * @route: takes it, with the parameters that nobody chose; has to be zeroed before
 *
 * Context: Process context.
 * Return: 0, or -EINVAL.
 */
int rblk_clt_parse_route(struct netlink_ext_ack *extack, struct nlattr *server,
			 struct nlattr *source, struct rblk_clt_route *route)
{
	struct nlattr *attr = server;
	const char *why;
	int err;

	route->tuning = RBLK_CONN_TUNING;
	err = rblk_addr_decode(nla_data(server), nla_len(server), RBLK_ADDR_CONNECT,
			       &route->server, &why);
	if (!err && source) {
		attr = source;
		err = rblk_addr_decode(nla_data(source), nla_len(source), RBLK_ADDR_SOURCE,
				       &route->source, &why);
		if (!err && route->source.ss_family != route->server.ss_family) {
			why = "server and source are of different families";
			err = -EINVAL;
		}
	}
	if (!err)
		return 0;
	NL_SET_BAD_ATTR(extack, attr);
	NL_SET_ERR_MSG_FMT(extack, "%s", why);
	return -EINVAL;
}

/*
 * Say of which attribute a refusal speaks, and see that there is an ack: netlink_rcv_skb()
 * sends none for -EINTR, and the caller would wait for ever.
 */
static int rblk_clt_answer(struct genl_info *info, int attr, int err)
{
	if (err)
		NL_SET_BAD_ATTR(info->extack, info->attrs[attr]);
	return err == -EINTR || err == -ERESTARTSYS ? -ECANCELED : err;
}

int rblk_client_nl_path_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr **attrs = info->attrs;
	struct rblk_clt_route route = {};
	struct rblk_clt_tune tune;
	struct sk_buff *reply;
	u32 ms = 0, number;
	void *hdr;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, RBLK_CLIENT_A_DEVICE_INDEX) ||
	    GENL_REQ_ATTR_CHECK(info, RBLK_CLIENT_A_DEVICE_SERVER)) {
		GENL_SET_ERR_MSG(info, "the device's index and a server are needed");
		return -EINVAL;
	}
	if (!net_eq(genl_info_net(info), &init_net)) {
		GENL_SET_ERR_MSG(info, "rblk works in the initial network namespace only");
		return -EOPNOTSUPP;
	}
	err = rblk_clt_parse_route(info->extack, attrs[RBLK_CLIENT_A_DEVICE_SERVER],
				   attrs[RBLK_CLIENT_A_DEVICE_SOURCE], &route);
	if (err)
		return err;
	rblk_clt_parse_tune(attrs, &tune);
	rblk_clt_tune(&route.tuning, &tune);
	if (attrs[RBLK_CLIENT_A_DEVICE_TIMEOUT_MS])
		ms = nla_get_u32(attrs[RBLK_CLIENT_A_DEVICE_TIMEOUT_MS]);
	/* Before the work: afterwards there is nothing left that can fail. */
	reply = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!reply)
		return -ENOMEM;
	err = rblk_clt_path_add(nla_get_u32(attrs[RBLK_CLIENT_A_DEVICE_INDEX]), &route,
				jiffies + (ms ? msecs_to_jiffies(ms) : RBLK_CLT_MAP_TIMEOUT),
				&number, info->extack);
	if (err)
		goto err_free;
	hdr = genlmsg_iput(reply, info);
	if (!hdr || nla_put_u32(reply, RBLK_CLIENT_A_DEVICE_PATH, number)) {
		err = -EMSGSIZE;
		goto err_free;
	}
	genlmsg_end(reply, hdr);
	return genlmsg_reply(reply, info);

err_free:
	nlmsg_free(reply);
	return rblk_clt_answer(info, RBLK_CLIENT_A_DEVICE_SERVER, err);
}

static int rblk_clt_parse_number(struct genl_info *info, u32 *index, u32 *number)
{
	if (GENL_REQ_ATTR_CHECK(info, RBLK_CLIENT_A_DEVICE_INDEX) ||
	    GENL_REQ_ATTR_CHECK(info, RBLK_CLIENT_A_DEVICE_PATH)) {
		GENL_SET_ERR_MSG(info, "the device's index and the path's number are needed");
		return -EINVAL;
	}
	*index = nla_get_u32(info->attrs[RBLK_CLIENT_A_DEVICE_INDEX]);
	*number = nla_get_u32(info->attrs[RBLK_CLIENT_A_DEVICE_PATH]);
	return 0;
}

static int rblk_clt_change(struct genl_info *info,
			   int (*change)(u32 index, u32 number, bool force,
					 struct netlink_ext_ack *extack))
{
	bool force = nla_get_flag(info->attrs[RBLK_CLIENT_A_DEVICE_FORCE]);
	u32 index, number;
	int err;

	err = rblk_clt_parse_number(info, &index, &number);
	if (err)
		return err;
	err = change(index, number, force, info->extack);
	return rblk_clt_answer(info, err == -ENODEV ? RBLK_CLIENT_A_DEVICE_INDEX :
			       RBLK_CLIENT_A_DEVICE_PATH, err);
}

int rblk_client_nl_path_remove_doit(struct sk_buff *skb, struct genl_info *info)
{
	return rblk_clt_change(info, rblk_clt_path_drop);
}

int rblk_client_nl_path_drain_doit(struct sk_buff *skb, struct genl_info *info)
{
	return rblk_clt_change(info, rblk_clt_path_drain);
}

int rblk_client_nl_path_undrain_doit(struct sk_buff *skb, struct genl_info *info)
{
	u32 index, number;
	int err;

	err = rblk_clt_parse_number(info, &index, &number);
	if (err)
		return err;
	err = rblk_clt_path_undrain(index, number, info->extack);
	return rblk_clt_answer(info, err == -ENODEV ? RBLK_CLIENT_A_DEVICE_INDEX :
			       RBLK_CLIENT_A_DEVICE_PATH, err);
}

int rblk_client_nl_path_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rblk_clt_tune tune;
	u32 index, number;
	int err;

	err = rblk_clt_parse_number(info, &index, &number);
	if (err)
		return err;
	if (!rblk_clt_parse_tune(info->attrs, &tune)) {
		GENL_SET_ERR_MSG(info, "there is no parameter in it");
		return -EINVAL;
	}
	err = rblk_clt_path_tune(index, number, &tune, info->extack);
	return rblk_clt_answer(info, err == -ENODEV ? RBLK_CLIENT_A_DEVICE_INDEX :
			       RBLK_CLIENT_A_DEVICE_PATH, err);
}
