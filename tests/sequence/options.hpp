// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <cstdint>
#include <string>

namespace sequence {

struct Options {
    std::string file;
    std::uint64_t seed = 1;
    std::uint64_t blocks = 256;
    std::uint64_t block_size = 4096;
    std::uint64_t offset = 0;   // of the first block, in bytes
    std::uint64_t depth = 16;   // writes in flight
    std::uint64_t readers = 2;  // threads
    std::uint64_t run_of = 8;   // blocks that a read takes at the most
    std::uint64_t rate = 0;     // writes a second, 0: as many as there can be
    std::uint64_t seconds = 0;  // 0: until SIGTERM
    bool allow_errors = false;
    bool racy_sectors = false;
    bool buffered = false;
};

extern const char* const kUsage;

// std::invalid_argument if they are none.
Options parse(int argc, char** argv);

}  // namespace sequence
