// SPDX-License-Identifier: GPL-2.0
#include "record.hpp"

#include <algorithm>
#include <cstring>

namespace sequence {

namespace {

constexpr std::uint64_t kMagic = 0x7265626d756e6b62;
enum Word : std::size_t {
    kMagicWord,
    kRun,
    kBlock,
    kSectorWord,
    kNumber,
    kFirst,
    kLast = kWords - 1
};

std::uint64_t mix(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    return value ^ value >> 31;
}

Words record(const Place& place, Number number) {
    Words words{};
    words[kMagicWord] = kMagic;
    words[kRun] = place.run;
    words[kBlock] = place.block;
    words[kSectorWord] = place.sector;
    words[kNumber] = number;
    std::uint64_t base = 0;
    for (std::size_t n = kRun; n <= kNumber; ++n) base = mix(base ^ words[n]);
    for (std::size_t n = kFirst; n < kLast; ++n) words[n] = mix(base + n);
    words[kLast] = number;
    return words;
}

Words words_of(ConstSector sector) {
    Words words{};
    std::memcpy(words.data(), sector.data(), kSector);
    return words;
}

}  // namespace

void fill(Sector sector, const Place& place, Number number) {
    const Words words = record(place, number);
    std::memcpy(sector.data(), words.data(), kSector);
}

Found inspect(ConstSector sector) {
    const Words words = words_of(sector);
    if (words[kMagicWord] != kMagic) return {};
    Found found{Found::Kind::Whole,
                {words[kRun], words[kBlock], words[kSectorWord]},
                words[kNumber],
                words[kLast],
                0};
    const Words whole = record(found.place, found.number);
    found.words = static_cast<std::size_t>(std::ranges::mismatch(words, whole).in1 - words.begin());
    if (found.words < kWords) found.kind = Found::Kind::Torn;
    return found;
}

bool mixed(ConstSector sector, const Place& place, Number low, Number high) {
    const Words words = words_of(sector);
    std::array<bool, kWords> known{};
    for (Number number = low; number <= high; ++number) {
        const Words one = record(place, number);
        for (std::size_t n = 0; n < kWords; ++n) known[n] |= words[n] == one[n];
    }
    return std::ranges::all_of(known, [](bool it) { return it; });
}

}  // namespace sequence
