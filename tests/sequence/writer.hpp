// SPDX-License-Identifier: GPL-2.0
// Writes blocks by chance, several at a time and never two of the same block.
#pragma once

#include <chrono>
#include <optional>
#include <random>
#include <vector>

#include "check.hpp"

namespace sequence {

class Writer {
public:
    explicit Writer(Check& check);

    // Until it is enough and nothing is in flight.
    void run();

private:
    struct Slot {
        iocb request{};
        std::uint64_t block = 0;
        Number number = 0;
        bool busy = false;
    };

    void submit(std::size_t slot);
    void ended(std::size_t slot, std::int64_t result);
    std::uint64_t free_block();
    std::optional<std::size_t> free_slot() const;
    // Milliseconds until the rate allows the next write.
    int pause() const;

    Check& check_;
    Pages pages_;
    Queue queue_;
    std::vector<Slot> slots_;
    std::vector<bool> busy_;  // by block
    std::vector<io_event> events_;
    std::size_t in_flight_ = 0;
    std::uint64_t submitted_ = 0;
    std::mt19937_64 chance_;
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    std::chrono::steady_clock::time_point rest_until_{};
};

}  // namespace sequence
