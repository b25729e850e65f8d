// SPDX-License-Identifier: GPL-2.0
#include "netlink/genl.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>

#include "error.hpp"

namespace rblk {
namespace {

constexpr std::array<std::string_view, CTRL_ATTR_MCAST_GROUPS> controller_names = {
    "family-id", "family-name", "version", "hdrsize", "maxattr", "ops", "mcast-groups"};
const AttributeSpec controller_spec = {"family", controller_names};

constexpr std::array<std::string_view, CTRL_ATTR_MCAST_GRP_ID> group_names = {"name", "id"};
const AttributeSpec group_spec = {"multicast group", group_names};
// Elements of a list have their place in it for a type.
const AttributeSpec group_list_spec = {"multicast groups", {}};

struct GenlPart {
    std::uint8_t command;
    ByteView attributes;
};

GenlPart genl_part(ByteView payload) {
    genlmsghdr header{};
    if (payload.size() < sizeof(header)) throw DecodeError("a netlink message has no header");
    std::memcpy(&header, payload.data(), sizeof(header));
    return {header.cmd, payload.subspan(sizeof(header))};
}

}  // namespace

Genl::Genl(std::unique_ptr<NetlinkTransport> transport) : exchange_(std::move(transport)) {}

Family Genl::decode_family(ByteView bytes) {
    Attributes attributes(bytes, controller_spec);
    Family family;
    family.name = attributes.text(CTRL_ATTR_FAMILY_NAME);
    auto id = attributes.binary(CTRL_ATTR_FAMILY_ID, sizeof(family.id));
    std::memcpy(&family.id, id.data(), sizeof(family.id));
    family.version = attributes.opt_u32(CTRL_ATTR_VERSION).value_or(0);
    for (auto list : attributes.nests(CTRL_ATTR_MCAST_GROUPS)) {
        Attributes entries(list, group_list_spec);
        for (auto entry : entries.elements()) {
            Attributes group(entry, group_spec);
            family.groups[group.text(CTRL_ATTR_MCAST_GRP_NAME)] = group.u32(CTRL_ATTR_MCAST_GRP_ID);
        }
    }
    return family;
}

std::optional<Family> Genl::load_family(std::string_view name) {
    Message message(GENL_ID_CTRL, NLM_F_REQUEST | NLM_F_ACK, CTRL_CMD_GETFAMILY, 1,
                    controller_spec);
    message.text(CTRL_ATTR_FAMILY_NAME, name);
    try {
        for (const auto& reply : exchange_.request(std::move(message))) return decode_family(reply);
    } catch (const KernelError& error) {
        if (error.error() != ENOENT) throw;
    }
    return std::nullopt;
}

std::optional<Family> Genl::find_family(std::string_view name) {
    Message message(GENL_ID_CTRL, NLM_F_REQUEST | NLM_F_DUMP, CTRL_CMD_GETFAMILY, 1,
                    controller_spec);
    for (const auto& reply : exchange_.dump(std::move(message))) {
        Attributes attributes(reply, controller_spec);
        if (attributes.opt_text(CTRL_ATTR_FAMILY_NAME) == name) return decode_family(reply);
    }
    return std::nullopt;
}

void Genl::join(std::uint32_t group) {
    exchange_.transport().join(group);
}

void Genl::stop_on_signals() {
    exchange_.transport().stop_on_signals();
}

std::optional<std::vector<GenlEvent>> Genl::events() {
    auto datagram = exchange_.transport().receive();
    if (!datagram) return std::nullopt;
    std::vector<GenlEvent> events;
    for (const auto& part : parts_of(*datagram)) {
        if (part.header.nlmsg_type < NLMSG_MIN_TYPE) continue;
        auto genl = genl_part(part.payload);
        events.push_back({part.header.nlmsg_type, genl.command,
                          Bytes(genl.attributes.begin(), genl.attributes.end())});
    }
    return events;
}

}  // namespace rblk
