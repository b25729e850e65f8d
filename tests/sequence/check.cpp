// SPDX-License-Identifier: GPL-2.0
#include "check.hpp"

#include <cstdio>
#include <cstring>
#include <random>
#include <system_error>
#include <thread>

#include <nlohmann/json.hpp>

namespace sequence {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMostErrorLines = 50;

std::uint64_t run_id() {
    std::random_device source;
    return std::uint64_t{source()} << 32 | source();
}

Json or_null(const std::string& text) {
    return text.empty() ? Json() : Json(text);
}

// To the millisecond: more is noise.
double rounded(double seconds) {
    return static_cast<double>(static_cast<std::int64_t>(seconds * 1e3 + 0.5)) / 1e3;
}

std::string clock_text() {
    char text[32];
    std::snprintf(text, sizeof(text), "at %.2f s: ", static_cast<double>(now()) / 1e9);
    return text;
}

}  // namespace

Check::Check(const Options& its_options)
    : options(its_options),
      device(options.file, options.offset + options.blocks * options.block_size, options.buffered),
      model(run_id(), options.blocks, options.block_size / kSector, options.racy_sectors),
      write_stall(options.depth),
      read_stall(options.readers) {}

void Check::begin() {
    Pages pages(options.block_size);
    for (std::uint64_t block = 0; block < options.blocks; ++block) {
        const Number number = model.submit(block);
        model.fill(pages.bytes(), block, number);
        if (const int error = device.write(pages.bytes(), offset(block)))
            throw std::system_error(error, std::generic_category(),
                                    "the first write of block " + std::to_string(block));
        model.acknowledge(block, number);
    }
}

void Check::end() {
    Pages pages(options.block_size);
    std::vector<Number> least;
    std::uint64_t read = 0;
    for (std::uint64_t block = 0; block < options.blocks; ++block) {
        model.begin_read(block, 1, least);
        if (const int failed = device.read(pages.bytes(), offset(block))) {
            error(read_errors, "read at the end", block, failed);
            continue;
        }
        ++reads;
        ++read;
        if (const auto wrong = model.check(block, pages.bytes(), least))
            violation("in the end: " + *wrong);
    }
    whole_ = read == options.blocks;
}

void Check::violation(const std::string& what) {
    const std::lock_guard guard(lock_);
    if (!violations++) first_violation_ = clock_text() + what;
    stop = true;
}

void Check::error(std::atomic<std::uint64_t>& count, const char* what, std::uint64_t block,
                  int error) {
    const std::string text =
        clock_text() + what + " of block " + std::to_string(block) + ": " + std::strerror(error);
    const std::lock_guard guard(lock_);
    if (first_error_.empty()) first_error_ = text;
    const std::uint64_t number = ++count;
    if (number <= kMostErrorLines) std::fprintf(stderr, "%s\n", text.c_str());
    if (number == kMostErrorLines) std::fputs("more such errors are counted, not shown\n", stderr);
}

std::string Check::mark() {
    const Json line{
        {"at", rounded(static_cast<double>(now()) / 1e9)},
        {"writes", writes.load()},
        {"reads", reads.load()},
        {"write_errors", write_errors.load()},
        {"read_errors", read_errors.load()},
        {"write_stall", rounded(write_stall.take())},
        {"read_stall", rounded(read_stall.take())},
        {"violations", violations.load()},
    };
    return line.dump();
}

std::string Check::result() {
    const std::lock_guard guard(lock_);
    const Json line{
        {"writes", writes.load()},
        {"reads", reads.load()},
        {"write_errors", write_errors.load()},
        {"read_errors", read_errors.load()},
        {"first_error", or_null(first_error_)},
        {"write_stall", rounded(write_stall.ever())},
        {"read_stall", rounded(read_stall.ever())},
        {"whole", whole_},
        {"violations", violations.load()},
        {"first_violation", or_null(first_violation_)},
    };
    return line.dump();
}

}  // namespace sequence
