// SPDX-License-Identifier: GPL-2.0
/* Socket addresses: checked once, when they come in through netlink. */
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <net/ipv6.h>

#include <rblk/addr.h>

static_assert(sizeof(struct sockaddr_in6) == RBLK_ADDR_LEN);
static_assert(sizeof(struct sockaddr_in) <= RBLK_ADDR_LEN);

static bool rblk_addr_link_local(const struct in6_addr *addr)
{
	return (addr->s6_addr32[0] & htonl(0xffc00000)) == htonl(0xfe800000);
}

static const struct sockaddr_in *rblk_addr_v4(const struct sockaddr_storage *addr)
{
	return (const struct sockaddr_in *)addr;
}

static const struct sockaddr_in6 *rblk_addr_v6(const struct sockaddr_storage *addr)
{
	return (const struct sockaddr_in6 *)addr;
}

static const char *rblk_addr_check_v4(const struct sockaddr_in *sin)
{
	if (ipv4_is_multicast(sin->sin_addr.s_addr))
		return "a multicast address";
	if (ipv4_is_lbcast(sin->sin_addr.s_addr))
		return "the broadcast address";
	return NULL;
}

static const char *rblk_addr_check_v6(const struct sockaddr_in6 *sin6)
{
	if (sin6->sin6_flowinfo)
		return "IPv6 flow information is not supported";
	if (ipv6_addr_is_multicast(&sin6->sin6_addr))
		return "a multicast address";
	if (ipv6_addr_v4mapped(&sin6->sin6_addr))
		return "an IPv4 address written as IPv6; give it as IPv4";
	if (rblk_addr_link_local(&sin6->sin6_addr) && !sin6->sin6_scope_id)
		return "a link-local address needs an interface, as in fe80::1%eth0";
	return NULL;
}

/* The port and the wildcard depend on what the address is for. */
static const char *rblk_addr_check_use(const struct sockaddr_storage *addr, __be16 port,
				       enum rblk_addr_use use)
{
	if (use != RBLK_ADDR_LISTEN && rblk_addr_wildcard(addr))
		return "the wildcard address is good only to listen on";
	if (use == RBLK_ADDR_SOURCE) {
		/* Each connection of a path needs a port of its own. */
		if (port)
			return "a source address has no port";
	} else if (!port) {
		return "the port is missing";
	}
	return NULL;
}

/**
 * rblk_addr_decode - check an address of netlink and take it over
 * @data: struct sockaddr_in6, or struct sockaddr_in and zeroes; any alignment
 * @len: bytes at @data, RBLK_ADDR_LEN
 * @use: what the address is for
 * @addr: to fill in; all zero when it fails
 * @why: what is wrong, in words, when it fails
 *
 * Context: Any.
 * Return: 0; -EINVAL if the address cannot be used, -EAFNOSUPPORT if it is
 * neither IPv4 nor IPv6.
 */
int rblk_addr_decode(const void *data, size_t len, enum rblk_addr_use use,
		     struct sockaddr_storage *addr, const char **why)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)addr;
	struct sockaddr_in *sin = (struct sockaddr_in *)addr;
	const char *text;
	__be16 port;

	memset(addr, 0, sizeof(*addr));
	if (len != RBLK_ADDR_LEN) {
		*why = "an address has 28 bytes";
		return -EINVAL;
	}
	memcpy(addr, data, len);
	switch (addr->ss_family) {
	case AF_INET:
		port = sin->sin_port;
		text = rblk_addr_check_v4(sin);
		/* The padding of sockaddr_in included. */
		if (memchr_inv(data + offsetof(struct sockaddr_in, __pad), 0,
			       len - offsetof(struct sockaddr_in, __pad)))
			text = "stray bytes after an IPv4 address";
		break;
	case AF_INET6:
		port = sin6->sin6_port;
		text = rblk_addr_check_v6(sin6);
		/* It means nothing elsewhere; kept, it would tell equal addresses apart. */
		if (!rblk_addr_link_local(&sin6->sin6_addr))
			sin6->sin6_scope_id = 0;
		break;
	default:
		memset(addr, 0, sizeof(*addr));
		*why = "neither an IPv4 nor an IPv6 address";
		return -EAFNOSUPPORT;
	}
	if (!text)
		text = rblk_addr_check_use(addr, port, use);
	if (text) {
		memset(addr, 0, sizeof(*addr));
		*why = text;
		return -EINVAL;
	}
	return 0;
}
EXPORT_SYMBOL_GPL(rblk_addr_decode);

/**
 * rblk_addr_encode - an address in the form of netlink
 * @addr: IPv4 or IPv6
 * @data: to fill in; zeroes if @addr is of another family
 *
 * Context: Any.
 */
void rblk_addr_encode(const struct sockaddr_storage *addr, u8 data[RBLK_ADDR_LEN])
{
	memset(data, 0, RBLK_ADDR_LEN);
	switch (addr->ss_family) {
	case AF_INET:
		memcpy(data, addr, offsetof(struct sockaddr_in, __pad));
		break;
	case AF_INET6:
		memcpy(data, addr, sizeof(struct sockaddr_in6));
		break;
	}
}
EXPORT_SYMBOL_GPL(rblk_addr_encode);

/**
 * rblk_addr_equal - do two addresses name the same end point?
 * @a: an address
 * @b: another one
 *
 * Context: Any.
 * Return: true if family, address and port are equal and, between link-local
 * addresses, the interface too.
 */
bool rblk_addr_equal(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	const struct sockaddr_in6 *a6 = rblk_addr_v6(a), *b6 = rblk_addr_v6(b);
	const struct sockaddr_in *a4 = rblk_addr_v4(a), *b4 = rblk_addr_v4(b);

	if (a->ss_family != b->ss_family)
		return false;
	switch (a->ss_family) {
	case AF_INET:
		return a4->sin_addr.s_addr == b4->sin_addr.s_addr &&
		       a4->sin_port == b4->sin_port;
	case AF_INET6:
		return ipv6_addr_equal(&a6->sin6_addr, &b6->sin6_addr) &&
		       a6->sin6_port == b6->sin6_port &&
		       (!rblk_addr_link_local(&a6->sin6_addr) ||
			a6->sin6_scope_id == b6->sin6_scope_id);
	}
	return false;
}
EXPORT_SYMBOL_GPL(rblk_addr_equal);

/**
 * rblk_addr_port - the port of an address
 * @addr: the address, IPv4 or IPv6
 *
 * Context: Any.
 * Return: the port, as on the wire.
 */
__be16 rblk_addr_port(const struct sockaddr_storage *addr)
{
	if (addr->ss_family == AF_INET6)
		return ((const struct sockaddr_in6 *)addr)->sin6_port;
	return ((const struct sockaddr_in *)addr)->sin_port;
}
EXPORT_SYMBOL_GPL(rblk_addr_port);

/**
 * rblk_addr_set_port - give an address another port
 * @addr: the address, IPv4 or IPv6
 * @port: the port, as on the wire; 0 for any
 *
 * Context: Any.
 */
void rblk_addr_set_port(struct sockaddr_storage *addr, __be16 port)
{
	if (addr->ss_family == AF_INET6)
		((struct sockaddr_in6 *)addr)->sin6_port = port;
	else
		((struct sockaddr_in *)addr)->sin_port = port;
}
EXPORT_SYMBOL_GPL(rblk_addr_set_port);

/**
 * rblk_addr_wildcard - does an address stand for all addresses of the node?
 * @addr: an address
 *
 * Context: Any.
 * Return: true for 0.0.0.0 and ::.
 */
bool rblk_addr_wildcard(const struct sockaddr_storage *addr)
{
	switch (addr->ss_family) {
	case AF_INET:
		return rblk_addr_v4(addr)->sin_addr.s_addr == htonl(INADDR_ANY);
	case AF_INET6:
		return ipv6_addr_any(&rblk_addr_v6(addr)->sin6_addr);
	}
	return false;
}
EXPORT_SYMBOL_GPL(rblk_addr_wildcard);

/**
 * rblk_addr_str - an address as a person writes it
 * @addr: an address
 * @buf: where to print it
 *
 * Not %pISpsc: it prints the scope behind the port, where no tool reads it. The
 * port, and the brackets that it needs, are left out if it is 0.
 *
 * Context: Any.
 * Return: @buf.
 */
const char *rblk_addr_str(const struct sockaddr_storage *addr, char buf[RBLK_ADDR_STR])
{
	const struct sockaddr_in6 *sin6 = rblk_addr_v6(addr);
	const struct sockaddr_in *sin = rblk_addr_v4(addr);
	char scope[sizeof("%4294967295")] = "";

	switch (addr->ss_family) {
	case AF_INET:
		if (sin->sin_port)
			snprintf(buf, RBLK_ADDR_STR, "%pI4:%u", &sin->sin_addr,
				 ntohs(sin->sin_port));
		else
			snprintf(buf, RBLK_ADDR_STR, "%pI4", &sin->sin_addr);
		break;
	case AF_INET6:
		if (rblk_addr_link_local(&sin6->sin6_addr))
			snprintf(scope, sizeof(scope), "%%%u", sin6->sin6_scope_id);
		if (sin6->sin6_port)
			snprintf(buf, RBLK_ADDR_STR, "[%pI6c%s]:%u", &sin6->sin6_addr, scope,
				 ntohs(sin6->sin6_port));
		else
			snprintf(buf, RBLK_ADDR_STR, "%pI6c%s", &sin6->sin6_addr, scope);
		break;
	default:
		snprintf(buf, RBLK_ADDR_STR, "(no address)");
		break;
	}
	return buf;
}
EXPORT_SYMBOL_GPL(rblk_addr_str);
