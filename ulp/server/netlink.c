// SPDX-License-Identifier: GPL-2.0
/*
 * The bodies of the netlink operations. The tables around them are generated from
 * Documentation/netlink/specs/rblk-server.yaml. What an object looks like is in
 * netlink_fill.c, for get, dump and notification alike.
 */
#include <linux/nodemask.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include <rblk/name.h>
#include <uapi/linux/rblk_server.h>
#include "netlink_fill.h"
#include "netlink_gen.h"
#include "server.h"

/*
 * A dump goes on by position. Where the list changed between two parts of it, each
 * message says that the dump may have missed something, and who asked asks again.
 */
static void rblk_srv_dump_begin(struct netlink_callback *cb)
{
	lockdep_assert_held(&rblk_srv_lock);
	/* 0 would mean that nobody counts. */
	cb->seq = rblk_srv_changes ?: 1;
}

static int rblk_srv_parse_name(struct genl_info *info, int attr, char name[RBLK_NAME_SIZE])
{
	if (GENL_REQ_ATTR_CHECK(info, attr)) {
		GENL_SET_ERR_MSG(info, "the name of the export is needed");
		return -EINVAL;
	}
	nla_strscpy(name, info->attrs[attr], RBLK_NAME_SIZE);
	if (!rblk_name_ok(name, RBLK_NAME_SIZE)) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[attr],
				    "not a name that an export can have");
		return -EINVAL;
	}
	return 0;
}

static int rblk_srv_parse_allow(struct genl_info *info, struct rblk_srv_export_args *args)
{
	const struct nlattr *attr;
	int rem;

	nlmsg_for_each_attr_type(attr, RBLK_SERVER_A_EXPORT_ALLOW, info->nlhdr, GENL_HDRLEN, rem)
		args->nr_allow++;
	if (!args->nr_allow)
		return 0;
	if (args->nr_allow > RBLK_SRV_ALLOW_MAX) {
		GENL_SET_ERR_MSG(info, "more clients than an export can name");
		return -EINVAL;
	}
	args->allow = kcalloc(args->nr_allow, sizeof(*args->allow), GFP_KERNEL);
	if (!args->allow)
		return -ENOMEM;
	args->nr_allow = 0;
	nlmsg_for_each_attr_type(attr, RBLK_SERVER_A_EXPORT_ALLOW, info->nlhdr, GENL_HDRLEN, rem) {
		char *name = args->allow[args->nr_allow++];

		nla_strscpy(name, attr, RBLK_NAME_SIZE);
		if (!rblk_name_ok(name, RBLK_NAME_SIZE)) {
			NL_SET_ERR_MSG_ATTR(info->extack, attr,
					    "not a name that a client can have");
			return -EINVAL;
		}
	}
	return 0;
}

static int rblk_srv_parse_size(struct genl_info *info, u64 *size)
{
	const struct nlattr *attr = info->attrs[RBLK_SERVER_A_EXPORT_SIZE];

	if (GENL_REQ_ATTR_CHECK(info, RBLK_SERVER_A_EXPORT_SIZE)) {
		GENL_SET_ERR_MSG(info, "the size of the export is needed");
		return -EINVAL;
	}
	*size = nla_get_uint(attr);
	if (*size > RBLK_SIZE_MAX) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "an export has 1 PiB at most");
		return -EINVAL;
	}
	if (!*size || !IS_ALIGNED(*size, 1ULL << RBLK_BLOCK_SHIFT)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "the size is no multiple of 2 MiB");
		return -EINVAL;
	}
	return 0;
}

/* What it allocates is in ARGS, also if it fails. */
static int rblk_srv_parse_device(struct genl_info *info, struct rblk_srv_export_args *args)
{
	static const int other[] = { RBLK_SERVER_A_EXPORT_SIZE, RBLK_SERVER_A_EXPORT_NUMA_NODE };
	struct nlattr **attrs = info->attrs, *attr;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(other); i++) {
		if (!attrs[other[i]])
			continue;
		NL_SET_ERR_MSG_ATTR(info->extack, attrs[other[i]],
				    "that is for memory: a disk has its own");
		return -EINVAL;
	}
	attr = attrs[RBLK_SERVER_A_EXPORT_INCARNATION];
	if (attr)
		import_uuid(&args->id, nla_data(attr));
	if (attr && uuid_is_null(&args->id)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "an identity is not all zero");
		return -EINVAL;
	}
	args->device = nla_strdup(attrs[RBLK_SERVER_A_EXPORT_DEVICE], GFP_KERNEL);
	if (!args->device)
		return -ENOMEM;
	if (!args->device[0]) {
		NL_SET_ERR_MSG_ATTR(info->extack, attrs[RBLK_SERVER_A_EXPORT_DEVICE],
				    "the path of a device is needed");
		return -EINVAL;
	}
	return 0;
}

static int rblk_srv_parse_export(struct sk_buff *skb, struct genl_info *info,
				 struct rblk_srv_export_args *args)
{
	struct nlattr **attrs = info->attrs;
	struct nlattr *attr;
	int err;

	/* To open any device, whatever its node allows, is more than to administer networks. */
	if (attrs[RBLK_SERVER_A_EXPORT_DEVICE] && !netlink_capable(skb, CAP_SYS_ADMIN)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attrs[RBLK_SERVER_A_EXPORT_DEVICE],
				    "to export a device takes CAP_SYS_ADMIN");
		return -EPERM;
	}

	err = rblk_srv_parse_name(info, RBLK_SERVER_A_EXPORT_NAME, args->name) ?:
	      (attrs[RBLK_SERVER_A_EXPORT_DEVICE] ? rblk_srv_parse_device(info, args) :
	       rblk_srv_parse_size(info, &args->size));
	if (err)
		return err;
	args->numa_node = NUMA_NO_NODE;
	attr = attrs[RBLK_SERVER_A_EXPORT_INCARNATION];
	if (attr && !args->device) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "only a disk can be given an identity");
		return -EINVAL;
	}
	attr = attrs[RBLK_SERVER_A_EXPORT_NUMA_NODE];
	if (attr) {
		args->numa_node = nla_get_s32(attr);
		if (args->numa_node < 0 || args->numa_node >= MAX_NUMNODES ||
		    !node_state(args->numa_node, N_MEMORY)) {
			NL_SET_ERR_MSG_ATTR(info->extack, attr, "no NUMA node with memory");
			return -EINVAL;
		}
	}
	args->shared = nla_get_flag(attrs[RBLK_SERVER_A_EXPORT_SHARED]);
	args->read_only = nla_get_flag(attrs[RBLK_SERVER_A_EXPORT_READ_ONLY]);
	args->allow_any = nla_get_flag(attrs[RBLK_SERVER_A_EXPORT_ALLOW_ANY]);
	return rblk_srv_parse_allow(info, args);
}

int rblk_server_nl_export_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rblk_srv_export_args args = {};
	int err;

	err = rblk_srv_parse_export(skb, info, &args);
	if (err)
		kfree(args.allow);
	else
		err = rblk_srv_export_add(&args, info->extack);
	/* Taken over if it is exported now. */
	kfree(args.device);
	/* netlink_rcv_skb() sends no ack for -EINTR: the caller would wait for ever. */
	return err == -EINTR ? -ECANCELED : err;
}

/* A name and at least one client; what it allocates is in ARGS also if it fails. */
static int rblk_srv_parse_access(struct genl_info *info, struct rblk_srv_export_args *args)
{
	int err;

	err = rblk_srv_parse_name(info, RBLK_SERVER_A_EXPORT_NAME, args->name);
	if (err)
		return err;
	args->allow_any = nla_get_flag(info->attrs[RBLK_SERVER_A_EXPORT_ALLOW_ANY]);
	if (!args->allow_any && GENL_REQ_ATTR_CHECK(info, RBLK_SERVER_A_EXPORT_ALLOW)) {
		GENL_SET_ERR_MSG(info, "a client is needed, or all");
		return -EINVAL;
	}
	return rblk_srv_parse_allow(info, args);
}

int rblk_server_nl_export_allow_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rblk_srv_export_args args = {};
	int err;

	err = rblk_srv_parse_access(info, &args);
	if (!err) {
		err = rblk_srv_export_allow(&args, info->extack);
		if (err == -ENOENT)
			NL_SET_BAD_ATTR(info->extack, info->attrs[RBLK_SERVER_A_EXPORT_NAME]);
		else if (err)
			NL_SET_BAD_ATTR(info->extack, info->attrs[RBLK_SERVER_A_EXPORT_ALLOW]);
	}
	kfree(args.allow);
	return err;
}

/* Which attribute the refusal of an unallow is about. */
static const struct nlattr *rblk_srv_unallow_attr(struct genl_info *info,
						  const struct rblk_srv_export_args *args)
{
	const struct nlattr *attr;
	u32 nr = 0;
	int rem;

	if (args->bad == RBLK_SRV_BAD_ANY)
		return info->attrs[RBLK_SERVER_A_EXPORT_ALLOW_ANY];
	nlmsg_for_each_attr_type(attr, RBLK_SERVER_A_EXPORT_ALLOW, info->nlhdr, GENL_HDRLEN, rem)
		if (nr++ == args->bad)
			return attr;
	return info->attrs[RBLK_SERVER_A_EXPORT_NAME];
}

int rblk_server_nl_export_unallow_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rblk_srv_export_args args = {};
	int err;

	err = rblk_srv_parse_access(info, &args);
	if (!err) {
		err = rblk_srv_export_unallow(&args, info->extack);
		if (err)
			NL_SET_BAD_ATTR(info->extack, rblk_srv_unallow_attr(info, &args));
	}
	kfree(args.allow);
	return err;
}

int rblk_server_nl_export_remove_doit(struct sk_buff *skb, struct genl_info *info)
{
	char name[RBLK_NAME_SIZE];
	int err;

	err = rblk_srv_parse_name(info, RBLK_SERVER_A_EXPORT_NAME, name);
	if (err)
		return err;
	return rblk_srv_export_remove(name, nla_get_flag(info->attrs[RBLK_SERVER_A_EXPORT_FORCE]),
				      info->extack);
}

int rblk_server_nl_export_resize_doit(struct sk_buff *skb, struct genl_info *info)
{
	char name[RBLK_NAME_SIZE];
	bool about_size;
	u64 size;
	int err;

	err = rblk_srv_parse_name(info, RBLK_SERVER_A_EXPORT_NAME, name) ?:
	      rblk_srv_parse_size(info, &size);
	if (err)
		return err;
	err = rblk_srv_export_resize(name, size,
				     nla_get_flag(info->attrs[RBLK_SERVER_A_EXPORT_FORCE]),
				     &about_size, info->extack);
	if (err)
		NL_SET_BAD_ATTR(info->extack,
				info->attrs[about_size ? RBLK_SERVER_A_EXPORT_SIZE :
							 RBLK_SERVER_A_EXPORT_NAME]);
	/* As in export-add. */
	return err == -EINTR ? -ECANCELED : err;
}

int rblk_server_nl_export_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rblk_srv_export *export;
	char name[RBLK_NAME_SIZE];
	struct sk_buff *reply;
	int err;

	err = rblk_srv_parse_name(info, RBLK_SERVER_A_EXPORT_NAME, name);
	if (err)
		return err;
	reply = genlmsg_new(RBLK_SRV_EXPORT_MSG_SIZE, GFP_KERNEL);
	if (!reply)
		return -ENOMEM;
	mutex_lock(&rblk_srv_lock);
	export = rblk_srv_export_find(name);
	if (export) {
		err = rblk_srv_fill_export(reply, export, info->snd_portid, info->snd_seq, 0,
					   RBLK_SERVER_CMD_EXPORT_GET);
	} else {
		GENL_SET_ERR_MSG(info, "there is no export of this name");
		err = -ENOENT;
	}
	mutex_unlock(&rblk_srv_lock);
	if (err) {
		nlmsg_free(reply);
		return err;
	}
	return genlmsg_reply(reply, info);
}

/* Room for one object, whatever the first buffer of the socket was. */
int rblk_server_nl_export_get_start(struct netlink_callback *cb)
{
	cb->min_dump_alloc = RBLK_SRV_EXPORT_MSG_SIZE;
	return 0;
}

int rblk_server_nl_session_get_start(struct netlink_callback *cb)
{
	cb->min_dump_alloc = RBLK_SRV_SESSION_MSG_SIZE;
	return 0;
}

int rblk_server_nl_export_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct rblk_srv_export *export;
	long skip = cb->args[0];
	struct nlmsghdr *nlh;
	int err = 0;

	mutex_lock(&rblk_srv_lock);
	rblk_srv_dump_begin(cb);
	list_for_each_entry(export, &rblk_srv_exports, entry) {
		if (skip-- > 0)
			continue;
		nlh = (struct nlmsghdr *)skb_tail_pointer(skb);
		err = rblk_srv_fill_export(skb, export, NETLINK_CB(cb->skb).portid,
					   cb->nlh->nlmsg_seq, NLM_F_MULTI,
					   RBLK_SERVER_CMD_EXPORT_GET);
		if (err)
			break;
		nl_dump_check_consistent(cb, nlh);
		cb->args[0]++;
	}
	mutex_unlock(&rblk_srv_lock);
	return skb->len ?: err;
}

static int rblk_srv_parse_addr(struct genl_info *info, struct sockaddr_storage *addr)
{
	struct nlattr *attr = info->attrs[RBLK_SERVER_A_LISTENER_ADDR];
	const char *why;

	if (GENL_REQ_ATTR_CHECK(info, RBLK_SERVER_A_LISTENER_ADDR)) {
		GENL_SET_ERR_MSG(info, "the address is needed");
		return -EINVAL;
	}
	if (!net_eq(genl_info_net(info), &init_net)) {
		GENL_SET_ERR_MSG(info, "rblk works in the initial network namespace only");
		return -EOPNOTSUPP;
	}
	if (rblk_addr_decode(nla_data(attr), nla_len(attr), RBLK_ADDR_LISTEN, addr, &why)) {
		NL_SET_BAD_ATTR(info->extack, attr);
		NL_SET_ERR_MSG_FMT(info->extack, "%s", why);
		return -EINVAL;
	}
	return 0;
}

int rblk_server_nl_listen_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sockaddr_storage addr;

	return rblk_srv_parse_addr(info, &addr) ?: rblk_srv_listen_add(&addr, info->extack);
}

int rblk_server_nl_listen_remove_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sockaddr_storage addr;

	return rblk_srv_parse_addr(info, &addr) ?: rblk_srv_listen_remove(&addr, info->extack);
}

int rblk_server_nl_listen_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct rblk_srv_listener_info facts;
	struct nlmsghdr *nlh;
	int err = 0;

	mutex_lock(&rblk_srv_lock);
	rblk_srv_dump_begin(cb);
	while (rblk_srv_listener_info(cb->args[0], &facts)) {
		nlh = (struct nlmsghdr *)skb_tail_pointer(skb);
		err = rblk_srv_fill_listener(skb, &facts, NETLINK_CB(cb->skb).portid,
					     cb->nlh->nlmsg_seq, NLM_F_MULTI,
					     RBLK_SERVER_CMD_LISTEN_GET);
		if (err)
			break;
		nl_dump_check_consistent(cb, nlh);
		cb->args[0]++;
	}
	mutex_unlock(&rblk_srv_lock);
	return skb->len ?: err;
}

int rblk_server_nl_session_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct rblk_srv_session *session;
	long skip = cb->args[0];
	struct nlmsghdr *nlh;
	int err = 0;

	mutex_lock(&rblk_srv_lock);
	rblk_srv_dump_begin(cb);
	list_for_each_entry(session, &rblk_srv_sessions, entry) {
		if (skip-- > 0)
			continue;
		nlh = (struct nlmsghdr *)skb_tail_pointer(skb);
		err = rblk_srv_fill_session(skb, session, NETLINK_CB(cb->skb).portid,
					    cb->nlh->nlmsg_seq, NLM_F_MULTI,
					    RBLK_SERVER_CMD_SESSION_GET);
		if (err)
			break;
		nl_dump_check_consistent(cb, nlh);
		cb->args[0]++;
	}
	mutex_unlock(&rblk_srv_lock);
	return skb->len ?: err;
}

int rblk_server_nl_session_kick_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *attr = info->attrs[RBLK_SERVER_A_SESSION_ID];
	uuid_t id;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, RBLK_SERVER_A_SESSION_ID)) {
		GENL_SET_ERR_MSG(info, "the id of the session is needed");
		return -EINVAL;
	}
	import_uuid(&id, nla_data(attr));
	err = rblk_srv_session_kick(&id, info->extack);
	if (err)
		NL_SET_BAD_ATTR(info->extack, attr);
	return err;
}

/**
 * rblk_srv_netlink_init - offer the netlink family
 *
 * Context: Module load.
 * Return: 0, or a negative errno.
 */
int rblk_srv_netlink_init(void)
{
	int err = genl_register_family(&rblk_server_nl_family);

	if (!err)
		rblk_srv_events(true);
	return err;
}

/**
 * rblk_srv_netlink_exit - withdraw the netlink family
 *
 * Context: Module unload. No operation runs once it returns.
 */
void rblk_srv_netlink_exit(void)
{
	rblk_srv_events(false);
	genl_unregister_family(&rblk_server_nl_family);
}
