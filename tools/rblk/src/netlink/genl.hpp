// SPDX-License-Identifier: GPL-2.0
// Generic netlink requests, dumps and events over a transport.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "netlink/exchange.hpp"
#include "netlink/transport.hpp"

namespace rblk {

struct Family {
    std::string name;
    std::uint16_t id = 0;
    std::uint32_t version = 0;
    std::map<std::string, std::uint32_t> groups;
};

struct GenlEvent {
    std::uint16_t family_id = 0;
    std::uint8_t command = 0;
    Bytes attributes;
};

// The family that tells of families.
inline constexpr std::uint16_t controller_id = 0x10;

class Genl {
public:
    explicit Genl(std::unique_ptr<NetlinkTransport> transport);

    // A family by name. The kernel may load its module for it. Nothing if there is none.
    std::optional<Family> load_family(std::string_view name);
    // The same among those that are there, without loading anything.
    std::optional<Family> find_family(std::string_view name);

    std::vector<Bytes> request(Message message) { return exchange_.request(std::move(message)); }
    std::vector<Bytes> dump(Message message) { return exchange_.dump(std::move(message)); }

    void join(std::uint32_t group);
    void stop_on_signals();
    // The events of the next datagram; nothing after a signal. Throws Overrun.
    std::optional<std::vector<GenlEvent>> events();

    static Family decode_family(ByteView attributes);

private:
    Exchange exchange_;
};

}  // namespace rblk
