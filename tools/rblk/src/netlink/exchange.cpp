// SPDX-License-Identifier: GPL-2.0
#include "netlink/exchange.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <libmnl/libmnl.h>

#include "error.hpp"

namespace rblk {
namespace {

constexpr std::array<std::string_view, NLMSGERR_ATTR_MISS_NEST> extack_names = {
    "message", "offset", "cookie", "policy", "missing type", "missing nest"};
const AttributeSpec extack_spec = {"extended acknowledgement", extack_names};

constexpr int dump_attempts = 10;

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
void check_error(const NetlinkPart& part, const Message& request) {
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
void check_done(const NetlinkPart& part, const Message& request) {
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

std::vector<NetlinkPart> parts_of(ByteView datagram) {
    std::vector<NetlinkPart> parts;
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

Exchange::Exchange(std::unique_ptr<NetlinkTransport> transport)
    : transport_(std::move(transport)) {}

std::vector<Bytes> Exchange::exchange(Message& message, Until until) {
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
                if (part.payload.size() < message.extra_header())
                    throw DecodeError("a netlink message has no header");
                auto attributes = part.payload.subspan(message.extra_header());
                replies.emplace_back(attributes.begin(), attributes.end());
            }
        }
    }
}

std::vector<Bytes> Exchange::request(Message message) {
    return exchange(message, Until::acknowledged);
}

std::vector<Bytes> Exchange::dump(Message message) {
    for (int attempt = 0; attempt < dump_attempts; attempt++) {
        try {
            return exchange(message, Until::done);
        } catch (const DumpInterrupted&) {
            continue;
        }
    }
    throw KernelError(EAGAIN, "the list changed each time it was read", "");
}

}  // namespace rblk
