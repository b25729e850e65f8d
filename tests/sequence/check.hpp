// SPDX-License-Identifier: GPL-2.0
// What the threads of one check share: the device, the model of it, and what was found so far.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "device.hpp"
#include "model.hpp"
#include "options.hpp"
#include "stall.hpp"

namespace sequence {

class Check {
public:
    explicit Check(const Options& its_options);

    const Options options;
    const Device device;
    Model model;
    Stall write_stall;
    Stall read_stall;
    std::atomic<std::uint64_t> writes = 0;
    std::atomic<std::uint64_t> reads = 0;
    std::atomic<std::uint64_t> write_errors = 0;
    std::atomic<std::uint64_t> read_errors = 0;
    std::atomic<std::uint64_t> violations = 0;
    std::atomic<bool> stop = false;

    std::uint64_t offset(std::uint64_t block) const {
        return options.offset + block * options.block_size;
    }

    // Write each block once, so that all of them have a record. It must not fail.
    void begin();
    // Read each block once more, when nothing is in flight.
    void end();

    void violation(const std::string& what);
    void error(std::atomic<std::uint64_t>& count, const char* what, std::uint64_t block, int error);

    // One line each: since the last one, and of all.
    std::string mark();
    std::string result();

private:
    std::mutex lock_;  // of the two below, and of the lines that are printed
    std::string first_violation_;
    std::string first_error_;
    bool whole_ = false;  // all blocks were read at the end
};

}  // namespace sequence
