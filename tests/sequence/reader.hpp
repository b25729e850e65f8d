// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <cstddef>

#include "check.hpp"

namespace sequence {

// Read blocks by chance, one request at a time, until it is enough.
void read_blocks(Check& check, std::size_t reader);

}  // namespace sequence
