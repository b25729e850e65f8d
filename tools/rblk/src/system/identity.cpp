// SPDX-License-Identifier: GPL-2.0
#include "system/identity.hpp"

#include <vector>

#include <fmt/format.h>
#include <nettle/sha2.h>

namespace rblk {
namespace {

using Source = std::optional<std::string>;

// Some devices fill their names with blanks.
std::string trimmed(std::string_view text) {
    const auto* blanks = " \t\n";
    auto begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return {};
    return std::string(text.substr(begin, text.find_last_not_of(blanks) - begin + 1));
}

std::string word(const Files& files, const std::string& path) {
    return trimmed(files.read(path).value_or(""));
}

// The first of the files that says something, after what it is called.
Source said(const Files& files, const std::string& folder, std::string_view kind,
            std::initializer_list<const char*> names) {
    for (const auto* name : names) {
        auto text = word(files, folder + "/" + name);
        if (!text.empty()) return fmt::format("{} {}", kind, text);
    }
    return {};
}

// A serial number is one of its model only.
Source serial(const Files& files, const std::string& folder) {
    auto number = said(files, folder, "serial", {"device/serial", "serial"});
    if (!number) return {};
    return fmt::format("model {} {}", word(files, folder + "/device/model"), *number);
}

// A file of this machine, whose name is good on this machine.
Source loop(const Files& files, const std::string& folder) {
    auto file = word(files, folder + "/loop/backing_file");
    auto machine = word(files, "/etc/machine-id");
    if (file.empty() || machine.empty()) return {};
    return fmt::format("machine {} file {} from {}", machine, file,
                       word(files, folder + "/loop/offset"));
}

Source of_disk(const Files& files, const std::string& folder) {
    if (auto found = said(files, folder, "dm", {"dm/uuid"})) return found;
    if (auto found = said(files, folder, "md", {"md/uuid"})) return found;
    if (auto found = said(files, folder, "wwid", {"wwid", "device/wwid"})) return found;
    if (auto found = serial(files, folder)) return found;
    return loop(files, folder);
}

Source of(const Files& files, const std::string& folder) {
    auto number = word(files, folder + "/partition");
    if (number.empty()) return of_disk(files, folder);
    auto disk = of_disk(files, folder + "/..");
    if (!disk) return {};
    return fmt::format("partition {} at {} of {}", number, word(files, folder + "/start"), *disk);
}

// So that it is no other's hash of the same text.
constexpr std::string_view domain{"rblk disk identity\0", 19};

Uuid hash(const std::string& text) {
    std::string whole = std::string(domain) + text;
    std::vector<std::uint8_t> bytes(whole.begin(), whole.end());
    sha256_ctx context{};
    sha256_init(&context);
    sha256_update(&context, bytes.size(), bytes.data());
    Uuid id{};
    sha256_digest(&context, id.size(), id.data());
    return id;
}

}  // namespace

std::optional<Identity> disk_identity(const Files& files, std::string_view number) {
    auto source = of(files, fmt::format("/sys/dev/block/{}", number));
    if (!source) return {};
    return Identity{hash(*source), *source};
}

}  // namespace rblk
