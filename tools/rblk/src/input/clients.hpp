// SPDX-License-Identifier: GPL-2.0
// Which clients an access list names, as it is written on the command line.
#pragma once

#include <string>
#include <vector>

namespace rblk {

struct Clients {
    bool any = false;
    std::vector<std::string> names;  // each once
};

// 'any' stands for all of them. Throws Error with Exit::usage.
Clients parse_clients(const std::vector<std::string>& words);

}  // namespace rblk
