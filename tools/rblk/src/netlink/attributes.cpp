// SPDX-License-Identifier: GPL-2.0
#include "netlink/attributes.hpp"

#include <cstring>

#include <fmt/format.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>

namespace rblk {
namespace {

// An export with all names it can have takes 5 KiB.
constexpr std::size_t message_size = 8 * 1024;

void fits(bool ok) {
    if (!ok) throw std::length_error("a netlink request is too long");
}

template <typename T>
T load(ByteView value) {
    T number;
    std::memcpy(&number, value.data(), sizeof(number));
    return number;
}

}  // namespace

Message::Message(std::uint16_t type, std::uint16_t flags, const AttributeSpec& spec)
    : buffer_(message_size), spec_(spec) {
    auto* nlh = mnl_nlmsg_put_header(buffer_.data());
    nlh->nlmsg_type = type;
    nlh->nlmsg_flags = flags;
}

Message::Message(std::uint16_t type, std::uint16_t flags, std::uint8_t command,
                 std::uint8_t version, const AttributeSpec& spec)
    : Message(type, flags, spec) {
    auto* genl =
        static_cast<genlmsghdr*>(mnl_nlmsg_put_extra_header(header(), sizeof(struct genlmsghdr)));
    genl->cmd = command;
    genl->version = version;
    extra_header_ = GENL_HDRLEN;
}

nlmsghdr* Message::header() {
    return reinterpret_cast<nlmsghdr*>(buffer_.data());
}

const nlmsghdr* Message::header() const {
    return reinterpret_cast<const nlmsghdr*>(buffer_.data());
}

Message& Message::u32(std::uint16_t type, std::uint32_t value) {
    fits(mnl_attr_put_u32_check(header(), buffer_.size(), type, value));
    return *this;
}

Message& Message::s32(std::uint16_t type, std::int32_t value) {
    fits(mnl_attr_put_check(header(), buffer_.size(), type, sizeof(value), &value));
    return *this;
}

Message& Message::u64(std::uint16_t type, std::uint64_t value) {
    fits(mnl_attr_put_u64_check(header(), buffer_.size(), type, value));
    return *this;
}

Message& Message::text(std::uint16_t type, std::string_view value) {
    std::string terminated(value);
    fits(mnl_attr_put_strz_check(header(), buffer_.size(), type, terminated.c_str()));
    return *this;
}

Message& Message::binary(std::uint16_t type, ByteView value) {
    fits(mnl_attr_put_check(header(), buffer_.size(), type, value.size(), value.data()));
    return *this;
}

Message& Message::flag(std::uint16_t type) {
    fits(mnl_attr_put_check(header(), buffer_.size(), type, 0, nullptr));
    return *this;
}

Message& Message::nest(std::uint16_t type, const std::function<void(Message&)>& fill) {
    auto* begin = mnl_attr_nest_start_check(header(), buffer_.size(), type);
    fits(begin != nullptr);
    fill(*this);
    mnl_attr_nest_end(header(), begin);
    return *this;
}

void Message::set_sequence(std::uint32_t sequence) {
    header()->nlmsg_seq = sequence;
}

ByteView Message::bytes() const {
    return ByteView(buffer_).first(header()->nlmsg_len);
}

std::string Message::attribute_at(std::uint32_t offset) const {
    std::size_t begin = NLMSG_HDRLEN + extra_header_;
    while (begin + sizeof(nlattr) <= bytes().size()) {
        nlattr attr{};
        std::memcpy(&attr, buffer_.data() + begin, sizeof(attr));
        if (offset >= begin && offset < begin + attr.nla_len)
            return std::string(spec_.name(attr.nla_type & NLA_TYPE_MASK));
        begin += MNL_ALIGN(attr.nla_len);
    }
    return {};
}

std::string Message::attribute_name(std::uint32_t type) const {
    return std::string(spec_.name(type));
}

Attributes::Attributes(ByteView bytes, const AttributeSpec& spec) : spec_(spec) {
    while (!bytes.empty()) {
        nlattr header{};
        if (bytes.size() >= sizeof(header)) std::memcpy(&header, bytes.data(), sizeof(header));
        if (header.nla_len < sizeof(header) || header.nla_len > bytes.size())
            throw DecodeError(fmt::format("{}: an attribute is cut off", spec.object));
        auto value = bytes.subspan(sizeof(header), header.nla_len - sizeof(header));
        items_.push_back({static_cast<unsigned>(header.nla_type & NLA_TYPE_MASK), value});
        // The padding of the last attribute may be missing.
        bytes = bytes.subspan(std::min<std::size_t>(MNL_ALIGN(header.nla_len), bytes.size()));
    }
}

const Attributes::Item* Attributes::find(unsigned type) const {
    for (const auto& item : items_)
        if (item.type == type) return &item;
    return nullptr;
}

void Attributes::bad_size(const Item& item, std::string_view expected) const {
    throw DecodeError(fmt::format("{}: attribute '{}' has {} bytes and not {}", spec_.object,
                                  spec_.name(item.type), item.value.size(), expected));
}

void Attributes::missing(unsigned type) const {
    throw DecodeError(fmt::format("{}: attribute '{}' is missing", spec_.object, spec_.name(type)));
}

std::optional<std::uint32_t> Attributes::opt_u32(unsigned type) const {
    const auto* item = find(type);
    if (!item) return std::nullopt;
    if (item->value.size() != 4) bad_size(*item, "4");
    return load<std::uint32_t>(item->value);
}

std::optional<std::int32_t> Attributes::opt_s32(unsigned type) const {
    const auto* item = find(type);
    if (!item) return std::nullopt;
    if (item->value.size() != 4) bad_size(*item, "4");
    return load<std::int32_t>(item->value);
}

std::optional<std::uint64_t> Attributes::opt_uint(unsigned type) const {
    const auto* item = find(type);
    if (!item) return std::nullopt;
    if (item->value.size() == 4) return load<std::uint32_t>(item->value);
    if (item->value.size() == 8) return load<std::uint64_t>(item->value);
    bad_size(*item, "4 or 8");
}

std::string Attributes::text_of(const Item& item) const {
    // With or without its NUL; none in the middle.
    std::string text(reinterpret_cast<const char*>(item.value.data()), item.value.size());
    if (!text.empty() && text.back() == '\0') text.pop_back();
    if (text.find('\0') != std::string::npos)
        throw DecodeError(fmt::format("{}: attribute '{}' has a NUL in its text", spec_.object,
                                      spec_.name(item.type)));
    return text;
}

std::optional<std::string> Attributes::opt_text(unsigned type) const {
    const auto* item = find(type);
    if (!item) return std::nullopt;
    return text_of(*item);
}

std::optional<ByteView> Attributes::opt_binary(unsigned type, std::size_t size) const {
    const auto* item = find(type);
    if (!item) return std::nullopt;
    if (item->value.size() != size) bad_size(*item, std::to_string(size));
    return item->value;
}

std::vector<std::uint32_t> Attributes::u32s(unsigned type) const {
    std::vector<std::uint32_t> all;
    const auto* item = find(type);
    if (!item) return all;
    if (item->value.size() % 4 != 0) bad_size(*item, "a multiple of 4");
    for (auto rest = item->value; !rest.empty(); rest = rest.subspan(4))
        all.push_back(load<std::uint32_t>(rest));
    return all;
}

std::vector<std::string> Attributes::texts(unsigned type) const {
    std::vector<std::string> all;
    for (const auto& item : items_)
        if (item.type == type) all.push_back(text_of(item));
    return all;
}

std::vector<ByteView> Attributes::nests(unsigned type) const {
    std::vector<ByteView> all;
    for (const auto& item : items_)
        if (item.type == type) all.push_back(item.value);
    return all;
}

std::vector<ByteView> Attributes::elements() const {
    std::vector<ByteView> all;
    for (const auto& item : items_) all.push_back(item.value);
    return all;
}

}  // namespace rblk
