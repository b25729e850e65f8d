// SPDX-License-Identifier: GPL-2.0
// 'rblk path add', 'remove', 'drain', 'undrain' and 'set'.
#include <cerrno>

#include <linux/rblk_client.h>

#include "command_fixture.hpp"
#include "objects.hpp"

namespace rblk::test {
namespace {

class PathAddTest : public CommandTest {
protected:
    PathAddTest() {
        client = [this](const Seen& request) {
            if (request.command == RBLK_CLIENT_CMD_DEVICE_GET)
                return mapped ? Answer{.replies = {full_device(0, "db")}}
                              : Answer::refuse(ENODEV, "there is no such device");
            if (at < errors.size()) return Answer::refuse(errors[at++], "it fails");
            return Answer{.replies = {Put().u32(RBLK_CLIENT_A_DEVICE_PATH, 2)}};
        };
        rig.hosts["node-a"] = {*Address::from_wire(v6_bytes("2001:db8::1", 0)),
                               *Address::from_wire(v4_bytes("10.0.0.1", 0)),
                               *Address::from_wire(v4_bytes("10.0.1.1", 0))};
    }

    // Of the first attempts.
    void fail_first(std::vector<int> with) {
        errors = std::move(with);
        at = 0;
        rig.kernel.requests.clear();
    }
    // Addresses that were tried.
    std::vector<Bytes> tried() const {
        std::vector<Bytes> servers;
        for (const auto& request : rig.kernel.requests)
            if (request.command == RBLK_CLIENT_CMD_PATH_ADD)
                servers.push_back(request.value(RBLK_CLIENT_A_DEVICE_SERVER));
        return servers;
    }

    bool mapped = true;
    std::vector<int> errors;
    std::size_t at = 0;
};

TEST_F(PathAddTest, SaysTheNumber) {
    auto outcome = rig.run({"path", "add", "rblk0", "10.0.1.1"});
    EXPECT_EQ(outcome.exit, 0);
    EXPECT_EQ(outcome.out, "path 2 of /dev/rblk0 added: 10.0.1.1:7471\n");
    EXPECT_EQ(outcome.err, "");
    ASSERT_EQ(rig.kernel.requests.size(), 1u);
    const auto& sent = rig.kernel.requests[0];
    EXPECT_EQ(sent.command, RBLK_CLIENT_CMD_PATH_ADD);
    EXPECT_EQ(sent.u32(RBLK_CLIENT_A_DEVICE_INDEX), 0u);
    EXPECT_EQ(sent.value(RBLK_CLIENT_A_DEVICE_SERVER), v4_bytes("10.0.1.1", 7471));
    // Which address of this node and how long are the kernel's choice.
    EXPECT_EQ(sent.attributes.size(), 2u);
}

TEST_F(PathAddTest, Json) {
    auto outcome = rig.run({"path", "add", "/dev/rblk7", "[fe80::1%eth1]:80@fe80::2%eth1",
                            "--timeout", "5", "--json"});
    EXPECT_EQ(outcome.exit, 0);
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(json_of(outcome.out), Json::parse(R"({"schema":1,"device":"/dev/rblk7","path":2,
                              "server":"[fe80::1%eth1]:80","failed_attempts":[]})"));
    const auto& sent = rig.kernel.requests.at(0);
    EXPECT_EQ(sent.u32(RBLK_CLIENT_A_DEVICE_INDEX), 7u);
    EXPECT_EQ(sent.value(RBLK_CLIENT_A_DEVICE_SERVER), v6_bytes("fe80::1", 80, 3));
    EXPECT_EQ(sent.value(RBLK_CLIENT_A_DEVICE_SOURCE), v6_bytes("fe80::2", 0, 3));
    EXPECT_EQ(sent.u32(RBLK_CLIENT_A_DEVICE_TIMEOUT_MS), 5000u);
}

TEST_F(PathAddTest, Parameters) {
    const struct {
        const char* option;
        unsigned type;
        std::uint32_t value;
    } table[] = {{"--tos", RBLK_CLIENT_A_DEVICE_TOS, 0},
                 {"--tos", RBLK_CLIENT_A_DEVICE_TOS, 255},
                 {"--ack-timeout", RBLK_CLIENT_A_DEVICE_ACK_TIMEOUT, 8},
                 {"--ack-timeout", RBLK_CLIENT_A_DEVICE_ACK_TIMEOUT, 22},
                 {"--retry-count", RBLK_CLIENT_A_DEVICE_RETRY_COUNT, 0},
                 {"--retry-count", RBLK_CLIENT_A_DEVICE_RETRY_COUNT, 6}};
    for (const auto& [option, type, value] : table) {
        rig.kernel.requests.clear();
        auto text = std::to_string(value);
        EXPECT_EQ(rig.run({"path", "add", "0", "10.0.1.1", option, text}).exit, 0);
        EXPECT_EQ(rig.kernel.requests.at(0).u32(type), value);
        EXPECT_EQ(rig.kernel.requests.at(0).attributes.size(), 3u);
    }
    // Each address of a host name is tried with them.
    fail_first({ETIMEDOUT});
    EXPECT_EQ(rig.run({"path", "add", "0", "node-a", "--tos", "32"}).exit, 0);
    ASSERT_EQ(rig.kernel.requests.size(), 2u);
    EXPECT_EQ(rig.kernel.requests[1].u32(RBLK_CLIENT_A_DEVICE_TOS), 32u);
}

TEST_F(PathAddTest, AddressesInOrder) {
    fail_first({ETIMEDOUT});
    auto outcome = rig.run({"path", "add", "0", "node-a:80"});
    EXPECT_EQ(outcome.exit, 0);
    EXPECT_EQ(outcome.out, "path 2 of /dev/rblk0 added: 10.0.0.1:80\n");
    EXPECT_EQ(outcome.err, "rblk: [2001:db8::1]:80: it fails; trying the next address\n");
    EXPECT_EQ(tried(), (std::vector<Bytes>{v6_bytes("2001:db8::1", 80), v4_bytes("10.0.0.1", 80)}));
    // The time is shared out among those that are left.
    EXPECT_EQ(rig.kernel.requests[0].u32(RBLK_CLIENT_A_DEVICE_TIMEOUT_MS), 10000u);
    EXPECT_EQ(rig.kernel.requests[1].u32(RBLK_CLIENT_A_DEVICE_TIMEOUT_MS), 15000u);
}

TEST_F(PathAddTest, OnlyAddressesOfTheSourcesFamily) {
    EXPECT_EQ(rig.run({"path", "add", "0", "node-a@10.0.0.2"}).exit, 0);
    EXPECT_EQ(tried(), std::vector<Bytes>{v4_bytes("10.0.0.1", 7471)});
}

// The host name that was mapped has a path already, and leads to another address all the same.
TEST_F(PathAddTest, AddressThatHasAPathIsPassedOver) {
    fail_first({ENETUNREACH, EEXIST});
    auto json = json_of(rig.run({"path", "add", "0", "node-a", "--json"}).out);
    EXPECT_EQ(json["server"], "10.0.1.1:7471");
    EXPECT_EQ(json["failed_attempts"],
              Json::parse(R"([{"server":"[2001:db8::1]:7471","error":"it fails"},
                              {"server":"10.0.0.1:7471","error":"it fails"}])"));
    fail_first({EEXIST, EEXIST, EEXIST});
    auto outcome = rig.run({"path", "add", "0", "node-a"});
    EXPECT_EQ(outcome.exit, 5);
    EXPECT_TRUE(has(outcome.err,
                    "rblk: cannot add the path 10.0.1.1:7471 to /dev/rblk0, nor over "
                    "[2001:db8::1]:7471 (it fails), nor over 10.0.0.1:7471 (it fails): it fails\n"))
        << outcome.err;
}

TEST_F(PathAddTest, AnotherAnswerIsFinal) {
    for (int error : {EXDEV, ENOSPC, EOPNOTSUPP, EPERM, EBUSY, EPROTONOSUPPORT, ECANCELED}) {
        fail_first({error, error, error});
        EXPECT_NE(rig.run({"path", "add", "0", "node-a"}).exit, 0);
        EXPECT_EQ(tried().size(), 1u) << error;
    }
}

// One errno, two meanings.
TEST_F(PathAddTest, NoDeviceOfWhichKind) {
    fail_first({ENODEV, ENODEV, ENODEV});
    auto unreached = rig.run({"path", "add", "0", "node-a"});
    EXPECT_EQ(unreached.exit, 6);
    EXPECT_TRUE(has(unreached.err, "'rblk check'")) << unreached.err;
    EXPECT_EQ(tried().size(), 3u);
    mapped = false;
    fail_first({ENODEV, ENODEV, ENODEV});
    auto missing = rig.run({"path", "add", "0", "node-a"});
    EXPECT_EQ(missing.exit, 3);
    EXPECT_TRUE(has(missing.err, "'rblk device list'")) << missing.err;
    EXPECT_EQ(tried().size(), 1u);
    fail_first({ENODEV});
    EXPECT_EQ(json_of(rig.run({"path", "add", "0", "10.0.1.1", "--json"}).out)["error"]["code"],
              "not_found");
}

TEST_F(PathAddTest, SessionThatDoesNotReconnect) {
    client_refuses(EOPNOTSUPP, "the session does not reconnect");
    auto outcome = rig.run({"path", "add", "0", "10.0.1.1"});
    EXPECT_EQ(outcome.exit, 1);
    EXPECT_TRUE(has(outcome.err, "without --no-reconnect")) << outcome.err;
    // A kernel that does not know the request says no more than that.
    client_refuses(EOPNOTSUPP);
    outcome = rig.run({"path", "add", "0", "10.0.1.1"});
    EXPECT_EQ(outcome.exit, 1);
    EXPECT_TRUE(has(outcome.err, "one version")) << outcome.err;
}

TEST_F(PathAddTest, RefusalNamesThePath) {
    client_refuses(EADDRNOTAVAIL, "no such address here");
    auto outcome = rig.run({"path", "add", "rblk3", "10.0.1.1@10.0.1.2"});
    EXPECT_EQ(outcome.exit, 6);
    EXPECT_TRUE(has(outcome.err,
                    "rblk: cannot add the path 10.0.1.1:7471@10.0.1.2 to /dev/rblk3: no such "
                    "address here\n"))
        << outcome.err;
    EXPECT_TRUE(has(outcome.err, "'ip addr'")) << outcome.err;
}

TEST_F(PathAddTest, ReplyWithoutANumber) {
    client_says({Put()});
    auto outcome = rig.run({"path", "add", "0", "10.0.1.1"});
    EXPECT_EQ(outcome.exit, 1);
    EXPECT_TRUE(has(outcome.err, "attribute 'path' is missing")) << outcome.err;
    client_says({Put().raw(RBLK_CLIENT_A_DEVICE_PATH, Bytes(3))});
    EXPECT_TRUE(has(rig.run({"path", "add", "0", "10.0.1.1"}).err, "'path' has 3 bytes"));
}

class PathSetTest : public CommandTest {};

TEST_F(PathSetTest, EachParameter) {
    struct {
        const char* option;
        const char* value;
        unsigned type;
        const char* key;
        const char* said;
    } const table[] = {
        {"--tos", "0", RBLK_CLIENT_A_DEVICE_TOS, "tos", "type of service 0"},
        {"--tos", "255", RBLK_CLIENT_A_DEVICE_TOS, "tos", "type of service 255"},
        {"--ack-timeout", "8", RBLK_CLIENT_A_DEVICE_ACK_TIMEOUT, "ack_timeout",
         "acknowledgement timeout 8 (1.0 ms)"},
        {"--ack-timeout", "14", RBLK_CLIENT_A_DEVICE_ACK_TIMEOUT, "ack_timeout",
         "acknowledgement timeout 14 (67.1 ms)"},
        {"--ack-timeout", "18", RBLK_CLIENT_A_DEVICE_ACK_TIMEOUT, "ack_timeout",
         "acknowledgement timeout 18 (1.1 s)"},
        {"--ack-timeout", "22", RBLK_CLIENT_A_DEVICE_ACK_TIMEOUT, "ack_timeout",
         "acknowledgement timeout 22 (17.2 s)"},
        {"--retry-count", "0", RBLK_CLIENT_A_DEVICE_RETRY_COUNT, "retry_count", "retry count 0"},
        {"--retry-count", "6", RBLK_CLIENT_A_DEVICE_RETRY_COUNT, "retry_count", "retry count 6"},
    };
    for (const auto& row : table) {
        rig.kernel.requests.clear();
        auto text = rig.run({"path", "set", "rblk7", "1", row.option, row.value});
        EXPECT_EQ(text.exit, 0) << text.err;
        EXPECT_EQ(text.out, std::string("path 1 of /dev/rblk7 set: ") + row.said + "\n");
        EXPECT_EQ(
            text.err,
            "rblk: if it carries I/O, this holds from its next connection on; 'rblk path drain "
            "/dev/rblk7 1' and 'undrain' make one\n");
        const auto& sent = rig.kernel.requests.at(0);
        EXPECT_EQ(sent.command, RBLK_CLIENT_CMD_PATH_SET);
        EXPECT_EQ(sent.u32(RBLK_CLIENT_A_DEVICE_INDEX), 7u);
        EXPECT_EQ(sent.u32(RBLK_CLIENT_A_DEVICE_PATH), 1u);
        EXPECT_EQ(sent.u32(row.type), std::stoul(row.value));
        EXPECT_EQ(sent.attributes.size(), 3u);
        auto json = rig.run({"path", "set", "7", "1", row.option, row.value, "--json"});
        EXPECT_EQ(json.err, "");
        Json wanted = {{"schema", 1},
                       {"device", "/dev/rblk7"},
                       {"path", 1},
                       {"changed", Json::array({row.key})},
                       {"tos", nullptr},
                       {"ack_timeout", nullptr},
                       {"retry_count", nullptr}};
        wanted[row.key] = std::stoul(row.value);
        EXPECT_EQ(json_of(json.out), wanted);
    }
}

TEST_F(PathSetTest, RefusalSaysWhatWhereAndWhy) {
    client_refuses(ENOENT, "there is no such path");
    EXPECT_EQ(rig.run({"path", "set", "7", "1", "--tos", "0"}).err,
              "rblk: cannot set parameters of path 1 of /dev/rblk7: there is no such path\n"
              "      'rblk path list /dev/rblk7' shows the paths\n");
}

struct Change {
    const char* word;
    int command;
    const char* result;
    bool forced;
};

class PathChangeTest : public CommandTest, public ::testing::WithParamInterface<Change> {};

TEST_P(PathChangeTest, TextAndJson) {
    const auto& change = GetParam();
    for (const char* device : {"/dev/rblk7", "rblk7", "7"}) {
        auto outcome = rig.run({"path", change.word, device, "1"});
        EXPECT_EQ(outcome.exit, 0) << outcome.err;
        EXPECT_EQ(outcome.out, std::string("path 1 of /dev/rblk7 ") + change.result + "\n");
        EXPECT_EQ(outcome.err, "");
        const auto& sent = rig.kernel.requests.back();
        EXPECT_EQ(sent.command, change.command);
        EXPECT_EQ(sent.u32(RBLK_CLIENT_A_DEVICE_INDEX), 7u);
        EXPECT_EQ(sent.u32(RBLK_CLIENT_A_DEVICE_PATH), 1u);
        EXPECT_EQ(sent.attributes.size(), 2u);
    }
    auto json = rig.run({"path", change.word, "7", "0", "--json"});
    EXPECT_EQ(json.err, "");
    Json wanted = {{"schema", 1}, {"device", "/dev/rblk7"}, {"path", 0}, {"result", change.result}};
    EXPECT_EQ(json_of(json.out), wanted);
    EXPECT_EQ(rig.kernel.requests.back().u32(RBLK_CLIENT_A_DEVICE_PATH), 0u);
    EXPECT_EQ(rig.kernel.requests.size(), 4u);
}

TEST_P(PathChangeTest, Force) {
    const auto& change = GetParam();
    auto outcome = rig.run({"path", change.word, "7", "1", "--force"});
    EXPECT_EQ(outcome.exit, change.forced ? 0 : 2);
    ASSERT_EQ(rig.kernel.requests.size(), change.forced ? 1u : 0u);
    for (const auto& request : rig.kernel.requests)
        EXPECT_TRUE(request.has(RBLK_CLIENT_A_DEVICE_FORCE));
}

TEST_P(PathChangeTest, RefusalSaysWhatWhereAndWhy) {
    const auto& change = GetParam();
    client_refuses(EBUSY, "no other path is live");
    auto outcome = rig.run({"path", change.word, "7", "1"});
    EXPECT_EQ(outcome.exit, 5);
    EXPECT_EQ(outcome.err.substr(0, outcome.err.find('\n')),
              std::string("rblk: cannot ") + change.word +
                  " path 1 of /dev/rblk7: no other path is live");
    // What it has not, and what was given, is no advice.
    EXPECT_EQ(has(outcome.err, "--force"), change.forced) << outcome.err;
    if (!change.forced) return;
    EXPECT_FALSE(has(rig.run({"path", change.word, "7", "1", "--force"}).err, "--force"));
}

INSTANTIATE_TEST_SUITE_P(
    All, PathChangeTest,
    ::testing::Values(Change{"remove", RBLK_CLIENT_CMD_PATH_REMOVE, "removed", true},
                      Change{"drain", RBLK_CLIENT_CMD_PATH_DRAIN, "drained", true},
                      Change{"undrain", RBLK_CLIENT_CMD_PATH_UNDRAIN, "undrained", false}),
    [](const auto& test) { return std::string(test.param.word); });

}  // namespace
}  // namespace rblk::test
