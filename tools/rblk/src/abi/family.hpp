// SPDX-License-Identifier: GPL-2.0
// What the two netlink families of rblk have in common.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "error.hpp"
#include "input/address.hpp"
#include "netlink/genl.hpp"

namespace rblk {

using Uuid = std::array<std::uint8_t, 16>;

std::string uuid_text(const Uuid& uuid);
// As uuid_text() writes it, or in capitals; nothing if it is none.
std::optional<Uuid> parse_uuid(std::string_view text);

std::optional<Uuid> opt_uuid(const Attributes& attributes, unsigned type);
std::optional<Address> opt_address(const Attributes& attributes, unsigned type);
// Throws DecodeError where it is missing.
Uuid required_uuid(const Attributes& attributes, unsigned type);
Address required_address(const Attributes& attributes, unsigned type);

// Requests to one family. Each throws Error with Exit::module_not_loaded if its module went since
// it was found.
class FamilyUser {
public:
    FamilyUser(Genl& genl, const Family& family) : genl_(genl), family_(family) {}

    Message request(std::uint8_t command, const AttributeSpec& spec) const;
    Message dump(std::uint8_t command, const AttributeSpec& spec) const;

    std::vector<Bytes> send(Message message);
    // A request that must have one reply. Throws DecodeError otherwise.
    Bytes ask(Message message);
    std::vector<Bytes> list(Message message);

private:
    void still_there(const KernelError& error);

    Genl& genl_;
    Family family_;
};

}  // namespace rblk
