// SPDX-License-Identifier: GPL-2.0
// 'rblk unmap', and who keeps a device busy.
#include <cerrno>
#include <set>

#include <linux/rblk_client.h>

#include "command_fixture.hpp"
#include "objects.hpp"

namespace rblk::test {
namespace {

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
                   "23 21 0:45 /sub /b\\134tr rw - btrfs /dev/rblk0p1 rw\n"
                   "24 21 251:1 / /other rw - ext4 /dev/rblk1 rw\n"
                   "broken line\n");
    auto outcome = rig.run({"unmap", "rblk0"});
    EXPECT_EQ(outcome.exit, 5);
    EXPECT_EQ(
        outcome.err,
        "rblk: cannot unmap /dev/rblk0 (open once; rblk0 is mounted on /mnt/my disk; rblk0p1 "
        "is mounted on /b\\tr; /dev/rblk0p2 is swap; dm-3 (vg-data) is made of it; md0 is made "
        "of it): the device is open\n"
        "      umount /mnt/my disk, umount /b\\tr, swapoff /dev/rblk0p2, remove dm-3 (vg-data) "
        "and md0; --force unmaps it all the same and its I/O fails\n");
    auto error = json_of(rig.run({"unmap", "rblk0", "--json"}).out)["error"];
    EXPECT_EQ(error["code"], "busy");
    EXPECT_EQ(error["openers"], 1);
    EXPECT_EQ(error["mounts"], Json::parse(R"(["/mnt/my disk","/b\\tr"])"));
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

}  // namespace
}  // namespace rblk::test
