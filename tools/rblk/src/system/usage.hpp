// SPDX-License-Identifier: GPL-2.0
// Who uses a block device: mounts, swap and the devices that are made of it.
#pragma once

#include <string>
#include <vector>

#include "system/files.hpp"

namespace rblk {

struct Mount {
    std::string device;  // "rblk0" or one of its partitions, "rblk0p1"
    std::string target;
};

struct Usage {
    std::vector<Mount> mounts;
    std::vector<std::string> holders;  // "dm-0 (vg-data)"
    std::vector<std::string> swap;     // "/dev/rblk0p2"
};

Usage usage_of(const Files& files, const std::string& disk);

}  // namespace rblk
