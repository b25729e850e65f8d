// SPDX-License-Identifier: GPL-2.0
#include "system/files.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <system_error>

namespace rblk {

namespace fs = std::filesystem;

fs::path Files::at(std::string_view path) const {
    return root_ / fs::path(path).relative_path();
}

std::optional<std::string> Files::read(std::string_view path) const {
    std::error_code error;
    if (fs::is_directory(at(path), error)) return std::nullopt;
    std::ifstream file(at(path), std::ios::binary);
    if (!file) return std::nullopt;
    // An attribute of sysfs can open and then fail to read. Only the stream's own functions
    // make a state of that: from its buffer it is an exception.
    std::string text;
    char buffer[4096];
    while (file.read(buffer, sizeof(buffer)) || file.gcount() > 0)
        text.append(buffer, static_cast<std::size_t>(file.gcount()));
    if (file.bad()) return std::nullopt;
    if (text.ends_with('\n')) text.pop_back();
    return text;
}

std::vector<std::string> Files::list(std::string_view path) const {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator entry(at(path), error), end; !error && entry != end;
         entry.increment(error))
        names.push_back(entry->path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

bool Files::exists(std::string_view path) const {
    std::error_code error;
    return fs::exists(at(path), error);
}

std::vector<std::string> Files::lines(std::string_view path) const {
    std::vector<std::string> lines;
    std::istringstream text(read(path).value_or(""));
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
}

}  // namespace rblk
