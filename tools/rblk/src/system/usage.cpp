// SPDX-License-Identifier: GPL-2.0
#include "system/usage.hpp"

#include <algorithm>
#include <map>
#include <sstream>

#include <fmt/format.h>

namespace rblk {
namespace {

// The kernel writes a space, a tab, a newline and a backslash as \ooo.
std::string unescape(const std::string& text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); i++) {
        bool escaped = text[i] == '\\' && i + 3 < text.size();
        for (std::size_t k = 1; escaped && k <= 3; k++)
            escaped = text[i + k] >= '0' && text[i + k] <= '7';
        if (!escaped) {
            plain += text[i];
            continue;
        }
        plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                   (text[i + 3] - '0'));
        i += 3;
    }
    return plain;
}

// The disk and its partitions by their MAJOR:MINOR.
std::map<std::string, std::string> numbers_of(const Files& files, const std::string& disk) {
    std::map<std::string, std::string> numbers;
    auto folder = "/sys/block/" + disk;
    if (auto number = files.read(folder + "/dev")) numbers[*number] = disk;
    for (const auto& name : files.list(folder))
        if (name.starts_with(disk + "p"))
            if (auto number = files.read(folder + "/" + name + "/dev")) numbers[*number] = name;
    return numbers;
}

// "36 35 98:0 /root /target options [tags] - type source options"
std::vector<Mount> mounts_of(const Files& files,
                             const std::map<std::string, std::string>& numbers) {
    std::vector<Mount> mounts;
    for (const auto& line : files.lines("/proc/self/mountinfo")) {
        std::istringstream fields(line);
        std::string id, parent, number, root, target;
        fields >> id >> parent >> number >> root >> target;
        std::string field, type, source;
        while (fields >> field && field != "-") {
        }
        fields >> type >> source;
        auto by_number = numbers.find(number);
        // btrfs and overlays have numbers of their own.
        auto by_name = std::find_if(numbers.begin(), numbers.end(), [&](const auto& entry) {
            return unescape(source) == "/dev/" + entry.second;
        });
        auto found = by_number != numbers.end() ? by_number : by_name;
        if (found != numbers.end()) mounts.push_back({found->second, unescape(target)});
    }
    return mounts;
}

}  // namespace

Usage usage_of(const Files& files, const std::string& disk) {
    Usage usage;
    auto numbers = numbers_of(files, disk);
    usage.mounts = mounts_of(files, numbers);
    for (const auto& [number, name] : numbers) {
        auto folder = name == disk ? "/sys/block/" + disk : "/sys/block/" + disk + "/" + name;
        for (const auto& holder : files.list(folder + "/holders")) {
            auto mapped = files.read("/sys/block/" + holder + "/dm/name");
            usage.holders.push_back(mapped ? fmt::format("{} ({})", holder, *mapped) : holder);
        }
    }
    for (const auto& line : files.lines("/proc/swaps")) {
        auto file = unescape(line.substr(0, line.find_first_of(" \t")));
        for (const auto& [number, name] : numbers)
            if (file == "/dev/" + name) usage.swap.push_back(file);
    }
    return usage;
}

}  // namespace rblk
