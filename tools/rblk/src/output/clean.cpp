// SPDX-License-Identifier: GPL-2.0
#include "output/clean.hpp"

#include <fmt/format.h>

namespace rblk {
namespace {

unsigned byte_at(std::string_view text, std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

// Bytes of the printable UTF-8 character at the start of text; 0 if it is none.
std::size_t printable(std::string_view text) {
    unsigned first = byte_at(text, 0);
    if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
    std::size_t size = first >= 0xf0 && first <= 0xf4  ? 4
                       : first >= 0xe0 && first < 0xf0 ? 3
                       : first >= 0xc2 && first < 0xe0 ? 2
                                                       : 0;
    for (std::size_t i = 1; i < size; i++)
        if ((byte_at(text, i) & 0xc0) != 0x80) return 0;
    unsigned second = byte_at(text, 1);
    bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
    bool surrogate = first == 0xed && second >= 0xa0;
    bool beyond = first == 0xf4 && second >= 0x90;
    bool control = first == 0xc2 && second < 0xa0;
    return overlong || surrogate || beyond || control ? 0 : size;
}

}  // namespace

std::string clean(std::string_view text) {
    std::string cleaned;
    while (!text.empty()) {
        auto size = printable(text);
        if (size > 0) {
            cleaned += text.substr(0, size);
        } else {
            size = 1;
            cleaned += fmt::format("\\x{:02x}", byte_at(text, 0));
        }
        text.remove_prefix(size);
    }
    return cleaned;
}

}  // namespace rblk
