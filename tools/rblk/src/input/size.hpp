// SPDX-License-Identifier: GPL-2.0
// Sizes as people write them: 4096, 512M, 1.5G, 2TiB.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rblk {

// The unit in which the server takes memory.
inline constexpr std::uint64_t export_unit = 2ULL << 20;

// Bytes; K, M, G, T, P and E count in 1024. Throws a usage error.
std::uint64_t parse_size(std::string_view text);

// The same for an export: a multiple of export_unit and not 0.
std::uint64_t parse_export_size(std::string_view text);

// The shortest exact form that parse_size() takes: 512M, 1G, 4097.
std::string exact_size(std::uint64_t bytes);

// For people: 1.5 GiB, 4097 bytes.
std::string human_size(std::uint64_t bytes);

}  // namespace rblk
