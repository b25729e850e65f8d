// SPDX-License-Identifier: GPL-2.0
// Reading of /proc, /sys and the like, below a root that a test can choose.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rblk {

class Files {
public:
    explicit Files(std::filesystem::path root = "/") : root_(std::move(root)) {}

    // Without the newline at its end; nothing if it cannot be read.
    std::optional<std::string> read(std::string_view path) const;
    // Names in a folder in order; none if it cannot be read.
    std::vector<std::string> list(std::string_view path) const;
    bool exists(std::string_view path) const;
    // Lines of a file; none if it cannot be read.
    std::vector<std::string> lines(std::string_view path) const;

private:
    std::filesystem::path at(std::string_view path) const;

    std::filesystem::path root_;
};

}  // namespace rblk
