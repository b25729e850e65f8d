// SPDX-License-Identifier: GPL-2.0
#include "reader.hpp"

#include <chrono>
#include <random>
#include <thread>

namespace sequence {

namespace {

constexpr auto kAfterError = std::chrono::milliseconds(20);  // a device that fails does so at once

}  // namespace

void read_blocks(Check& check, std::size_t reader) {
    const Options& options = check.options;
    Pages pages(options.run_of * options.block_size);
    std::mt19937_64 chance(options.seed * 1000 + 1 + reader);
    std::vector<Number> least;
    while (!check.stop) {
        const std::uint64_t count = 1 + chance() % options.run_of;
        const std::uint64_t block = chance() % (options.blocks - count + 1);
        const auto data = pages.bytes().first(count * options.block_size);
        check.model.begin_read(block, count, least);
        check.read_stall.begin(reader);
        const int error = check.device.read(data, check.offset(block));
        check.read_stall.end(reader);
        if (error) {
            check.error(check.read_errors, "read", block, error);
            std::this_thread::sleep_for(kAfterError);
            continue;
        }
        ++check.reads;
        if (const auto wrong = check.model.check(block, data, least)) check.violation(*wrong);
    }
}

}  // namespace sequence
