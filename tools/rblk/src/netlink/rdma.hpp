// SPDX-License-Identifier: GPL-2.0
// What the RDMA subsystem says of its devices over netlink.
#pragma once

#include <map>
#include <string>

#include "netlink/exchange.hpp"

namespace rblk {

// For each RDMA device, whether it can register memory with fast work requests (FRWR), which
// rblk needs. Throws KernelError where the kernel has no RDMA.
std::map<std::string, bool> rdma_memory_registration(Exchange& exchange);

}  // namespace rblk
