// SPDX-License-Identifier: GPL-2.0
// Netlink attributes, written with a bound and read without trust.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "netlink/transport.hpp"

struct nlattr;
struct nlmsghdr;

namespace rblk {

// Bytes from the kernel that are not what the ABI says.
class DecodeError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// The attributes of one object of a spec: its name and those of its attributes, from 1.
struct AttributeSpec {
    std::string_view object;
    std::span<const std::string_view> names;

    std::string_view name(unsigned type) const {
        return type >= 1 && type <= names.size() ? names[type - 1] : std::string_view("?");
    }
};

// One netlink request being built.
class Message {
public:
    Message(std::uint16_t type, std::uint16_t flags, std::uint8_t command, std::uint8_t version,
            const AttributeSpec& spec);
    // One of a family that is not generic, whose attributes follow the header.
    Message(std::uint16_t type, std::uint16_t flags, const AttributeSpec& spec);

    Message& u32(std::uint16_t type, std::uint32_t value);
    Message& s32(std::uint16_t type, std::int32_t value);
    Message& u64(std::uint16_t type, std::uint64_t value);
    Message& text(std::uint16_t type, std::string_view value);
    Message& binary(std::uint16_t type, ByteView value);
    Message& flag(std::uint16_t type);
    // What fill puts into the message lies in the nest.
    Message& nest(std::uint16_t type, const std::function<void(Message&)>& fill);

    void set_sequence(std::uint32_t sequence);
    ByteView bytes() const;
    // Bytes between the netlink header and the attributes, in the request and in its replies.
    std::size_t extra_header() const { return extra_header_; }
    // Name of the attribute that lies at this offset, as an extack gives it; empty if none does.
    std::string attribute_at(std::uint32_t offset) const;
    // Name of an attribute by its number.
    std::string attribute_name(std::uint32_t type) const;

private:
    nlmsghdr* header();
    const nlmsghdr* header() const;

    Bytes buffer_;
    AttributeSpec spec_;
    std::size_t extra_header_ = 0;
};

// The attributes of one level of a received message. Keeps no copy: the bytes must outlive it.
class Attributes {
public:
    Attributes(ByteView bytes, const AttributeSpec& spec);

    bool flag(unsigned type) const { return find(type) != nullptr; }
    std::uint32_t u32(unsigned type) const { return required(type, opt_u32(type)); }
    std::string text(unsigned type) const { return required(type, opt_text(type)); }
    std::uint64_t uint(unsigned type) const { return required(type, opt_uint(type)); }
    ByteView binary(unsigned type, std::size_t size) const {
        return required(type, opt_binary(type, size));
    }

    std::optional<std::uint32_t> opt_u32(unsigned type) const;
    std::optional<std::int32_t> opt_s32(unsigned type) const;
    // NLA_UINT: 4 or 8 bytes, as the kernel likes.
    std::optional<std::uint64_t> opt_uint(unsigned type) const;
    std::optional<std::string> opt_text(unsigned type) const;
    std::optional<ByteView> opt_binary(unsigned type, std::size_t size) const;
    // An array of numbers in one attribute; empty if there is none.
    std::vector<std::uint32_t> u32s(unsigned type) const;
    std::vector<std::string> texts(unsigned type) const;
    // The content of each nest of this type.
    std::vector<ByteView> nests(unsigned type) const;
    // The content of every attribute, of a list whose elements have any type.
    std::vector<ByteView> elements() const;

private:
    struct Item {
        unsigned type;
        ByteView value;
    };

    const Item* find(unsigned type) const;
    std::string text_of(const Item& item) const;
    [[noreturn]] void bad_size(const Item& item, std::string_view expected) const;
    [[noreturn]] void missing(unsigned type) const;

    template <typename T>
    T required(unsigned type, std::optional<T> value) const {
        if (!value) missing(type);
        return *std::move(value);
    }

    std::vector<Item> items_;
    AttributeSpec spec_;
};

}  // namespace rblk
