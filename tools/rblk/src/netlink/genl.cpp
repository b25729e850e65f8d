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

constexpr std::array<std::string_view, NLMSGERR_ATTR_MISS_NEST> extack_names = {
    "message", "offset", "cookie", "policy", "missing type", "missing nest"};
const AttributeSpec extack_spec = {"extended acknowledgement", extack_names};

constexpr int dump_attempts = 10;

// What one message is.
struct Part {
    nlmsghdr header;
    ByteView payload;
};

// Cuts a datagram into its messages.
std::vector<Part> parts_of(ByteView datagram) {
    std::vector<Part> parts;
    while (!datagram.empty()) {
        nlmsghdr header{};
        if (datagram.size() >= sizeof(header))
            std::memcpy(&header, datagram.data(), sizeof(header));
        if (header.nlmsg_len < sizeof(header) || header.nlmsg_len > datagram.size())
            throw DecodeError("a netlink message is cut off");
        parts.push_back(
            {header, datagram.subspan(sizeof(header), header.nlmsg_len - sizeof(header))});
        datagram =
            datagram.subspan(std::min<std::size_t>(MNL_ALIGN(header.nlmsg_len), datagram.size()));
    }
    return parts;
}

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

KernelError extended(int error, ByteView attributes, const Message& request) {
    Attributes extack(attributes, extack_spec);
    std::string at;
    if (auto offset = extack.opt_u32(NLMSGERR_ATTR_OFFS))
        at = request.attribute_at(*offset);
    else if (auto type = extack.opt_u32(NLMSGERR_ATTR_MISS_TYPE))
        at = request.attribute_name(*type);
    return KernelError(error, extack.opt_text(NLMSGERR_ATTR_MSG).value_or(""), at);
}

// Throws if an NLMSG_ERROR is one; it is an acknowledgement otherwise.
void check_error(const Part& part, const Message& request) {
    nlmsgerr report{};
    if (part.payload.size() < sizeof(report))
        throw DecodeError("a netlink acknowledgement is cut off");
    std::memcpy(&report, part.payload.data(), sizeof(report));
    if (report.error == 0) return;
    if (!(part.header.nlmsg_flags & NLM_F_ACK_TLVS)) throw KernelError(-report.error, "", "");
    // Unless it is capped the whole request stands between the header and the attributes.
    std::size_t skip = sizeof(report);
    if (!(part.header.nlmsg_flags & NLM_F_CAPPED) && report.msg.nlmsg_len > sizeof(nlmsghdr))
        skip += MNL_ALIGN(report.msg.nlmsg_len) - sizeof(nlmsghdr);
    if (skip > part.payload.size()) throw DecodeError("a netlink acknowledgement is cut off");
    throw extended(-report.error, part.payload.subspan(skip), request);
}

// The end of a dump carries an errno as well.
void check_done(const Part& part, const Message& request) {
    std::int32_t error = 0;
    if (part.payload.size() < sizeof(error)) return;
    std::memcpy(&error, part.payload.data(), sizeof(error));
    if (error >= 0) return;
    if (!(part.header.nlmsg_flags & NLM_F_ACK_TLVS)) throw KernelError(-error, "", "");
    throw extended(-error, part.payload.subspan(sizeof(error)), request);
}

// A dump changed under its reader.
struct DumpInterrupted {};

}  // namespace

Genl::Genl(std::unique_ptr<NetlinkTransport> transport) : transport_(std::move(transport)) {}

Genl::~Genl() = default;

std::vector<Bytes> Genl::exchange(Message& message, Until until) {
    message.set_sequence(++sequence_);
    transport_->send(message.bytes());
    std::vector<Bytes> replies;
    bool interrupted = false;
    for (;;) {
        std::optional<Bytes> datagram;
        try {
            datagram = transport_->receive();
        } catch (const Overrun&) {
            throw KernelError(ENOBUFS, "the answer did not fit the socket's buffer", "");
        }
        if (!datagram) throw KernelError(EINTR, "", "");
        for (const auto& part : parts_of(*datagram)) {
            // Left over from a request that failed half way.
            if (part.header.nlmsg_seq != sequence_) continue;
            interrupted |= (part.header.nlmsg_flags & NLM_F_DUMP_INTR) != 0;
            if (part.header.nlmsg_type == NLMSG_ERROR) {
                check_error(part, message);
                if (until == Until::acknowledged) return replies;
            } else if (part.header.nlmsg_type == NLMSG_DONE) {
                check_done(part, message);
                if (interrupted) throw DumpInterrupted();
                return replies;
            } else if (part.header.nlmsg_type >= NLMSG_MIN_TYPE) {
                auto attributes = genl_part(part.payload).attributes;
                replies.emplace_back(attributes.begin(), attributes.end());
            }
        }
    }
}

std::vector<Bytes> Genl::request(Message message) {
    return exchange(message, Until::acknowledged);
}

std::vector<Bytes> Genl::dump(Message message) {
    for (int attempt = 0; attempt < dump_attempts; attempt++) {
        try {
            return exchange(message, Until::done);
        } catch (const DumpInterrupted&) {
            continue;
        }
    }
    throw KernelError(EAGAIN, "the list changed each time it was read", "");
}

Family Genl::decode_family(ByteView bytes) {
    Attributes attributes(bytes, controller_spec);
    Family family;
    family.name = attributes.text(CTRL_ATTR_FAMILY_NAME);
    auto id = attributes.binary(CTRL_ATTR_FAMILY_ID, sizeof(family.id));
    std::memcpy(&family.id, id.data(), sizeof(family.id));
    family.version = attributes.opt_u32(CTRL_ATTR_VERSION).value_or(0);
    for (auto list : attributes.nests(CTRL_ATTR_MCAST_GROUPS)) {
        Attributes entries(list, group_list_spec);
        for (unsigned index = 0; index < 256; index++) {
            for (auto entry : entries.nests(index)) {
                Attributes group(entry, group_spec);
                family.groups[group.text(CTRL_ATTR_MCAST_GRP_NAME)] =
                    group.u32(CTRL_ATTR_MCAST_GRP_ID);
            }
        }
    }
    return family;
}

std::optional<Family> Genl::load_family(std::string_view name) {
    Message message(GENL_ID_CTRL, NLM_F_REQUEST | NLM_F_ACK, CTRL_CMD_GETFAMILY, 1,
                    controller_spec);
    message.text(CTRL_ATTR_FAMILY_NAME, name);
    try {
        for (const auto& reply : request(std::move(message))) return decode_family(reply);
    } catch (const KernelError& error) {
        if (error.error() != ENOENT) throw;
    }
    return std::nullopt;
}

std::optional<Family> Genl::find_family(std::string_view name) {
    Message message(GENL_ID_CTRL, NLM_F_REQUEST | NLM_F_DUMP, CTRL_CMD_GETFAMILY, 1,
                    controller_spec);
    for (const auto& reply : dump(std::move(message))) {
        Attributes attributes(reply, controller_spec);
        if (attributes.opt_text(CTRL_ATTR_FAMILY_NAME) == name) return decode_family(reply);
    }
    return std::nullopt;
}

void Genl::join(std::uint32_t group) {
    transport_->join(group);
}

void Genl::stop_on_signals() {
    transport_->stop_on_signals();
}

std::optional<std::vector<GenlEvent>> Genl::events() {
    auto datagram = transport_->receive();
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
