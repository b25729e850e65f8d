// SPDX-License-Identifier: GPL-2.0
// What a sector holds: the run that wrote it, where it belongs, the number of the write, and words
// that follow from all of these, so that a sector of two writes is seen wherever it is cut.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sequence {

inline constexpr std::size_t kSector = 512;
inline constexpr std::size_t kWords = kSector / sizeof(std::uint64_t);

using Number = std::uint64_t;
using Sector = std::span<std::byte, kSector>;
using ConstSector = std::span<const std::byte, kSector>;
using Words = std::array<std::uint64_t, kWords>;

// Where a sector belongs, and to whom.
struct Place {
    std::uint64_t run = 0;
    std::uint64_t block = 0;
    std::uint64_t sector = 0;  // of the block

    bool operator==(const Place&) const = default;
};

// What a sector says about itself.
struct Found {
    enum class Kind {
        Whole,    // the record of one write
        Torn,     // begins as the record of one, and does not go on so
        Nothing,  // no record
    };
    Kind kind = Kind::Nothing;
    Place place;
    Number number = 0;
    Number last = 0;        // that of its last word, which differs if it is torn between two writes
    std::size_t words = 0;  // from the start, that belong to the record
};

void fill(Sector sector, const Place& place, Number number);
Found inspect(ConstSector sector);
// Whether each word is that of a write to PLACE, LOW the first and HIGH the last of them.
bool mixed(ConstSector sector, const Place& place, Number low, Number high);

}  // namespace sequence
