/* SPDX-License-Identifier: GPL-2.0 */
/* For ulp/core/wire.c alone: the bodies of LIMITS and of its reply. */
#ifndef _RBLK_WIRE_LIMITS_H
#define _RBLK_WIRE_LIMITS_H

#include <linux/types.h>

struct rblk_msg;

bool rblk_limits_ok(const struct rblk_msg *msg);
void rblk_limits_encode(const struct rblk_msg *msg, void *body);
void rblk_limits_decode(const void *body, struct rblk_msg *msg);
bool rblk_limits_reply_ok(const struct rblk_msg *msg);
void rblk_limits_reply_encode(const struct rblk_msg *msg, void *body);
void rblk_limits_reply_decode(const void *body, struct rblk_msg *msg);

#endif /* _RBLK_WIRE_LIMITS_H */
