// SPDX-License-Identifier: GPL-2.0
#include "options.hpp"

#include <charconv>
#include <map>
#include <stdexcept>
#include <string_view>

#include "record.hpp"

namespace sequence {

const char* const kUsage =
    "rblk-sequence FILE [--seed N] [--blocks N] [--block-size BYTES] [--offset BYTES] [--depth N]\n"
    "    [--readers N] [--run-of BLOCKS] [--rate WRITES-A-SECOND] [--seconds N] [--allow-errors]\n"
    "    [--racy-sectors] [--buffered]\n";

namespace {

std::uint64_t number(std::string_view name, const char* text) {
    std::uint64_t value = 0;
    const std::string_view word = text ? text : "";
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size() || word.empty())
        throw std::invalid_argument(std::string(name) + " needs a number, not '" +
                                    std::string(word) + "'");
    return value;
}

void must(bool right, const char* what) {
    if (!right) throw std::invalid_argument(what);
}

}  // namespace

Options parse(int argc, char** argv) {
    Options options;
    const std::map<std::string_view, std::uint64_t*> numbers{
        {"--seed", &options.seed},
        {"--blocks", &options.blocks},
        {"--block-size", &options.block_size},
        {"--offset", &options.offset},
        {"--depth", &options.depth},
        {"--readers", &options.readers},
        {"--run-of", &options.run_of},
        {"--rate", &options.rate},
        {"--seconds", &options.seconds},
    };
    const std::map<std::string_view, bool*> flags{
        {"--allow-errors", &options.allow_errors},
        {"--racy-sectors", &options.racy_sectors},
        {"--buffered", &options.buffered},
    };
    for (int n = 1; n < argc; ++n) {
        const std::string_view word = argv[n];
        if (const auto value = numbers.find(word); value != numbers.end()) {
            *value->second = number(word, n + 1 < argc ? argv[n + 1] : nullptr);
            ++n;
        } else if (const auto flag = flags.find(word); flag != flags.end()) {
            *flag->second = true;
        } else if (!word.starts_with("-") && options.file.empty()) {
            options.file = word;
        } else {
            throw std::invalid_argument("'" + std::string(word) + "' is not what belongs here");
        }
    }
    must(!options.file.empty(), "which file?");
    must(options.block_size && options.block_size % kSector == 0 && options.block_size <= 1 << 20,
         "a block is a multiple of 512 bytes, of 1 MiB at the most");
    must(options.blocks >= 2 && options.blocks <= 1 << 20, "there are 2 to 1048576 blocks");
    must(options.offset % kSector == 0 && options.offset < std::uint64_t{1} << 50,
         "the offset is a multiple of 512");
    must(options.depth && options.depth <= 256 && options.depth < options.blocks,
         "1 to 256 writes are in flight, fewer than there are blocks");
    must(options.readers <= 64, "there are 64 readers at the most");
    must(options.run_of && options.run_of * options.block_size <= 4 << 20,
         "a read takes 4 MiB at the most");
    if (options.run_of > options.blocks) options.run_of = options.blocks;
    return options;
}

}  // namespace sequence
