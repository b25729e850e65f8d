// SPDX-License-Identifier: GPL-2.0
// What people write: sizes, names, devices, times, addresses.
#include <tuple>

#include <gtest/gtest.h>

#include "error.hpp"
#include "input/address.hpp"
#include "input/device.hpp"
#include "input/name.hpp"
#include "input/size.hpp"
#include "input/wait.hpp"
#include "output/clean.hpp"
#include "rig.hpp"

namespace rblk::test {
namespace {

// The message of the usage error that it must throw.
template <typename F>
std::string usage_error(F&& call) {
    try {
        call();
    } catch (const Error& error) {
        EXPECT_EQ(error.exit(), Exit::usage) << error.what();
        return error.what() + std::string(" | ") + error.hint();
    }
    ADD_FAILURE() << "no error";
    return {};
}

TEST(Size, Valid) {
    const std::pair<const char*, std::uint64_t> table[] = {
        {"0", 0},
        {"1", 1},
        {"4096", 4096},
        {"4096B", 4096},
        {"1K", 1024},
        {"1k", 1024},
        {"512M", 512ULL << 20},
        {"512m", 512ULL << 20},
        {"512MiB", 512ULL << 20},
        {"512mib", 512ULL << 20},
        {"1G", 1ULL << 30},
        {"1GiB", 1ULL << 30},
        {"2T", 2ULL << 40},
        {"3P", 3ULL << 50},
        {"7E", 7ULL << 60},
        {"1.5G", 3ULL << 29},
        {"0.5M", 512ULL << 10},
        {"2.0M", 2ULL << 20},
        {"9223372036854775807", 9223372036854775807ULL},
        {"007", 7},
    };
    for (const auto& [text, bytes] : table) EXPECT_EQ(parse_size(text), bytes) << text;
}

TEST(Size, Junk) {
    const std::pair<const char*, const char*> table[] = {
        {"", "not a number"},
        {"M", "not a number"},
        {"-1", "not a number"},
        {"+1", "not a number"},
        {" 1", "not a number"},
        {"1 ", "no unit"},
        {"1 G", "no unit"},
        {"1.", "not a number"},
        {"1.G", "not a number"},
        {".5G", "not a number"},
        {"0x10", "no unit"},
        {"1e9", "no unit"},
        {"1EiBB", "no unit"},
        {"1GB", "1000 or 1024"},
        {"1mb", "1000 or 1024"},
        {"1Gi", "no unit"},
        {"1X", "no unit"},
        {"1GG", "no unit"},
        {"0.1K", "whole number"},
        {"1.5", "whole number"},
        {"8E", "too large"},
        {"9223372036854775808", "too large"},
        {"18446744073709551616", "too large"},
        {"99999999999999999999999999999999999999999", "too large"},
        {"0.00000000000000000000000000001E", "too large"},
        {"%s", "not a number"},
    };
    for (const auto& [text, why] : table) {
        auto message = usage_error([&] { parse_size(text); });
        EXPECT_NE(message.find(why), std::string::npos) << text << ": " << message;
    }
}

TEST(Size, OfAnExport) {
    EXPECT_EQ(parse_export_size("2M"), 2ULL << 20);
    EXPECT_EQ(parse_export_size("9223372036852678656"), 9223372036852678656ULL);
    const std::pair<const char*, const char*> table[] = {
        {"0", "smallest export has 2M"},
        {"1", "nearest valid size is 2M"},
        {"3M", "nearest valid sizes are 2M and 4M"},
        {"4097K", "nearest valid sizes are 4M and 6M"},
        {"1073741825", "nearest valid sizes are 1G and 1026M"},
        {"9223372036854775807", "nearest valid size is 8796093022206M"},
    };
    for (const auto& [text, hint] : table) {
        auto message = usage_error([&] { parse_export_size(text); });
        EXPECT_NE(message.find(hint), std::string::npos) << message;
    }
}

TEST(Size, ForPeople) {
    const std::pair<std::uint64_t, const char*> table[] = {
        {0, "0 bytes"},
        {1023, "1023 bytes"},
        {1024, "1 KiB"},
        {1025, "1 KiB"},
        {1536, "1.5 KiB"},
        {512ULL << 20, "512 MiB"},
        {(1ULL << 30) - 1, "1023.9 MiB"},
        {3ULL << 29, "1.5 GiB"},
        {1ULL << 40, "1 TiB"},
        {~0ULL, "15.9 EiB"},
    };
    for (const auto& [bytes, text] : table) EXPECT_EQ(human_size(bytes), text);
}

TEST(Size, ExactComesBack) {
    for (std::uint64_t bytes : {0ULL, 1ULL, 1023ULL, 1024ULL, 1025ULL, 2ULL << 20, 5ULL << 40,
                                (1ULL << 60) + 1, 9223372036854775807ULL})
        EXPECT_EQ(parse_size(exact_size(bytes)), bytes);
    EXPECT_EQ(exact_size(512ULL << 20), "512M");
}

TEST(Name, Valid) {
    for (const auto& name : {std::string("a"), std::string("db-1"), std::string("x.y_z:0"),
                             std::string("..."), std::string(".a"), std::string("-x"),
                             std::string(63, 'n'), std::string("iqn.2026-01.org:disk")})
        EXPECT_EQ(name_fault(name), "") << name;
}

TEST(Name, Junk) {
    const std::pair<std::string, const char*> table[] = {
        {"", "is empty"},
        {".", "folder"},
        {"..", "folder"},
        {"a/b", "'/'"},
        {"a b", "space"},
        {std::string(64, 'n'), "64 bytes"},
        {std::string(4096, 'n'), "4096 bytes"},
        {"a\nb", "0x0a"},
        {std::string("a\0b", 3), "0x00"},
        {"%s", "'%'"},
        {"größe", "0xc3"},
        {"a\xff", "0xff"},
    };
    for (const auto& [name, why] : table)
        EXPECT_NE(name_fault(name).find(why), std::string::npos) << name_fault(name);
    auto message = usage_error([] { check_name("export", "a\x1b[31m/"); });
    EXPECT_NE(message.find("export name 'a\\x1b[31m/'"), std::string::npos) << message;
}

TEST(DeviceName, Valid) {
    for (auto text : {"0", "rblk0", "/dev/rblk0"}) EXPECT_EQ(parse_device(text), 0u) << text;
    for (auto text : {"17", "rblk17", "/dev/rblk17"}) EXPECT_EQ(parse_device(text), 17u) << text;
    EXPECT_EQ(parse_device("4294967295"), 4294967295u);
}

TEST(DeviceName, Junk) {
    for (auto text : {"", "rblk", "/dev/rblk", "/dev/", "/dev/0", "sda", "/dev/sda", "rblk-1", "-1",
                      "00", "rblk01", "0x0", "rblk0 ", " rblk0", "4294967296", "/dev/rblk/0",
                      "rblk0p", "all", "rblk0\n"})
        usage_error([&] { parse_device(text); });
    auto message = usage_error([] { parse_device("/dev/rblk3p1"); });
    EXPECT_NE(message.find("partition"), std::string::npos) << message;
    EXPECT_NE(message.find("rblk3"), std::string::npos) << message;
}

TEST(Wait, Valid) {
    const std::pair<const char*, std::optional<std::uint32_t>> table[] = {
        {"0", 0}, {"1", 1}, {"007", 7}, {"600", 600}, {"forever", std::nullopt},
    };
    for (const auto& [text, seconds] : table)
        EXPECT_EQ(parse_wait("--wait", text, 600), seconds) << text;
}

TEST(Wait, Junk) {
    for (auto text : {"", "601", "-1", "+1", " 1", "1 ", "1.5", "30s", "0x1", "4294967296", "never",
                      "Forever", "forever ", "for ever", "-", "%s"})
        EXPECT_EQ(usage_error([&] { parse_wait("--wait", text, 600); }),
                  std::string("--wait is '") + text +
                      "', and must be a number of seconds from 0 to 600, or 'forever' | ");
    auto message = usage_error([] { parse_wait("--wait", "a\x1b", 600); });
    EXPECT_NE(message.find("'a\\x1b'"), std::string::npos) << message;
}

TEST(Clean, KeepsTextAndShowsTheRest) {
    const std::pair<std::string, std::string> table[] = {
        {"plain", "plain"},
        {"größe ✓ 😀", "größe ✓ 😀"},
        {"a\nb\tc", "a\\x0ab\\x09c"},
        {"\x1b[31m", "\\x1b[31m"},
        {"\x7f", "\\x7f"},
        {"\xff\xfe", "\\xff\\xfe"},
        {"\xc3", "\\xc3"},
        {"\xc0\x80", "\\xc0\\x80"},
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
        {"\xe0\x80\x80", "\\xe0\\x80\\x80"},
        {"\xc2\x9b", "\\xc2\\x9b"},
        {std::string("a\0", 2), "a\\x00"},
    };
    for (const auto& [text, wanted] : table) EXPECT_EQ(clean(text), wanted);
}

std::string printed(const Endpoint& endpoint) {
    if (endpoint.address) return endpoint.address->text(two_interfaces());
    return endpoint.host + " " + std::to_string(endpoint.port);
}

TEST(Address, OfAServer) {
    const std::pair<const char*, const char*> table[] = {
        {"10.0.0.1", "10.0.0.1:7471"},
        {"10.0.0.1:1", "10.0.0.1:1"},
        {"10.0.0.1:65535", "10.0.0.1:65535"},
        {"127.0.0.1", "127.0.0.1:7471"},
        {"::1", "[::1]:7471"},
        {"[::1]", "[::1]:7471"},
        {"[::1]:9", "[::1]:9"},
        {"2001:db8::1", "[2001:db8::1]:7471"},
        {"2001:DB8:0:0:0:0:0:1", "[2001:db8::1]:7471"},
        {"[2001:db8::1]:7000", "[2001:db8::1]:7000"},
        // No port is in here, as there are no brackets.
        {"2001:db8::1:7000", "[2001:db8::1:7000]:7471"},
        {"fe80::1%eth1", "[fe80::1%eth1]:7471"},
        {"[fe80::1%eth1]", "[fe80::1%eth1]:7471"},
        {"[fe80::1%eth1]:7000", "[fe80::1%eth1]:7000"},
        {"fe80::1%3", "[fe80::1%eth1]:7471"},
        {"[fe80::1%2]:7000", "[fe80::1%eth0]:7000"},
        {"::ffff:10.0.0.1", "10.0.0.1:7471"},
        {"[::ffff:10.0.0.1]:9", "10.0.0.1:9"},
        {"[::ffff:a00:1]", "10.0.0.1:7471"},
        {"node-a", "node-a 7471"},
        {"node-a:80", "node-a 80"},
        {"node_a.lab.example.org.", "node_a.lab.example.org. 7471"},
        {"1a.2b", "1a.2b 7471"},
        {"any", "any 7471"},
    };
    for (const auto& [text, wanted] : table)
        EXPECT_EQ(printed(parse_server(text, two_interfaces())), wanted) << text;
}

TEST(Address, JunkOfAServer) {
    const std::pair<std::string, const char*> table[] = {
        {"", "empty"},
        {":", "port is 1 to 65535"},
        {":7471", "no host"},
        {"[", "lacks a ']'"},
        {"[]", "not an IPv6"},
        {"[::1", "lacks a ']'"},
        {"[::1]x", "something other"},
        {"[::1]:", "port is 1 to 65535"},
        {"[::1]:0", "port is 1 to 65535"},
        {"[::1]:65536", "port is 1 to 65535"},
        {"10.0.0.1:", "port is 1 to 65535"},
        {"10.0.0.1:0", "port is 1 to 65535"},
        {"10.0.0.1:65536", "port is 1 to 65535"},
        {"10.0.0.1:99999999999", "port is 1 to 65535"},
        {"10.0.0.1:-1", "port is 1 to 65535"},
        {"10.0.0.1:+1", "port is 1 to 65535"},
        {"10.0.0.1: 1", "port is 1 to 65535"},
        {"10.0.0.1:80x", "port is 1 to 65535"},
        {"[10.0.0.1]", "not an IPv6"},
        {"10.0.0", "not an IPv4"},
        {"10.0.0.256", "not an IPv4"},
        {"10.0.0.1.5", "not an IPv4"},
        {"1", "not an IPv4"},
        {"0x7f000001", "not an IPv4"},
        {"1.2.3.", "not an IPv4"},
        {"fe80::1", "does not say on which interface"},
        {"[fe80::1]:7471", "does not say on which interface"},
        {"fe80::1%", "nothing behind"},
        {"fe80::1%eth9", "interface 'eth9'"},
        {"fe80::1%99", "interface '99'"},
        {"fe80::1%0", "interface '0'"},
        {"fe80::1%eth1:7471", "needs brackets"},
        {"2001:db8::1%eth1", "only link-local"},
        {"10.0.0.1%eth1", "only link-local"},
        {"[::ffff:10.0.0.1%eth1]", "IPv4"},
        {"::1::2", "not an IPv6"},
        {"1:2:3:4:5:6:7:8:9", "not an IPv6"},
        {"12345::", "not an IPv6"},
        {"0.0.0.0", "no address of a server"},
        {"::", "no address of a server"},
        {"*", "no address of a server"},
        {"[::ffff:0.0.0.0]", "no address of a server"},
        {"224.0.0.1", "multicast"},
        {"255.255.255.255", "multicast"},
        {"ff02::1", "multicast"},
        {"a b", "neither"},
        {"a..b", "neither"},
        {".a", "neither"},
        {"-a", "neither"},
        {"a-", "neither"},
        {".", "not a host name"},
        {"a/24", "neither"},
        {std::string(64, 'a'), "neither"},
        {std::string(254, 'a'), "longer"},
        {std::string("a\0b", 3), "NUL"},
        {"größe", "neither"},
    };
    for (const auto& [text, why] : table) {
        auto message = usage_error([&] { parse_server(text, two_interfaces()); });
        EXPECT_NE(message.find(why), std::string::npos) << text << ": " << message;
    }
}

TEST(Address, OfATarget) {
    const std::tuple<const char*, const char*, const char*> table[] = {
        {"10.0.0.1", "10.0.0.1:7471", "none"},
        {"10.0.0.1@10.0.0.2", "10.0.0.1:7471", "10.0.0.2"},
        {"10.0.0.1:80@10.0.0.2", "10.0.0.1:80", "10.0.0.2"},
        {"10.0.0.1@::ffff:10.0.0.2", "10.0.0.1:7471", "10.0.0.2"},
        {"2001:db8::1@2001:db8::2", "[2001:db8::1]:7471", "2001:db8::2"},
        {"[2001:db8::1]:80@[2001:db8::2]", "[2001:db8::1]:80", "2001:db8::2"},
        {"[fe80::1%eth1]:80@[fe80::2%eth1]", "[fe80::1%eth1]:80", "fe80::2%eth1"},
        {"fe80::1%eth1@fe80::2%3", "[fe80::1%eth1]:7471", "fe80::2%eth1"},
        {"node-a@10.0.0.2", "node-a 7471", "10.0.0.2"},
        {"node-a:80@2001:db8::2", "node-a 80", "2001:db8::2"},
    };
    for (const auto& [text, server, source] : table) {
        auto target = parse_target(text, two_interfaces());
        EXPECT_EQ(printed(target.server), server) << text;
        EXPECT_EQ(target.source ? target.source->text(two_interfaces()) : "none", source) << text;
    }
}

TEST(Address, JunkOfATarget) {
    const std::pair<std::string, const char*> table[] = {
        {"", "is empty"},
        {"@10.0.0.2", "is empty"},
        {"10.0.0.1@", "nothing behind its '@'"},
        {"10.0.0.1@node-b", "'node-b' is no address of this node"},
        {"10.0.0.1@10.0.0", "'10.0.0' is no address of this node"},
        {"10.0.0.1@10.0.0.2@10.0.0.3", "'10.0.0.2@10.0.0.3' is no address of this node"},
        {"10.0.0.1@any", "'any' is no address of this node"},
        {"10.0.0.1@*", "'*' is no address of this node"},
        {"10.0.0.1@10.0.0.2:80", "'10.0.0.2:80' has a port"},
        {"10.0.0.1@10.0.0.2:", "'10.0.0.2:' has a port"},
        {"::1@[::2]:80", "'[::2]:80' has a port"},
        {"::1@[::2]x", "something other than ':PORT'"},
        {"::1@[::2", "lacks a ']'"},
        {"::1@:::", "not an IPv6 address | write 10.0.0.2, 2001:db8::2 or fe80::2%eth1"},
        // There is no port to add.
        {"::1@fe80::2", "as in [fe80::2%eth1];"},
        {"::1@fe80::2%eth9", "interface 'eth9'"},
        {"10.0.0.1@10.0.0.2%eth1", "only link-local"},
        {"10.0.0.1@0.0.0.0", "not one address"},
        {"::1@::", "not one address"},
        {"10.0.0.1@224.0.0.1", "not one address"},
        {"10.0.0.1@" + std::string("10.0.0.2\0", 9), "NUL"},
        {"0.0.0.0@10.0.0.2", "no address of a server"},
        {"10.0.0.1@2001:db8::2", "an IPv4 server and an IPv6 address to come from"},
        {"[2001:db8::1]:80@10.0.0.2", "an IPv6 server and an IPv4 address to come from"},
        {"::1@::ffff:10.0.0.2", "an IPv6 server and an IPv4 address to come from"},
    };
    for (const auto& [text, why] : table) {
        auto message = usage_error([&] { parse_target(text, two_interfaces()); });
        EXPECT_NE(message.find(why), std::string::npos) << text << ": " << message;
    }
}

TEST(Address, OfAListener) {
    const std::pair<const char*, const char*> table[] = {
        {"0.0.0.0", "0.0.0.0:7471"},
        {"0.0.0.0:9", "0.0.0.0:9"},
        {"[::]", "[::]:7471"},
        {"::", "[::]:7471"},
        {"[::]:9", "[::]:9"},
        {"any", "[::]:7471"},
        {"any:9", "[::]:9"},
        {"*", "[::]:7471"},
        {"*:9", "[::]:9"},
        {"10.0.0.1", "10.0.0.1:7471"},
        {"fe80::1%eth0", "[fe80::1%eth0]:7471"},
    };
    for (const auto& [text, wanted] : table)
        EXPECT_EQ(parse_listener(text, two_interfaces()).text(two_interfaces()), wanted) << text;
    for (auto text : {"node-a", "anyone", "**", "fe80::1", "224.0.0.1", "any:0", "*:", ""})
        usage_error([&] { parse_listener(text, two_interfaces()); });
}

TEST(Address, WireIsWhatTheKernelTakes) {
    auto wire = [](const char* text) {
        auto array = parse_listener(text, two_interfaces()).to_wire();
        return Bytes(array.begin(), array.end());
    };
    EXPECT_EQ(wire("10.1.2.3:80"), v4_bytes("10.1.2.3", 80));
    EXPECT_EQ(wire("[2001:db8::1]:80"), v6_bytes("2001:db8::1", 80));
    EXPECT_EQ(wire("[fe80::1%eth1]:80"), v6_bytes("fe80::1", 80, 3));
    EXPECT_EQ(wire("any"), v6_bytes("::", 7471));
}

TEST(Address, FromTheWire) {
    auto text = [](const Bytes& bytes) {
        auto address = Address::from_wire(bytes);
        return address ? address->text(two_interfaces()) : "none";
    };
    EXPECT_EQ(text(v4_bytes("10.1.2.3", 80)), "10.1.2.3:80");
    EXPECT_EQ(text(v4_bytes("10.1.2.3", 0)), "10.1.2.3");
    EXPECT_EQ(text(v6_bytes("fe80::1", 80, 3)), "[fe80::1%eth1]:80");
    EXPECT_EQ(text(v6_bytes("fe80::1", 80, 77)), "[fe80::1%77]:80");
    EXPECT_EQ(text(v6_bytes("::1", 0)), "::1");
    EXPECT_EQ(text(v6_bytes("::ffff:10.0.0.1", 80)), "[::ffff:10.0.0.1]:80");
    EXPECT_EQ(text(Bytes(28)), "none");
    EXPECT_EQ(text(Bytes(27)), "none");
    EXPECT_EQ(text(Bytes()), "none");
    // Whatever a kernel leaves behind a sockaddr_in is not part of the address.
    auto dirty = v4_bytes("10.1.2.3", 80);
    dirty.back() = std::byte{1};
    EXPECT_EQ(*Address::from_wire(dirty), *Address::from_wire(v4_bytes("10.1.2.3", 80)));
}

TEST(Address, OfAName) {
    auto v4 = *Address::from_wire(v4_bytes("10.0.0.1", 0));
    auto v6 = *Address::from_wire(v6_bytes("2001:db8::1", 0));
    auto no_scope = *Address::from_wire(v6_bytes("fe80::1", 0));
    auto wildcard = *Address::from_wire(v4_bytes("0.0.0.0", 0));
    auto ask = [](std::vector<Address> known) {
        auto endpoint = parse_server("node-a:9", two_interfaces());
        std::string all;
        for (const auto& address :
             addresses_of(endpoint, [&](const std::string&) { return known; }))
            all += address.text(two_interfaces()) + " ";
        return all;
    };
    EXPECT_EQ(ask({v6, v4}), "[2001:db8::1]:9 10.0.0.1:9 ");
    EXPECT_EQ(ask({v4, v6, v4}), "10.0.0.1:9 [2001:db8::1]:9 ");
    EXPECT_EQ(ask({no_scope, wildcard, v4}), "10.0.0.1:9 ");
    try {
        ask({no_scope});
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.exit(), Exit::unreachable);
        EXPECT_NE(std::string(error.what()).find("link-local"), std::string::npos) << error.what();
    }
    EXPECT_THROW(ask({}), Error);
}

TEST(Address, OfANameAndASource) {
    auto v4 = *Address::from_wire(v4_bytes("10.0.0.1", 0));
    auto v6 = *Address::from_wire(v6_bytes("2001:db8::1", 0));
    auto ask = [](const char* text, std::vector<Address> known) {
        auto target = parse_target(text, two_interfaces());
        std::string all;
        for (const auto& address : addresses_of(target, [&](const std::string&) { return known; }))
            all += address.text(two_interfaces()) + " ";
        return all;
    };
    EXPECT_EQ(ask("node-a:9", {v6, v4}), "[2001:db8::1]:9 10.0.0.1:9 ");
    EXPECT_EQ(ask("node-a:9@10.0.0.2", {v6, v4}), "10.0.0.1:9 ");
    EXPECT_EQ(ask("node-a:9@2001:db8::2", {v4, v6}), "[2001:db8::1]:9 ");
    try {
        ask("node-a@10.0.0.2", {v6});
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.exit(), Exit::unreachable);
        EXPECT_NE(std::string(error.what()).find("'node-a' has no IPv4 address"), std::string::npos)
            << error.what();
    }
}

TEST(Address, NumbersAreNotResolved) {
    auto endpoint = parse_server("10.0.0.1", two_interfaces());
    auto all = addresses_of(endpoint, [](const std::string&) -> std::vector<Address> {
        throw std::logic_error("resolver was asked");
    });
    ASSERT_EQ(all.size(), 1u);
}

TEST(Address, ResolverOfThisMachine) {
    // /etc/hosts alone is enough for this one.
    auto all = resolve_host("localhost");
    ASSERT_FALSE(all.empty());
    for (const auto& address : all) EXPECT_EQ(address.port(), 0);
    try {
        resolve_host("no-such-host.invalid");
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.exit(), Exit::unreachable);
        EXPECT_NE(std::string(error.what()).find("no-such-host.invalid"), std::string::npos);
    }
}

}  // namespace
}  // namespace rblk::test
