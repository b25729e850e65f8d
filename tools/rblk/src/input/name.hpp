// SPDX-License-Identifier: GPL-2.0
// Names of exports and clients: the rule of the kernel, said before the kernel is asked.
#pragma once

#include <string>
#include <string_view>

namespace rblk {

inline constexpr std::size_t name_max = 63;

// What is wrong with a name, to follow "NAME 'x' "; empty if nothing is.
std::string name_fault(std::string_view name);

// Throws a usage error that calls the name by what it is ("export", "client").
void check_name(std::string_view what, std::string_view name);

}  // namespace rblk
