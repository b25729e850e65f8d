// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/rblk-client.yaml */
/* YNL-GEN kernel source */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink_gen.h"

#include <uapi/linux/rblk_client.h>

/* Integer value ranges */
static const struct netlink_range_validation rblk_client_a_device_timeout_ms_range = {
	.max	= RBLK_CLIENT_MAX_TIMEOUT_MS,
};

/* Common nested types */
const struct nla_policy rblk_client_route_nl_policy[RBLK_CLIENT_A_ROUTE_SOURCE + 1] = {
	[RBLK_CLIENT_A_ROUTE_SERVER] = NLA_POLICY_EXACT_LEN(RBLK_CLIENT_ADDR_LEN),
	[RBLK_CLIENT_A_ROUTE_SOURCE] = NLA_POLICY_EXACT_LEN(RBLK_CLIENT_ADDR_LEN),
};

/* RBLK_CLIENT_CMD_MAP - do */
static const struct nla_policy rblk_client_map_nl_policy[RBLK_CLIENT_A_DEVICE_RETRY_COUNT + 1] = {
	[RBLK_CLIENT_A_DEVICE_SERVER] = NLA_POLICY_EXACT_LEN(RBLK_CLIENT_ADDR_LEN),
	[RBLK_CLIENT_A_DEVICE_EXPORT] = { .type = NLA_NUL_STRING, .len = RBLK_CLIENT_NAME_MAX, },
	[RBLK_CLIENT_A_DEVICE_CLIENT_NAME] = { .type = NLA_NUL_STRING, .len = RBLK_CLIENT_NAME_MAX, },
	[RBLK_CLIENT_A_DEVICE_READ_ONLY] = { .type = NLA_FLAG, },
	[RBLK_CLIENT_A_DEVICE_QUEUES] = NLA_POLICY_MAX(NLA_U32, RBLK_CLIENT_MAX_QUEUES),
	[RBLK_CLIENT_A_DEVICE_DEPTH] = NLA_POLICY_MAX(NLA_U32, RBLK_CLIENT_MAX_DEPTH),
	[RBLK_CLIENT_A_DEVICE_TIMEOUT_MS] = NLA_POLICY_FULL_RANGE(NLA_U32, &rblk_client_a_device_timeout_ms_range),
	[RBLK_CLIENT_A_DEVICE_NO_PATH_TIMEOUT_MS] = { .type = NLA_U32, },
	[RBLK_CLIENT_A_DEVICE_NO_RECONNECT] = { .type = NLA_FLAG, },
	[RBLK_CLIENT_A_DEVICE_SOURCE] = NLA_POLICY_EXACT_LEN(RBLK_CLIENT_ADDR_LEN),
	[RBLK_CLIENT_A_DEVICE_ROUTE] = NLA_POLICY_NESTED(rblk_client_route_nl_policy),
	[RBLK_CLIENT_A_DEVICE_STEAL] = { .type = NLA_FLAG, },
	[RBLK_CLIENT_A_DEVICE_POLICY] = NLA_POLICY_MAX(NLA_U32, 3),
	[RBLK_CLIENT_A_DEVICE_WRITE_ORDER] = NLA_POLICY_MAX(NLA_U32, 2),
	[RBLK_CLIENT_A_DEVICE_TOS] = NLA_POLICY_MAX(NLA_U32, RBLK_CLIENT_MAX_TOS),
	[RBLK_CLIENT_A_DEVICE_ACK_TIMEOUT] = NLA_POLICY_RANGE(NLA_U32, RBLK_CLIENT_MIN_ACK_TIMEOUT, RBLK_CLIENT_MAX_ACK_TIMEOUT),
	[RBLK_CLIENT_A_DEVICE_RETRY_COUNT] = NLA_POLICY_MAX(NLA_U32, RBLK_CLIENT_MAX_RETRY_COUNT),
};

/* RBLK_CLIENT_CMD_UNMAP - do */
static const struct nla_policy rblk_client_unmap_nl_policy[RBLK_CLIENT_A_DEVICE_FORCE + 1] = {
	[RBLK_CLIENT_A_DEVICE_INDEX] = { .type = NLA_U32, },
	[RBLK_CLIENT_A_DEVICE_FORCE] = { .type = NLA_FLAG, },
};

/* RBLK_CLIENT_CMD_DEVICE_GET - do */
static const struct nla_policy rblk_client_device_get_nl_policy[RBLK_CLIENT_A_DEVICE_INDEX + 1] = {
	[RBLK_CLIENT_A_DEVICE_INDEX] = { .type = NLA_U32, },
};

/* RBLK_CLIENT_CMD_PATH_ADD - do */
static const struct nla_policy rblk_client_path_add_nl_policy[RBLK_CLIENT_A_DEVICE_RETRY_COUNT + 1] = {
	[RBLK_CLIENT_A_DEVICE_INDEX] = { .type = NLA_U32, },
	[RBLK_CLIENT_A_DEVICE_SERVER] = NLA_POLICY_EXACT_LEN(RBLK_CLIENT_ADDR_LEN),
	[RBLK_CLIENT_A_DEVICE_SOURCE] = NLA_POLICY_EXACT_LEN(RBLK_CLIENT_ADDR_LEN),
	[RBLK_CLIENT_A_DEVICE_TIMEOUT_MS] = NLA_POLICY_FULL_RANGE(NLA_U32, &rblk_client_a_device_timeout_ms_range),
	[RBLK_CLIENT_A_DEVICE_TOS] = NLA_POLICY_MAX(NLA_U32, RBLK_CLIENT_MAX_TOS),
	[RBLK_CLIENT_A_DEVICE_ACK_TIMEOUT] = NLA_POLICY_RANGE(NLA_U32, RBLK_CLIENT_MIN_ACK_TIMEOUT, RBLK_CLIENT_MAX_ACK_TIMEOUT),
	[RBLK_CLIENT_A_DEVICE_RETRY_COUNT] = NLA_POLICY_MAX(NLA_U32, RBLK_CLIENT_MAX_RETRY_COUNT),
};

/* RBLK_CLIENT_CMD_PATH_REMOVE - do */
static const struct nla_policy rblk_client_path_remove_nl_policy[RBLK_CLIENT_A_DEVICE_PATH + 1] = {
	[RBLK_CLIENT_A_DEVICE_INDEX] = { .type = NLA_U32, },
	[RBLK_CLIENT_A_DEVICE_PATH] = { .type = NLA_U32, },
	[RBLK_CLIENT_A_DEVICE_FORCE] = { .type = NLA_FLAG, },
};

/* RBLK_CLIENT_CMD_PATH_DRAIN - do */
static const struct nla_policy rblk_client_path_drain_nl_policy[RBLK_CLIENT_A_DEVICE_PATH + 1] = {
	[RBLK_CLIENT_A_DEVICE_INDEX] = { .type = NLA_U32, },
	[RBLK_CLIENT_A_DEVICE_PATH] = { .type = NLA_U32, },
	[RBLK_CLIENT_A_DEVICE_FORCE] = { .type = NLA_FLAG, },
};

/* RBLK_CLIENT_CMD_PATH_UNDRAIN - do */
static const struct nla_policy rblk_client_path_undrain_nl_policy[RBLK_CLIENT_A_DEVICE_PATH + 1] = {
	[RBLK_CLIENT_A_DEVICE_INDEX] = { .type = NLA_U32, },
	[RBLK_CLIENT_A_DEVICE_PATH] = { .type = NLA_U32, },
};

/* RBLK_CLIENT_CMD_DEVICE_SET - do */
static const struct nla_policy rblk_client_device_set_nl_policy[RBLK_CLIENT_A_DEVICE_WRITE_ORDER + 1] = {
	[RBLK_CLIENT_A_DEVICE_INDEX] = { .type = NLA_U32, },
	[RBLK_CLIENT_A_DEVICE_NO_PATH_TIMEOUT_MS] = { .type = NLA_U32, },
	[RBLK_CLIENT_A_DEVICE_POLICY] = NLA_POLICY_MAX(NLA_U32, 3),
	[RBLK_CLIENT_A_DEVICE_WRITE_ORDER] = NLA_POLICY_MAX(NLA_U32, 2),
};

/* RBLK_CLIENT_CMD_PATH_SET - do */
static const struct nla_policy rblk_client_path_set_nl_policy[RBLK_CLIENT_A_DEVICE_RETRY_COUNT + 1] = {
	[RBLK_CLIENT_A_DEVICE_INDEX] = { .type = NLA_U32, },
	[RBLK_CLIENT_A_DEVICE_PATH] = { .type = NLA_U32, },
	[RBLK_CLIENT_A_DEVICE_TOS] = NLA_POLICY_MAX(NLA_U32, RBLK_CLIENT_MAX_TOS),
	[RBLK_CLIENT_A_DEVICE_ACK_TIMEOUT] = NLA_POLICY_RANGE(NLA_U32, RBLK_CLIENT_MIN_ACK_TIMEOUT, RBLK_CLIENT_MAX_ACK_TIMEOUT),
	[RBLK_CLIENT_A_DEVICE_RETRY_COUNT] = NLA_POLICY_MAX(NLA_U32, RBLK_CLIENT_MAX_RETRY_COUNT),
};

/* Ops table for rblk_client */
static const struct genl_split_ops rblk_client_nl_ops[] = {
	{
		.cmd		= RBLK_CLIENT_CMD_MAP,
		.doit		= rblk_client_nl_map_doit,
		.policy		= rblk_client_map_nl_policy,
		.maxattr	= RBLK_CLIENT_A_DEVICE_RETRY_COUNT,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= RBLK_CLIENT_CMD_UNMAP,
		.doit		= rblk_client_nl_unmap_doit,
		.policy		= rblk_client_unmap_nl_policy,
		.maxattr	= RBLK_CLIENT_A_DEVICE_FORCE,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= RBLK_CLIENT_CMD_DEVICE_GET,
		.doit		= rblk_client_nl_device_get_doit,
		.policy		= rblk_client_device_get_nl_policy,
		.maxattr	= RBLK_CLIENT_A_DEVICE_INDEX,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd	= RBLK_CLIENT_CMD_DEVICE_GET,
		.start	= rblk_client_nl_device_get_start,
		.dumpit	= rblk_client_nl_device_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd	= RBLK_CLIENT_CMD_SESSION_GET,
		.start	= rblk_client_nl_session_get_start,
		.dumpit	= rblk_client_nl_session_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= RBLK_CLIENT_CMD_PATH_ADD,
		.doit		= rblk_client_nl_path_add_doit,
		.policy		= rblk_client_path_add_nl_policy,
		.maxattr	= RBLK_CLIENT_A_DEVICE_RETRY_COUNT,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= RBLK_CLIENT_CMD_PATH_REMOVE,
		.doit		= rblk_client_nl_path_remove_doit,
		.policy		= rblk_client_path_remove_nl_policy,
		.maxattr	= RBLK_CLIENT_A_DEVICE_PATH,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= RBLK_CLIENT_CMD_PATH_DRAIN,
		.doit		= rblk_client_nl_path_drain_doit,
		.policy		= rblk_client_path_drain_nl_policy,
		.maxattr	= RBLK_CLIENT_A_DEVICE_PATH,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= RBLK_CLIENT_CMD_PATH_UNDRAIN,
		.doit		= rblk_client_nl_path_undrain_doit,
		.policy		= rblk_client_path_undrain_nl_policy,
		.maxattr	= RBLK_CLIENT_A_DEVICE_PATH,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= RBLK_CLIENT_CMD_DEVICE_SET,
		.doit		= rblk_client_nl_device_set_doit,
		.policy		= rblk_client_device_set_nl_policy,
		.maxattr	= RBLK_CLIENT_A_DEVICE_WRITE_ORDER,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= RBLK_CLIENT_CMD_PATH_SET,
		.doit		= rblk_client_nl_path_set_doit,
		.policy		= rblk_client_path_set_nl_policy,
		.maxattr	= RBLK_CLIENT_A_DEVICE_RETRY_COUNT,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
};

static const struct genl_multicast_group rblk_client_nl_mcgrps[] = {
	[RBLK_CLIENT_NLGRP_EVENTS] = { "events", },
};

struct genl_family rblk_client_nl_family __ro_after_init = {
	.name		= RBLK_CLIENT_FAMILY_NAME,
	.version	= RBLK_CLIENT_FAMILY_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.split_ops	= rblk_client_nl_ops,
	.n_split_ops	= ARRAY_SIZE(rblk_client_nl_ops),
	.mcgrps		= rblk_client_nl_mcgrps,
	.n_mcgrps	= ARRAY_SIZE(rblk_client_nl_mcgrps),
};
