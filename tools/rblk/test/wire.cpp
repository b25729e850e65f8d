// SPDX-License-Identifier: GPL-2.0
#include "wire.hpp"

#include <cstring>
#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace rblk::test {
namespace {

template <typename T>
void store(Bytes& to, const T& value) {
    auto at = to.size();
    to.resize(at + sizeof(value));
    std::memcpy(to.data() + at, &value, sizeof(value));
}

template <typename T>
T load(ByteView from, std::size_t at) {
    if (at + sizeof(T) > from.size()) throw std::out_of_range("request is too short");
    T value;
    std::memcpy(&value, from.data() + at, sizeof(value));
    return value;
}

void align(Bytes& bytes) {
    while (bytes.size() % 4 != 0) bytes.push_back(std::byte{0});
}

}  // namespace

Bytes bytes_of(const std::string& text) {
    Bytes bytes(text.size());
    std::memcpy(bytes.data(), text.data(), text.size());
    return bytes;
}

void append(Bytes& to, const Bytes& bytes) {
    to.insert(to.end(), bytes.begin(), bytes.end());
}

Bytes v4_bytes(const std::string& address, std::uint16_t port) {
    sockaddr_in raw{};
    raw.sin_family = AF_INET;
    raw.sin_port = htons(port);
    if (inet_pton(AF_INET, address.c_str(), &raw.sin_addr) != 1)
        throw std::invalid_argument(address);
    Bytes bytes;
    store(bytes, raw);
    bytes.resize(28);
    return bytes;
}

Bytes v6_bytes(const std::string& address, std::uint16_t port, std::uint32_t scope) {
    sockaddr_in6 raw{};
    raw.sin6_family = AF_INET6;
    raw.sin6_port = htons(port);
    raw.sin6_scope_id = scope;
    if (inet_pton(AF_INET6, address.c_str(), &raw.sin6_addr) != 1)
        throw std::invalid_argument(address);
    Bytes bytes;
    store(bytes, raw);
    return bytes;
}

Put& Put::raw(unsigned type, const Bytes& value) {
    store(bytes_, static_cast<std::uint16_t>(4 + value.size()));
    store(bytes_, static_cast<std::uint16_t>(type));
    append(bytes_, value);
    align(bytes_);
    return *this;
}

Put& Put::u32(unsigned type, std::uint32_t value) {
    Bytes bytes;
    store(bytes, value);
    return raw(type, bytes);
}

Put& Put::u64(unsigned type, std::uint64_t value) {
    Bytes bytes;
    store(bytes, value);
    return raw(type, bytes);
}

Put& Put::u32s(unsigned type, const std::vector<std::uint32_t>& values) {
    Bytes bytes;
    for (auto value : values) store(bytes, value);
    return raw(type, bytes);
}

Put& Put::text(unsigned type, const std::string& value) {
    auto bytes = bytes_of(value);
    bytes.push_back(std::byte{0});
    return raw(type, bytes);
}

Put& Put::v4(unsigned type, const std::string& address, std::uint16_t port) {
    return raw(type, v4_bytes(address, port));
}

Put& Put::v6(unsigned type, const std::string& address, std::uint16_t port, std::uint32_t scope) {
    return raw(type, v6_bytes(address, port, scope));
}

Put& Put::id(unsigned type, std::uint8_t first) {
    Bytes bytes;
    for (std::uint8_t i = 0; i < 16; i++) bytes.push_back(std::byte(first + i));
    return raw(type, bytes);
}

Put& Put::nest(unsigned type, const Put& inner) {
    return raw(type | 0x8000, inner.bytes());
}

Bytes netlink_message(std::uint16_t type, std::uint16_t flags, std::uint32_t sequence,
                      const Bytes& payload) {
    Bytes bytes;
    store(bytes, static_cast<std::uint32_t>(16 + payload.size()));
    store(bytes, type);
    store(bytes, flags);
    store(bytes, sequence);
    store(bytes, std::uint32_t{4711});
    append(bytes, payload);
    align(bytes);
    return bytes;
}

Bytes genl_payload(std::uint8_t command, const Bytes& attributes) {
    Bytes bytes{std::byte{command}, std::byte{1}, std::byte{0}, std::byte{0}};
    append(bytes, attributes);
    return bytes;
}

Bytes Seen::value(unsigned type) const {
    auto found = attributes.find(type);
    if (found == attributes.end()) throw std::out_of_range("request lacks an attribute");
    return found->second;
}

std::vector<Bytes> Seen::values(unsigned type) const {
    std::vector<Bytes> all;
    auto [from, to] = attributes.equal_range(type);
    for (; from != to; ++from) all.push_back(from->second);
    return all;
}

std::uint32_t Seen::u32(unsigned type) const {
    if (value(type).size() != 4) throw std::length_error("not a u32");
    return load<std::uint32_t>(value(type), 0);
}

std::uint64_t Seen::u64(unsigned type) const {
    if (value(type).size() != 8) throw std::length_error("not a u64");
    return load<std::uint64_t>(value(type), 0);
}

std::string Seen::text(unsigned type) const {
    auto bytes = value(type);
    if (bytes.empty() || bytes.back() != std::byte{0}) throw std::length_error("text without NUL");
    return reinterpret_cast<const char*>(bytes.data());
}

std::vector<std::string> Seen::texts(unsigned type) const {
    std::vector<std::string> all;
    auto [from, to] = attributes.equal_range(type);
    for (; from != to; ++from) all.emplace_back(reinterpret_cast<const char*>(from->second.data()));
    return all;
}

Seen seen(ByteView datagram, bool generic) {
    Seen request;
    if (load<std::uint32_t>(datagram, 0) != datagram.size())
        throw std::length_error("length of the request");
    request.family = load<std::uint16_t>(datagram, 4);
    request.flags = load<std::uint16_t>(datagram, 6);
    request.sequence = load<std::uint32_t>(datagram, 8);
    std::size_t at = 16;
    if (generic) {
        request.command = load<std::uint8_t>(datagram, 16);
        request.version = load<std::uint8_t>(datagram, 17);
        at = 20;
    }
    while (at < datagram.size()) {
        auto size = load<std::uint16_t>(datagram, at);
        auto type = load<std::uint16_t>(datagram, at + 2) & 0x3fffu;
        if (size < 4 || at + size > datagram.size()) throw std::length_error("attribute");
        auto value = datagram.subspan(at + 4, size - 4u);
        request.attributes.emplace(type, Bytes(value.begin(), value.end()));
        request.offsets.emplace(type, static_cast<std::uint32_t>(at));
        at += (size + 3u) & ~3u;
    }
    return request;
}

}  // namespace rblk::test
