// SPDX-License-Identifier: GPL-2.0
#include "netlink/rdma.hpp"

#include <array>

#include <rdma/rdma_netlink.h>

namespace rblk {
namespace {

constexpr std::array<std::string_view, RDMA_NLDEV_ATTR_CAP_FLAGS> device_names = {
    "dev-index", "dev-name", "port-index", "cap-flags"};
constexpr AttributeSpec device_spec = {"RDMA device", device_names};

// IB_DEVICE_MEM_MGT_EXTENSIONS
constexpr std::uint64_t fast_registration = 1ULL << 21;

}  // namespace

std::map<std::string, bool> rdma_memory_registration(Exchange& exchange) {
    Message message(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET), NLM_F_REQUEST | NLM_F_DUMP,
                    device_spec);
    std::map<std::string, bool> devices;
    for (const auto& reply : exchange.dump(std::move(message))) {
        Attributes a(reply, device_spec);
        auto flags = a.opt_uint(RDMA_NLDEV_ATTR_CAP_FLAGS);
        if (flags) devices[a.text(RDMA_NLDEV_ATTR_DEV_NAME)] = (*flags & fast_registration) != 0;
    }
    return devices;
}

}  // namespace rblk
