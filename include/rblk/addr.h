/* SPDX-License-Identifier: GPL-2.0 */
/* Socket addresses: what the tool may give, how they compare and print. */
#ifndef _RBLK_ADDR_H
#define _RBLK_ADDR_H

#include <linux/socket.h>
#include <linux/types.h>

#define RBLK_ADDR_LEN	28	/* in netlink: sockaddr_in6, or sockaddr_in and zeroes */
#define RBLK_ADDR_STR	72	/* "[" address "%" scope "]:" port, and the NUL */

enum rblk_addr_use {
	RBLK_ADDR_CONNECT,	/* an address a client connects to */
	RBLK_ADDR_LISTEN,	/* an address a server listens on */
	RBLK_ADDR_SOURCE,	/* an address a client connects from: no port */
};

int rblk_addr_decode(const void *data, size_t len, enum rblk_addr_use use,
		     struct sockaddr_storage *addr, const char **why);
void rblk_addr_encode(const struct sockaddr_storage *addr, u8 data[RBLK_ADDR_LEN]);
bool rblk_addr_equal(const struct sockaddr_storage *a, const struct sockaddr_storage *b);
__be16 rblk_addr_port(const struct sockaddr_storage *addr);
void rblk_addr_set_port(struct sockaddr_storage *addr, __be16 port);
bool rblk_addr_wildcard(const struct sockaddr_storage *addr);
const char *rblk_addr_str(const struct sockaddr_storage *addr, char buf[RBLK_ADDR_STR]);

#endif /* _RBLK_ADDR_H */
