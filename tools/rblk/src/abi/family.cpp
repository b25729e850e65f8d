// SPDX-License-Identifier: GPL-2.0
#include "abi/family.hpp"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <linux/netlink.h>

namespace rblk {

std::string uuid_text(const Uuid& uuid) {
    std::string text;
    for (std::size_t i = 0; i < uuid.size(); i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += fmt::format("{:02x}", uuid[i]);
    }
    return text;
}

std::optional<Uuid> parse_uuid(std::string_view text) {
    constexpr std::size_t length = 36;
    if (text.size() != length) return std::nullopt;
    Uuid uuid{};
    std::size_t digits = 0;
    for (std::size_t i = 0; i < length; i++) {
        char c = text[i];
        if (i == 8 || i == 13 || i == 18 || i == 23) {
            if (c != '-') return std::nullopt;
            continue;
        }
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) return std::nullopt;
        auto& byte = uuid[digits++ / 2];
        byte = static_cast<std::uint8_t>(byte << 4 | digit);
    }
    return uuid;
}

std::optional<Uuid> opt_uuid(const Attributes& attributes, unsigned type) {
    auto bytes = attributes.opt_binary(type, sizeof(Uuid));
    if (!bytes) return std::nullopt;
    Uuid uuid;
    std::memcpy(uuid.data(), bytes->data(), uuid.size());
    return uuid;
}

std::optional<Address> opt_address(const Attributes& attributes, unsigned type) {
    auto bytes = attributes.opt_binary(type, address_size);
    if (!bytes) return std::nullopt;
    auto address = Address::from_wire(*bytes);
    if (!address) throw DecodeError("an address is neither of IPv4 nor of IPv6");
    return address;
}

Uuid required_uuid(const Attributes& attributes, unsigned type) {
    attributes.binary(type, sizeof(Uuid));
    return *opt_uuid(attributes, type);
}

Address required_address(const Attributes& attributes, unsigned type) {
    attributes.binary(type, address_size);
    return *opt_address(attributes, type);
}

Message FamilyUser::request(std::uint8_t command, const AttributeSpec& spec) const {
    return Message(family_.id, NLM_F_REQUEST | NLM_F_ACK, command,
                   static_cast<std::uint8_t>(family_.version), spec);
}

Message FamilyUser::dump(std::uint8_t command, const AttributeSpec& spec) const {
    return Message(family_.id, NLM_F_REQUEST | NLM_F_DUMP, command,
                   static_cast<std::uint8_t>(family_.version), spec);
}

// What the kernel says of a number that belongs to no family, an object that is missing has as
// well.
void FamilyUser::still_there(const KernelError& error) {
    if (error.error() != ENOENT || !error.text().empty()) return;
    auto now = genl_.find_family(family_.name);
    if (now && now->id == family_.id) return;
    throw Error(Exit::module_not_loaded, fmt::format("the kernel has no {} loaded", family_.name),
                fmt::format("it was unloaded after the command had begun: 'modprobe {}' loads it "
                            "again",
                            family_.name));
}

std::vector<Bytes> FamilyUser::send(Message message) try {
    return genl_.request(std::move(message));
} catch (const KernelError& error) {
    still_there(error);
    throw;
}

std::vector<Bytes> FamilyUser::list(Message message) try {
    return genl_.dump(std::move(message));
} catch (const KernelError& error) {
    still_there(error);
    throw;
}

Bytes FamilyUser::ask(Message message) {
    auto replies = send(std::move(message));
    if (replies.size() != 1)
        throw DecodeError(
            fmt::format("{}: {} replies to one question", family_.name, replies.size()));
    return std::move(replies.front());
}

}  // namespace rblk
