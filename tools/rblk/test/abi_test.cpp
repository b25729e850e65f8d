// SPDX-License-Identifier: GPL-2.0
// Objects and requests of the two families.
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <linux/rblk_client.h>
#include <linux/rblk_server.h>

#include "abi/client.hpp"
#include "abi/server.hpp"
#include "error.hpp"
#include "objects.hpp"
#include "rig.hpp"

namespace rblk::test {
namespace {

template <typename F>
std::string decode_error(F&& decode, const Put& put) {
    try {
        decode(put.bytes());
    } catch (const DecodeError& error) {
        return error.what();
    }
    return "no error";
}

TEST(Decode, FullDevice) {
    auto device = decode_device(full_device(3, "db").bytes());
    EXPECT_EQ(device.index, 3u);
    EXPECT_EQ(device.name, "rblk3");
    EXPECT_EQ(device.export_name, "db");
    EXPECT_EQ(device.server.text(two_interfaces()), "10.0.0.1:7471");
    EXPECT_EQ(device.client_name, "node-b");
    EXPECT_FALSE(device.read_only);
    EXPECT_TRUE(device.shared);
    EXPECT_EQ(device.queues, 2u);
    EXPECT_EQ(device.depth, 128u);
    EXPECT_EQ(device.reason, std::nullopt);
    EXPECT_EQ(device.size, 512ULL << 20);
    EXPECT_EQ(device.extent_size, 64ULL << 20);
    EXPECT_EQ(device.openers, 1u);
    EXPECT_EQ(device.no_path_timeout_ms, 30'000u);
    EXPECT_FALSE(device.no_reconnect);
    EXPECT_EQ(device.policy, 3u);
    EXPECT_EQ(device.write_order, 2u);
    EXPECT_EQ(uuid_text(device.incarnation.value()), "10111213-1415-1617-1819-1a1b1c1d1e1f");
    ASSERT_EQ(device.queue_stats.size(), 2u);
    EXPECT_EQ(device.queue_stats[1].index, 1u);
    EXPECT_EQ(device.queue_stats[1].reads, 5'000'000'000u);
    EXPECT_EQ(device.queue_stats[1].writes, 7u);
    EXPECT_EQ(device.queue_stats[1].read_bytes, 20'480'000'000'000u);
    EXPECT_EQ(device.queue_stats[1].errors, 1u);
}

TEST(Decode, SmallDevice) {
    auto device = decode_device(small_device(0, "db").bytes());
    EXPECT_EQ(device.openers, std::nullopt);
    EXPECT_EQ(device.no_path_timeout_ms, std::nullopt);
    EXPECT_EQ(device.incarnation, std::nullopt);
    EXPECT_EQ(device.policy, std::nullopt);
    EXPECT_EQ(device.write_order, std::nullopt);
    EXPECT_TRUE(device.queue_stats.empty());
}

TEST(Decode, FailedDevice) {
    auto device = decode_device(failed_device(1, "db", "gone").bytes());
    EXPECT_EQ(device.state, unsigned{RBLK_CLIENT_DEVICE_STATE_FAILED});
    EXPECT_EQ(device.reason, "gone");
    EXPECT_TRUE(device.read_only);
    EXPECT_TRUE(device.no_reconnect);
}

TEST(Decode, UnknownAttributesOfANewerKernel) {
    auto device = decode_device(small_device(0, "db").u64(900, 1).bytes());
    EXPECT_EQ(device.export_name, "db");
}

// Each required attribute left out, and each one with a wrong size.
template <typename F>
void each_attribute(F&& decode, const Put& whole, const std::set<std::string>& required,
                    std::string_view object) {
    std::map<unsigned, std::string> missing;
    std::vector<std::pair<unsigned, Bytes>> items;
    const auto& bytes = whole.bytes();
    for (std::size_t at = 0; at < bytes.size();) {
        auto low = [&](std::size_t i) { return std::to_integer<unsigned>(bytes[i]); };
        auto size = low(at) | low(at + 1) << 8;
        auto type = low(at + 2) | low(at + 3) << 8;
        items.emplace_back(type, Bytes(bytes.begin() + static_cast<std::ptrdiff_t>(at + 4),
                                       bytes.begin() + static_cast<std::ptrdiff_t>(at + size)));
        at += (size + 3) & ~3u;
    }
    std::set<std::string> found;
    for (std::size_t skip = 0; skip < items.size(); skip++) {
        Put put;
        for (std::size_t i = 0; i < items.size(); i++)
            if (i != skip) put.raw(items[i].first, items[i].second);
        auto error = decode_error(decode, put);
        if (error == "no error") continue;
        auto begin = error.find('\'') + 1;
        EXPECT_NE(error.find("is missing"), std::string::npos) << error;
        EXPECT_EQ(error.find(object), 0u) << error;
        found.insert(error.substr(begin, error.find('\'', begin) - begin));
    }
    EXPECT_EQ(found, required);
    // Three bytes are right for no number, address, id or nest. Text takes any size.
    for (std::size_t wrong = 0; wrong < items.size(); wrong++) {
        const auto& value = items[wrong].second;
        bool text = value.size() > 1 && value.back() == std::byte{0} &&
                    std::to_integer<int>(value[0]) >= 'a' && value.size() != 28 &&
                    value.size() != 16;
        bool flag = value.empty();
        if (text || flag) continue;
        Put put;
        for (std::size_t i = 0; i < items.size(); i++)
            put.raw(items[i].first, i == wrong ? Bytes(3, std::byte{9}) : items[i].second);
        EXPECT_NE(decode_error(decode, put), "no error") << "attribute " << items[wrong].first;
    }
}

TEST(Decode, DeviceAttributeByAttribute) {
    each_attribute(decode_device, full_device(0, "db"),
                   {"index", "name", "export", "server", "state", "size"}, "device");
}

TEST(Decode, ExportAttributeByAttribute) {
    each_attribute(decode_export, full_export("db"), {"name", "size"}, "export");
}

TEST(Decode, ListenerAttributeByAttribute) {
    each_attribute(decode_listener, listener("10.0.0.1", 1, 1), {"addr", "state"}, "listener");
}

TEST(Decode, SessionsAttributeByAttribute) {
    each_attribute(decode_client_session, client_session(), {"id"}, "session");
    each_attribute(decode_server_session, server_session(), {"id"}, "session");
}

ClientPath decode_path_of(const Bytes& path) {
    auto session = Put().id(RBLK_CLIENT_A_SESSION_ID, 1).raw(RBLK_CLIENT_A_SESSION_PATH, path);
    return decode_client_session(session.bytes()).paths.at(0);
}

TEST(Decode, FullPath) {
    auto path = decode_path_of(client_path(0, RBLK_CLIENT_PATH_STATE_LIVE).bytes());
    EXPECT_TRUE(path.active);
    EXPECT_FALSE(path.drained);
    EXPECT_EQ(path.losses, 2u);
    EXPECT_EQ(path.in_flight, 17u);
    EXPECT_EQ(path.reads, 5'000'000'000u);
    EXPECT_EQ(path.writes, 7u);
    EXPECT_EQ(path.read_bytes, 20'480'000'000'000u);
    EXPECT_EQ(path.write_bytes, 28672u);
    EXPECT_EQ(path.latency_ns, 12345u);
    EXPECT_EQ(gid_text(path.source_gid.value()), "fe80::2:c903:ab:cdef");
    EXPECT_EQ(gid_text(path.server_gid.value()), "::ffff:10.0.0.1");
    EXPECT_EQ(path.source_lid, 3u);
    EXPECT_EQ(path.server_lid, 49151u);
    EXPECT_EQ(path.pkey, 0xffffu);
    EXPECT_EQ(path.sl, 0u);
    EXPECT_EQ(path.qp_numbers, (std::vector<std::uint32_t>{17, 18, 0xffffff}));
    EXPECT_EQ(path.tos, 0u);
    EXPECT_EQ(path.ack_timeout, 14u);
    EXPECT_EQ(path.retry_count, 7u);
    EXPECT_EQ(path.server_device, 0u);
}

TEST(Decode, SmallPath) {
    auto path = decode_path_of(client_path(0, RBLK_CLIENT_PATH_STATE_NEW).bytes());
    EXPECT_FALSE(path.active);
    EXPECT_FALSE(path.drained);
    EXPECT_EQ(path.reads, std::nullopt);
    EXPECT_EQ(path.latency_ns, std::nullopt);
    EXPECT_EQ(path.source_gid, std::nullopt);
    EXPECT_EQ(path.sl, std::nullopt);
    EXPECT_TRUE(path.qp_numbers.empty());
    EXPECT_EQ(path.tos, std::nullopt);
    EXPECT_EQ(path.ack_timeout, std::nullopt);
    EXPECT_EQ(path.retry_count, std::nullopt);
    EXPECT_EQ(path.server_device, std::nullopt);
}

TEST(Decode, PathAttributeByAttribute) {
    for (auto state : {RBLK_CLIENT_PATH_STATE_LIVE, RBLK_CLIENT_PATH_STATE_FAILED})
        each_attribute(decode_path_of, client_path(0, state), {"index", "state"}, "path");
}

TEST(Decode, PathWithOddLengths) {
    auto error = [](unsigned type, std::size_t size) {
        auto path = Put().u32(RBLK_CLIENT_A_PATH_INDEX, 0).u32(RBLK_CLIENT_A_PATH_STATE, 2);
        return decode_error(decode_path_of, path.raw(type, Bytes(size, std::byte{0xfe})));
    };
    for (std::size_t size : {0, 4, 15, 17, 20, 28})
        for (auto [type, name] : {std::pair{RBLK_CLIENT_A_PATH_SOURCE_GID, "source-gid"},
                                  std::pair{RBLK_CLIENT_A_PATH_SERVER_GID, "server-gid"}})
            EXPECT_EQ(error(type, size), "path: attribute '" + std::string(name) + "' has " +
                                             std::to_string(size) + " bytes and not 16");
    for (std::size_t size : {1, 2, 3, 5, 6, 4095})
        EXPECT_EQ(
            error(RBLK_CLIENT_A_PATH_QPS, size),
            "path: attribute 'qps' has " + std::to_string(size) + " bytes and not a multiple of 4");
    for (std::size_t size : {0, 4, 8, 516})
        EXPECT_EQ(error(RBLK_CLIENT_A_PATH_QPS, size), "no error");
    // Counters have eight bytes or four.
    EXPECT_EQ(error(RBLK_CLIENT_A_PATH_READS, 2),
              "path: attribute 'reads' has 2 bytes and not 4 or 8");
}

TEST(Decode, NestsThatAreCut) {
    auto queue = Put().u32(RBLK_CLIENT_A_QUEUE_INDEX, 0).bytes();
    queue.pop_back();
    EXPECT_EQ(
        decode_error(decode_device, small_device(0, "db").raw(RBLK_CLIENT_A_DEVICE_QUEUE, queue)),
        "queue: an attribute is cut off");
    EXPECT_EQ(
        decode_error(decode_device, small_device(0, "db").nest(RBLK_CLIENT_A_DEVICE_QUEUE, Put())),
        "queue: attribute 'index' is missing");
    EXPECT_EQ(decode_error(decode_client_session,
                           Put().id(1, 1).nest(RBLK_CLIENT_A_SESSION_PATH, Put().u32(1, 0))),
              "path: attribute 'state' is missing");
    EXPECT_EQ(
        decode_error(decode_server_session, Put().id(1, 1).nest(RBLK_SERVER_A_SESSION_PATH, Put())),
        "path: attribute 'index' is missing");
}

TEST(Decode, AddressOfNoFamily) {
    auto put =
        Put().raw(RBLK_SERVER_A_LISTENER_ADDR, Bytes(28)).u32(RBLK_SERVER_A_LISTENER_STATE, 0);
    EXPECT_EQ(decode_error(decode_listener, put), "an address is neither of IPv4 nor of IPv6");
}

TEST(Decode, EveryCutOfADevice) {
    auto whole = full_device(0, "db").bytes();
    for (std::size_t size = 0; size < whole.size(); size++) {
        Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        try {
            // Cut behind the required ones it is shorter and valid.
            EXPECT_EQ(decode_device(cut).export_name, "db");
        } catch (const DecodeError&) {
        }
    }
}

class Requests : public ::testing::Test {
protected:
    Family family(const char* name) { return genl.find_family(name).value(); }

    // Has both modules before the members below look for them.
    Genl loaded() {
        kernel.load_client([this](const Seen&) { return answer; });
        kernel.load_server([this](const Seen&) { return answer; });
        return Genl(kernel.open(NETLINK_GENERIC));
    }

    FakeKernel kernel;
    Genl genl = loaded();
    Client client{genl, family("rblk-client")};
    Server server{genl, family("rblk-server")};
    Answer answer;
};

TEST_F(Requests, MapWithAll) {
    answer.replies = {
        Put().u32(RBLK_CLIENT_A_DEVICE_INDEX, 5).text(RBLK_CLIENT_A_DEVICE_NAME, "rblk5")};
    MapRequest request;
    request.first = {*Address::from_wire(v6_bytes("fe80::1", 7000, 3)),
                     *Address::from_wire(v6_bytes("fe80::2", 0, 3))};
    request.further = {{*Address::from_wire(v4_bytes("10.0.1.1", 7471)),
                        *Address::from_wire(v4_bytes("10.0.1.2", 0))},
                       {*Address::from_wire(v6_bytes("2001:db8::1", 80)), std::nullopt}};
    request.export_name = "db";
    request.client_name = "node-b";
    request.read_only = true;
    request.steal = true;
    request.queues = 4;
    request.depth = 64;
    request.timeout_ms = 1500;
    request.no_reconnect = true;
    request.settings = {no_path_for_ever, 2, 1};
    request.parameters = {255, 22, 6};
    auto mapped = client.map(request);
    EXPECT_EQ(mapped.index, 5u);
    EXPECT_EQ(mapped.name, "rblk5");
    const auto& sent = kernel.requests.at(0);
    EXPECT_EQ(sent.family, client_id);
    EXPECT_EQ(sent.command, RBLK_CLIENT_CMD_MAP);
    EXPECT_EQ(sent.flags, NLM_F_REQUEST | NLM_F_ACK);
    EXPECT_EQ(sent.value(RBLK_CLIENT_A_DEVICE_SERVER), v6_bytes("fe80::1", 7000, 3));
    EXPECT_EQ(sent.value(RBLK_CLIENT_A_DEVICE_SOURCE), v6_bytes("fe80::2", 0, 3));
    EXPECT_EQ(sent.values(RBLK_CLIENT_A_DEVICE_ROUTE),
              (std::vector<Bytes>{
                  route_bytes(v4_bytes("10.0.1.1", 7471), v4_bytes("10.0.1.2", 0)),
                  route_bytes(v6_bytes("2001:db8::1", 80)),
              }));
    EXPECT_EQ(sent.text(RBLK_CLIENT_A_DEVICE_EXPORT), "db");
    EXPECT_EQ(sent.text(RBLK_CLIENT_A_DEVICE_CLIENT_NAME), "node-b");
    EXPECT_TRUE(sent.has(RBLK_CLIENT_A_DEVICE_READ_ONLY));
    EXPECT_TRUE(sent.has(RBLK_CLIENT_A_DEVICE_STEAL));
    EXPECT_EQ(sent.u32(RBLK_CLIENT_A_DEVICE_QUEUES), 4u);
    EXPECT_EQ(sent.u32(RBLK_CLIENT_A_DEVICE_DEPTH), 64u);
    EXPECT_EQ(sent.u32(RBLK_CLIENT_A_DEVICE_TIMEOUT_MS), 1500u);
    EXPECT_EQ(sent.u32(RBLK_CLIENT_A_DEVICE_NO_PATH_TIMEOUT_MS), 4294967295u);
    EXPECT_TRUE(sent.has(RBLK_CLIENT_A_DEVICE_NO_RECONNECT));
    EXPECT_EQ(sent.u32(RBLK_CLIENT_A_DEVICE_POLICY), 2u);
    EXPECT_EQ(sent.u32(RBLK_CLIENT_A_DEVICE_WRITE_ORDER), 1u);
    EXPECT_EQ(sent.u32(RBLK_CLIENT_A_DEVICE_TOS), 255u);
    EXPECT_EQ(sent.u32(RBLK_CLIENT_A_DEVICE_ACK_TIMEOUT), 22u);
    EXPECT_EQ(sent.u32(RBLK_CLIENT_A_DEVICE_RETRY_COUNT), 6u);
}

TEST_F(Requests, MapWithLittle) {
    answer.replies = {
        Put().u32(RBLK_CLIENT_A_DEVICE_INDEX, 0).text(RBLK_CLIENT_A_DEVICE_NAME, "rblk0")};
    MapRequest request;
    request.first.server = *Address::from_wire(v4_bytes("10.0.0.1", 7471));
    request.export_name = "db";
    request.client_name = "node-b";
    client.map(request);
    // Attributes that are not there say more than zeroes.
    EXPECT_EQ(kernel.requests.at(0).attributes.size(), 3u);
}

TEST_F(Requests, OneQuestionHasOneReply) {
    EXPECT_THROW(client.map({}), DecodeError);
    EXPECT_THROW(client.device(0), DecodeError);
    answer.replies = {small_export("a"), small_export("b")};
    EXPECT_THROW(server.find_export("a"), DecodeError);
}

TEST_F(Requests, PathAdd) {
    answer.replies = {Put().u32(RBLK_CLIENT_A_DEVICE_PATH, 3)};
    auto server_address = *Address::from_wire(v6_bytes("fe80::1", 7000, 3));
    auto source = *Address::from_wire(v6_bytes("fe80::2", 0, 3));
    EXPECT_EQ(client.add_path({7, {server_address, source}, 1500}), 3u);
    const auto& sent = kernel.requests.at(0);
    EXPECT_EQ(sent.command, RBLK_CLIENT_CMD_PATH_ADD);
    EXPECT_EQ(sent.flags, NLM_F_REQUEST | NLM_F_ACK);
    EXPECT_EQ(sent.u32(RBLK_CLIENT_A_DEVICE_INDEX), 7u);
    EXPECT_EQ(sent.value(RBLK_CLIENT_A_DEVICE_SERVER), v6_bytes("fe80::1", 7000, 3));
    EXPECT_EQ(sent.value(RBLK_CLIENT_A_DEVICE_SOURCE), v6_bytes("fe80::2", 0, 3));
    EXPECT_EQ(sent.u32(RBLK_CLIENT_A_DEVICE_TIMEOUT_MS), 1500u);
    EXPECT_EQ(sent.attributes.size(), 4u);
    client.add_path({7, {server_address, {}}, {}});
    EXPECT_EQ(kernel.requests.at(1).attributes.size(), 2u);
    client.add_path({7, {server_address, {}}, {}, {.tos = 0, .ack_timeout = 0, .retry_count = 0}});
    for (auto type : {RBLK_CLIENT_A_DEVICE_TOS, RBLK_CLIENT_A_DEVICE_ACK_TIMEOUT,
                      RBLK_CLIENT_A_DEVICE_RETRY_COUNT})
        EXPECT_EQ(kernel.requests.at(2).u32(type), 0u);
    EXPECT_EQ(kernel.requests.at(2).attributes.size(), 5u);
    answer.replies = {Put()};
    EXPECT_THROW(client.add_path({7, {server_address, {}}, {}}), DecodeError);
    answer.replies = {};
    EXPECT_THROW(client.add_path({7, {server_address, {}}, {}}), DecodeError);
}

TEST_F(Requests, PathChanges) {
    client.remove_path({7, 1}, false);
    client.remove_path({7, 1}, true);
    client.drain_path({7, 1}, false);
    client.drain_path({7, 1}, true);
    client.undrain_path({7, 1});
    const std::pair<int, bool> wanted[] = {{RBLK_CLIENT_CMD_PATH_REMOVE, false},
                                           {RBLK_CLIENT_CMD_PATH_REMOVE, true},
                                           {RBLK_CLIENT_CMD_PATH_DRAIN, false},
                                           {RBLK_CLIENT_CMD_PATH_DRAIN, true},
                                           {RBLK_CLIENT_CMD_PATH_UNDRAIN, false}};
    ASSERT_EQ(kernel.requests.size(), std::size(wanted));
    for (std::size_t i = 0; i < std::size(wanted); i++) {
        const auto& sent = kernel.requests[i];
        EXPECT_EQ(sent.command, wanted[i].first);
        EXPECT_EQ(sent.flags, NLM_F_REQUEST | NLM_F_ACK);
        EXPECT_EQ(sent.u32(RBLK_CLIENT_A_DEVICE_INDEX), 7u);
        EXPECT_EQ(sent.u32(RBLK_CLIENT_A_DEVICE_PATH), 1u);
        EXPECT_EQ(sent.has(RBLK_CLIENT_A_DEVICE_FORCE), wanted[i].second);
        EXPECT_EQ(sent.attributes.size(), wanted[i].second ? 3u : 2u);
    }
}

// A setting that is not there stays as it is; zero is a value.
TEST_F(Requests, DeviceSet) {
    client.set_device(7, {30'000, 1, 2});
    client.set_device(7, {.no_path_timeout_ms = 0});
    client.set_device(7, {.policy = 0});
    client.set_device(7, {.write_order = 0});
    ASSERT_EQ(kernel.requests.size(), 4u);
    for (const auto& sent : kernel.requests) {
        EXPECT_EQ(sent.command, RBLK_CLIENT_CMD_DEVICE_SET);
        EXPECT_EQ(sent.flags, NLM_F_REQUEST | NLM_F_ACK);
        EXPECT_EQ(sent.u32(RBLK_CLIENT_A_DEVICE_INDEX), 7u);
    }
    const auto& all = kernel.requests[0];
    EXPECT_EQ(all.u32(RBLK_CLIENT_A_DEVICE_NO_PATH_TIMEOUT_MS), 30'000u);
    EXPECT_EQ(all.u32(RBLK_CLIENT_A_DEVICE_POLICY), 1u);
    EXPECT_EQ(all.u32(RBLK_CLIENT_A_DEVICE_WRITE_ORDER), 2u);
    EXPECT_EQ(all.attributes.size(), 4u);
    const unsigned one[] = {RBLK_CLIENT_A_DEVICE_NO_PATH_TIMEOUT_MS, RBLK_CLIENT_A_DEVICE_POLICY,
                            RBLK_CLIENT_A_DEVICE_WRITE_ORDER};
    for (std::size_t i = 0; i < std::size(one); i++) {
        EXPECT_EQ(kernel.requests[i + 1].u32(one[i]), 0u);
        EXPECT_EQ(kernel.requests[i + 1].attributes.size(), 2u);
    }
}

TEST_F(Requests, PathSet) {
    client.set_path({7, 1}, {1, 2, 3});
    client.set_path({7, 1}, {.tos = 0});
    client.set_path({7, 1}, {.ack_timeout = 0});
    client.set_path({7, 1}, {.retry_count = 0});
    ASSERT_EQ(kernel.requests.size(), 4u);
    for (const auto& sent : kernel.requests) {
        EXPECT_EQ(sent.command, RBLK_CLIENT_CMD_PATH_SET);
        EXPECT_EQ(sent.flags, NLM_F_REQUEST | NLM_F_ACK);
        EXPECT_EQ(sent.u32(RBLK_CLIENT_A_DEVICE_INDEX), 7u);
        EXPECT_EQ(sent.u32(RBLK_CLIENT_A_DEVICE_PATH), 1u);
    }
    const unsigned types[] = {RBLK_CLIENT_A_DEVICE_TOS, RBLK_CLIENT_A_DEVICE_ACK_TIMEOUT,
                              RBLK_CLIENT_A_DEVICE_RETRY_COUNT};
    EXPECT_EQ(kernel.requests[0].attributes.size(), 5u);
    for (std::uint32_t i = 0; i < std::size(types); i++) {
        EXPECT_EQ(kernel.requests[0].u32(types[i]), i + 1);
        EXPECT_EQ(kernel.requests[i + 1].u32(types[i]), 0u);
        EXPECT_EQ(kernel.requests[i + 1].attributes.size(), 3u);
    }
}

// A word is at the place of its number.
TEST(Words, OfEnums) {
    EXPECT_EQ(policy_words[RBLK_CLIENT_POLICY_PREFERRED], "preferred");
    EXPECT_EQ(policy_words[RBLK_CLIENT_POLICY_ROUND_ROBIN], "round-robin");
    EXPECT_EQ(policy_words[RBLK_CLIENT_POLICY_MIN_INFLIGHT], "min-inflight");
    EXPECT_EQ(policy_words[RBLK_CLIENT_POLICY_MIN_LATENCY], "min-latency");
    EXPECT_EQ(write_order_words[RBLK_CLIENT_WRITE_ORDER_AUTO], "auto");
    EXPECT_EQ(write_order_words[RBLK_CLIENT_WRITE_ORDER_STRICT], "strict");
    EXPECT_EQ(write_order_words[RBLK_CLIENT_WRITE_ORDER_RELAXED], "relaxed");
}

TEST_F(Requests, Unmap) {
    client.unmap(7, false);
    client.unmap(8, true);
    EXPECT_EQ(kernel.requests.at(0).command, RBLK_CLIENT_CMD_UNMAP);
    EXPECT_EQ(kernel.requests.at(0).u32(RBLK_CLIENT_A_DEVICE_INDEX), 7u);
    EXPECT_FALSE(kernel.requests.at(0).has(RBLK_CLIENT_A_DEVICE_FORCE));
    EXPECT_EQ(kernel.requests.at(1).u32(RBLK_CLIENT_A_DEVICE_INDEX), 8u);
    EXPECT_TRUE(kernel.requests.at(1).has(RBLK_CLIENT_A_DEVICE_FORCE));
}

TEST_F(Requests, ExportAdd) {
    server.add_export({"db", 1ULL << 33, {"a", "b"}, false, true, true, 1});
    const auto& sent = kernel.requests.at(0);
    EXPECT_EQ(sent.family, server_id);
    EXPECT_EQ(sent.command, RBLK_SERVER_CMD_EXPORT_ADD);
    EXPECT_EQ(sent.text(RBLK_SERVER_A_EXPORT_NAME), "db");
    EXPECT_EQ(sent.u64(RBLK_SERVER_A_EXPORT_SIZE), 1ULL << 33);
    EXPECT_EQ(sent.texts(RBLK_SERVER_A_EXPORT_ALLOW), (std::vector<std::string>{"a", "b"}));
    EXPECT_FALSE(sent.has(RBLK_SERVER_A_EXPORT_ALLOW_ANY));
    EXPECT_TRUE(sent.has(RBLK_SERVER_A_EXPORT_SHARED));
    EXPECT_TRUE(sent.has(RBLK_SERVER_A_EXPORT_READ_ONLY));
    EXPECT_EQ(sent.u32(RBLK_SERVER_A_EXPORT_NUMA_NODE), 1u);
    // Small sizes have eight bytes as well.
    server.add_export({"db", 2 << 20, {}, true, false, false, {}});
    EXPECT_EQ(kernel.requests.at(1).u64(RBLK_SERVER_A_EXPORT_SIZE), 2u << 20);
    EXPECT_TRUE(kernel.requests.at(1).has(RBLK_SERVER_A_EXPORT_ALLOW_ANY));
    EXPECT_EQ(kernel.requests.at(1).attributes.size(), 3u);
}

TEST_F(Requests, ExportWithTheMostNames) {
    ExportRequest request{"db", 2 << 20, {}, false, false, false, {}};
    for (int i = 10; i < 10 + RBLK_SERVER_MAX_ALLOW; i++)
        request.allow.push_back(std::string(61, 'n') + std::to_string(i));
    server.add_export(request);
    EXPECT_EQ(kernel.requests.at(0).texts(RBLK_SERVER_A_EXPORT_ALLOW), request.allow);
}

TEST_F(Requests, TheRest) {
    server.remove_export("db", true);
    auto address = *Address::from_wire(v4_bytes("10.0.0.1", 80));
    server.add_listener(address);
    server.remove_listener(address);
    EXPECT_EQ(kernel.requests.at(0).command, RBLK_SERVER_CMD_EXPORT_REMOVE);
    EXPECT_EQ(kernel.requests.at(0).text(RBLK_SERVER_A_EXPORT_NAME), "db");
    EXPECT_TRUE(kernel.requests.at(0).has(RBLK_SERVER_A_EXPORT_FORCE));
    EXPECT_EQ(kernel.requests.at(1).command, RBLK_SERVER_CMD_LISTEN_ADD);
    EXPECT_EQ(kernel.requests.at(1).value(RBLK_SERVER_A_LISTENER_ADDR), v4_bytes("10.0.0.1", 80));
    EXPECT_EQ(kernel.requests.at(2).command, RBLK_SERVER_CMD_LISTEN_REMOVE);
    EXPECT_EQ(kernel.requests.at(2).value(RBLK_SERVER_A_LISTENER_ADDR), v4_bytes("10.0.0.1", 80));
}

TEST_F(Requests, Lists) {
    answer.replies = {small_device(0, "a"), small_device(1, "b"), small_device(2, "c")};
    auto devices = client.devices();
    ASSERT_EQ(devices.size(), 3u);
    EXPECT_EQ(devices[2].export_name, "c");
    EXPECT_EQ(kernel.requests.at(0).flags & NLM_F_DUMP, NLM_F_DUMP);
    EXPECT_EQ(kernel.requests.at(0).command, RBLK_CLIENT_CMD_DEVICE_GET);
    answer.replies = {};
    EXPECT_TRUE(client.devices().empty());
    EXPECT_TRUE(client.sessions().empty());
    EXPECT_TRUE(server.exports().empty());
    EXPECT_TRUE(server.listeners().empty());
    EXPECT_TRUE(server.sessions().empty());
    EXPECT_EQ(kernel.requests.at(2).command, RBLK_CLIENT_CMD_SESSION_GET);
    EXPECT_EQ(kernel.requests.at(3).command, RBLK_SERVER_CMD_EXPORT_GET);
    EXPECT_EQ(kernel.requests.at(4).command, RBLK_SERVER_CMD_LISTEN_GET);
    EXPECT_EQ(kernel.requests.at(5).command, RBLK_SERVER_CMD_SESSION_GET);
}

TEST_F(Requests, RefusalNamesTheAttribute) {
    answer = Answer::refuse(22, "too many", RBLK_CLIENT_A_DEVICE_QUEUES);
    MapRequest request;
    request.queues = 500;
    try {
        client.map(request);
        ADD_FAILURE() << "no error";
    } catch (const KernelError& error) {
        EXPECT_EQ(error.why(), "too many (attribute 'queues')");
    }
    answer = Answer::refuse(22);
    answer.missing = RBLK_SERVER_A_EXPORT_SIZE;
    try {
        server.add_export({});
        ADD_FAILURE() << "no error";
    } catch (const KernelError& error) {
        EXPECT_EQ(error.attribute(), "size");
    }
}

}  // namespace
}  // namespace rblk::test
