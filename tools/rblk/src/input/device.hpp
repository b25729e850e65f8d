// SPDX-License-Identifier: GPL-2.0
// A device as people name it: /dev/rblk0, rblk0 or 0.
#pragma once

#include <cstdint>
#include <string_view>

namespace rblk {

// N of rblkN. Throws a usage error.
std::uint32_t parse_device(std::string_view text);

}  // namespace rblk
