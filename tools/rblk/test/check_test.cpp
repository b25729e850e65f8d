// SPDX-License-Identifier: GPL-2.0
// 'rblk check' on machines that lack one thing or another.
#include <gtest/gtest.h>
#include <linux/rblk_server.h>
#include <nlohmann/json.hpp>

#include "objects.hpp"
#include "output/document.hpp"
#include "rig.hpp"

namespace rblk::test {
namespace {

constexpr std::uint64_t registers = 1ULL << 21;

class CheckTest : public ::testing::Test {
protected:
    // A machine on which all is well: rxe0 on eth1, both modules.
    void good() {
        rig.root.write("/proc/self/status", "Name:\trblk\nCapEff:\t000001ffffffffff\n");
        rig.root.write("/proc/self/uid_map", "         0          0 4294967295\n");
        rig.root.folder("/sys/module/rdma_cm");
        device("rxe0", "4: ACTIVE\n", "eth1");
        rig.root.write("/sys/class/net/eth1/operstate", "up\n");
        rdma({{"rxe0", registers}});
        rig.kernel.load_client([](const Seen&) { return Answer(); });
        listeners({listener("0.0.0.0", 7471, RBLK_SERVER_LISTENER_STATE_LISTENING)});
    }

    void device(const std::string& name, const std::string& state, const std::string& interface) {
        auto port = "/sys/class/infiniband/" + name + "/ports/1";
        rig.root.write(port + "/state", state);
        rig.root.write(port + "/link_layer", "Ethernet\n");
        rig.root.write(port + "/gid_attrs/ndevs/0", interface + "\n");
        rig.root.write(port + "/gid_attrs/ndevs/1", interface + "\n");
        rig.root.write(port + "/gids/0", "fe80:0000:0000:0000:5054:00ff:fe12:3456\n");
        rig.root.write(port + "/gids/1", "0000:0000:0000:0000:0000:ffff:0a00:0001\n");
        rig.root.write(port + "/gids/2", "0000:0000:0000:0000:0000:0000:0000:0000\n");
    }

    void rdma(std::map<std::string, std::uint64_t> devices) {
        rig.kernel.load_rdma([devices](const Seen&) {
            Answer answer;
            for (const auto& [name, flags] : devices)
                answer.replies.push_back(Put().u32(1, 0).text(2, name).u64(4, flags));
            return answer;
        });
    }

    void listeners(std::vector<Put> all) {
        rig.kernel.load_server([all](const Seen&) {
            Answer answer;
            answer.replies = all;
            return answer;
        });
    }

    void unload() {
        rig.kernel = FakeKernel();
        rdma({{"rxe0", registers}});
    }

    // Of rblk these, and what a distribution has.
    void install(const std::vector<std::string>& modules) {
        std::string list =
            "kernel/drivers/infiniband/sw/rxe/rdma_rxe.ko.xz: kernel/ib_core.ko\n"
            "kernel/drivers/infiniband/core/rdma_cm.ko:\n";
        for (const auto& module : modules)
            list += "updates/" + module + ".ko: updates/rblk-core.ko\n";
        rig.root.write("/lib/modules/6.12.9/modules.dep", list);
    }

    struct Result {
        int exit;
        bool client;
        bool server;
        std::multimap<std::string, std::pair<std::string, std::string>> found;

        // Whether a check has this status and these words in its message or next step.
        bool says(const std::string& check, const std::string& status,
                  const std::string& part = {}) const {
            auto [from, to] = found.equal_range(check);
            for (; from != to; ++from)
                if (from->second.first == status &&
                    from->second.second.find(part) != std::string::npos)
                    return true;
            return false;
        }
    };

    Result check() {
        auto outcome = rig.run({"check", "--json"});
        EXPECT_EQ(outcome.err, "");
        auto json = Json::parse(outcome.out);
        EXPECT_EQ(json["exit"], outcome.exit);
        Result result{outcome.exit, json["client_ready"], json["server_ready"], {}};
        for (const auto& item : json["checks"]) {
            auto words = item["message"].get<std::string>();
            if (!item["next_step"].is_null())
                words += " -> " + item["next_step"].get<std::string>();
            // What is wrong comes with what to do.
            if (item["status"] == "fail") {
                EXPECT_FALSE(item["next_step"].is_null()) << words;
            }
            result.found.emplace(item["check"],
                                 std::pair(item["status"].get<std::string>(), words));
        }
        return result;
    }

    Rig rig;
};

TEST_F(CheckTest, AllIsWell) {
    good();
    auto result = check();
    EXPECT_EQ(result.exit, 0);
    EXPECT_TRUE(result.client);
    EXPECT_TRUE(result.server);
    for (const auto& [name, finding] : result.found) EXPECT_EQ(finding.first, "ok") << name;
    expect_golden("check-good.txt", rig.run({"check"}).out);
    EXPECT_TRUE(rig.kernel.named.empty()) << "check loads modules";
}

TEST_F(CheckTest, Nothing) {
    auto result = check();
    EXPECT_EQ(result.exit, 8);
    EXPECT_FALSE(result.client);
    EXPECT_FALSE(result.server);
    EXPECT_TRUE(result.says("permissions", "fail", "CAP_NET_ADMIN"));
    EXPECT_TRUE(result.says("rdma_cm", "fail", "6.12.9"));
    EXPECT_TRUE(result.says("rdma_devices", "fail", "no RDMA device"));
    EXPECT_TRUE(result.says("client_module", "fail", "insmod rblk-core.ko; insmod rblk-client.ko"));
    EXPECT_TRUE(result.says("server_module", "fail", "not installed"));
    expect_golden("check-nothing.txt", rig.run({"check"}).out);
}

TEST_F(CheckTest, ModulesThatAreInstalledAndNotLoaded) {
    good();
    unload();
    install({"rblk-client", "rblk-server"});
    auto result = check();
    EXPECT_EQ(result.exit, 0);
    EXPECT_TRUE(result.client);
    EXPECT_TRUE(result.server);
    EXPECT_TRUE(result.says("client_module", "off", "installed and not loaded"));
    EXPECT_TRUE(result.says("server_module", "off", "the first command that needs it loads it"));
    EXPECT_EQ(result.found.count("listeners"), 0u);
    expect_golden("check-not-loaded.txt", rig.run({"check"}).out);
    EXPECT_TRUE(rig.kernel.named.empty()) << "check loads modules";
}

TEST_F(CheckTest, OneInstalledModuleIsEnough) {
    good();
    unload();
    install({"rblk-client"});
    auto result = check();
    EXPECT_EQ(result.exit, 0);
    EXPECT_TRUE(result.client);
    EXPECT_FALSE(result.server);
    EXPECT_TRUE(result.says("server_module", "off", "not installed"));
}

TEST_F(CheckTest, InstalledModulesAreNotAllThereIs) {
    install({"rblk-client", "rblk-server"});
    auto result = check();
    EXPECT_EQ(result.exit, 4);
    EXPECT_TRUE(result.says("rdma_cm", "ok"));
    EXPECT_TRUE(result.says("rdma_devices", "fail", "rdma link add"));
    rig.root.write("/proc/self/status", "CapEff:\t000001ffffffffff\n");
    rig.root.write("/proc/self/uid_map", "0 0 4294967295\n");
    result = check();
    EXPECT_EQ(result.exit, 6);
    EXPECT_FALSE(result.client);
    EXPECT_FALSE(result.server);
}

TEST_F(CheckTest, ModulesThatDoNotAnswer) {
    good();
    unload();
    install({"rblk-client"});
    rig.root.folder("/sys/module/rblk_client");
    rig.root.write("/lib/modules/6.12.9/modules.builtin", "kernel/x/rblk-server.ko\n");
    auto result = check();
    EXPECT_EQ(result.exit, 8);
    EXPECT_TRUE(result.says("client_module", "fail", "does not answer"));
    EXPECT_TRUE(result.says("server_module", "fail", "-> 'dmesg' may say why"));
}

TEST_F(CheckTest, OneModuleIsEnough) {
    good();
    unload();
    rig.kernel.load_client([](const Seen&) { return Answer(); });
    auto result = check();
    EXPECT_EQ(result.exit, 0);
    EXPECT_TRUE(result.client);
    EXPECT_FALSE(result.server);
    EXPECT_TRUE(result.says("server_module", "off", "needed to export"));
}

TEST_F(CheckTest, NoRight) {
    good();
    // Everything but CAP_NET_ADMIN, which is bit 12.
    rig.root.write("/proc/self/status", "CapEff:\t000001ffffffefff\n");
    auto result = check();
    EXPECT_EQ(result.exit, 4);
    EXPECT_TRUE(result.says("permissions", "fail", "root"));
}

TEST_F(CheckTest, RightInAContainerOnly) {
    good();
    rig.root.write("/proc/self/uid_map", "0 100000 65536\n");
    auto result = check();
    EXPECT_EQ(result.exit, 4);
    EXPECT_TRUE(result.says("permissions", "fail", "user namespace"));
}

TEST_F(CheckTest, PortThatIsDown) {
    good();
    device("rxe0", "1: DOWN\n", "eth1");
    auto result = check();
    EXPECT_EQ(result.exit, 6);
    EXPECT_TRUE(result.says("rdma_ports", "warn", "not active but DOWN"));
    EXPECT_TRUE(result.says("rdma_ports", "warn", "ip link set eth1 up"));
    device("rxe1", "4: ACTIVE\n", "eth0");
    rdma({{"rxe0", registers}, {"rxe1", registers}});
    result = check();
    EXPECT_EQ(result.exit, 0);
    EXPECT_TRUE(result.says("rdma_ports", "warn"));
    EXPECT_TRUE(result.says("rdma_ports", "ok", "rxe1 port 1 on eth0 (10.0.0.1)"));
}

TEST_F(CheckTest, DeviceThatCannotRegister) {
    good();
    rdma({{"rxe0", 0}});
    auto result = check();
    EXPECT_EQ(result.exit, 6);
    EXPECT_TRUE(result.says("memory_registration", "fail", "another RDMA device"));
}

TEST_F(CheckTest, KernelThatDoesNotTellOfRegistration) {
    good();
    rig.kernel.load_rdma(nullptr);
    auto result = check();
    EXPECT_EQ(result.exit, 0);
    EXPECT_TRUE(result.says("memory_registration", "warn", "does not say"));
}

TEST_F(CheckTest, InterfaceThatIsDown) {
    good();
    rig.root.write("/sys/class/net/eth1/operstate", "down\n");
    EXPECT_TRUE(check().says("network", "warn", "ip link set eth1 up"));
}

TEST_F(CheckTest, Listeners) {
    good();
    listeners({});
    EXPECT_TRUE(check().says("listeners", "warn", "rblk listen add any"));
    listeners({listener("10.0.0.7", 80, RBLK_SERVER_LISTENER_STATE_WAITING)
                   .text(RBLK_SERVER_A_LISTENER_ERROR, "no such address")});
    EXPECT_TRUE(check().says("listeners", "warn", "10.0.0.7:80 waits: no such address"));
    rig.kernel.load_server([](const Seen&) { return Answer::refuse(5); });
    EXPECT_TRUE(check().says("listeners", "warn", "cannot be read"));
}

TEST_F(CheckTest, PortThatIsTaken) {
    good();
    EXPECT_FALSE(check().says("port", "warn"));
    std::string head = "  sl  local_address rem_address   st tx_queue\n";
    // 7471 is 1D2F. Connected, and another port listening: neither counts.
    rig.root.write("/proc/net/tcp", head +
                                        "   0: 0100007F:1D2F 0100007F:9999 01 00000000:0\n"
                                        "   1: 00000000:0016 00000000:0000 0A 00000000:0\n");
    EXPECT_FALSE(check().says("port", "warn"));
    rig.root.write("/proc/net/tcp6", head +
                                         "   0: 00000000000000000000000000000000:1D2F "
                                         "00000000000000000000000000000000:0000 0A 00000000:0\n");
    EXPECT_TRUE(check().says("port", "warn", "7471"));
}

TEST_F(CheckTest, OfThisMachineEnds) {
    // Whatever it finds here, it finds it without an exception.
    auto environment = Environment::of_this_machine();
    std::ostringstream out;
    std::ostringstream err;
    Environment real{out,
                     err,
                     environment.open_netlink,
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
    int exit = run({"check", "--json"}, real);
    auto json = Json::parse(out.str());
    EXPECT_EQ(json["exit"], exit);
    EXPECT_FALSE(json["checks"].empty());
    EXPECT_EQ(err.str(), "");
}

// Sysfs does so for a GID that is not there. An attempt at address 0 of this process does, too.
TEST(FilesTest, WhatOpensAndThenCannotBeReadIsNothing) {
    Files files;
    EXPECT_TRUE(files.exists("/proc/self/mem"));
    EXPECT_EQ(files.read("/proc/self/mem"), std::nullopt);
    EXPECT_EQ(files.read("/proc/self/comm"), "rblk-test");
}

}  // namespace
}  // namespace rblk::test
