// SPDX-License-Identifier: GPL-2.0
// What each sector may hold, from what was submitted and what was acknowledged. No I/O is here.
//
// The writes of a block are numbered, and one of them is in flight at a time. A read of a sector
// may return the number
//   - not below the last one acknowledged before the read was submitted,
//   - not below what another read had returned that ended before this one was submitted,
//   - not above the last one submitted when the read has ended.
// What lies between, the block's sectors may hold in any mixture: a write in flight may be there in
// part. Within a sector there is no mixture, unless racy sectors are allowed: then one that is
// written while it is read may be of any of these numbers, word by word.
//
// A write that failed was not acknowledged, so both it and the one before may be read. The next one
// has a higher number, and once that is acknowledged none of them may be.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "record.hpp"

namespace sequence {

class Model {
public:
    Model(std::uint64_t run, std::uint64_t blocks, std::size_t sectors_per_block,
          bool racy = false);

    std::uint64_t blocks() const { return blocks_; }
    std::size_t sectors_per_block() const { return per_block_; }
    std::size_t block_size() const { return per_block_ * kSector; }

    // The writer, before it submits a write: its number. And what it has to write.
    Number submit(std::uint64_t block);
    void fill(std::span<std::byte> data, std::uint64_t block, Number number) const;
    // The writer, after it was told that write NUMBER is done. One that failed is not told.
    void acknowledge(std::uint64_t block, Number number);

    // A reader, before it submits a read of COUNT blocks: what must be there at least, by sector.
    void begin_read(std::uint64_t block, std::size_t count, std::vector<Number>& least) const;
    // And after it has DATA: the first thing that is wrong with it, in words.
    std::optional<std::string> check(std::uint64_t block, std::span<const std::byte> data,
                                     std::span<const Number> least);

private:
    std::optional<std::string> check_sector(const Place& place, ConstSector sector, Number least,
                                            Number most);
    std::string bounds(std::uint64_t block, Number least, Number most) const;

    const std::uint64_t run_;
    const std::uint64_t blocks_;
    const std::size_t per_block_;
    const bool racy_;
    std::vector<std::atomic<Number>> submitted_;     // by block
    std::vector<std::atomic<Number>> acknowledged_;  // by block
    std::vector<std::atomic<Number>> seen_;          // by sector
};

}  // namespace sequence
