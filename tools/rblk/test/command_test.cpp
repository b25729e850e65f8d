// SPDX-License-Identifier: GPL-2.0
// The rest of the commands, the command line and the table of commands.
#include <cerrno>
#include <set>
#include <sstream>

#include <linux/rblk_client.h>
#include <linux/rblk_server.h>

#include "command_fixture.hpp"
#include "error.hpp"
#include "objects.hpp"

namespace rblk::test {
namespace {

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
        {{"export", "add", "x", "--memory", "2M"},
         "did not load by itself: 'modprobe rblk-server' says why"},
        {{"export", "list"}, "did not load by itself: 'modprobe rblk-server' says why"},
        {{"export", "show", "x"}, "did not load by itself: 'modprobe rblk-server' says why"},
        {{"export", "allow", "x", "y"}, "did not load by itself: 'modprobe rblk-server' says why"},
        {{"export", "unallow", "x", "y"},
         "did not load by itself: 'modprobe rblk-server' says why"},
        {{"export", "resize", "x", "2M"},
         "did not load by itself: 'modprobe rblk-server' says why"},
        {{"export", "remove", "x"}, "did not load by itself: 'modprobe rblk-server' says why"},
        {{"listen", "add", "any"}, "did not load by itself: 'modprobe rblk-server' says why"},
        {{"listen", "list"}, "did not load by itself: 'modprobe rblk-server' says why"},
        {{"listen", "remove", "any"}, "did not load by itself: 'modprobe rblk-server' says why"},
        {{"map", "10.0.0.1", "x"}, "did not load by itself: 'modprobe rblk-client' says why"},
        {{"unmap", "0"}, "did not load by itself: 'modprobe rblk-client' says why"},
        {{"unmap", "all"}, "did not load by itself: 'modprobe rblk-client' says why"},
        {{"device", "list"}, "did not load by itself: 'modprobe rblk-client' says why"},
        {{"device", "show", "0"}, "did not load by itself: 'modprobe rblk-client' says why"},
        {{"device", "set", "0", "--policy", "preferred"},
         "did not load by itself: 'modprobe rblk-client' says why"},
        {{"path", "list"}, "did not load by itself: 'modprobe rblk-client' says why"},
        {{"path", "add", "0", "10.0.1.1"},
         "did not load by itself: 'modprobe rblk-client' says why"},
        {{"path", "remove", "0", "1"}, "did not load by itself: 'modprobe rblk-client' says why"},
        {{"path", "drain", "0", "1"}, "did not load by itself: 'modprobe rblk-client' says why"},
        {{"path", "undrain", "0", "1"}, "did not load by itself: 'modprobe rblk-client' says why"},
        {{"path", "set", "0", "1", "--tos", "0"},
         "did not load by itself: 'modprobe rblk-client' says why"},
        {{"path", "list", "0"}, "did not load by itself: 'modprobe rblk-client' says why"},
        {{"session", "kick", "x"}, "did not load by itself: 'modprobe rblk-server' says why"},
        {{"session", "list"}, "'modprobe rblk-client' or 'modprobe rblk-server' loads one"},
        {{"monitor"}, "'modprobe rblk-client' or 'modprobe rblk-server' loads one"},
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

// One request, one that has a reply, one dump.
TEST(NoModule, IsSaidIfItGoesAfterItWasFound) {
    const std::pair<std::vector<std::string>, const char*> table[] = {
        {{"export", "remove", "x"}, "rblk-server"}, {{"export", "list"}, "rblk-server"},
        {{"export", "show", "x"}, "rblk-server"},   {{"map", "10.0.0.1", "x"}, "rblk-client"},
        {{"device", "list"}, "rblk-client"},        {{"unmap", "0"}, "rblk-client"},
    };
    for (const auto& [words, name] : table) {
        Rig rig;
        rig.kernel.load_client([](const Seen&) { return Answer(); });
        rig.kernel.load_server([](const Seen&) { return Answer(); });
        rig.kernel.going = {name};
        auto outcome = rig.run(words);
        EXPECT_EQ(outcome.exit, 8) << words[0] << outcome.err;
        EXPECT_TRUE(has(outcome.err, std::string("the kernel has no ") + name + " loaded"))
            << outcome.err;
        EXPECT_TRUE(has(outcome.err, "unloaded after the command had begun")) << outcome.err;
    }
}

// An object that is missing has the same number.
TEST_F(CommandTest, WhatIsMissingIsNoModuleThatIsMissing) {
    server = [](const Seen&) { return Answer::refuse(ENOENT); };
    EXPECT_EQ(rig.run({"export", "remove", "x"}).exit, 3);
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

TEST_F(CommandTest, ExportAllowAndUnallow) {
    const std::pair<const char*, unsigned> table[] = {{"allow", RBLK_SERVER_CMD_EXPORT_ALLOW},
                                                      {"unallow", RBLK_SERVER_CMD_EXPORT_UNALLOW}};
    server_says({full_export("db")});
    for (auto [word, command] : table) {
        rig.kernel.requests.clear();
        auto outcome = rig.run({"export", word, "db", "node-b", "node-c", "node-b"});
        EXPECT_EQ(outcome.exit, 0) << outcome.err;
        EXPECT_EQ(outcome.out, "export db is for node-b, node-c\n");
        const auto& sent = rig.kernel.requests.at(0);
        EXPECT_EQ(sent.command, command);
        EXPECT_EQ(sent.text(RBLK_SERVER_A_EXPORT_NAME), "db");
        EXPECT_EQ(sent.texts(RBLK_SERVER_A_EXPORT_ALLOW),
                  (std::vector<std::string>{"node-b", "node-c"}));
        EXPECT_FALSE(sent.has(RBLK_SERVER_A_EXPORT_ALLOW_ANY));
        rig.kernel.requests.clear();
        auto json = json_of(rig.run({"export", word, "db", "any", "--json"}).out);
        EXPECT_EQ(json["exports"][0]["allow"], (Json{"node-b", "node-c"}));
        EXPECT_TRUE(rig.kernel.requests.at(0).has(RBLK_SERVER_A_EXPORT_ALLOW_ANY));
        EXPECT_FALSE(rig.kernel.requests.at(0).has(RBLK_SERVER_A_EXPORT_ALLOW));
    }
    server_says({small_export("db")});
    EXPECT_EQ(rig.run({"export", "unallow", "db", "any"}).out, "export db is for no client\n");
}

TEST_F(CommandTest, ExportResize) {
    server_says({full_export("db")});
    auto outcome = rig.run({"export", "resize", "db", "1.5G"});
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "export db has 1.5 GiB\n");
    EXPECT_EQ(outcome.err, "");
    const auto& sent = rig.kernel.requests.at(0);
    EXPECT_EQ(sent.command, unsigned{RBLK_SERVER_CMD_EXPORT_RESIZE});
    EXPECT_EQ(sent.text(RBLK_SERVER_A_EXPORT_NAME), "db");
    EXPECT_EQ(sent.u64(RBLK_SERVER_A_EXPORT_SIZE), 3ULL << 29);
    EXPECT_FALSE(sent.has(RBLK_SERVER_A_EXPORT_FORCE));
    rig.kernel.requests.clear();
    auto json = json_of(rig.run({"export", "resize", "db", "2M", "--force", "--json"}).out);
    EXPECT_EQ(json["exports"][0]["size"], 3ULL << 29);
    EXPECT_EQ(rig.kernel.requests.at(0).u64(RBLK_SERVER_A_EXPORT_SIZE), 2ULL << 20);
    EXPECT_TRUE(rig.kernel.requests.at(0).has(RBLK_SERVER_A_EXPORT_FORCE));
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
    EXPECT_TRUE(has(outcome.err, "rblk export allow db CLIENT"));
}

TEST_F(CommandTest, WrongWordsNeverReachTheKernel) {
    std::vector<std::string> many = {"export", "add", "x", "--memory", "2M"};
    for (int i = 0; i < 65; i++) {
        many.push_back("--allow");
        many.push_back("c" + std::to_string(i));
    }
    auto crowd = many;
    std::erase(crowd, "--allow");
    crowd.erase(crowd.begin() + 3, crowd.begin() + 5);
    crowd[1] = "allow";
    const std::pair<std::vector<std::string>, const char*> table[] = {
        {{}, "a command is required"},
        {{"bogus"}, "no command 'bogus'"},
        {{"export"}, "a command is required"},
        {{"export", "bogus"}, "no command 'bogus'"},
        {{"export", "add"}, "NAME"},
        {{"export", "add", "x"}, "--memory or --device"},
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
        {{"export", "allow"}, "NAME"},
        {{"export", "allow", "x"}, "CLIENT"},
        {{"export", "allow", "x", "a", "b c"}, "client name"},
        {{"export", "unallow", "x"}, "CLIENT"},
        {{"export", "resize", "x"}, "SIZE"},
        {{"export", "resize", "x", "0"}, "nothing to export"},
        {{"export", "resize", "x", "3M"}, "2 MiB"},
        {{"export", "resize", "x", "much"}, "much"},
        {{"export", "resize", "x/", "2M"}, "export name"},
        {{"export", "unallow", "x/", "a"}, "export name"},
        {crowd, "65 clients"},
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
        {{"map", "10.0.0.1", "x", "--no-path-timeout"}, "--no-path-timeout"},
        {{"map", "10.0.0.1", "x", "--no-path-timeout", "86401"}, "0 to 86400, or 'forever'"},
        {{"map", "10.0.0.1", "x", "--no-path-timeout", "never"}, "--no-path-timeout is 'never'"},
        {{"map", "10.0.0.1", "x", "--no-reconnect", "--no-path-timeout", "1"}, "exclude"},
        {{"map", "10.0.0.1", "x", "--steal", "--read-only"}, "exclude each other"},
        {{"map", "10.0.0.1", "x", "--policy", "fastest"},
         "--policy is 'fastest', and must be preferred, round-robin, min-inflight or min-latency"},
        {{"map", "10.0.0.1", "x", "--policy", ""}, "--policy is ''"},
        {{"map", "10.0.0.1", "x", "--policy"}, "--policy"},
        {{"map", "10.0.0.1", "x", "--write-order", "0"},
         "--write-order is '0', and must be auto, strict or relaxed"},
        {{"map", "10.0.0.1", "x", "--tos", "256"}, "--tos is '256', and must be a number from 0"},
        {{"map", "10.0.0.1", "x", "--tos", "-1"}, "0 to 255"},
        {{"map", "10.0.0.1", "x", "--ack-timeout", "23"}, "8 to 22"},
        {{"map", "10.0.0.1", "x", "--retry-count", "7"}, "0 to 6"},
        {{"unmap"}, "DEVICE"},
        {{"unmap", "sda"}, "sda"},
        {{"unmap", "rblk0p1"}, "partition"},
        {{"device", "show", "x"}, "'x'"},
        {{"device", "set"}, "DEVICE"},
        {{"device", "set", "0"}, "give --policy, --write-order or --no-path-timeout"},
        {{"device", "set", "sda", "--policy", "preferred"}, "sda"},
        {{"device", "set", "0", "--policy", "Preferred"}, "--policy is 'Preferred'"},
        {{"device", "set", "0", "--policy", "round"}, "--policy is 'round'"},
        {{"device", "set", "0", "--write-order", "none"}, "auto, strict or relaxed"},
        {{"device", "set", "0", "--no-path-timeout", "86401"}, "0 to 86400, or 'forever'"},
        {{"device", "set", "0", "--tos", "0"}, "--tos"},
        {{"path"}, "a command is required"},
        {{"path", "list", "sda"}, "sda"},
        {{"path", "list", "0", "1"}, "1"},
        {{"path", "add", "0"}, "SERVER"},
        {{"path", "add", "sda", "10.0.1.1"}, "sda"},
        {{"path", "add", "0", "0.0.0.0"}, "no address of a server"},
        {{"path", "add", "0", "10.0.1.1@"}, "nothing behind its '@'"},
        {{"path", "add", "0", "10.0.1.1@::1"}, "an IPv4 server and an IPv6 address"},
        {{"path", "add", "0", "10.0.1.1", "--timeout", "0"}, "1 to 600"},
        {{"path", "add", "0", "10.0.1.1", "--timeout", "601"}, "1 to 600"},
        {{"path", "add", "0", "10.0.1.1", "--force"}, "--force"},
        {{"path", "add", "0", "10.0.1.1", "--tos", "x"}, "0 to 255"},
        {{"path", "add", "0", "10.0.1.1", "--ack-timeout", "23"}, "8 to 22"},
        {{"path", "add", "0", "10.0.1.1", "--retry-count", "7"}, "0 to 6"},
        {{"path", "add", "0", "10.0.1.1", "--policy", "preferred"}, "--policy"},
        {{"path", "set", "0"}, "PATH"},
        {{"path", "set", "0", "1"}, "give --tos, --ack-timeout or --retry-count"},
        {{"path", "set", "sda", "1", "--tos", "0"}, "sda"},
        {{"path", "set", "0", "all", "--tos", "0"}, "PATH is 'all'"},
        {{"path", "set", "0", "1", "--tos", "256"}, "0 to 255"},
        {{"path", "set", "0", "1", "--ack-timeout", "23"}, "8 to 22"},
        {{"path", "set", "0", "1", "--retry-count", "7"}, "0 to 6"},
        {{"path", "remove", "0"}, "PATH"},
        {{"path", "remove", "sda", "0"}, "sda"},
        {{"path", "remove", "0", "all"}, "PATH is 'all'"},
        {{"path", "drain", "0", "1x"}, "PATH is '1x'"},
        {{"path", "drain", "0", ""}, "PATH is ''"},
        {{"path", "drain", "0", "4294967296"}, "PATH is '4294967296'"},
        {{"path", "undrain", "0", "10.0.1.1"}, "PATH is '10.0.1.1'"},
        {{"path", "undrain", "0", "1", "--force"}, "--force"},
        {{"session", "kick"}, "SESSION"},
        {{"session", "kick", "a", "b"}, "b"},
        {{"map", "10.0.0.1@", "x"}, "nothing behind its '@'"},
        {{"map", "10.0.0.1@::1", "x"}, "an IPv4 server and an IPv6 address"},
        {{"map", "10.0.0.1", "x", "--path"}, "--path"},
        {{"map", "10.0.0.1", "x", "--path", ""}, "is empty"},
        {{"map", "10.0.0.1", "x", "--path", "0.0.0.0"}, "no address of a server"},
        {{"map", "10.0.0.1", "x", "--path", "10.0.1.1:0"}, "port is 1 to 65535"},
        {{"map", "10.0.0.1", "x", "--path", "10.0.1.1@10.0.1.2:80"}, "'10.0.1.2:80' has a port"},
        {{"map", "10.0.0.1", "x", "--path", "10.0.1.1@node-b"}, "'node-b' is no address"},
        {{"map", "10.0.0.1", "x", "--path", "::1@10.0.1.2"}, "an IPv6 server and an IPv4 address"},
        {{"map", "10.0.0.1", "x", "--path", "10.0.1.1", "--no-reconnect"},
         "--path and --no-reconnect exclude each other"},
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

TEST_F(CommandTest, DeviceThatDoesNotServeIsRemarked) {
    auto remark = [&](const Put& device) {
        client_says({device});
        EXPECT_EQ(rig.run({"device", "show", "0", "--json"}).err, "");
        return rig.run({"device", "show", "0"}).err;
    };
    EXPECT_EQ(remark(full_device(0, "db")), "");
    EXPECT_TRUE(has(remark(recovering_device(0, 30'000)), "waits for the connection"));
    EXPECT_TRUE(has(remark(failed_device(0, "db", "gone")), "for good"));
    // Of a kernel that reconnects.
    auto failed = Put()
                      .u32(RBLK_CLIENT_A_DEVICE_INDEX, 0)
                      .text(RBLK_CLIENT_A_DEVICE_NAME, "rblk0")
                      .text(RBLK_CLIENT_A_DEVICE_EXPORT, "db")
                      .v4(RBLK_CLIENT_A_DEVICE_SERVER, "10.0.0.1", 7471)
                      .u32(RBLK_CLIENT_A_DEVICE_STATE, RBLK_CLIENT_DEVICE_STATE_FAILED)
                      .u32(RBLK_CLIENT_A_DEVICE_SIZE, 2 << 20)
                      .u32(RBLK_CLIENT_A_DEVICE_NO_PATH_TIMEOUT_MS, 0);
    EXPECT_TRUE(has(remark(failed), "rblk session list"));
}

TEST_F(CommandTest, DeviceSet) {
    struct {
        std::vector<std::string> words;
        unsigned type;
        std::uint32_t value;
        const char* said;
        Json json;
    } const table[] = {
        {{"--policy", "preferred"},
         RBLK_CLIENT_A_DEVICE_POLICY,
         0,
         "policy preferred",
         "preferred"},
        {{"--policy", "round-robin"},
         RBLK_CLIENT_A_DEVICE_POLICY,
         1,
         "policy round-robin",
         "round-robin"},
        {{"--policy", "min-inflight"},
         RBLK_CLIENT_A_DEVICE_POLICY,
         2,
         "policy min-inflight",
         "min-inflight"},
        {{"--policy", "min-latency"},
         RBLK_CLIENT_A_DEVICE_POLICY,
         3,
         "policy min-latency",
         "min-latency"},
        {{"--write-order", "auto"},
         RBLK_CLIENT_A_DEVICE_WRITE_ORDER,
         0,
         "write order auto",
         "auto"},
        {{"--write-order", "strict"},
         RBLK_CLIENT_A_DEVICE_WRITE_ORDER,
         1,
         "write order strict",
         "strict"},
        {{"--write-order", "relaxed"},
         RBLK_CLIENT_A_DEVICE_WRITE_ORDER,
         2,
         "write order relaxed",
         "relaxed"},
        {{"--no-path-timeout", "0"},
         RBLK_CLIENT_A_DEVICE_NO_PATH_TIMEOUT_MS,
         0,
         "no-path timeout 0 s",
         0},
        {{"--no-path-timeout", "60"},
         RBLK_CLIENT_A_DEVICE_NO_PATH_TIMEOUT_MS,
         60'000,
         "no-path timeout 60 s",
         60'000},
        {{"--no-path-timeout", "forever"},
         RBLK_CLIENT_A_DEVICE_NO_PATH_TIMEOUT_MS,
         4294967295,
         "no-path timeout for ever",
         Json()},
    };
    const std::pair<unsigned, const char*> keys[] = {
        {RBLK_CLIENT_A_DEVICE_POLICY, "policy"},
        {RBLK_CLIENT_A_DEVICE_WRITE_ORDER, "write_order"},
        {RBLK_CLIENT_A_DEVICE_NO_PATH_TIMEOUT_MS, "no_path_timeout_ms"}};
    for (const auto& row : table) {
        std::vector<std::string> words = {"device", "set", "/dev/rblk7"};
        words.insert(words.end(), row.words.begin(), row.words.end());
        rig.kernel.requests.clear();
        auto text = rig.run(words);
        EXPECT_EQ(text.exit, 0) << text.err;
        EXPECT_EQ(text.out, std::string("/dev/rblk7 set: ") + row.said + "\n");
        EXPECT_EQ(text.err, "");
        const auto& sent = rig.kernel.requests.at(0);
        EXPECT_EQ(sent.command, RBLK_CLIENT_CMD_DEVICE_SET);
        EXPECT_EQ(sent.u32(RBLK_CLIENT_A_DEVICE_INDEX), 7u);
        EXPECT_EQ(sent.u32(row.type), row.value);
        EXPECT_EQ(sent.attributes.size(), 2u);
        words.push_back("--json");
        auto json = json_of(rig.run(words).out);
        EXPECT_EQ(json["device"], "/dev/rblk7");
        EXPECT_EQ(json["changed"].size(), 1u);
        EXPECT_EQ(json.size(), 6u);
        for (const auto& [type, key] : keys) {
            EXPECT_EQ(json["changed"][0] == key, type == row.type) << json;
            EXPECT_EQ(json.at(key), type == row.type ? row.json : Json()) << json;
        }
    }
}

class CompletionTest : public CommandTest {
protected:
    // The line of the script for this command or group.
    std::string words_for(const std::string& path) {
        auto completion = rig.run({"completion"}).out;
        auto begin = completion.find("\"" + path + "\") words=");
        if (begin == std::string::npos) return "none";
        return completion.substr(begin, completion.find('\n', begin) - begin);
    }
};

TEST_F(CompletionTest, OffersForever) {
    EXPECT_TRUE(has(words_for("map"), "--no-path-timeout forever --no-reconnect"));
}

TEST_F(CompletionTest, OffersWords) {
    const char* offered =
        " --policy preferred round-robin min-inflight min-latency --write-order auto strict "
        "relaxed ";
    EXPECT_TRUE(has(words_for("map"), offered));
    EXPECT_TRUE(has(words_for("device set"), offered));
    // The help has them in place of a name for the value.
    for (const auto& words :
         {std::vector<std::string>{"map", "--help"}, {"device", "set", "--help"}}) {
        auto help = rig.run(words).out;
        EXPECT_TRUE(has(help, "--policy preferred|round-robin|min-inflight|min-latency\n")) << help;
        EXPECT_TRUE(has(help, "--write-order auto|strict|relaxed\n")) << help;
    }
}

TEST_F(CompletionTest, OffersPaths) {
    EXPECT_TRUE(has(words_for("map"), " --path "));
    EXPECT_EQ(words_for("path"), "\"path\") words=\"--help list add remove drain undrain set\" ;;");
    // An argument that may be left out is no word to offer; what it can be is.
    EXPECT_EQ(words_for("path list"),
              "\"path list\") words=\"--json --help $(rblk device list 2>/dev/null | awk 'NR > 1 "
              "{print $1}')\" ;;");
    // Numbers are those of the device in front.
    for (const char* command : {"remove", "drain", "undrain", "set"})
        EXPECT_TRUE(has(words_for(std::string("path ") + command),
                        "$(rblk path list \"${COMP_WORDS[3]}\" 2>/dev/null | awk 'NR > 1 {print "
                        "$2}')"))
            << command;
    EXPECT_FALSE(has(words_for("path add"), "rblk path list"));
    // A word behind a group belongs to the command.
    auto completion = rig.run({"completion"}).out;
    for (const auto& group : group_table())
        EXPECT_TRUE(has(completion, "|" + std::string(group.name))) << group.name;
}

TEST_F(CompletionTest, OffersSessionsToKick) {
    EXPECT_TRUE(has(words_for("session kick"), "--help $(rblk session list 2>/dev/null | awk"));
}

TEST_F(CommandTest, Version) {
    auto text = rig.run({"version"});
    EXPECT_EQ(text.exit, 0);
    auto json = json_of(rig.run({"version", "--json"}).out);
    EXPECT_EQ(json["client_loaded"], true);
    EXPECT_EQ(json["client_netlink_version"], 1);
    EXPECT_TRUE(has(text.out, json["version"].get<std::string>()));
    auto flag = rig.run({"--version"});
    EXPECT_EQ(flag.exit, 0);
    EXPECT_EQ(flag.out, text.out);
    EXPECT_EQ(flag.err, "");
    EXPECT_EQ(json_of(rig.run({"--version", "--json"}).out), json);
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
    EXPECT_EQ(paths.size(), 27u);
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
                       environment.device_number,
                       environment.now,
                       environment.sleep,
                       environment.wall_time};
    EXPECT_EQ(run({"version"}, broken), 1);
    EXPECT_TRUE(has(err.str(), "could not be written"));
}

}  // namespace
}  // namespace rblk::test
