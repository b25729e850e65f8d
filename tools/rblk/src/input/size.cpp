// SPDX-License-Identifier: GPL-2.0
#include "input/size.hpp"

#include <array>
#include <cctype>
#include <limits>

#include <fmt/format.h>

#include "error.hpp"
#include "output/clean.hpp"

namespace rblk {
namespace {

constexpr std::string_view units = "KMGTPE";
constexpr std::string_view hint = "write bytes, or a number with K, M, G or T as in 512M or 1G";
// What a disk can have.
constexpr std::uint64_t size_max = std::numeric_limits<std::int64_t>::max();

[[noreturn]] void bad(std::string_view text, std::string_view why) {
    throw Error(Exit::usage, fmt::format("size '{}' {}", clean(text), why), std::string(hint));
}

// Shift of a unit such as "", "B", "m", "MiB"; refuses "MB", which is two things.
unsigned unit_shift(std::string_view text, std::string_view unit) {
    std::string upper;
    for (char c : unit) upper += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    if (upper.empty() || upper == "B") return 0;
    auto place = units.find(upper[0]);
    if (place == std::string_view::npos) bad(text, "has no unit that is known");
    auto rest = std::string_view(upper).substr(1);
    if (rest == "B")
        bad(text,
            fmt::format("could count in 1000 or 1024: write {0} or {0}iB for 1024", units[place]));
    if (!rest.empty() && rest != "IB") bad(text, "has no unit that is known");
    return static_cast<unsigned>(place + 1) * 10;
}

bool digit(char c) {
    return c >= '0' && c <= '9';
}

}  // namespace

std::uint64_t parse_size(std::string_view text) {
    using Wide = unsigned __int128;
    std::size_t at = 0;
    Wide value = 0;
    Wide scale = 1;
    auto digits = [&](bool fraction) {
        std::size_t count = 0;
        for (; at < text.size() && digit(text[at]); at++, count++) {
            value = value * 10 + static_cast<unsigned>(text[at] - '0');
            if (fraction) scale *= 10;
            if (value > size_max || scale > size_max) bad(text, "is too large");
        }
        return count;
    };
    if (digits(false) == 0) bad(text, "is not a number");
    if (at < text.size() && text[at] == '.') {
        at++;
        if (digits(true) == 0) bad(text, "is not a number");
    }
    value <<= unit_shift(text, text.substr(at));
    if (value / scale > size_max) bad(text, "is too large");
    if (value % scale != 0) bad(text, "is not a whole number of bytes");
    return static_cast<std::uint64_t>(value / scale);
}

std::uint64_t parse_export_size(std::string_view text) {
    auto size = parse_size(text);
    auto below = size / export_unit * export_unit;
    auto above = below + export_unit;
    if (size == 0)
        throw Error(Exit::usage, fmt::format("size '{}' is nothing to export", clean(text)),
                    fmt::format("the smallest export has {}", exact_size(export_unit)));
    if (below == size) return size;
    auto nearest = below == 0 ? fmt::format("the nearest valid size is {}", exact_size(above))
                   : above > size_max
                       ? fmt::format("the nearest valid size is {}", exact_size(below))
                       : fmt::format("the nearest valid sizes are {} and {}", exact_size(below),
                                     exact_size(above));
    throw Error(Exit::usage, fmt::format("size '{}' is not a multiple of 2 MiB", clean(text)),
                nearest);
}

std::string exact_size(std::uint64_t bytes) {
    std::size_t unit = 0;
    while (bytes > 0 && bytes % 1024 == 0 && unit < units.size()) {
        bytes /= 1024;
        unit++;
    }
    if (unit == 0) return fmt::format("{}", bytes);
    return fmt::format("{}{}", bytes, units[unit - 1]);
}

std::string human_size(std::uint64_t bytes) {
    if (bytes < 1024) return fmt::format("{} bytes", bytes);
    std::size_t unit = 0;
    while (unit < units.size() && (bytes >> ((unit + 1) * 10)) > 0) unit++;
    auto shift = unit * 10;
    auto whole = bytes >> shift;
    // Cut and not rounded, so that no size looks larger than it is.
    auto rest = bytes & ((1ULL << shift) - 1);
    auto tenths = static_cast<std::uint64_t>((static_cast<unsigned __int128>(rest) * 10) >> shift);
    if (tenths == 0) return fmt::format("{} {}iB", whole, units[unit - 1]);
    return fmt::format("{}.{} {}iB", whole, tenths, units[unit - 1]);
}

}  // namespace rblk
