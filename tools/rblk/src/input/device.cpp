// SPDX-License-Identifier: GPL-2.0
#include "input/device.hpp"

#include <charconv>
#include <string>

#include <fmt/format.h>

#include "error.hpp"
#include "output/clean.hpp"

namespace rblk {

std::uint32_t parse_device(std::string_view text) {
    auto rest = text;
    if (rest.starts_with("/dev/")) rest.remove_prefix(5);
    bool named = rest.starts_with("rblk");
    if (named) rest.remove_prefix(4);
    std::uint32_t index = 0;
    auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), index);
    auto tail = std::string_view(end, static_cast<std::size_t>(rest.data() + rest.size() - end));
    bool canonical = error == std::errc() && (rest[0] != '0' || end == rest.data() + 1);
    if (canonical && tail.empty() && (named || text == rest)) return index;
    std::string hint = "name it as in /dev/rblk0, rblk0 or 0; 'rblk device list' shows them";
    if (canonical && named && tail.starts_with("p"))
        throw Error(Exit::usage,
                    fmt::format("'{}' is a partition and not a device of rblk", clean(text)),
                    fmt::format("name the whole device, rblk{}", index));
    throw Error(Exit::usage, fmt::format("'{}' is not a device of rblk", clean(text)), hint);
}

}  // namespace rblk
