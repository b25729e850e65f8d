// SPDX-License-Identifier: GPL-2.0
#include "input/wait.hpp"

#include <charconv>

#include <fmt/format.h>

#include "error.hpp"
#include "output/clean.hpp"

namespace rblk {

std::optional<std::uint32_t> parse_wait(std::string_view option, std::string_view text,
                                        std::uint32_t most) {
    if (text == "forever") return std::nullopt;
    std::uint32_t seconds = 0;
    const char* end = text.data() + text.size();
    auto [at, error] = std::from_chars(text.data(), end, seconds);
    if (error != std::errc() || at != end || seconds > most)
        throw Error(
            Exit::usage,
            fmt::format("{} is '{}', and must be a number of seconds from 0 to {}, or 'forever'",
                        option, clean(text), most));
    return seconds;
}

}  // namespace rblk
