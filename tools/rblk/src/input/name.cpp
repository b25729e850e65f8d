// SPDX-License-Identifier: GPL-2.0
#include "input/name.hpp"

#include <fmt/format.h>
#include <linux/rblk_client.h>
#include <linux/rblk_server.h>

#include "error.hpp"
#include "output/clean.hpp"

namespace rblk {

static_assert(name_max == RBLK_CLIENT_NAME_MAX && name_max == RBLK_SERVER_NAME_MAX);

namespace {

bool name_char(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == ':' || c == '-';
}

}  // namespace

std::string name_fault(std::string_view name) {
    if (name.empty()) return "is empty";
    if (name.size() > name_max)
        return fmt::format("has {} bytes, and {} is the most", name.size(), name_max);
    if (name == "." || name == "..") return "is the name of a folder";
    for (char c : name) {
        if (name_char(c)) continue;
        if (c == ' ') return "has a space in it";
        if (c > ' ' && c <= '~') return fmt::format("has a '{}' in it", c);
        return fmt::format("has the byte 0x{:02x} in it", static_cast<unsigned char>(c));
    }
    return {};
}

void check_name(std::string_view what, std::string_view name) {
    auto fault = name_fault(name);
    if (fault.empty()) return;
    throw Error(Exit::usage, fmt::format("{} name '{}' {}", what, clean(name), fault),
                fmt::format("a name is 1 to {} of A-Z, a-z, 0-9, '.', '_', ':' and '-'", name_max));
}

}  // namespace rblk
