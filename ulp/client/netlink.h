/* SPDX-License-Identifier: GPL-2.0 */
/* What the bodies of the netlink operations share; they are in two files. */
#ifndef _RBLK_CLIENT_NETLINK_H
#define _RBLK_CLIENT_NETLINK_H

#include <net/genetlink.h>
#include "client.h"

/* netlink_path.c */
int rblk_clt_put_addr(struct sk_buff *skb, int attr, const struct sockaddr_storage *addr);
int rblk_clt_fill_path(struct sk_buff *skb, struct rblk_clt_path *path, u32 in_flight);
bool rblk_clt_parse_tune(struct nlattr **attrs, struct rblk_clt_tune *tune);
int rblk_clt_parse_route(struct netlink_ext_ack *extack, struct nlattr *server,
			 struct nlattr *source, struct rblk_clt_route *route);

#endif /* _RBLK_CLIENT_NETLINK_H */
