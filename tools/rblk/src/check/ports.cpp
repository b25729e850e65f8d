// SPDX-License-Identifier: GPL-2.0
#include "check/ports.hpp"

#include <algorithm>
#include <sstream>

#include <arpa/inet.h>
#include <fmt/format.h>

namespace rblk {
namespace {

constexpr std::string_view sysfs = "/sys/class/infiniband";

void add_once(std::vector<std::string>& list, const std::string& item) {
    if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

// The address of a RoCE GID; link-local ones, that every port has, and others are left out.
std::string address_of_gid(const std::string& gid) {
    in6_addr raw{};
    if (inet_pton(AF_INET6, gid.c_str(), &raw) != 1) return {};
    char text[INET6_ADDRSTRLEN] = "";
    if (IN6_IS_ADDR_V4MAPPED(&raw))
        inet_ntop(AF_INET, &raw.s6_addr[12], text, sizeof(text));
    else if (!IN6_IS_ADDR_UNSPECIFIED(&raw) && !IN6_IS_ADDR_LINKLOCAL(&raw))
        inet_ntop(AF_INET6, &raw, text, sizeof(text));
    return text;
}

// "4: ACTIVE" is "ACTIVE".
std::string word_of(const std::string& state) {
    auto colon = state.find(": ");
    return colon == std::string::npos ? state : state.substr(colon + 2);
}

}  // namespace

std::string RdmaPort::text() const {
    auto text = fmt::format("{} port {}", device, number);
    if (!interfaces.empty()) text += fmt::format(" on {}", fmt::join(interfaces, ", "));
    if (!addresses.empty()) text += fmt::format(" ({})", fmt::join(addresses, ", "));
    return text;
}

std::vector<std::string> rdma_devices(const Files& files) {
    return files.list(sysfs);
}

std::vector<RdmaPort> rdma_ports(const Files& files) {
    std::vector<RdmaPort> ports;
    for (const auto& device : rdma_devices(files)) {
        auto folder = fmt::format("{}/{}/ports", sysfs, device);
        for (const auto& number : files.list(folder)) {
            auto at = fmt::format("{}/{}", folder, number);
            RdmaPort port{device,
                          number,
                          word_of(files.read(at + "/state").value_or("")),
                          files.read(at + "/link_layer").value_or(""),
                          {},
                          {}};
            for (const auto& index : files.list(at + "/gid_attrs/ndevs"))
                if (auto name = files.read(at + "/gid_attrs/ndevs/" + index);
                    name && !name->empty())
                    add_once(port.interfaces, *name);
            if (port.link_layer == "Ethernet")
                for (const auto& index : files.list(at + "/gids"))
                    if (auto address =
                            address_of_gid(files.read(at + "/gids/" + index).value_or(""));
                        !address.empty())
                        add_once(port.addresses, address);
            ports.push_back(std::move(port));
        }
    }
    return ports;
}

bool tcp_listens(const Files& files, unsigned port) {
    auto wanted = fmt::format("{:04X}", port);
    for (auto table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
        for (const auto& line : files.lines(table)) {
            std::istringstream fields(line);
            std::string slot, local, remote, state;
            fields >> slot >> local >> remote >> state;
            if (state == "0A" && local.ends_with(":" + wanted)) return true;
        }
    }
    return false;
}

}  // namespace rblk
