// SPDX-License-Identifier: GPL-2.0
// 'rblk map': addresses in order, time shared out, the node waited for.
#include <array>
#include <cerrno>

#include <linux/rblk_client.h>

#include "command_fixture.hpp"
#include "objects.hpp"

namespace rblk::test {
namespace {

class MapTest : public CommandTest {
protected:
    MapTest() {
        client_says(
            {Put().u32(RBLK_CLIENT_A_DEVICE_INDEX, 0).text(RBLK_CLIENT_A_DEVICE_NAME, "rblk0")});
        rig.nodes = {"/dev/rblk0"};
    }

    // Fails the first attempts so and then maps.
    void fail_first(std::vector<int> errors) {
        client = [errors, good = client, at = std::size_t{0}](const Seen& request) mutable {
            if (at < errors.size()) return Answer::refuse(errors[at++], "it fails");
            return good(request);
        };
    }
};

TEST_F(MapTest, PrintsThePathAlone) {
    auto outcome = rig.run({"map", "10.0.0.1", "db"});
    EXPECT_EQ(outcome.exit, 0);
    EXPECT_EQ(outcome.out, "/dev/rblk0\n");
    EXPECT_EQ(outcome.err, "");
    const auto& sent = rig.kernel.requests.at(0);
    EXPECT_EQ(sent.text(RBLK_CLIENT_A_DEVICE_CLIENT_NAME), "node-b");
    EXPECT_EQ(sent.value(RBLK_CLIENT_A_DEVICE_SERVER), v4_bytes("10.0.0.1", 7471));
    EXPECT_FALSE(sent.has(RBLK_CLIENT_A_DEVICE_TIMEOUT_MS));
    // How long I/O waits for a path is the kernel's choice, and so is that it waits.
    EXPECT_FALSE(sent.has(RBLK_CLIENT_A_DEVICE_NO_PATH_TIMEOUT_MS));
    EXPECT_FALSE(sent.has(RBLK_CLIENT_A_DEVICE_NO_RECONNECT));
}

TEST_F(MapTest, Json) {
    auto outcome = rig.run({"map", "[fe80::1%eth1]:80", "db", "--json"});
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(json_of(outcome.out),
              Json::parse(R"({"schema":1,"device":"/dev/rblk0","index":0,"name":"rblk0",
                              "server":"[fe80::1%eth1]:80","export":"db","failed_attempts":[]})"));
    EXPECT_EQ(rig.kernel.requests.at(0).value(RBLK_CLIENT_A_DEVICE_SERVER),
              v6_bytes("fe80::1", 80, 3));
}

TEST_F(MapTest, Options) {
    rig.run({"map", "10.0.0.1", "db", "--read-only", "--queues", "128", "--depth", "1",
             "--client-name", "me", "--timeout", "600"});
    const auto& sent = rig.kernel.requests.at(0);
    EXPECT_TRUE(sent.has(RBLK_CLIENT_A_DEVICE_READ_ONLY));
    EXPECT_EQ(sent.u32(RBLK_CLIENT_A_DEVICE_QUEUES), 128u);
    EXPECT_EQ(sent.u32(RBLK_CLIENT_A_DEVICE_DEPTH), 1u);
    EXPECT_EQ(sent.text(RBLK_CLIENT_A_DEVICE_CLIENT_NAME), "me");
    EXPECT_EQ(sent.u32(RBLK_CLIENT_A_DEVICE_TIMEOUT_MS), 600000u);
}

TEST_F(MapTest, SettingsAndParameters) {
    const unsigned types[] = {RBLK_CLIENT_A_DEVICE_POLICY, RBLK_CLIENT_A_DEVICE_WRITE_ORDER,
                              RBLK_CLIENT_A_DEVICE_TOS, RBLK_CLIENT_A_DEVICE_ACK_TIMEOUT,
                              RBLK_CLIENT_A_DEVICE_RETRY_COUNT};
    const char* options[] = {"--policy", "--write-order", "--tos", "--ack-timeout",
                             "--retry-count"};
    const std::pair<std::array<const char*, 5>, std::array<std::uint32_t, 5>> table[] = {
        {{"preferred", "auto", "0", "8", "0"}, {0, 0, 0, 8, 0}},
        {{"min-latency", "relaxed", "255", "22", "6"}, {3, 2, 255, 22, 6}},
        {{"round-robin", "strict", "32", "14", "3"}, {1, 1, 32, 14, 3}},
    };
    // What is not given is not there: zero would ask for something.
    rig.run({"map", "10.0.0.1", "db"});
    for (auto type : types) EXPECT_FALSE(rig.kernel.requests.at(0).has(type)) << type;
    for (const auto& [texts, values] : table) {
        std::vector<std::string> all = {"map", "10.0.0.1", "db"};
        for (std::size_t i = 0; i < std::size(types); i++) {
            rig.kernel.requests.clear();
            EXPECT_EQ(rig.run({"map", "10.0.0.1", "db", options[i], texts[i]}).exit, 0);
            for (std::size_t j = 0; j < std::size(types); j++)
                EXPECT_EQ(rig.kernel.requests.at(0).has(types[j]), i == j);
            EXPECT_EQ(rig.kernel.requests.at(0).u32(types[i]), values[i]);
            all.insert(all.end(), {options[i], texts[i]});
        }
        rig.kernel.requests.clear();
        EXPECT_EQ(rig.run(all).exit, 0);
        for (std::size_t i = 0; i < std::size(types); i++)
            EXPECT_EQ(rig.kernel.requests.at(0).u32(types[i]), values[i]);
    }
}

TEST_F(MapTest, SessionThatIsAnother) {
    client_refuses(EINVAL,
                   "the session with this server has another policy, other queues or depth, or "
                   "reconnects otherwise");
    const std::pair<std::vector<std::string>, const char*> table[] = {
        {{"--policy", "preferred"},
         "leave out --policy to use the session as it is; 'rblk device set' changes its policy and "
         "its write order\n"},
        {{"--write-order", "auto"},
         "leave out --write-order to use the session as it is; 'rblk de"},
        {{"--steal", "--policy", "preferred", "--queues", "1"},
         "leave out --policy, --queues to use the session as it is; 'rblk device set'"},
        {{"--depth", "1"}, "leave out --depth to use the session as it is\n"},
        {{"--no-reconnect"}, "leave out --no-reconnect to use the session as it is\n"},
    };
    for (const auto& [options, hint] : table) {
        std::vector<std::string> words = {"map", "10.0.0.1", "db"};
        words.insert(words.end(), options.begin(), options.end());
        auto outcome = rig.run(words);
        EXPECT_EQ(outcome.exit, 1);
        EXPECT_TRUE(has(outcome.err, hint)) << outcome.err;
        EXPECT_FALSE(has(outcome.err, "without --steal")) << outcome.err;
    }
    client_refuses(EINVAL, "the session with this server has other paths; more can be added to it");
    auto outcome =
        rig.run({"map", "10.0.0.1", "db", "--policy", "preferred", "--path", "10.0.1.1"});
    EXPECT_TRUE(has(outcome.err, "without --path; 'rblk path add'")) << outcome.err;
    EXPECT_FALSE(has(outcome.err, "leave out")) << outcome.err;
    // Any other reason is no reason to leave it out.
    client_refuses(EINVAL, "no such policy");
    outcome = rig.run({"map", "10.0.0.1", "db", "--policy", "preferred"});
    EXPECT_EQ(outcome.err, "rblk: cannot map the export 'db' of 10.0.0.1:7471: no such policy\n");
}

TEST_F(MapTest, Steal) {
    rig.run({"map", "10.0.0.1", "db"});
    EXPECT_FALSE(rig.kernel.requests.at(0).has(RBLK_CLIENT_A_DEVICE_STEAL));
    rig.run({"map", "10.0.0.1", "db", "--steal"});
    EXPECT_TRUE(rig.kernel.requests.at(1).has(RBLK_CLIENT_A_DEVICE_STEAL));
}

TEST_F(MapTest, NoPathTimeout) {
    const std::pair<const char*, std::uint32_t> table[] = {
        {"0", 0},
        {"30", 30'000},
        {"86400", RBLK_CLIENT_MAX_NO_PATH_TIMEOUT_MS},
        {"forever", 4294967295},
    };
    for (const auto& [text, ms] : table) {
        rig.kernel.requests.clear();
        EXPECT_EQ(rig.run({"map", "10.0.0.1", "db", "--no-path-timeout", text}).exit, 0);
        EXPECT_EQ(rig.kernel.requests.at(0).u32(RBLK_CLIENT_A_DEVICE_NO_PATH_TIMEOUT_MS), ms);
        EXPECT_FALSE(rig.kernel.requests[0].has(RBLK_CLIENT_A_DEVICE_NO_RECONNECT));
    }
}

TEST_F(MapTest, NoReconnect) {
    EXPECT_EQ(rig.run({"map", "10.0.0.1", "db", "--no-reconnect"}).exit, 0);
    EXPECT_TRUE(rig.kernel.requests.at(0).has(RBLK_CLIENT_A_DEVICE_NO_RECONNECT));
    EXPECT_FALSE(rig.kernel.requests[0].has(RBLK_CLIENT_A_DEVICE_NO_PATH_TIMEOUT_MS));
}

TEST_F(MapTest, WaitsForTheNode) {
    rig.nodes.clear();
    auto begin = rig.clock;
    rig.tick = [&] {
        if (rig.clock - begin >= std::chrono::seconds(2)) rig.nodes.insert("/dev/rblk0");
    };
    EXPECT_EQ(rig.run({"map", "10.0.0.1", "db"}).out, "/dev/rblk0\n");
    EXPECT_GE(rig.clock - begin, std::chrono::seconds(2));
}

TEST_F(MapTest, NodeThatNeverComes) {
    rig.nodes.clear();
    auto begin = rig.clock;
    auto outcome = rig.run({"map", "10.0.0.1", "db"});
    EXPECT_EQ(outcome.exit, 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(has(outcome.err, "rblk unmap /dev/rblk0")) << outcome.err;
    EXPECT_LT(rig.clock - begin, std::chrono::seconds(11));
}

TEST_F(MapTest, AddressesInOrder) {
    rig.hosts["node-a"] = {*Address::from_wire(v6_bytes("2001:db8::1", 0)),
                           *Address::from_wire(v4_bytes("10.0.0.1", 0)),
                           *Address::from_wire(v4_bytes("10.0.0.2", 0))};
    fail_first({ENXIO});
    auto outcome = rig.run({"map", "node-a", "db"});
    EXPECT_EQ(outcome.exit, 0);
    EXPECT_EQ(outcome.out, "/dev/rblk0\n");
    EXPECT_TRUE(has(outcome.err, "[2001:db8::1]:7471: it fails")) << outcome.err;
    ASSERT_EQ(rig.kernel.requests.size(), 2u);
    EXPECT_EQ(rig.kernel.requests[1].value(RBLK_CLIENT_A_DEVICE_SERVER),
              v4_bytes("10.0.0.1", 7471));
    // The time is shared out among those that are left.
    EXPECT_EQ(rig.kernel.requests[0].u32(RBLK_CLIENT_A_DEVICE_TIMEOUT_MS), 10000u);
    EXPECT_EQ(rig.kernel.requests[1].u32(RBLK_CLIENT_A_DEVICE_TIMEOUT_MS), 15000u);
}

TEST_F(MapTest, AddressesInOrderAsJson) {
    rig.hosts["node-a"] = {*Address::from_wire(v4_bytes("10.0.0.1", 0)),
                           *Address::from_wire(v4_bytes("10.0.0.2", 0))};
    fail_first({ETIMEDOUT});
    auto outcome = rig.run({"map", "node-a:80", "db", "--json"});
    EXPECT_EQ(outcome.err, "");
    auto json = json_of(outcome.out);
    EXPECT_EQ(json["server"], "10.0.0.2:80");
    EXPECT_EQ(json["failed_attempts"],
              Json::parse(R"([{"server":"10.0.0.1:80","error":"it fails"}])"));
}

TEST_F(MapTest, AnAnswerOfTheServerIsFinal) {
    rig.hosts["node-a"] = {*Address::from_wire(v4_bytes("10.0.0.1", 0)),
                           *Address::from_wire(v4_bytes("10.0.0.2", 0))};
    for (int error :
         {ENOENT, EACCES, EBUSY, EROFS, EPROTONOSUPPORT, EEXIST, EPERM, EINTR, ECANCELED}) {
        client_refuses(error);
        rig.kernel.requests.clear();
        EXPECT_NE(rig.run({"map", "node-a", "db"}).exit, 0);
        EXPECT_EQ(rig.kernel.requests.size(), 1u) << error;
    }
    for (int error : {ENXIO, ECONNREFUSED, ETIMEDOUT, EHOSTUNREACH, ENETUNREACH, ENODEV}) {
        client_refuses(error);
        rig.kernel.requests.clear();
        auto outcome = rig.run({"map", "node-a", "db"});
        EXPECT_EQ(outcome.exit, 6);
        EXPECT_EQ(rig.kernel.requests.size(), 2u) << error;
        EXPECT_TRUE(has(outcome.err, "of 10.0.0.2:7471, nor of 10.0.0.1:7471")) << outcome.err;
    }
}

TEST_F(MapTest, FurtherPaths) {
    rig.hosts["node-a"] = {*Address::from_wire(v6_bytes("2001:db8::1", 0)),
                           *Address::from_wire(v4_bytes("10.0.2.1", 0))};
    auto outcome = rig.run({"map", "10.0.0.1@10.0.0.2", "db", "--path", "10.0.1.1:80@10.0.1.2",
                            "--path", "[2001:db8::9]", "--path", "[fe80::1%eth1]:80@[fe80::2%eth1]",
                            "--path", "node-a", "--path", "node-a:80@10.0.2.2"});
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "/dev/rblk0\n");
    const auto& sent = rig.kernel.requests.at(0);
    EXPECT_EQ(sent.value(RBLK_CLIENT_A_DEVICE_SERVER), v4_bytes("10.0.0.1", 7471));
    EXPECT_EQ(sent.value(RBLK_CLIENT_A_DEVICE_SOURCE), v4_bytes("10.0.0.2", 0));
    EXPECT_EQ(sent.values(RBLK_CLIENT_A_DEVICE_ROUTE),
              (std::vector<Bytes>{
                  route_bytes(v4_bytes("10.0.1.1", 80), v4_bytes("10.0.1.2", 0)),
                  route_bytes(v6_bytes("2001:db8::9", 7471)),
                  route_bytes(v6_bytes("fe80::1", 80, 3), v6_bytes("fe80::2", 0, 3)),
                  route_bytes(v6_bytes("2001:db8::1", 7471)),
                  route_bytes(v4_bytes("10.0.2.1", 80), v4_bytes("10.0.2.2", 0)),
              }));
}

TEST_F(MapTest, OnePathNamesNoRoute) {
    rig.run({"map", "10.0.0.1", "db"});
    EXPECT_FALSE(rig.kernel.requests.at(0).has(RBLK_CLIENT_A_DEVICE_SOURCE));
    EXPECT_FALSE(rig.kernel.requests.at(0).has(RBLK_CLIENT_A_DEVICE_ROUTE));
}

TEST_F(MapTest, AsManyPathsAsASessionHas) {
    std::vector<std::string> words = {"map", "10.0.0.1", "db"};
    for (int i = 1; i <= 7; i++) {
        words.push_back("--path");
        words.push_back("10.0." + std::to_string(i) + ".1");
    }
    EXPECT_EQ(rig.run(words).exit, 0);
    EXPECT_EQ(rig.kernel.requests.at(0).values(RBLK_CLIENT_A_DEVICE_ROUTE).size(), 7u);
    words.insert(words.end(), {"--path", "10.0.8.1"});
    auto outcome = rig.run(words);
    EXPECT_EQ(outcome.exit, 2);
    EXPECT_TRUE(has(outcome.err, "--path is given 8 times, and 7 are the most")) << outcome.err;
    EXPECT_EQ(rig.kernel.requests.size(), 1u);
}

TEST_F(MapTest, SamePathTwice) {
    rig.hosts["node-a"] = {*Address::from_wire(v4_bytes("10.0.0.1", 0)),
                           *Address::from_wire(v4_bytes("10.0.0.2", 0))};
    const std::pair<std::vector<std::string>, const char*> table[] = {
        {{"10.0.0.1", "--path", "10.0.0.1:7471"}, "the path 10.0.0.1:7471 is given twice"},
        {{"node-a", "--path", "10.0.0.1"}, "the path 10.0.0.1:7471 is given twice"},
        {{"10.0.0.1", "--path", "node-a"}, "the path 10.0.0.1:7471 is given twice"},
        {{"10.0.0.1@10.0.0.9", "--path", "10.0.0.1@10.0.0.9"},
         "the path 10.0.0.1:7471@10.0.0.9 is given twice"},
        {{"10.0.0.1", "--path", "::1@::2", "--path", "10.0.0.2", "--path", "[::1]@[::2]"},
         "the path [::1]:7471@::2 is given twice"},
    };
    for (const auto& [rest, why] : table) {
        std::vector<std::string> words = {"map", rest[0], "db"};
        words.insert(words.end(), rest.begin() + 1, rest.end());
        auto outcome = rig.run(words);
        EXPECT_EQ(outcome.exit, 2);
        EXPECT_TRUE(has(outcome.err, why)) << outcome.err;
    }
    EXPECT_TRUE(rig.kernel.requests.empty());
    // Another port, and another source, make another path.
    for (const char* other : {"10.0.0.1:80", "10.0.0.1@10.0.0.9", "10.0.0.1@10.0.0.8"})
        EXPECT_EQ(rig.run({"map", "10.0.0.1", "db", "--path", other}).exit, 0) << other;
}

TEST_F(MapTest, FurtherPathsStayWhenTheNextAddressIsTried) {
    rig.hosts["node-a"] = {*Address::from_wire(v4_bytes("10.0.0.1", 0)),
                           *Address::from_wire(v4_bytes("10.0.0.2", 0)),
                           *Address::from_wire(v6_bytes("2001:db8::1", 0)),
                           *Address::from_wire(v4_bytes("10.0.0.3", 0))};
    fail_first({ENXIO});
    // 10.0.0.2 was tried, as the further path.
    EXPECT_EQ(rig.run({"map", "node-a@10.0.0.9", "db", "--path", "10.0.0.2@10.0.0.9"}).exit, 0);
    ASSERT_EQ(rig.kernel.requests.size(), 2u);
    const char* tried[] = {"10.0.0.1", "10.0.0.3"};
    for (std::size_t i = 0; i < 2; i++) {
        const auto& sent = rig.kernel.requests[i];
        EXPECT_EQ(sent.value(RBLK_CLIENT_A_DEVICE_SERVER), v4_bytes(tried[i], 7471));
        EXPECT_EQ(sent.value(RBLK_CLIENT_A_DEVICE_SOURCE), v4_bytes("10.0.0.9", 0));
        EXPECT_EQ(
            sent.values(RBLK_CLIENT_A_DEVICE_ROUTE),
            std::vector<Bytes>{route_bytes(v4_bytes("10.0.0.2", 7471), v4_bytes("10.0.0.9", 0))});
    }
}

TEST_F(MapTest, RefusalNamesAllPaths) {
    client_refuses(EADDRNOTAVAIL, "no such address here");
    auto outcome = rig.run({"map", "10.0.0.1@10.0.0.2", "db", "--path", "10.0.1.1@10.0.1.2"});
    EXPECT_EQ(outcome.exit, 6);
    EXPECT_TRUE(has(outcome.err,
                    "rblk: cannot map the export 'db' of 10.0.0.1:7471@10.0.0.2, nor over "
                    "10.0.1.1:7471@10.0.1.2: no such address here\n"))
        << outcome.err;
    EXPECT_TRUE(has(outcome.err, "'ip addr'")) << outcome.err;
    EXPECT_FALSE(has(rig.run({"map", "10.0.0.1", "db"}).err, "'ip addr'"));
}

TEST_F(MapTest, NameOfAFurtherPathThatHasNoAddress) {
    rig.hosts["node-a"] = {*Address::from_wire(v6_bytes("2001:db8::1", 0))};
    for (const char* path : {"nowhere", "node-a@10.0.1.2"}) {
        auto outcome = rig.run({"map", "10.0.0.1", "db", "--path", path});
        EXPECT_EQ(outcome.exit, 6) << path;
        EXPECT_TRUE(has(outcome.err, std::string(path).substr(0, 6))) << outcome.err;
    }
    EXPECT_TRUE(rig.kernel.requests.empty());
}

TEST_F(MapTest, NameThatHasNoAddress) {
    auto outcome = rig.run({"map", "nowhere", "db"});
    EXPECT_EQ(outcome.exit, 6);
    EXPECT_TRUE(has(outcome.err, "nowhere"));
    EXPECT_TRUE(rig.kernel.requests.empty());
}

TEST_F(MapTest, HostNameThatIsNoClientName) {
    rig.host = "a host";
    auto outcome = rig.run({"map", "10.0.0.1", "db"});
    EXPECT_EQ(outcome.exit, 2);
    EXPECT_TRUE(has(outcome.err, "--client-name")) << outcome.err;
    EXPECT_EQ(rig.run({"map", "10.0.0.1", "db", "--client-name", "me"}).exit, 0);
}

TEST_F(MapTest, MalformedReply) {
    client_says({Put().raw(RBLK_CLIENT_A_DEVICE_INDEX, Bytes(2))});
    auto outcome = rig.run({"map", "10.0.0.1", "db"});
    EXPECT_EQ(outcome.exit, 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(has(outcome.err, "'index' has 2 bytes")) << outcome.err;
}

}  // namespace
}  // namespace rblk::test
