// SPDX-License-Identifier: GPL-2.0
// Each thing that can be wrong is done to a disk in memory, and has to be found; what is right is
// not.
#include "model.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace sequence {

namespace {

constexpr std::uint64_t kRun = 42;
constexpr std::uint64_t kBlocks = 4;
constexpr std::size_t kSectors = 8;

using Data = std::vector<std::byte>;

class ModelTest : public testing::Test {
protected:
    ModelTest() {
        for (std::uint64_t block = 0; block < kBlocks; ++block) write(block);
    }

    // What write NUMBER of BLOCK brings.
    Data data(std::uint64_t block, Number number) const {
        Data made(model.block_size());
        model.fill(made, block, number);
        return made;
    }

    // A write that arrives and is acknowledged; its number.
    Number write(std::uint64_t block) {
        const Number number = model.submit(block);
        put(block, number);
        model.acknowledge(block, number);
        return number;
    }

    void put(std::uint64_t block, Number number, std::size_t sectors = kSectors) {
        std::ranges::copy_n(data(block, number).begin(),
                            static_cast<std::ptrdiff_t>(sectors * kSector), at(block));
    }

    Data::iterator at(std::uint64_t block) {
        return disk.begin() + static_cast<std::ptrdiff_t>(block * kSectors * kSector);
    }

    std::string read(std::uint64_t block, std::size_t count = 1) {
        model.begin_read(block, count, least);
        return end_read(block);
    }

    std::string end_read(std::uint64_t block) {
        return model
            .check(block,
                   std::span(disk).subspan(block * kSectors * kSector, least.size() * kSector),
                   least)
            .value_or("");
    }

    bool finds(const char* what, std::uint64_t block) {
        const std::string found = read(block);
        if (found.find(what) != std::string::npos &&
            found.starts_with("block " + std::to_string(block)))
            return true;
        ADD_FAILURE() << "not '" << what << "' but '" << found << "'";
        return false;
    }

    Model model{kRun, kBlocks, kSectors};
    Data disk = Data(kBlocks * kSectors * kSector);
    std::vector<Number> least;
};

}  // namespace

TEST_F(ModelTest, WhatIsRightIsRight) {
    EXPECT_EQ(read(0, kBlocks), "");
    write(2);
    EXPECT_EQ(read(0, kBlocks), "");
}

TEST_F(ModelTest, AWriteInFlightMayBeThereInPart) {
    const Number number = model.submit(1);
    EXPECT_EQ(read(1), "");
    put(1, number, 3);
    EXPECT_EQ(read(1), "");
    put(1, number);
    EXPECT_EQ(read(1), "");
    model.acknowledge(1, number);
    EXPECT_EQ(read(1), "");
}

TEST_F(ModelTest, Stale) {
    const Number old = write(1);
    write(1);
    put(1, old, 1);
    EXPECT_TRUE(finds("stale: number 2; number 3 was acknowledged", 1));
}

TEST_F(ModelTest, ALostAcknowledgedWrite) {
    model.acknowledge(1, model.submit(1));
    EXPECT_TRUE(finds("stale: number 1; number 2 was acknowledged", 1));
}

TEST_F(ModelTest, BackBelowWhatWasReadWhileTheWriteIsInFlight) {
    put(1, model.submit(1));
    EXPECT_EQ(read(1), "");
    put(1, 1, 1);
    EXPECT_TRUE(finds("stale: number 1; number 2 was acknowledged or read before", 1));
}

TEST_F(ModelTest, AcknowledgedWhileItIsRead) {
    model.begin_read(1, 1, least);
    const Data before(at(1), at(2));
    write(1);
    std::ranges::copy(before, at(1));
    EXPECT_EQ(end_read(1), "") << "the read was submitted before";
    EXPECT_TRUE(finds("stale", 1));
}

TEST_F(ModelTest, TwoReadsAtOnceMayDisagree) {
    model.begin_read(1, 1, least);
    const std::vector<Number> first = least;
    const Data before(at(1), at(2));
    put(1, model.submit(1));
    EXPECT_EQ(read(1), "");
    std::ranges::copy(before, at(1));
    least = first;
    EXPECT_EQ(end_read(1), "");
}

TEST_F(ModelTest, NeverSubmitted) {
    put(1, 2);
    EXPECT_TRUE(finds("never submitted: number 2; number 1 was", 1));
}

TEST_F(ModelTest, Foreign) {
    std::ranges::copy(data(2, 1), at(1));
    EXPECT_TRUE(finds("foreign: what belongs to block 2 sector 0, number 1", 1));
}

TEST_F(ModelTest, ForeignSectorOfTheSameBlock) {
    std::copy_n(at(1), kSector, at(1) + 3 * kSector);
    EXPECT_TRUE(finds("sector 3: foreign: what belongs to block 1 sector 0", 1));
}

TEST_F(ModelTest, AnotherRun) {
    Data other(model.block_size());
    Model(kRun + 1, kBlocks, kSectors).fill(other, 1, 1);
    std::ranges::copy(other, at(1));
    EXPECT_TRUE(finds("written by another run", 1));
}

TEST_F(ModelTest, Nothing) {
    std::fill_n(at(3) + 7 * kSector, kSector, std::byte{0});
    EXPECT_TRUE(finds("sector 7: no record", 3));
}

TEST_F(ModelTest, TornSectorWhereverItIsCut) {
    const Number number = model.submit(1);
    const Data next = data(1, number);
    for (std::ptrdiff_t cut = 41; cut <= 504; ++cut) {  // then comes its number, which is small
        put(1, 1);
        std::copy_n(next.begin(), cut, at(1));
        EXPECT_TRUE(finds("torn: begins as number 2", 1)) << cut;
    }
}

TEST_F(ModelTest, OneBit) {
    for (std::size_t byte = 0; byte < kSector; ++byte) {
        put(1, 1);
        *(at(1) + static_cast<std::ptrdiff_t>(byte)) ^= std::byte{0x10};
        EXPECT_NE(read(1), "") << byte;
    }
}

TEST_F(ModelTest, AFailedWriteIsThereOrNot) {
    const Number failed = model.submit(1);
    EXPECT_EQ(read(1), "") << "not there";
    put(1, failed, 5);
    EXPECT_EQ(read(1), "") << "there in part";
    const Number failed_too = model.submit(1);
    put(1, failed_too, 2);
    EXPECT_EQ(read(1), "");
}

TEST_F(ModelTest, AFailedWriteAfterALaterOneWasAcknowledged) {
    const Number failed = model.submit(1);
    write(1);
    EXPECT_EQ(read(1), "");
    put(1, failed, 1);
    EXPECT_TRUE(finds("stale: number 2; number 3 was acknowledged", 1));
}

TEST_F(ModelTest, RacySectors) {
    Model racy(kRun, 1, 1, true);
    const auto look = [&](std::span<const std::byte> sector) {
        racy.begin_read(0, 1, least);
        return racy.check(0, sector, least).value_or("");
    };
    Data one(kSector), two(kSector), half(kSector);
    racy.acknowledge(0, racy.submit(0));
    racy.fill(one, 0, 1);
    racy.fill(two, 0, 2);
    half = two;
    std::copy_n(one.begin(), 256, half.begin());
    EXPECT_NE(look(half), "") << "no write is in flight";
    racy.submit(0);
    EXPECT_EQ(look(half), "");
    half[300] ^= std::byte{1};
    EXPECT_NE(look(half), "") << "it is of neither";
    half[300] ^= std::byte{1};
    racy.acknowledge(0, 2);
    EXPECT_NE(look(half), "") << "the write is over";
}

}  // namespace sequence
