// SPDX-License-Identifier: GPL-2.0
// The frames of a link in a file of the classic pcap format.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fd.hpp"

namespace relay {

class Capture {
public:
    // A new file at PATH; std::system_error if it cannot be written, or is none.
    explicit Capture(const std::string& path);

    // What cannot be written is left out, with all that follows.
    void record(std::span<const std::uint8_t> frame);

    std::uint64_t frames() const { return frames_; }
    // The errno of the write that failed, or 0.
    int error() const { return error_; }

private:
    bool write_out();

    Fd file_;
    std::vector<std::uint8_t> buffer_;
    std::uint64_t frames_ = 0;
    int error_ = 0;
};

}  // namespace relay
