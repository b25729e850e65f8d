// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/rblk-server.yaml */
/* YNL-GEN kernel source */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink_gen.h"

#include <uapi/linux/rblk_server.h>

/* RBLK_SERVER_CMD_EXPORT_ADD - do */
static const struct nla_policy rblk_server_export_add_nl_policy[RBLK_SERVER_A_EXPORT_DEVICE + 1] = {
	[RBLK_SERVER_A_EXPORT_NAME] = { .type = NLA_NUL_STRING, .len = RBLK_SERVER_NAME_MAX, },
	[RBLK_SERVER_A_EXPORT_SIZE] = { .type = NLA_UINT, },
	[RBLK_SERVER_A_EXPORT_NUMA_NODE] = { .type = NLA_S32, },
	[RBLK_SERVER_A_EXPORT_ALLOW] = { .type = NLA_STRING, .len = RBLK_SERVER_NAME_MAX, },
	[RBLK_SERVER_A_EXPORT_ALLOW_ANY] = { .type = NLA_FLAG, },
	[RBLK_SERVER_A_EXPORT_SHARED] = { .type = NLA_FLAG, },
	[RBLK_SERVER_A_EXPORT_READ_ONLY] = { .type = NLA_FLAG, },
	[RBLK_SERVER_A_EXPORT_INCARNATION] = NLA_POLICY_EXACT_LEN(16),
	[RBLK_SERVER_A_EXPORT_DEVICE] = { .type = NLA_NUL_STRING, .len = RBLK_SERVER_DEVICE_MAX, },
};

/* RBLK_SERVER_CMD_EXPORT_REMOVE - do */
static const struct nla_policy rblk_server_export_remove_nl_policy[RBLK_SERVER_A_EXPORT_FORCE + 1] = {
	[RBLK_SERVER_A_EXPORT_NAME] = { .type = NLA_NUL_STRING, .len = RBLK_SERVER_NAME_MAX, },
	[RBLK_SERVER_A_EXPORT_FORCE] = { .type = NLA_FLAG, },
};

/* RBLK_SERVER_CMD_EXPORT_GET - do */
static const struct nla_policy rblk_server_export_get_nl_policy[RBLK_SERVER_A_EXPORT_NAME + 1] = {
	[RBLK_SERVER_A_EXPORT_NAME] = { .type = NLA_NUL_STRING, .len = RBLK_SERVER_NAME_MAX, },
};

/* RBLK_SERVER_CMD_LISTEN_ADD - do */
static const struct nla_policy rblk_server_listen_add_nl_policy[RBLK_SERVER_A_LISTENER_ADDR + 1] = {
	[RBLK_SERVER_A_LISTENER_ADDR] = NLA_POLICY_EXACT_LEN(RBLK_SERVER_ADDR_LEN),
};

/* RBLK_SERVER_CMD_LISTEN_REMOVE - do */
static const struct nla_policy rblk_server_listen_remove_nl_policy[RBLK_SERVER_A_LISTENER_ADDR + 1] = {
	[RBLK_SERVER_A_LISTENER_ADDR] = NLA_POLICY_EXACT_LEN(RBLK_SERVER_ADDR_LEN),
};

/* RBLK_SERVER_CMD_SESSION_KICK - do */
static const struct nla_policy rblk_server_session_kick_nl_policy[RBLK_SERVER_A_SESSION_ID + 1] = {
	[RBLK_SERVER_A_SESSION_ID] = NLA_POLICY_EXACT_LEN(16),
};

/* RBLK_SERVER_CMD_EXPORT_ALLOW - do */
static const struct nla_policy rblk_server_export_allow_nl_policy[RBLK_SERVER_A_EXPORT_ALLOW_ANY + 1] = {
	[RBLK_SERVER_A_EXPORT_NAME] = { .type = NLA_NUL_STRING, .len = RBLK_SERVER_NAME_MAX, },
	[RBLK_SERVER_A_EXPORT_ALLOW] = { .type = NLA_STRING, .len = RBLK_SERVER_NAME_MAX, },
	[RBLK_SERVER_A_EXPORT_ALLOW_ANY] = { .type = NLA_FLAG, },
};

/* RBLK_SERVER_CMD_EXPORT_UNALLOW - do */
static const struct nla_policy rblk_server_export_unallow_nl_policy[RBLK_SERVER_A_EXPORT_ALLOW_ANY + 1] = {
	[RBLK_SERVER_A_EXPORT_NAME] = { .type = NLA_NUL_STRING, .len = RBLK_SERVER_NAME_MAX, },
	[RBLK_SERVER_A_EXPORT_ALLOW] = { .type = NLA_STRING, .len = RBLK_SERVER_NAME_MAX, },
	[RBLK_SERVER_A_EXPORT_ALLOW_ANY] = { .type = NLA_FLAG, },
};

/* RBLK_SERVER_CMD_EXPORT_RESIZE - do */
static const struct nla_policy rblk_server_export_resize_nl_policy[RBLK_SERVER_A_EXPORT_FORCE + 1] = {
	[RBLK_SERVER_A_EXPORT_NAME] = { .type = NLA_NUL_STRING, .len = RBLK_SERVER_NAME_MAX, },
	[RBLK_SERVER_A_EXPORT_SIZE] = { .type = NLA_UINT, },
	[RBLK_SERVER_A_EXPORT_FORCE] = { .type = NLA_FLAG, },
};

/* Ops table for rblk_server */
static const struct genl_split_ops rblk_server_nl_ops[] = {
	{
		.cmd		= RBLK_SERVER_CMD_EXPORT_ADD,
		.doit		= rblk_server_nl_export_add_doit,
		.policy		= rblk_server_export_add_nl_policy,
		.maxattr	= RBLK_SERVER_A_EXPORT_DEVICE,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= RBLK_SERVER_CMD_EXPORT_REMOVE,
		.doit		= rblk_server_nl_export_remove_doit,
		.policy		= rblk_server_export_remove_nl_policy,
		.maxattr	= RBLK_SERVER_A_EXPORT_FORCE,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= RBLK_SERVER_CMD_EXPORT_GET,
		.doit		= rblk_server_nl_export_get_doit,
		.policy		= rblk_server_export_get_nl_policy,
		.maxattr	= RBLK_SERVER_A_EXPORT_NAME,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd	= RBLK_SERVER_CMD_EXPORT_GET,
		.start	= rblk_server_nl_export_get_start,
		.dumpit	= rblk_server_nl_export_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= RBLK_SERVER_CMD_LISTEN_ADD,
		.doit		= rblk_server_nl_listen_add_doit,
		.policy		= rblk_server_listen_add_nl_policy,
		.maxattr	= RBLK_SERVER_A_LISTENER_ADDR,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= RBLK_SERVER_CMD_LISTEN_REMOVE,
		.doit		= rblk_server_nl_listen_remove_doit,
		.policy		= rblk_server_listen_remove_nl_policy,
		.maxattr	= RBLK_SERVER_A_LISTENER_ADDR,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd	= RBLK_SERVER_CMD_LISTEN_GET,
		.dumpit	= rblk_server_nl_listen_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd	= RBLK_SERVER_CMD_SESSION_GET,
		.start	= rblk_server_nl_session_get_start,
		.dumpit	= rblk_server_nl_session_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= RBLK_SERVER_CMD_SESSION_KICK,
		.doit		= rblk_server_nl_session_kick_doit,
		.policy		= rblk_server_session_kick_nl_policy,
		.maxattr	= RBLK_SERVER_A_SESSION_ID,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= RBLK_SERVER_CMD_EXPORT_ALLOW,
		.doit		= rblk_server_nl_export_allow_doit,
		.policy		= rblk_server_export_allow_nl_policy,
		.maxattr	= RBLK_SERVER_A_EXPORT_ALLOW_ANY,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= RBLK_SERVER_CMD_EXPORT_UNALLOW,
		.doit		= rblk_server_nl_export_unallow_doit,
		.policy		= rblk_server_export_unallow_nl_policy,
		.maxattr	= RBLK_SERVER_A_EXPORT_ALLOW_ANY,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= RBLK_SERVER_CMD_EXPORT_RESIZE,
		.doit		= rblk_server_nl_export_resize_doit,
		.policy		= rblk_server_export_resize_nl_policy,
		.maxattr	= RBLK_SERVER_A_EXPORT_FORCE,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
};

static const struct genl_multicast_group rblk_server_nl_mcgrps[] = {
	[RBLK_SERVER_NLGRP_EVENTS] = { "events", },
};

struct genl_family rblk_server_nl_family __ro_after_init = {
	.name		= RBLK_SERVER_FAMILY_NAME,
	.version	= RBLK_SERVER_FAMILY_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.split_ops	= rblk_server_nl_ops,
	.n_split_ops	= ARRAY_SIZE(rblk_server_nl_ops),
	.mcgrps		= rblk_server_nl_mcgrps,
	.n_mcgrps	= ARRAY_SIZE(rblk_server_nl_mcgrps),
};
