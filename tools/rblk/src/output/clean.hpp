// SPDX-License-Identifier: GPL-2.0
// Text of unknown origin on its way to a terminal.
#pragma once

#include <string>
#include <string_view>

namespace rblk {

// Control characters and bytes that are no valid UTF-8 become \xNN.
std::string clean(std::string_view text);

}  // namespace rblk
