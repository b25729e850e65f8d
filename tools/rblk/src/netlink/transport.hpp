// SPDX-License-Identifier: GPL-2.0
// Where netlink bytes go to and come from: a socket, or what a test puts in its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace rblk {

using Bytes = std::vector<std::byte>;
using ByteView = std::span<const std::byte>;

// The kernel dropped messages because this reader was too slow.
struct Overrun {};

class NetlinkTransport {
public:
    NetlinkTransport() = default;
    NetlinkTransport(const NetlinkTransport&) = delete;
    NetlinkTransport& operator=(const NetlinkTransport&) = delete;
    virtual ~NetlinkTransport() = default;

    // Sends one datagram. The kernel may do the whole work of the request in here.
    virtual void send(ByteView datagram) = 0;
    // Waits for one datagram; nothing once a signal of stop_on_signals() came.
    // Throws Overrun where the kernel reports lost messages.
    virtual std::optional<Bytes> receive() = 0;
    virtual void join(std::uint32_t group) = 0;
    // From now on SIGINT and SIGTERM end receive() and not the process.
    virtual void stop_on_signals() = 0;
};

// A socket of one netlink protocol (NETLINK_GENERIC, NETLINK_RDMA).
std::unique_ptr<NetlinkTransport> open_netlink(int protocol);

}  // namespace rblk
