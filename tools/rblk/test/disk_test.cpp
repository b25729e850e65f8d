// SPDX-License-Identifier: GPL-2.0
// Disks as exports: which disk it is, and what is said of one.
#include <cerrno>

#include <linux/rblk_server.h>

#include "command_fixture.hpp"
#include "objects.hpp"
#include "system/identity.hpp"

namespace rblk::test {
namespace {

class IdentityTest : public testing::Test {
protected:
    std::string source(const std::string& number = "8:0") const {
        auto found = disk_identity(Files(root.path()), number);
        return found ? found->source : "";
    }

    std::string id(const std::string& number = "8:0") const {
        return uuid_text(disk_identity(Files(root.path()), number).value().id);
    }

    void say(const std::string& name, const std::string& text) const {
        root.write("/sys/dev/block/8:0/" + name, text);
    }

    Root root;
};

TEST_F(IdentityTest, ADiskThatSaysNothingHasNone) {
    EXPECT_EQ(source(), "");
    say("wwid", "  \n");
    say("device/model", "nameless\n");
    EXPECT_EQ(source(), "");
}

TEST_F(IdentityTest, TheBestThereIsCounts) {
    say("loop/backing_file", "/var/disk.img\n");
    EXPECT_EQ(source(), "") << "a file's name is good on its machine only";
    root.write("/etc/machine-id", "0123456789abcdef0123456789abcdef\n");
    say("loop/offset", "0\n");
    EXPECT_EQ(source(), "machine 0123456789abcdef0123456789abcdef file /var/disk.img from 0");
    say("serial", "  S1 \n");
    say("device/model", "fast\n");
    EXPECT_EQ(source(), "model fast serial S1");
    say("device/wwid", "naa.1\n");
    EXPECT_EQ(source(), "wwid naa.1");
    say("wwid", "eui.2\n");
    EXPECT_EQ(source(), "wwid eui.2");
    say("md/uuid", "5\n");
    EXPECT_EQ(source(), "md 5");
    say("dm/uuid", "LVM-x\n");
    EXPECT_EQ(source(), "dm LVM-x");
}

TEST_F(IdentityTest, APartitionIsOneOfItsDisk) {
    root.write("/sys/dev/block/8:0/part/partition", "2\n");
    root.write("/sys/dev/block/8:0/part/start", "2048\n");
    EXPECT_EQ(source("8:0/part"), "") << "its disk has none";
    say("wwid", "eui.2\n");
    EXPECT_EQ(source("8:0/part"), "partition 2 at 2048 of wwid eui.2");
}

TEST_F(IdentityTest, IsTheHashOfWhatItWasMadeOf) {
    say("wwid", "eui.2\n");
    // printf 'rblk disk identity\0wwid eui.2' | sha256sum
    EXPECT_EQ(id(), "b9eed06b-e281-29eb-0667-f9d73c115aaa");
    auto before = id();
    say("wwid", "eui.3\n");
    EXPECT_NE(id(), before);
}

Put disk_export(const std::string& name) {
    return Put()
        .text(RBLK_SERVER_A_EXPORT_NAME, name)
        .u64(RBLK_SERVER_A_EXPORT_SIZE, 3ULL << 29)
        .u32(RBLK_SERVER_A_EXPORT_BACKING, RBLK_SERVER_BACKING_DISK)
        .text(RBLK_SERVER_A_EXPORT_DEVICE, "/dev/sda")
        .flag(RBLK_SERVER_A_EXPORT_ALLOW_ANY);
}

class DiskTest : public CommandTest {
protected:
    DiskTest() {
        server = [](const Seen& request) {
            Answer answer;
            if (request.command == RBLK_SERVER_CMD_EXPORT_GET) answer.replies = {disk_export("d")};
            return answer;
        };
        rig.numbers["/dev/sda"] = "8:0";
    }
};

TEST_F(DiskTest, IsExportedWithItsIdentity) {
    rig.root.write("/sys/dev/block/8:0/wwid", "eui.2\n");
    auto outcome = rig.run({"export", "add", "d", "--device", "/dev/sda", "--allow", "any"});
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_EQ(outcome.out,
              "export d added: 1.5 GiB of disk /dev/sda, read-write, for any client\n");
    EXPECT_EQ(outcome.err, "");
    const auto& sent = rig.kernel.requests.at(0);
    EXPECT_EQ(sent.text(RBLK_SERVER_A_EXPORT_DEVICE), "/dev/sda");
    EXPECT_FALSE(sent.has(RBLK_SERVER_A_EXPORT_SIZE));
    EXPECT_TRUE(sent.has(RBLK_SERVER_A_EXPORT_INCARNATION));
    auto json = json_of(rig.run({"export", "show", "d", "--json"}).out);
    EXPECT_EQ(json["exports"][0]["backing"], "disk");
    EXPECT_EQ(json["exports"][0]["device"], "/dev/sda");
    EXPECT_EQ(json["exports"][0]["failed"], false);
}

TEST_F(DiskTest, WithoutOneThatIsSaid) {
    auto outcome = rig.run({"export", "add", "d", "--device", "/dev/sda", "--allow", "any"});
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_TRUE(has(outcome.err, "--id UUID gives it one")) << outcome.err;
    EXPECT_FALSE(rig.kernel.requests.at(0).has(RBLK_SERVER_A_EXPORT_INCARNATION));
    rig.kernel.requests.clear();
    outcome = rig.run({"export", "add", "d", "--device", "/dev/sda", "--allow", "any", "--id",
                       "6a2f41a3-c54c-4f3b-8dfb-2f0d3c6a2f41"});
    EXPECT_EQ(outcome.err, "");
    EXPECT_TRUE(rig.kernel.requests.at(0).has(RBLK_SERVER_A_EXPORT_INCARNATION));
}

TEST_F(DiskTest, WhatIsGoneIsCalledSo) {
    server = [](const Seen&) {
        Answer answer;
        answer.replies = {disk_export("d").flag(RBLK_SERVER_A_EXPORT_FAILED)};
        return answer;
    };
    EXPECT_TRUE(has(rig.run({"export", "list"}).out, "disk /dev/sda (gone)"));
    EXPECT_EQ(json_of(rig.run({"export", "list", "--json"}).out)["exports"][0]["failed"], true);
}

TEST_F(DiskTest, WrongWordsNeverReachTheKernel) {
    const std::pair<std::vector<std::string>, const char*> table[] = {
        {{"export", "add", "d"}, "either --memory or --device"},
        {{"export", "add", "d", "--memory", "2M", "--device", "/dev/sda"}, "either --memory or"},
        {{"export", "add", "d", "--memory", "2M", "--id", "6a2f41a3-c54c-4f3b-8dfb-2f0d3c6a2f41"},
         "--id is for a disk"},
        {{"export", "add", "d", "--device", "/dev/sda", "--numa-node", "0"}, "--numa-node is for"},
        {{"export", "add", "d", "--device", "/dev/sda", "--id", "x"}, "not an identity"},
        {{"export", "add", "d", "--device", "/dev/sda", "--id",
          "00000000-0000-0000-0000-000000000000"},
         "not an identity"},
    };
    for (const auto& [words, text] : table) {
        auto outcome = rig.run(words);
        EXPECT_EQ(outcome.exit, 2) << outcome.err;
        EXPECT_TRUE(has(outcome.err, text)) << outcome.err;
    }
    EXPECT_TRUE(rig.kernel.requests.empty());
}

TEST_F(DiskTest, RefusalsSayWhatToDo) {
    const std::pair<int, const char*> table[] = {
        {EBUSY, "lsblk"}, {EROFS, "--read-only"}, {ENOTBLK, "lsblk -p"}, {ENOENT, "lsblk -p"}};
    for (auto [error, hint] : table) {
        server = [error = error](const Seen&) { return Answer::refuse(error); };
        auto outcome = rig.run({"export", "add", "d", "--device", "/dev/sda"});
        EXPECT_NE(outcome.exit, 0);
        EXPECT_TRUE(has(outcome.err, "cannot export /dev/sda as 'd'")) << outcome.err;
        EXPECT_TRUE(has(outcome.err, hint)) << outcome.err;
    }
}

}  // namespace
}  // namespace rblk::test
