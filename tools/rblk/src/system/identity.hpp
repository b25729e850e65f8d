// SPDX-License-Identifier: GPL-2.0
// Which disk it is, whatever its node is called after the next start of the machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "abi/family.hpp"
#include "system/files.hpp"

namespace rblk {

struct Identity {
    Uuid id{};
    std::string source;  // what it was made of, for a person: "wwid naa.5000c500a1b2c3d4"
};

// NUMBER is that of the device, "8:1". Nothing if it has nothing that would outlive a restart.
std::optional<Identity> disk_identity(const Files& files, std::string_view number);

}  // namespace rblk
