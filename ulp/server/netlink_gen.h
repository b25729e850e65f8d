/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/rblk-server.yaml */
/* YNL-GEN kernel header */

#ifndef _LINUX_RBLK_SERVER_GEN_H
#define _LINUX_RBLK_SERVER_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/linux/rblk_server.h>

int rblk_server_nl_export_get_start(struct netlink_callback *cb);
int rblk_server_nl_session_get_start(struct netlink_callback *cb);

int rblk_server_nl_export_add_doit(struct sk_buff *skb, struct genl_info *info);
int rblk_server_nl_export_remove_doit(struct sk_buff *skb,
				      struct genl_info *info);
int rblk_server_nl_export_get_doit(struct sk_buff *skb, struct genl_info *info);
int rblk_server_nl_export_get_dumpit(struct sk_buff *skb,
				     struct netlink_callback *cb);
int rblk_server_nl_listen_add_doit(struct sk_buff *skb, struct genl_info *info);
int rblk_server_nl_listen_remove_doit(struct sk_buff *skb,
				      struct genl_info *info);
int rblk_server_nl_listen_get_dumpit(struct sk_buff *skb,
				     struct netlink_callback *cb);
int rblk_server_nl_session_get_dumpit(struct sk_buff *skb,
				      struct netlink_callback *cb);
int rblk_server_nl_session_kick_doit(struct sk_buff *skb,
				     struct genl_info *info);
int rblk_server_nl_export_allow_doit(struct sk_buff *skb,
				     struct genl_info *info);
int rblk_server_nl_export_unallow_doit(struct sk_buff *skb,
				       struct genl_info *info);
int rblk_server_nl_export_resize_doit(struct sk_buff *skb,
				      struct genl_info *info);

enum {
	RBLK_SERVER_NLGRP_EVENTS,
};

extern struct genl_family rblk_server_nl_family;

#endif /* _LINUX_RBLK_SERVER_GEN_H */
