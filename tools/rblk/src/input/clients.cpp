// SPDX-License-Identifier: GPL-2.0
#include "input/clients.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <linux/rblk_server.h>

#include "error.hpp"
#include "input/name.hpp"

namespace rblk {

Clients parse_clients(const std::vector<std::string>& words) {
    Clients clients;
    auto& names = clients.names;
    for (const auto& word : words) {
        if (word == "any") {
            clients.any = true;
            continue;
        }
        check_name("client", word);
        if (std::find(names.begin(), names.end(), word) == names.end()) names.push_back(word);
    }
    if (names.size() > RBLK_SERVER_MAX_ALLOW)
        throw Error(Exit::usage,
                    fmt::format("{} clients are named, and an export can name {}", names.size(),
                                RBLK_SERVER_MAX_ALLOW),
                    "'any' lets every client in");
    return clients;
}

}  // namespace rblk
