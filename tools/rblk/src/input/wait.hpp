// SPDX-License-Identifier: GPL-2.0
// A time to wait that may have no end, as people write it: 30, forever.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rblk {

// Whole seconds, or nothing for ever. Throws a usage error that names the option.
std::optional<std::uint32_t> parse_wait(std::string_view option, std::string_view text,
                                        std::uint32_t most);

}  // namespace rblk
