// SPDX-License-Identifier: GPL-2.0
#include "input/address.hpp"

#include <charconv>
#include <cstring>
#include <memory>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/rblk_client.h>
#include <linux/rblk_server.h>
#include <net/if.h>
#include <netdb.h>

#include "error.hpp"
#include "output/clean.hpp"

namespace rblk {

static_assert(sizeof(sockaddr_in6) == address_size);
static_assert(address_size == RBLK_CLIENT_ADDR_LEN && address_size == RBLK_SERVER_ADDR_LEN);

Interfaces Interfaces::of_this_machine() {
    return {
        [](const std::string& name) -> std::uint32_t { return if_nametoindex(name.c_str()); },
        [](std::uint32_t index) -> std::string {
            char name[IF_NAMESIZE] = "";
            return if_indextoname(index, name) ? name : "";
        },
    };
}

Address::Address(const in_addr& address, std::uint16_t port) {
    raw_.v4.sin_family = AF_INET;
    raw_.v4.sin_port = htons(port);
    raw_.v4.sin_addr = address;
}

Address::Address(const in6_addr& address, std::uint16_t port, std::uint32_t scope) {
    raw_.v6.sin6_family = AF_INET6;
    raw_.v6.sin6_port = htons(port);
    raw_.v6.sin6_addr = address;
    raw_.v6.sin6_scope_id = scope;
}

std::optional<Address> Address::from_wire(ByteView wire) {
    if (wire.size() != address_size) return std::nullopt;
    sockaddr_in6 raw;
    std::memcpy(&raw, wire.data(), sizeof(raw));
    if (raw.sin6_family == AF_INET6)
        return Address(raw.sin6_addr, ntohs(raw.sin6_port), raw.sin6_scope_id);
    if (raw.sin6_family != AF_INET) return std::nullopt;
    sockaddr_in short_raw;
    std::memcpy(&short_raw, wire.data(), sizeof(short_raw));
    return Address(short_raw.sin_addr, ntohs(short_raw.sin_port));
}

std::array<std::byte, address_size> Address::to_wire() const {
    std::array<std::byte, address_size> wire;
    std::memcpy(wire.data(), &raw_, sizeof(raw_));
    return wire;
}

bool Address::is_wildcard() const {
    if (is_v4()) return raw_.v4.sin_addr.s_addr == htonl(INADDR_ANY);
    return IN6_IS_ADDR_UNSPECIFIED(&raw_.v6.sin6_addr);
}

bool Address::is_link_local() const {
    return !is_v4() && IN6_IS_ADDR_LINKLOCAL(&raw_.v6.sin6_addr);
}

bool Address::is_multicast() const {
    if (is_v4())
        return IN_MULTICAST(ntohl(raw_.v4.sin_addr.s_addr)) ||
               raw_.v4.sin_addr.s_addr == htonl(INADDR_BROADCAST);
    return IN6_IS_ADDR_MULTICAST(&raw_.v6.sin6_addr);
}

std::uint16_t Address::port() const {
    return ntohs(is_v4() ? raw_.v4.sin_port : raw_.v6.sin6_port);
}

void Address::set_port(std::uint16_t port) {
    (is_v4() ? raw_.v4.sin_port : raw_.v6.sin6_port) = htons(port);
}

std::string Address::host(const Interfaces& interfaces) const {
    char buffer[INET6_ADDRSTRLEN] = "";
    if (is_v4()) {
        inet_ntop(AF_INET, &raw_.v4.sin_addr, buffer, sizeof(buffer));
        return buffer;
    }
    inet_ntop(AF_INET6, &raw_.v6.sin6_addr, buffer, sizeof(buffer));
    if (scope() == 0) return buffer;
    auto name = interfaces.name_of(scope());
    return fmt::format("{}%{}", buffer, name.empty() ? std::to_string(scope()) : name);
}

std::string Address::text(const Interfaces& interfaces) const {
    if (port() == 0) return host(interfaces);
    if (is_v4()) return fmt::format("{}:{}", host(interfaces), port());
    return fmt::format("[{}]:{}", host(interfaces), port());
}

namespace {

constexpr std::string_view forms =
    "write 10.0.0.1, 10.0.0.1:7471, 2001:db8::1, [2001:db8::1]:7471 or [fe80::1%eth1]:7471";
constexpr std::string_view source_forms = "write 10.0.0.2, 2001:db8::2 or fe80::2%eth1";

[[noreturn]] void bad(std::string_view text, std::string_view why, std::string_view hint = forms) {
    throw Error(Exit::usage, fmt::format("address '{}' {}", clean(text), why), std::string(hint));
}

struct Split {
    std::string_view host;
    std::optional<std::string_view> port;
    bool v6;
};

Split split(std::string_view text, std::string_view hint = forms) {
    if (text.empty()) bad(text, "is empty", hint);
    if (text[0] == '[') {
        auto end = text.find(']');
        if (end == std::string_view::npos) bad(text, "lacks a ']'", hint);
        auto host = text.substr(1, end - 1);
        auto rest = text.substr(end + 1);
        if (rest.empty()) return {host, std::nullopt, true};
        if (rest[0] != ':') bad(text, "has something other than ':PORT' behind the ']'", hint);
        return {host, rest.substr(1), true};
    }
    auto scope = text.find('%');
    auto colon = text.substr(0, scope).find(':');
    if (colon == std::string_view::npos) {
        if (scope != std::string_view::npos)
            bad(text, "has a '%', which only link-local IPv6 addresses have", hint);
        return {text, std::nullopt, false};
    }
    bool second = text.substr(colon + 1, scope - colon - 1).find(':') != std::string_view::npos;
    if (!second) return {text.substr(0, colon), text.substr(colon + 1), false};
    if (scope != std::string_view::npos && text.find(':', scope) != std::string_view::npos)
        bad(text, "needs brackets round what is in front of the port",
            fmt::format("write [{}]{}", clean(text.substr(0, text.rfind(':'))),
                        clean(text.substr(text.rfind(':')))));
    return {text, std::nullopt, true};
}

std::uint16_t parse_port(std::string_view text, std::string_view port) {
    std::uint32_t value = 0;
    auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), value);
    if (port.empty() || error != std::errc() || end != port.data() + port.size() || value < 1 ||
        value > 65535)
        bad(text, fmt::format("has the port '{}', and a port is 1 to 65535", clean(port)));
    return static_cast<std::uint16_t>(value);
}

std::uint32_t parse_scope(std::string_view text, const std::string& scope,
                          const Interfaces& interfaces) {
    if (scope.empty()) bad(text, "has nothing behind its '%'");
    if (auto index = interfaces.index_of(scope)) return index;
    std::uint32_t number = 0;
    auto [end, error] = std::from_chars(scope.data(), scope.data() + scope.size(), number);
    bool numeric = error == std::errc() && end == scope.data() + scope.size();
    if (numeric && number > 0 && !interfaces.name_of(number).empty()) return number;
    bad(text,
        fmt::format("names the interface '{}', and this machine has no such one", clean(scope)),
        "'ip link' shows the interfaces");
}

// Port 0 is that of an address which has none.
Address parse_v6(std::string_view text, std::string_view host, std::uint16_t port,
                 const Interfaces& interfaces) {
    auto hint = port ? forms : source_forms;
    auto percent = host.find('%');
    std::string number(host.substr(0, percent));
    in6_addr address{};
    if (inet_pton(AF_INET6, number.c_str(), &address) != 1)
        bad(text, "is not an IPv6 address", hint);
    // Connections to 10.0.0.1 are the same; the RDMA stack knows it only as IPv4.
    if (IN6_IS_ADDR_V4MAPPED(&address)) {
        if (percent != std::string_view::npos) bad(text, "has a '%', and is an IPv4 address", hint);
        in_addr mapped{};
        std::memcpy(&mapped, &address.s6_addr[12], sizeof(mapped));
        return Address(mapped, port);
    }
    bool link_local = IN6_IS_ADDR_LINKLOCAL(&address);
    if (percent == std::string_view::npos) {
        if (link_local)
            bad(text, "is link-local and does not say on which interface",
                fmt::format("add it with '%', as in [{}%eth1]{}; 'ip -6 addr' shows them", number,
                            port ? fmt::format(":{}", port) : ""));
        return Address(address, port, 0);
    }
    if (!link_local)
        bad(text, "has a '%', which only link-local addresses (fe80::/10) need",
            fmt::format("write it without the '{}'", clean(host.substr(percent))));
    auto scope = parse_scope(text, std::string(host.substr(percent + 1)), interfaces);
    return Address(address, port, scope);
}

// Resolvers take 10.1, 1 and 0x7f for addresses that nobody means.
bool ends_in_number(std::string_view host) {
    auto label = host.substr(host.rfind('.') + 1);
    if (label.starts_with("0x") || label.starts_with("0X")) return true;
    return label.find_first_not_of("0123456789") == std::string_view::npos;
}

void check_host_name(std::string_view text, std::string_view host) {
    if (host.empty()) bad(text, "has no host in front of the port");
    if (host.size() > 253) bad(text, "is longer than a host name can be");
    auto rest = host.ends_with('.') ? host.substr(0, host.size() - 1) : host;
    if (rest.empty()) bad(text, "is not a host name");
    for (;;) {
        auto dot = rest.find('.');
        auto label = rest.substr(0, dot);
        if (label.empty() || label.size() > 63 || label.starts_with('-') || label.ends_with('-'))
            bad(text, "is neither an address nor a host name");
        for (char c : label) {
            bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '-' || c == '_';
            if (!good) bad(text, "is neither an address nor a host name");
        }
        if (dot == std::string_view::npos) return;
        rest.remove_prefix(dot + 1);
    }
}

Endpoint parse_endpoint(std::string_view text, const Interfaces& interfaces) {
    if (text.find('\0') != std::string_view::npos) bad(text, "has a NUL in it");
    auto [host, port_text, v6] = split(text);
    Endpoint endpoint;
    endpoint.host = host;
    if (port_text) endpoint.port = parse_port(text, *port_text);
    if (v6) {
        endpoint.address = parse_v6(text, host, endpoint.port, interfaces);
        return endpoint;
    }
    in_addr address{};
    if (inet_pton(AF_INET, endpoint.host.c_str(), &address) == 1) {
        endpoint.address = Address(address, endpoint.port);
        return endpoint;
    }
    // "*" is for the caller to know.
    if (host == "*") return endpoint;
    check_host_name(text, host);
    if (ends_in_number(host.ends_with('.') ? host.substr(0, host.size() - 1) : host))
        bad(text, "is not an IPv4 address");
    return endpoint;
}

Address parse_source(std::string_view text, const Interfaces& interfaces) {
    auto [host, port, v6] = split(text, source_forms);
    if (port) bad(text, "has a port, and the address to come from has none", source_forms);
    Address address;
    in_addr v4{};
    if (v6)
        address = parse_v6(text, host, 0, interfaces);
    else if (inet_pton(AF_INET, std::string(host).c_str(), &v4) == 1)
        address = Address(v4, 0);
    else
        bad(text, "is no address of this node to come from", "'ip addr' shows its addresses");
    if (address.is_wildcard() || address.is_multicast())
        bad(text, "is not one address of this node to come from", "'ip addr' shows its addresses");
    return address;
}

std::string_view family_name(const Address& address) {
    return address.is_v4() ? "IPv4" : "IPv6";
}

}  // namespace

Endpoint parse_server(std::string_view text, const Interfaces& interfaces) {
    auto endpoint = parse_endpoint(text, interfaces);
    if (endpoint.host == "*" || (endpoint.address && endpoint.address->is_wildcard()))
        bad(text, "is no address of a server", "name the server or one of its addresses");
    if (endpoint.address && endpoint.address->is_multicast())
        bad(text, "is a multicast or broadcast address and no server's");
    return endpoint;
}

Target parse_target(std::string_view text, const Interfaces& interfaces) {
    auto at = text.find('@');
    Target target{parse_server(text.substr(0, at), interfaces), std::nullopt};
    if (at == std::string_view::npos) return target;
    auto source = text.substr(at + 1);
    if (source.empty()) bad(text, "has nothing behind its '@'", source_forms);
    if (source.find('\0') != std::string_view::npos) bad(text, "has a NUL in it", source_forms);
    target.source = parse_source(source, interfaces);
    const auto& server = target.server.address;
    if (server && server->is_v4() != target.source->is_v4())
        bad(text,
            fmt::format("has an {} server and an {} address to come from", family_name(*server),
                        family_name(*target.source)),
            "both must be of one family; leave out the '@' to let the routes choose");
    return target;
}

Address parse_listener(std::string_view text, const Interfaces& interfaces) {
    auto endpoint = parse_endpoint(text, interfaces);
    if (endpoint.host == "*" || endpoint.host == "any")
        return Address(in6addr_any, endpoint.port, 0);
    if (!endpoint.address)
        bad(text, "is a host name, and a listener needs an address of this machine",
            "'ip addr' shows them; 'any' is all of them");
    if (endpoint.address->is_multicast())
        bad(text, "is a multicast or broadcast address and cannot be listened on");
    return *endpoint.address;
}

std::vector<Address> resolve_host(const std::string& host) {
    addrinfo wanted{};
    wanted.ai_family = AF_UNSPEC;
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* raw = nullptr;
    int error = getaddrinfo(host.c_str(), nullptr, &wanted, &raw);
    if (error != 0)
        throw Error(Exit::unreachable,
                    fmt::format("host name '{}' has no address: {}", clean(host),
                                error == EAI_SYSTEM ? std::strerror(errno) : gai_strerror(error)),
                    fmt::format("'getent ahosts {}' asks the same; an address works without it",
                                clean(host)));
    std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> list(raw, &freeaddrinfo);
    std::vector<Address> addresses;
    for (const auto* entry = list.get(); entry; entry = entry->ai_next) {
        sockaddr_in6 copy{};
        std::memcpy(&copy, entry->ai_addr, std::min<std::size_t>(entry->ai_addrlen, sizeof(copy)));
        std::array<std::byte, address_size> wire;
        std::memcpy(wire.data(), &copy, sizeof(copy));
        if (auto address = Address::from_wire(wire)) addresses.push_back(*address);
    }
    return addresses;
}

std::vector<Address> addresses_of(const Endpoint& endpoint, const Resolver& resolver) {
    if (endpoint.address) return {*endpoint.address};
    std::vector<Address> usable;
    bool link_local = false;
    for (auto address : resolver(endpoint.host)) {
        address.set_port(endpoint.port);
        if (address.is_link_local() && address.scope() == 0) {
            link_local = true;
            continue;
        }
        if (address.is_wildcard() || address.is_multicast()) continue;
        bool known = false;
        for (const auto& other : usable) known |= other == address;
        if (!known) usable.push_back(address);
    }
    if (usable.empty())
        throw Error(
            Exit::unreachable,
            fmt::format("host name '{}' has no address that can be used{}", clean(endpoint.host),
                        link_local ? ", only link-local ones without an interface" : ""),
            "give the address itself, as in 10.0.0.1 or fe80::1%eth1");
    return usable;
}

std::vector<Address> addresses_of(const Target& target, const Resolver& resolver) {
    auto addresses = addresses_of(target.server, resolver);
    if (!target.source) return addresses;
    bool v4 = target.source->is_v4();
    std::erase_if(addresses, [v4](const Address& address) { return address.is_v4() != v4; });
    if (addresses.empty())
        throw Error(Exit::unreachable,
                    fmt::format("host name '{}' has no {} address, and the one to come from is of "
                                "that family",
                                clean(target.server.host), family_name(*target.source)),
                    "give a source of the other family, or the address of the server itself");
    return addresses;
}

}  // namespace rblk
