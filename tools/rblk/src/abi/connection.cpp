// SPDX-License-Identifier: GPL-2.0
#include "abi/connection.hpp"

#include <fmt/format.h>
#include <linux/netlink.h>
#include <linux/rblk_client.h>
#include <linux/rblk_server.h>

#include "error.hpp"

namespace rblk {

Genl open_genl(const Environment& environment) {
    return Genl(environment.open_netlink(NETLINK_GENERIC));
}

void no_module() {
    throw Error(Exit::module_not_loaded,
                fmt::format("the kernel has no {} and no {} loaded", RBLK_CLIENT_FAMILY_NAME,
                            RBLK_SERVER_FAMILY_NAME),
                fmt::format("'modprobe {}' or 'modprobe {}' loads one; 'rblk check' shows what "
                            "else is missing",
                            RBLK_CLIENT_FAMILY_NAME, RBLK_SERVER_FAMILY_NAME));
}

Family require_family(Genl& genl, std::string_view name) {
    auto family = genl.load_family(name);
    if (!family)
        throw Error(Exit::module_not_loaded, fmt::format("the kernel has no {} loaded", name),
                    fmt::format("it did not load by itself: 'modprobe {}' says why; 'rblk check' "
                                "shows what else is missing",
                                name));
    return *family;
}

ClientConnection::ClientConnection(const Environment& environment)
    : genl_(open_genl(environment)),
      client_(genl_, require_family(genl_, RBLK_CLIENT_FAMILY_NAME)) {}

ServerConnection::ServerConnection(const Environment& environment)
    : genl_(open_genl(environment)),
      server_(genl_, require_family(genl_, RBLK_SERVER_FAMILY_NAME)) {}

}  // namespace rblk
