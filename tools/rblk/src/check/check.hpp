// SPDX-License-Identifier: GPL-2.0
// What is missing on this machine for a client or a server to work.
#pragma once

#include <string>
#include <vector>

#include "error.hpp"
#include "system/environment.hpp"

namespace rblk {

struct Finding {
    std::string check;   // stable word, as in rdma_devices
    std::string status;  // ok, off (not needed for all, or not yet), warn or fail
    std::string message;
    std::string next_step;  // empty if there is nothing to do
};

struct CheckReport {
    std::vector<Finding> findings;
    bool client_ready = false;
    bool server_ready = false;
    Exit exit = Exit::ok;
};

CheckReport check_machine(const Environment& environment);

}  // namespace rblk
