// SPDX-License-Identifier: GPL-2.0
// Netlink bytes made and taken apart by hand, without the code under test.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "netlink/transport.hpp"

namespace rblk::test {

// Attributes in the order of the calls.
class Put {
public:
    Put& u32(unsigned type, std::uint32_t value);
    Put& u64(unsigned type, std::uint64_t value);
    Put& text(unsigned type, const std::string& value);  // with its NUL
    Put& u32s(unsigned type, const std::vector<std::uint32_t>& values);
    Put& raw(unsigned type, const Bytes& value);
    Put& flag(unsigned type) { return raw(type, {}); }
    Put& v4(unsigned type, const std::string& address, std::uint16_t port);
    Put& v6(unsigned type, const std::string& address, std::uint16_t port, std::uint32_t scope = 0);
    Put& id(unsigned type, std::uint8_t first);  // 16 bytes that count up
    Put& nest(unsigned type, const Put& inner);

    const Bytes& bytes() const { return bytes_; }

private:
    Bytes bytes_;
};

Bytes bytes_of(const std::string& text);
Bytes v4_bytes(const std::string& address, std::uint16_t port);
Bytes v6_bytes(const std::string& address, std::uint16_t port, std::uint32_t scope = 0);
void append(Bytes& to, const Bytes& bytes);

// A netlink message with any payload.
Bytes netlink_message(std::uint16_t type, std::uint16_t flags, std::uint32_t sequence,
                      const Bytes& payload);
// The header of generic netlink in front of attributes.
Bytes genl_payload(std::uint8_t command, const Bytes& attributes);

// A request as the kernel sees it.
struct Seen {
    std::uint16_t family = 0;
    std::uint16_t flags = 0;
    std::uint32_t sequence = 0;
    std::uint8_t command = 0;
    std::uint8_t version = 0;
    std::multimap<unsigned, Bytes> attributes;
    std::map<unsigned, std::uint32_t> offsets;  // of the first attribute of each type

    bool has(unsigned type) const { return attributes.count(type) > 0; }
    Bytes value(unsigned type) const;
    std::vector<Bytes> values(unsigned type) const;
    std::uint32_t u32(unsigned type) const;
    std::uint64_t u64(unsigned type) const;
    std::string text(unsigned type) const;
    std::vector<std::string> texts(unsigned type) const;
};

Seen seen(ByteView datagram, bool generic);

}  // namespace rblk::test
