// SPDX-License-Identifier: GPL-2.0
// Whole commands: what they print, how they end, what they asked the kernel.
#include <cerrno>

#include <gtest/gtest.h>
#include <linux/genetlink.h>
#include <linux/rblk_client.h>
#include <linux/rblk_server.h>
#include <nlohmann/json.hpp>

#include "error.hpp"
#include "objects.hpp"
#include "output/document.hpp"
#include "rig.hpp"

namespace rblk::test {
namespace {

Json json_of(const std::string& text) {
    auto json = Json::parse(text, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << text;
    EXPECT_EQ(json.value("schema", 0), 1) << text;
    return json;
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// Runs with and without --json and compares both with the golden files.
void expect_both(Rig& rig, std::vector<std::string> words, const std::string& name) {
    auto text = rig.run(words);
    EXPECT_EQ(text.exit, 0) << text.err;
    expect_golden(name + ".txt", text.out);
    words.push_back("--json");
    auto json = rig.run(words);
    EXPECT_EQ(json.exit, 0);
    EXPECT_EQ(json.err, "");
    json_of(json.out);
    expect_golden(name + ".json", json.out);
}

class CommandTest : public ::testing::Test {
protected:
    CommandTest() {
        rig.kernel.load_client([this](const Seen& request) { return client(request); });
        rig.kernel.load_server([this](const Seen& request) { return server(request); });
    }

    Rig rig;
    Handler client = [](const Seen&) { return Answer(); };
    Handler server = [](const Seen&) { return Answer(); };

    void client_says(std::vector<Put> replies) {
        client = [replies](const Seen&) {
            Answer answer;
            answer.replies = replies;
            return answer;
        };
    }
    void server_says(std::vector<Put> replies) {
        server = [replies](const Seen&) {
            Answer answer;
            answer.replies = replies;
            return answer;
        };
    }
    void client_refuses(int error, const std::string& text = {}) {
        client = [=](const Seen&) { return Answer::refuse(error, text); };
    }
    void server_refuses(int error, const std::string& text = {}) {
        server = [=](const Seen&) { return Answer::refuse(error, text); };
    }
};

using Golden = CommandTest;

TEST_F(Golden, NoDevices) {
    expect_both(rig, {"device", "list"}, "devices-none");
}

TEST_F(Golden, OneDevice) {
    client_says({full_device(0, "db")});
    expect_both(rig, {"device", "list"}, "devices-one");
    expect_both(rig, {"device", "show", "/dev/rblk0"}, "device-show");
}

TEST_F(Golden, ManyDevices) {
    auto unknown = Put()
                       .u32(RBLK_CLIENT_A_DEVICE_INDEX, 12)
                       .text(RBLK_CLIENT_A_DEVICE_NAME, "rblk12")
                       .text(RBLK_CLIENT_A_DEVICE_EXPORT, "x")
                       .v6(RBLK_CLIENT_A_DEVICE_SERVER, "2001:db8::1", 7000)
                       .u32(RBLK_CLIENT_A_DEVICE_STATE, 99)
                       .u64(RBLK_CLIENT_A_DEVICE_SIZE, 5ULL << 40)
                       .u32(RBLK_CLIENT_A_DEVICE_BACKING, 42);
    client_says({full_device(0, "db"), failed_device(1, std::string(63, 'n'), "the server is gone"),
                 small_device(2, "a.b_c:d-e"), unknown});
    expect_both(rig, {"device", "list"}, "devices-many");
}

TEST_F(Golden, FailedDeviceWithOddText) {
    client_says({failed_device(1, "db", "cut \x1b[31m\n\xff größe")});
    expect_both(rig, {"device", "show", "1"}, "device-failed");
}

TEST_F(Golden, SmallDevice) {
    client_says({small_device(0, "db")});
    expect_both(rig, {"device", "show", "0"}, "device-small");
}

TEST_F(Golden, Exports) {
    expect_both(rig, {"export", "list"}, "exports-none");
    auto any = small_export("open").flag(RBLK_SERVER_A_EXPORT_ALLOW_ANY);
    server_says(
        {full_export("db"), any, small_export("shut").flag(RBLK_SERVER_A_EXPORT_READ_ONLY)});
    expect_both(rig, {"export", "list"}, "exports-many");
    server_says({full_export("db")});
    expect_both(rig, {"export", "show", "db"}, "export-show");
}

TEST_F(Golden, Listeners) {
    expect_both(rig, {"listen", "list"}, "listeners-none");
    server_says({listener("0.0.0.0", 7471, RBLK_SERVER_LISTENER_STATE_LISTENING),
                 listener("fe80::1", 7000, RBLK_SERVER_LISTENER_STATE_LISTENING)
                     .text(RBLK_SERVER_A_LISTENER_RDMA_DEVICE, "rxe0"),
                 listener("2001:db8::1", 7471, RBLK_SERVER_LISTENER_STATE_WAITING)
                     .text(RBLK_SERVER_A_LISTENER_ERROR, "no RDMA device has this address")});
    expect_both(rig, {"listen", "list"}, "listeners-many");
}

TEST_F(Golden, Sessions) {
    expect_both(rig, {"session", "list"}, "sessions-none");
    client_says({client_session(), Put().id(RBLK_CLIENT_A_SESSION_ID, 1)});
    server_says({server_session()});
    expect_both(rig, {"session", "list"}, "sessions-both");
}

TEST_F(Golden, PathInEachState) {
    auto session = Put().id(RBLK_CLIENT_A_SESSION_ID, 0xa0);
    for (std::uint32_t state = 0; state <= 7; state++)
        session.nest(RBLK_CLIENT_A_SESSION_PATH, client_path(state, state));
    client_says({session});
    expect_both(rig, {"session", "list"}, "session-states");
}

TEST(Session, ListsWhicheverIsLoaded) {
    Rig rig;
    rig.kernel.load_server([](const Seen&) {
        Answer answer;
        answer.replies = {server_session()};
        return answer;
    });
    auto text = rig.run({"session", "list"});
    EXPECT_EQ(text.exit, 0);
    EXPECT_FALSE(has(text.out, "client sessions"));
    EXPECT_TRUE(has(text.out, "SERVER SESSIONS"));
    auto json = json_of(rig.run({"--json", "session", "list"}).out);
    EXPECT_EQ(json["client_loaded"], false);
    EXPECT_EQ(json["client_sessions"], Json::array());
    EXPECT_EQ(json["server_sessions"].size(), 1u);
    // To list loads no module.
    EXPECT_TRUE(rig.kernel.named.empty());
}

TEST(NoModule, IsSaidByEveryCommand) {
    const std::pair<std::vector<std::string>, const char*> table[] = {
        {{"export", "add", "x", "--memory", "2M"}, "modprobe rblk-server"},
        {{"export", "list"}, "modprobe rblk-server"},
        {{"export", "show", "x"}, "modprobe rblk-server"},
        {{"export", "remove", "x"}, "modprobe rblk-server"},
        {{"listen", "add", "any"}, "modprobe rblk-server"},
        {{"listen", "list"}, "modprobe rblk-server"},
        {{"listen", "remove", "any"}, "modprobe rblk-server"},
        {{"map", "10.0.0.1", "x"}, "modprobe rblk-client"},
        {{"unmap", "0"}, "modprobe rblk-client"},
        {{"unmap", "all"}, "modprobe rblk-client"},
        {{"device", "list"}, "modprobe rblk-client"},
        {{"device", "show", "0"}, "modprobe rblk-client"},
        {{"session", "list"}, "modprobe rblk-client"},
        {{"monitor"}, "modprobe rblk-client"},
    };
    for (auto [words, hint] : table) {
        Rig rig;
        auto text = rig.run(words);
        EXPECT_EQ(text.exit, 8) << words[0];
        EXPECT_EQ(text.out, "");
        EXPECT_TRUE(has(text.err, hint)) << text.err;
        words.insert(words.begin(), "--json");
        auto json = rig.run(words);
        EXPECT_EQ(json.exit, 8);
        EXPECT_EQ(json.err, "");
        EXPECT_EQ(json_of(json.out)["error"]["code"], "module_not_loaded");
    }
}

TEST_F(CommandTest, ExportAdd) {
    server = [](const Seen& request) {
        Answer answer;
        if (request.command == RBLK_SERVER_CMD_EXPORT_GET) answer.replies = {full_export("db")};
        return answer;
    };
    auto words =
        std::vector<std::string>{"export", "add",     "db",     "--memory", "1.5G",   "--allow",
                                 "node-b", "--allow", "node-c", "--allow",  "node-b", "--shared"};
    auto outcome = rig.run(words);
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_EQ(outcome.out,
              "export db added: 1.5 GiB of memory (volatile), read-write, shared, for node-b, "
              "node-c\n");
    EXPECT_EQ(outcome.err, "");
    const auto& sent = rig.kernel.requests.at(0);
    EXPECT_EQ(sent.u64(RBLK_SERVER_A_EXPORT_SIZE), 3ULL << 29);
    EXPECT_EQ(sent.texts(RBLK_SERVER_A_EXPORT_ALLOW),
              (std::vector<std::string>{"node-b", "node-c"}));
    words.push_back("--json");
    auto json = json_of(rig.run(words).out);
    EXPECT_EQ(json["exports"][0]["size"], 3ULL << 29);
    EXPECT_EQ(json["exports"][0]["backing"], "memory");
}

TEST_F(CommandTest, ExportAddForAny) {
    server = [](const Seen& request) {
        Answer answer;
        if (request.command == RBLK_SERVER_CMD_EXPORT_GET)
            answer.replies = {small_export("db").flag(RBLK_SERVER_A_EXPORT_ALLOW_ANY)};
        return answer;
    };
    auto outcome = rig.run({"export", "add", "db", "--memory", "2M", "--allow", "any",
                            "--read-only", "--numa-node", "0"});
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    const auto& sent = rig.kernel.requests.at(0);
    EXPECT_TRUE(sent.has(RBLK_SERVER_A_EXPORT_ALLOW_ANY));
    EXPECT_FALSE(sent.has(RBLK_SERVER_A_EXPORT_ALLOW));
    EXPECT_TRUE(sent.has(RBLK_SERVER_A_EXPORT_READ_ONLY));
    EXPECT_EQ(sent.u32(RBLK_SERVER_A_EXPORT_NUMA_NODE), 0u);
}

TEST_F(CommandTest, ExportForNobodyIsRemarked) {
    server = [](const Seen& request) {
        Answer answer;
        if (request.command == RBLK_SERVER_CMD_EXPORT_GET) answer.replies = {small_export("db")};
        return answer;
    };
    auto outcome = rig.run({"export", "add", "db", "--memory", "2M"});
    EXPECT_EQ(outcome.exit, 0);
    EXPECT_TRUE(has(outcome.out, "for no client"));
    EXPECT_TRUE(has(outcome.err, "--allow"));
}

TEST_F(CommandTest, WrongWordsNeverReachTheKernel) {
    std::vector<std::string> many = {"export", "add", "x", "--memory", "2M"};
    for (int i = 0; i < 65; i++) {
        many.push_back("--allow");
        many.push_back("c" + std::to_string(i));
    }
    const std::pair<std::vector<std::string>, const char*> table[] = {
        {{}, "subcommand"},
        {{"bogus"}, "no command 'bogus'"},
        {{"export"}, "subcommand"},
        {{"export", "bogus"}, "no command 'bogus'"},
        {{"export", "add"}, "NAME"},
        {{"export", "add", "x"}, "--memory"},
        {{"export", "add", "x", "--memory"}, "--memory"},
        {{"export", "add", "x", "--memory", "3M"}, "multiple of 2 MiB"},
        {{"export", "add", "a/b", "--memory", "2M"}, "'/'"},
        {{"export", "add", "..", "--memory", "2M"}, "folder"},
        {{"export", "add", "", "--memory", "2M"}, "empty"},
        {{"export", "add", "x", "--memory", "2M", "--allow", "a b"}, "client name"},
        {{"export", "add", "x", "--memory", "2M", "--numa-node", "-1"}, "--numa-node"},
        {{"export", "add", "x", "--memory", "2M", "--numa-node", "x"}, "--numa-node"},
        {{"export", "add", "x", "y", "--memory", "2M"}, "y"},
        {many, "65 clients"},
        {{"export", "show"}, "NAME"},
        {{"export", "show", "a b"}, "space"},
        {{"export", "remove", "%s/"}, "'%'"},
        {{"export", "list", "extra"}, "extra"},
        {{"export", "list", "--bogus"}, "--bogus"},
        {{"listen", "add", "node-a"}, "host name"},
        {{"listen", "add", "fe80::1"}, "interface"},
        {{"listen", "remove", "10.0.0.1:0"}, "port"},
        {{"map"}, "SERVER"},
        {{"map", "10.0.0.1"}, "EXPORT"},
        {{"map", "0.0.0.0", "x"}, "no address of a server"},
        {{"map", "10.0.0.1", "x", "--queues", "0"}, "1 to 128"},
        {{"map", "10.0.0.1", "x", "--queues", "129"}, "1 to 128"},
        {{"map", "10.0.0.1", "x", "--depth", "0"}, "1 to 1024"},
        {{"map", "10.0.0.1", "x", "--depth", "1025"}, "1 to 1024"},
        {{"map", "10.0.0.1", "x", "--depth", "65536"}, "1 to 1024"},
        {{"map", "10.0.0.1", "x", "--depth", "4294967297"}, "1 to 1024"},
        {{"map", "10.0.0.1", "x", "--depth", "1x"}, "1 to 1024"},
        {{"map", "10.0.0.1", "x", "--timeout", "0"}, "1 to 600"},
        {{"map", "10.0.0.1", "x", "--timeout", "601"}, "1 to 600"},
        {{"map", "10.0.0.1", "x", "--client-name", "a/b"}, "client name"},
        {{"unmap"}, "DEVICE"},
        {{"unmap", "sda"}, "sda"},
        {{"unmap", "rblk0p1"}, "partition"},
        {{"device", "show", "x"}, "'x'"},
    };
    for (auto [words, part] : table) {
        auto text = rig.run(words);
        EXPECT_EQ(text.exit, 2) << part;
        EXPECT_EQ(text.out, "");
        EXPECT_TRUE(has(text.err, part)) << part << ": " << text.err;
        words.insert(words.begin(), "--json");
        auto json = rig.run(words);
        EXPECT_EQ(json.exit, 2) << part;
        EXPECT_EQ(json.err, "");
        auto error = json_of(json.out)["error"];
        EXPECT_EQ(error["code"], "usage");
        EXPECT_EQ(error["exit"], 2);
        EXPECT_TRUE(has(error["message"], part)) << error;
    }
    EXPECT_TRUE(rig.kernel.requests.empty());
}

TEST_F(CommandTest, JsonFlagAnywhere) {
    for (const auto& words : std::vector<std::vector<std::string>>{{"--json", "device", "list"},
                                                                   {"device", "--json", "list"},
                                                                   {"device", "list", "--json"}})
        EXPECT_EQ(json_of(rig.run(words).out)["devices"], Json::array());
}

TEST_F(CommandTest, ListenAdd) {
    server = [](const Seen& request) {
        Answer answer;
        if (request.command == RBLK_SERVER_CMD_LISTEN_GET)
            answer.replies = {listener("10.0.0.9", 7471, RBLK_SERVER_LISTENER_STATE_LISTENING),
                              listener("::", 7471, RBLK_SERVER_LISTENER_STATE_WAITING)
                                  .text(RBLK_SERVER_A_LISTENER_ERROR, "no RDMA device")};
        return answer;
    };
    for (auto word : {"any", "*", "[::]", "[::]:7471"}) {
        rig.kernel.requests.clear();
        auto outcome = rig.run({"listen", "add", word});
        EXPECT_EQ(outcome.exit, 0) << outcome.err;
        EXPECT_EQ(outcome.out, "listener :: port 7471 added: waiting\n");
        EXPECT_TRUE(has(outcome.err, "no RDMA device"));
        EXPECT_EQ(rig.kernel.requests.at(0).value(RBLK_SERVER_A_LISTENER_ADDR),
                  v6_bytes("::", 7471));
    }
    auto json = json_of(rig.run({"listen", "add", "10.0.0.9", "--json"}).out);
    EXPECT_EQ(json["listeners"].size(), 1u);
    EXPECT_EQ(json["listeners"][0]["state"], "listening");
    EXPECT_EQ(rig.run({"listen", "add", "10.0.0.8"}).exit, 1);
}

TEST_F(CommandTest, ListenRemove) {
    auto outcome = rig.run({"listen", "remove", "[2001:db8::1]:80"});
    EXPECT_EQ(outcome.exit, 0);
    EXPECT_EQ(outcome.out, "listener [2001:db8::1]:80 removed\n");
    EXPECT_EQ(json_of(rig.run({"listen", "remove", "10.0.0.1", "--json"}).out)["removed"],
              "10.0.0.1:7471");
}

TEST_F(CommandTest, ExportRemove) {
    auto outcome = rig.run({"export", "remove", "db", "--force"});
    EXPECT_EQ(outcome.out, "export db removed\n");
    EXPECT_TRUE(rig.kernel.requests.at(0).has(RBLK_SERVER_A_EXPORT_FORCE));
    EXPECT_EQ(json_of(rig.run({"export", "remove", "db", "--json"}).out)["removed"], "db");
}

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
    for (int error : {ENOENT, EACCES, EBUSY, EROFS, EPROTONOSUPPORT, EEXIST, EPERM, EINTR}) {
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

struct Refusal {
    std::vector<std::string> words;
    int error;
    int exit;
    const char* code;
    const char* hint;
};

void PrintTo(const Refusal& refusal, std::ostream* out) {
    for (const auto& word : refusal.words) *out << word << " ";
    *out << refusal.error;
}

class RefusalTest : public CommandTest, public ::testing::WithParamInterface<Refusal> {};

TEST_P(RefusalTest, ExitCodeAndText) {
    const auto& wanted = GetParam();
    client_refuses(wanted.error, "said the kernel");
    server_refuses(wanted.error, "said the kernel");
    auto words = wanted.words;
    auto text = rig.run(words);
    EXPECT_EQ(text.exit, wanted.exit) << text.err;
    EXPECT_EQ(text.out, "");
    EXPECT_TRUE(has(text.err, "said the kernel")) << text.err;
    EXPECT_TRUE(has(text.err, wanted.hint)) << text.err;
    words.push_back("--json");
    auto json = rig.run(words);
    EXPECT_EQ(json.exit, wanted.exit);
    EXPECT_EQ(json.err, "");
    auto error = json_of(json.out)["error"];
    EXPECT_EQ(error["code"], wanted.code);
    EXPECT_EQ(error["exit"], wanted.exit);
    EXPECT_TRUE(has(error["message"], "said the kernel"));
    // Without an extack the errno has words too.
    client_refuses(wanted.error);
    server_refuses(wanted.error);
    EXPECT_TRUE(has(rig.run(wanted.words).err, std::strerror(wanted.error)));
}

const std::vector<std::string> map_words = {"map", "10.0.0.1", "db"};
const std::vector<std::string> add_words = {"export", "add", "db", "--memory", "2M"};

INSTANTIATE_TEST_SUITE_P(
    All, RefusalTest,
    ::testing::Values(
        Refusal{map_words, ENXIO, 6, "unreachable", "rblk listen list"},
        Refusal{map_words, ECONNREFUSED, 6, "unreachable", "rblk listen list"},
        Refusal{map_words, ETIMEDOUT, 6, "unreachable", "--timeout"},
        Refusal{map_words, EHOSTUNREACH, 6, "unreachable", "ip route"},
        Refusal{map_words, ENETUNREACH, 6, "unreachable", "ip route"},
        Refusal{map_words, ENODEV, 6, "unreachable", "rblk check"},
        Refusal{map_words, ENOENT, 3, "not_found", "rblk export list"},
        Refusal{map_words, EACCES, 4, "denied", "--allow node-b"},
        Refusal{map_words, EPERM, 4, "denied", "root"},
        Refusal{map_words, EROFS, 4, "denied", "--read-only"},
        Refusal{map_words, EBUSY, 5, "busy", "--shared"},
        Refusal{map_words, EEXIST, 5, "busy", "rblk device list"},
        Refusal{map_words, EPROTONOSUPPORT, 7, "protocol_version", "one version"},
        Refusal{map_words, EINTR, 1, "failure", ""}, Refusal{map_words, EIO, 1, "failure", ""},
        Refusal{{"unmap", "0"}, ENODEV, 3, "not_found", "rblk device list"},
        Refusal{{"unmap", "0"}, EBUSY, 5, "busy", "--force"},
        Refusal{{"unmap", "0"}, EPERM, 4, "denied", "root"},
        Refusal{{"unmap", "0"}, EOPNOTSUPP, 1, "failure", "one version"},
        Refusal{{"device", "show", "0"}, ENODEV, 3, "not_found", "rblk device list"},
        Refusal{{"device", "show", "0"}, ENOENT, 3, "not_found", "rblk device list"},
        Refusal{{"device", "list"}, EPERM, 4, "denied", "root"},
        Refusal{{"session", "list"}, ENOMEM, 1, "failure", ""},
        Refusal{add_words, EEXIST, 5, "busy", "rblk export show db"},
        Refusal{add_words, ENOMEM, 1, "failure", "less memory"},
        Refusal{add_words, EINVAL, 1, "failure", ""},
        Refusal{add_words, EPERM, 4, "denied", "root"},
        Refusal{{"export", "show", "db"}, ENOENT, 3, "not_found", "rblk export list"},
        Refusal{{"export", "remove", "db"}, ENOENT, 3, "not_found", "rblk export list"},
        Refusal{{"export", "remove", "db"}, EBUSY, 5, "busy", "--force"},
        Refusal{{"listen", "add", "any"}, EEXIST, 5, "busy", "rblk listen list"},
        Refusal{{"listen", "add", "any"}, EADDRINUSE, 5, "busy", "ss -lntp"},
        Refusal{{"listen", "remove", "any"}, ENOENT, 3, "not_found", "rblk listen list"}));

TEST_F(CommandTest, RefusalNamesAttributeAndPlace) {
    client = [](const Seen&) {
        return Answer::refuse(EINVAL, "more than the server has", RBLK_CLIENT_A_DEVICE_QUEUES);
    };
    auto outcome = rig.run({"map", "10.0.0.1", "db", "--queues", "8"});
    EXPECT_EQ(outcome.err,
              "rblk: cannot map the export 'db' of 10.0.0.1:7471: more than the server has "
              "(attribute 'queues')\n");
}

class UnmapTest : public CommandTest {
protected:
    UnmapTest() {
        client = [this](const Seen& request) {
            Answer answer;
            if (request.command == RBLK_CLIENT_CMD_DEVICE_GET) {
                answer.replies = devices;
                return answer;
            }
            if (busy.count(request.u32(RBLK_CLIENT_A_DEVICE_INDEX)))
                return Answer::refuse(EBUSY, "the device is open");
            return answer;
        };
    }

    std::set<std::uint32_t> busy;
    std::vector<Put> devices = {full_device(0, "db")};
};

TEST_F(UnmapTest, ByAnyName) {
    for (auto word : {"/dev/rblk0", "rblk0", "0"}) {
        auto outcome = rig.run({"unmap", word});
        EXPECT_EQ(outcome.exit, 0);
        EXPECT_EQ(outcome.out, "unmapped: /dev/rblk0\n");
    }
    rig.run({"unmap", "0", "--force"});
    EXPECT_TRUE(rig.kernel.requests.back().has(RBLK_CLIENT_A_DEVICE_FORCE));
    EXPECT_EQ(json_of(rig.run({"unmap", "0", "--json"}).out)["unmapped"],
              Json::parse(R"(["/dev/rblk0"])"));
}

TEST_F(UnmapTest, BusySaysBy) {
    busy = {0};
    rig.root.write("/sys/block/rblk0/dev", "251:0\n");
    rig.root.write("/sys/block/rblk0/rblk0p1/dev", "259:7\n");
    rig.root.write("/sys/block/rblk0/rblk0p2/dev", "259:8\n");
    rig.root.folder("/sys/block/rblk0/holders/dm-3");
    rig.root.folder("/sys/block/rblk0/rblk0p1/holders/md0");
    rig.root.write("/sys/block/dm-3/dm/name", "vg-data\n");
    rig.root.write("/proc/swaps",
                   "Filename\tType\tSize\tUsed\tPriority\n"
                   "/dev/rblk0p2                            partition\t1\t0\t-2\n"
                   "/dev/sda2                               partition\t1\t0\t-3\n");
    rig.root.write("/proc/self/mountinfo",
                   "21 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
                   "22 21 251:0 / /mnt/my\\040disk rw shared:1 master:2 - ext4 /dev/rblk0 rw\n"
                   "23 21 0:45 /sub /btr rw - btrfs /dev/rblk0p1 rw\n"
                   "24 21 251:1 / /other rw - ext4 /dev/rblk1 rw\n"
                   "broken line\n");
    auto outcome = rig.run({"unmap", "rblk0"});
    EXPECT_EQ(outcome.exit, 5);
    EXPECT_EQ(outcome.err,
              "rblk: cannot unmap /dev/rblk0 (open once; rblk0 is mounted on /mnt/my disk; rblk0p1 "
              "is mounted on /btr; /dev/rblk0p2 is swap; dm-3 (vg-data) is made of it; md0 is made "
              "of it): the device is open\n"
              "      umount /mnt/my disk, umount /btr, swapoff /dev/rblk0p2, remove dm-3 (vg-data) "
              "and md0; --force unmaps it all the same and its I/O fails\n");
    auto error = json_of(rig.run({"unmap", "rblk0", "--json"}).out)["error"];
    EXPECT_EQ(error["code"], "busy");
    EXPECT_EQ(error["openers"], 1);
    EXPECT_EQ(error["mounts"], Json::parse(R"(["/mnt/my disk","/btr"])"));
    EXPECT_EQ(error["holders"], Json::parse(R"x(["dm-3 (vg-data)","md0"])x"));
    EXPECT_EQ(error["swap"], Json::parse(R"(["/dev/rblk0p2"])"));
}

TEST_F(UnmapTest, BusyByAnUnknown) {
    busy = {0};
    auto outcome = rig.run({"unmap", "rblk0"});
    EXPECT_EQ(outcome.exit, 5);
    EXPECT_TRUE(has(outcome.err, "open once")) << outcome.err;
    EXPECT_TRUE(has(outcome.err, "fuser -v /dev/rblk0")) << outcome.err;
}

TEST_F(UnmapTest, BusyAndNothingElseIsKnown) {
    busy = {0};
    devices = {};
    auto outcome = rig.run({"unmap", "rblk0"});
    EXPECT_EQ(outcome.exit, 5);
    EXPECT_TRUE(has(outcome.err, "the device is open")) << outcome.err;
}

TEST_F(UnmapTest, All) {
    devices = {full_device(0, "a"), full_device(1, "b"), full_device(2, "c")};
    auto outcome = rig.run({"unmap", "all"});
    EXPECT_EQ(outcome.exit, 0);
    EXPECT_EQ(outcome.out, "unmapped: /dev/rblk0, /dev/rblk1, /dev/rblk2\n");
    devices = {};
    EXPECT_EQ(rig.run({"unmap", "all"}).exit, 0);
}

TEST_F(UnmapTest, AllButTheBusyOnes) {
    devices = {full_device(0, "a"), full_device(1, "b"), full_device(2, "c")};
    busy = {1};
    auto outcome = rig.run({"unmap", "all", "--json"});
    EXPECT_EQ(outcome.exit, 5);
    auto error = json_of(outcome.out)["error"];
    EXPECT_EQ(error["unmapped"], Json::parse(R"(["/dev/rblk0","/dev/rblk2"])"));
    EXPECT_TRUE(has(error["message"], "/dev/rblk1"));
    EXPECT_FALSE(has(error["message"], "/dev/rblk0"));
}

TEST_F(CommandTest, Monitor) {
    auto& kernel = rig.kernel;
    auto fill = [&] {
        kernel.event(client_id, RBLK_CLIENT_CMD_DEVICE_ADD_NTF, full_device(0, "db"));
        kernel.event(client_id, RBLK_CLIENT_CMD_DEVICE_CHANGE_NTF,
                     failed_device(0, "db", "the server is gone"));
        kernel.event(client_id, RBLK_CLIENT_CMD_DEVICE_REMOVE_NTF, small_device(0, "db"));
        kernel.event(client_id, RBLK_CLIENT_CMD_SESSION_ADD_NTF, client_session());
        kernel.event(client_id, RBLK_CLIENT_CMD_SESSION_CHANGE_NTF, client_session());
        kernel.event(client_id, RBLK_CLIENT_CMD_SESSION_REMOVE_NTF, client_session());
        kernel.event(server_id, RBLK_SERVER_CMD_EXPORT_ADD_NTF, full_export("db"));
        kernel.event(server_id, RBLK_SERVER_CMD_EXPORT_CHANGE_NTF, full_export("db"));
        kernel.event(server_id, RBLK_SERVER_CMD_EXPORT_REMOVE_NTF, full_export("db"));
        kernel.event(server_id, RBLK_SERVER_CMD_LISTENER_CHANGE_NTF,
                     listener("10.0.0.1", 7471, 0).text(RBLK_SERVER_A_LISTENER_ERROR, "no device"));
        kernel.event(server_id, RBLK_SERVER_CMD_SESSION_ADD_NTF, server_session());
        kernel.event(server_id, RBLK_SERVER_CMD_SESSION_CHANGE_NTF, server_session());
        kernel.event(server_id, RBLK_SERVER_CMD_SESSION_REMOVE_NTF, server_session());
        // Of a newer kernel, of a stranger, and not to be understood.
        kernel.event(client_id, 200, Put());
        kernel.event(0x77, 1, Put());
        kernel.event(client_id, RBLK_CLIENT_CMD_DEVICE_ADD_NTF, Put());
        kernel.event(Bytes(5));
        kernel.overrun();
        kernel.family_event(CTRL_CMD_DELFAMILY, "rblk-server", server_id, server_group);
        kernel.event(server_id, RBLK_SERVER_CMD_EXPORT_ADD_NTF, full_export("unseen"));
        kernel.family_event(CTRL_CMD_NEWFAMILY, "rblk-server", 0x55, 99);
        kernel.family_event(CTRL_CMD_NEWFAMILY, "other", 0x56, 98);
        kernel.event(0x55, RBLK_SERVER_CMD_EXPORT_ADD_NTF, full_export("again"));
    };
    fill();
    auto text = rig.run({"monitor"});
    EXPECT_EQ(text.exit, 0) << text.err;
    expect_golden("monitor.txt", text.out);
    EXPECT_EQ(kernel.joined,
              (std::set<std::uint32_t>{notify_group, client_group, server_group, 99}));
    fill();
    auto json = rig.run({"monitor", "--json"});
    EXPECT_EQ(json.exit, 0);
    expect_golden("monitor.json", json.out);
    std::istringstream lines(json.out);
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line); count++) json_of(line);
    EXPECT_EQ(count, 20u);
}

TEST_F(CommandTest, Version) {
    auto text = rig.run({"version"});
    EXPECT_EQ(text.exit, 0);
    auto json = json_of(rig.run({"version", "--json"}).out);
    EXPECT_EQ(json["client_loaded"], true);
    EXPECT_EQ(json["client_netlink_version"], 1);
    EXPECT_TRUE(has(text.out, json["version"].get<std::string>()));
    Rig empty;
    EXPECT_EQ(json_of(empty.run({"version", "--json"}).out)["server_netlink_version"], Json());
}

TEST(Help, HasAllCommandsAndExitCodes) {
    Rig rig;
    auto outcome = rig.run({"--help"});
    EXPECT_EQ(outcome.exit, 0);
    for (const auto& info : exit_table()) {
        EXPECT_TRUE(has(outcome.out, std::string(info.code)));
        EXPECT_TRUE(has(outcome.out, std::string(info.meaning)));
    }
    EXPECT_TRUE(has(json_of(rig.run({"--help", "--json"}).out)["help"], "Usage"));
}

TEST(CommandTable, IsSound) {
    std::set<std::string_view> paths;
    Rig rig;
    auto completion = rig.run({"completion"}).out;
    for (const auto& command : command_table()) {
        EXPECT_TRUE(paths.insert(command.path).second) << command.path;
        EXPECT_FALSE(command.about.empty()) << command.path;
        EXPECT_NE(command.run, nullptr) << command.path;
        EXPECT_TRUE(has(completion, "\"" + std::string(command.path) + "\")")) << command.path;
        std::vector<std::string> words;
        std::istringstream path{std::string(command.path)};
        for (std::string word; path >> word;) words.push_back(word);
        words.push_back("--help");
        auto help = rig.run(words);
        EXPECT_EQ(help.exit, 0);
        EXPECT_TRUE(has(help.out, std::string(command.about))) << command.path;
        for (const auto& argument : command.arguments) {
            EXPECT_TRUE(has(help.out, std::string(argument.name))) << command.path;
            EXPECT_TRUE(has(help.out, std::string(argument.help))) << command.path;
        }
    }
    EXPECT_EQ(paths.size(), 16u);
}

TEST(Arguments, UnknownOnesAreABug) {
    static constexpr Argument known[] = {{Argument::Kind::flag, "--x", "", "x"}};
    Arguments arguments(known);
    EXPECT_FALSE(arguments.given("--x"));
    EXPECT_THROW(arguments.given("--y"), std::logic_error);
}

TEST(Output, ThatCannotBeWritten) {
    struct Full : std::streambuf {};
    Full full;
    std::ostream out(&full);
    std::ostringstream err;
    Rig rig;
    auto environment = Environment::of_this_machine();
    Environment broken{out,
                       err,
                       [&](int protocol) { return rig.kernel.open(protocol); },
                       environment.resolve,
                       environment.interfaces,
                       environment.files,
                       environment.host_name,
                       environment.kernel_release,
                       environment.is_block_device,
                       environment.now,
                       environment.sleep,
                       environment.wall_time};
    EXPECT_EQ(run({"version"}, broken), 1);
    EXPECT_TRUE(has(err.str(), "could not be written"));
}

TEST(ExitCodes, OfEachErrno) {
    EXPECT_EQ(exit_for_errno(ENODEV, Operation::map), Exit::unreachable);
    EXPECT_EQ(exit_for_errno(ENODEV, Operation::other), Exit::not_found);
    EXPECT_EQ(exit_for_errno(EADDRNOTAVAIL, Operation::other), Exit::unreachable);
    EXPECT_EQ(exit_for_errno(12345, Operation::other), Exit::failure);
    std::set<int> codes;
    for (const auto& info : exit_table()) {
        EXPECT_TRUE(codes.insert(static_cast<int>(info.exit)).second);
        EXPECT_EQ(exit_code_name(info.exit), info.code);
    }
    EXPECT_EQ(codes.size(), 9u);
}

}  // namespace
}  // namespace rblk::test
