// SPDX-License-Identifier: GPL-2.0
// Addresses of servers and listeners: their text, their 28 bytes on the wire, and names.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <netinet/in.h>

#include "netlink/transport.hpp"

namespace rblk {

inline constexpr std::uint16_t default_port = 7471;
inline constexpr std::size_t address_size = 28;

// Interfaces by name and number, as the scope of a link-local address; 0 and "" for none.
struct Interfaces {
    std::function<std::uint32_t(const std::string&)> index_of;
    std::function<std::string(std::uint32_t)> name_of;

    static Interfaces of_this_machine();
};

// An IPv4 or IPv6 address with its port.
class Address {
public:
    Address() : Address(in_addr{}, 0) {}
    Address(const in_addr& address, std::uint16_t port);
    Address(const in6_addr& address, std::uint16_t port, std::uint32_t scope);

    // Nothing for a family that is neither.
    static std::optional<Address> from_wire(ByteView wire);
    std::array<std::byte, address_size> to_wire() const;

    bool is_v4() const { return raw_.v6.sin6_family == AF_INET; }
    bool is_wildcard() const;
    bool is_link_local() const;
    bool is_multicast() const;
    std::uint16_t port() const;
    std::uint32_t scope() const { return is_v4() ? 0 : raw_.v6.sin6_scope_id; }
    void set_port(std::uint16_t port);

    // "10.0.0.1", "fe80::1%eth1"
    std::string host(const Interfaces& interfaces) const;
    // "10.0.0.1:7471", "[fe80::1%eth1]:7471"; the host alone if the port is 0
    std::string text(const Interfaces& interfaces) const;

    bool operator==(const Address& other) const { return to_wire() == other.to_wire(); }

private:
    // A sockaddr_in with zeroes behind it, or a sockaddr_in6.
    union {
        sockaddr_in6 v6;
        sockaddr_in v4;
    } raw_{};
};

// What was written for an address: a number, or a host name that is still to be resolved.
struct Endpoint {
    std::string host;  // as written, without brackets
    std::uint16_t port = default_port;
    std::optional<Address> address;  // absent for a host name
};

// What was written for a path: the server, and the address of this node to come from.
struct Target {
    Endpoint server;
    std::optional<Address> source;  // with port 0
};

// They throw a usage error that says what is wrong with the text.
Endpoint parse_server(std::string_view text, const Interfaces& interfaces);
Target parse_target(std::string_view text, const Interfaces& interfaces);
// Takes no host names, but wildcards, '*' and 'any'.
Address parse_listener(std::string_view text, const Interfaces& interfaces);

// All addresses of a host name in the order of preference, with port 0. Throws Error.
using Resolver = std::function<std::vector<Address>(const std::string& host)>;
std::vector<Address> resolve_host(const std::string& host);

// The addresses to try for a server, each once. Throws Error if there is none to try.
std::vector<Address> addresses_of(const Endpoint& endpoint, const Resolver& resolver);
// Only those that can be reached from the source.
std::vector<Address> addresses_of(const Target& target, const Resolver& resolver);

}  // namespace rblk
