// SPDX-License-Identifier: GPL-2.0
// Netlink requests and dumps over a transport: sequence numbers, acknowledgements, refusals.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <linux/netlink.h>

#include "netlink/attributes.hpp"
#include "netlink/transport.hpp"

namespace rblk {

// One message of a datagram.
struct NetlinkPart {
    nlmsghdr header;
    ByteView payload;
};

// Throws DecodeError.
std::vector<NetlinkPart> parts_of(ByteView datagram);

class Exchange {
public:
    explicit Exchange(std::unique_ptr<NetlinkTransport> transport);

    // Sends a request and waits for its acknowledgement; the attributes of each reply.
    // Throws KernelError on a refusal.
    std::vector<Bytes> request(Message message);
    std::vector<Bytes> dump(Message message);

    NetlinkTransport& transport() { return *transport_; }

private:
    enum class Until { acknowledged, done };

    std::vector<Bytes> exchange(Message& message, Until until);

    std::unique_ptr<NetlinkTransport> transport_;
    std::uint32_t sequence_ = 0;
};

}  // namespace rblk
