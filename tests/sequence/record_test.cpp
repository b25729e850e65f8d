// SPDX-License-Identifier: GPL-2.0
#include "record.hpp"

#include <gtest/gtest.h>

namespace sequence {

TEST(Record, SaysWhatItIs) {
    std::array<std::byte, kSector> sector{};
    EXPECT_EQ(inspect(sector).kind, Found::Kind::Nothing);
    const Place place{7, 1000, 3};
    fill(sector, place, 99);
    const Found found = inspect(sector);
    EXPECT_EQ(found.kind, Found::Kind::Whole);
    EXPECT_EQ(found.place, place);
    EXPECT_EQ(found.number, 99U);
    EXPECT_TRUE(mixed(sector, place, 98, 100));
    EXPECT_FALSE(mixed(sector, place, 97, 98));
    EXPECT_FALSE(mixed(sector, {7, 1000, 2}, 98, 100));
}

// The words between say which write they are of, so that a cut between two is seen even where the
// first and the last word are of the same.
TEST(Record, NoTwoWritesShareWords) {
    std::array<std::byte, kSector> one{}, two{};
    fill(one, {7, 1, 0}, 5);
    fill(two, {7, 1, 0}, 6);
    for (std::size_t n = 40; n < kSector; n += 8)
        EXPECT_FALSE(std::equal(&one[n], &one[n] + 8, &two[n])) << n;
    std::copy_n(&two[200], 8, &one[200]);
    const Found found = inspect(one);
    EXPECT_EQ(found.kind, Found::Kind::Torn);
    EXPECT_EQ(found.words, 25U);
}

}  // namespace sequence
