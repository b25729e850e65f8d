/* SPDX-License-Identifier: GPL-2.0 */
/* What the server's objects look like in netlink. */
#ifndef _RBLK_NETLINK_FILL_H
#define _RBLK_NETLINK_FILL_H

#include <linux/skbuff.h>
#include "server.h"

/* Room for an export with as many named clients as it can have. */
#define RBLK_SRV_EXPORT_MSG_SIZE \
	(1024 + RBLK_SERVER_DEVICE_MAX + RBLK_SRV_ALLOW_MAX * nla_total_size(RBLK_NAME_SIZE))

/* Room for a session with as many open exports as a path can have. */
#define RBLK_SRV_SESSION_MSG_SIZE \
	(1024 + RBLK_SRV_OPENS_MAX * nla_total_size(RBLK_NAME_SIZE))

int rblk_srv_fill_export(struct sk_buff *skb, const struct rblk_srv_export *export,
			 u32 portid, u32 seq, int flags, u8 cmd);
int rblk_srv_fill_listener(struct sk_buff *skb, const struct rblk_srv_listener_info *info,
			   u32 portid, u32 seq, int flags, u8 cmd);
int rblk_srv_fill_session(struct sk_buff *skb, struct rblk_srv_session *session,
			  u32 portid, u32 seq, int flags, u8 cmd);

void rblk_srv_events(bool on);

#endif /* _RBLK_NETLINK_FILL_H */
