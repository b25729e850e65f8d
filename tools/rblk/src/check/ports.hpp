// SPDX-License-Identifier: GPL-2.0
// RDMA devices, their ports and the network interfaces below them, from sysfs.
#pragma once

#include <string>
#include <vector>

#include "system/files.hpp"

namespace rblk {

struct RdmaPort {
    std::string device;
    std::string number;
    std::string state;       // "ACTIVE"
    std::string link_layer;  // "Ethernet", "InfiniBand"
    std::vector<std::string> interfaces;
    std::vector<std::string> addresses;  // those that show in the GID table

    bool active() const { return state == "ACTIVE"; }
    // "rxe0 port 1 on eth1 (10.0.0.1)"
    std::string text() const;
};

std::vector<std::string> rdma_devices(const Files& files);
std::vector<RdmaPort> rdma_ports(const Files& files);

// Whether a TCP socket of this machine listens on the port.
bool tcp_listens(const Files& files, unsigned port);

}  // namespace rblk
