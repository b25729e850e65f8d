// SPDX-License-Identifier: GPL-2.0
// All that a command gets from outside, so that a test can stand in for the machine.
#pragma once

#include <chrono>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>

#include "input/address.hpp"
#include "netlink/transport.hpp"
#include "system/files.hpp"

namespace rblk {

struct Environment {
    std::ostream& out;
    std::ostream& err;
    std::function<std::unique_ptr<NetlinkTransport>(int protocol)> open_netlink;
    Resolver resolve;
    Interfaces interfaces;
    Files files;
    std::function<std::string()> host_name;
    std::function<std::string()> kernel_release;
    std::function<bool(const std::string& path)> is_block_device;
    // "8:1"; nothing if that is no block device.
    std::function<std::optional<std::string>(const std::string& path)> device_number;
    std::function<std::chrono::milliseconds()> now;  // monotonic
    std::function<void(std::chrono::milliseconds)> sleep;
    std::function<std::string()> wall_time;  // UTC, ISO 8601

    static Environment of_this_machine();
};

}  // namespace rblk
