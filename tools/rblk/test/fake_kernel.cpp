// SPDX-License-Identifier: GPL-2.0
#include "fake_kernel.hpp"

#include <cerrno>
#include <cstring>

#include <linux/genetlink.h>
#include <linux/netlink.h>

namespace rblk::test {
namespace {

Put family_attributes(const std::string& name, std::uint16_t id, const std::string& group,
                      std::uint32_t group_id) {
    Bytes id_bytes(2);
    std::memcpy(id_bytes.data(), &id, 2);
    Put entry;
    entry.text(CTRL_ATTR_MCAST_GRP_NAME, group).u32(CTRL_ATTR_MCAST_GRP_ID, group_id);
    return Put()
        .text(CTRL_ATTR_FAMILY_NAME, name)
        .raw(CTRL_ATTR_FAMILY_ID, id_bytes)
        .u32(CTRL_ATTR_VERSION, 1)
        .u32(CTRL_ATTR_HDRSIZE, 0)
        .u32(CTRL_ATTR_MAXATTR, 23)
        .nest(CTRL_ATTR_MCAST_GROUPS, Put().nest(1, entry));
}

Bytes error_message(const Seen& request, const Answer& answer) {
    Put extack;
    if (!answer.text.empty()) extack.text(NLMSGERR_ATTR_MSG, answer.text);
    if (answer.attribute) extack.u32(NLMSGERR_ATTR_OFFS, request.offsets.at(*answer.attribute));
    if (answer.missing) extack.u32(NLMSGERR_ATTR_MISS_TYPE, *answer.missing);
    std::int32_t error = -answer.error;
    Bytes payload(4);
    std::memcpy(payload.data(), &error, 4);
    // The header of the request, and because of the cap nothing more of it.
    append(payload, Bytes(16));
    append(payload, extack.bytes());
    std::uint16_t flags = NLM_F_CAPPED;
    if (!extack.bytes().empty()) flags |= NLM_F_ACK_TLVS;
    return netlink_message(NLMSG_ERROR, flags, request.sequence, payload);
}

}  // namespace

class FakeTransport final : public NetlinkTransport {
public:
    FakeTransport(FakeKernel& kernel, bool generic) : kernel_(kernel), generic_(generic) {}

    void send(ByteView datagram) override {
        for (auto& answer : kernel_.answer(datagram, generic_))
            answers_.push_back(std::move(answer));
    }

    std::optional<Bytes> receive() override {
        if (!answers_.empty()) {
            auto answer = std::move(answers_.front());
            answers_.pop_front();
            return answer;
        }
        if (kernel_.events_.empty()) return std::nullopt;
        auto event = std::move(kernel_.events_.front());
        kernel_.events_.pop_front();
        if (std::holds_alternative<Overrun>(event)) throw Overrun();
        return std::get<Bytes>(event);
    }

    void join(std::uint32_t group) override { kernel_.joined.insert(group); }
    void stop_on_signals() override {}

private:
    FakeKernel& kernel_;
    bool generic_;
    std::deque<Bytes> answers_;
};

FakeKernel::FakeKernel() = default;

std::unique_ptr<NetlinkTransport> FakeKernel::open(int protocol) {
    return std::make_unique<FakeTransport>(*this, protocol == NETLINK_GENERIC);
}

void FakeKernel::event(std::uint16_t family, std::uint8_t command, const Put& attributes) {
    event(netlink_message(family, 0, 0, genl_payload(command, attributes.bytes())));
}

void FakeKernel::family_event(std::uint8_t command, const std::string& name, std::uint16_t id,
                              std::uint32_t group) {
    event(GENL_ID_CTRL, command, family_attributes(name, id, "events", group));
}

Answer FakeKernel::controller(const Seen& request) {
    if (request.command != CTRL_CMD_GETFAMILY) return Answer::refuse(EOPNOTSUPP);
    Answer answer;
    if (request.flags & NLM_F_DUMP) {
        answer.replies.push_back(family_attributes("nlctrl", GENL_ID_CTRL, "notify", notify_group));
        for (const auto& [id, family] : families_)
            answer.replies.push_back(family_attributes(family.name, id, "events", family.group));
        return answer;
    }
    auto wanted = request.text(CTRL_ATTR_FAMILY_NAME);
    named.push_back(wanted);
    for (const auto& [id, family] : families_)
        if (family.name == wanted)
            answer.replies.push_back(family_attributes(family.name, id, "events", family.group));
    if (going.contains(wanted))
        std::erase_if(families_, [&](const auto& item) { return item.second.name == wanted; });
    return answer.replies.empty() ? Answer::refuse(ENOENT) : answer;
}

std::vector<Bytes> FakeKernel::answer(ByteView datagram, bool generic) {
    auto request = seen(datagram, generic);
    Answer answer;
    if (!generic) {
        answer = rdma_ ? rdma_(request) : Answer::refuse(EPROTONOSUPPORT);
    } else if (request.family == GENL_ID_CTRL) {
        answer = controller(request);
    } else {
        requests.push_back(request);
        auto family = families_.find(request.family);
        answer =
            family == families_.end() ? Answer::refuse(ENOENT) : family->second.handler(request);
    }
    if (answer.error) return {error_message(request, answer)};
    bool dump = (request.flags & NLM_F_DUMP) == NLM_F_DUMP;
    std::uint16_t flags = dump ? NLM_F_MULTI : 0;
    if (answer.interrupted) flags |= NLM_F_DUMP_INTR;
    // Two messages a datagram, as a dump has many.
    std::vector<Bytes> datagrams;
    for (std::size_t i = 0; i < answer.replies.size(); i++) {
        auto payload = generic ? genl_payload(request.command, answer.replies[i].bytes())
                               : answer.replies[i].bytes();
        auto message = netlink_message(request.family, flags, request.sequence, payload);
        if (i % 2 == 0) datagrams.emplace_back();
        append(datagrams.back(), message);
    }
    if (dump)
        datagrams.push_back(netlink_message(NLMSG_DONE, flags, request.sequence, Bytes(4)));
    else
        datagrams.push_back(error_message(request, {}));
    return datagrams;
}

std::optional<Bytes> CannedTransport::receive() {
    if (datagrams_.empty()) return std::nullopt;
    auto datagram = std::move(datagrams_.front());
    datagrams_.pop_front();
    return datagram;
}

}  // namespace rblk::test
