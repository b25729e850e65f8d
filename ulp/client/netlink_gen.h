/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/rblk-client.yaml */
/* YNL-GEN kernel header */

#ifndef _LINUX_RBLK_CLIENT_GEN_H
#define _LINUX_RBLK_CLIENT_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/linux/rblk_client.h>

/* Common nested types */
extern const struct nla_policy rblk_client_route_nl_policy[RBLK_CLIENT_A_ROUTE_SOURCE + 1];

int rblk_client_nl_device_get_start(struct netlink_callback *cb);
int rblk_client_nl_session_get_start(struct netlink_callback *cb);

int rblk_client_nl_map_doit(struct sk_buff *skb, struct genl_info *info);
int rblk_client_nl_unmap_doit(struct sk_buff *skb, struct genl_info *info);
int rblk_client_nl_device_get_doit(struct sk_buff *skb, struct genl_info *info);
int rblk_client_nl_device_get_dumpit(struct sk_buff *skb,
				     struct netlink_callback *cb);
int rblk_client_nl_session_get_dumpit(struct sk_buff *skb,
				      struct netlink_callback *cb);
int rblk_client_nl_path_add_doit(struct sk_buff *skb, struct genl_info *info);
int rblk_client_nl_path_remove_doit(struct sk_buff *skb,
				    struct genl_info *info);
int rblk_client_nl_path_drain_doit(struct sk_buff *skb, struct genl_info *info);
int rblk_client_nl_path_undrain_doit(struct sk_buff *skb,
				     struct genl_info *info);
int rblk_client_nl_device_set_doit(struct sk_buff *skb, struct genl_info *info);
int rblk_client_nl_path_set_doit(struct sk_buff *skb, struct genl_info *info);

enum {
	RBLK_CLIENT_NLGRP_EVENTS,
};

extern struct genl_family rblk_client_nl_family;

#endif /* _LINUX_RBLK_CLIENT_GEN_H */
