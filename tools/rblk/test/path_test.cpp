// SPDX-License-Identifier: GPL-2.0
// 'rblk path list': the paths of all sessions, and of the one of a device.
#include <linux/rblk_client.h>

#include "command_fixture.hpp"
#include "objects.hpp"

namespace rblk::test {
namespace {

// Another session, with a path that says little.
Put other_session() {
    return Put()
        .id(RBLK_CLIENT_A_SESSION_ID, 0xb0)
        .nest(RBLK_CLIENT_A_SESSION_PATH,
              Put()
                  .u32(RBLK_CLIENT_A_PATH_INDEX, 0)
                  .u32(RBLK_CLIENT_A_PATH_STATE, RBLK_CLIENT_PATH_STATE_BACKOFF)
                  .v6(RBLK_CLIENT_A_PATH_SERVER, "fe80::1", 7000, 3)
                  .v6(RBLK_CLIENT_A_PATH_SOURCE, "fe80::2", 0, 3));
}

class PathTest : public CommandTest {
protected:
    // A device, and two sessions of which the first is its.
    void two_sessions(const Put& device) {
        client = [device](const Seen& request) {
            Answer answer;
            if (request.command == RBLK_CLIENT_CMD_DEVICE_GET)
                answer.replies = {device};
            else if (request.command == RBLK_CLIENT_CMD_SESSION_GET)
                answer.replies = {client_session(), other_session()};
            return answer;
        };
    }
};

TEST_F(PathTest, None) {
    expect_both(rig, {"path", "list"}, "paths-none");
}

TEST_F(PathTest, OfAllSessions) {
    two_sessions(full_device(0, "db"));
    expect_both(rig, {"path", "list"}, "paths-all");
    for (const auto& request : rig.kernel.requests)
        EXPECT_EQ(request.command, RBLK_CLIENT_CMD_SESSION_GET);
}

TEST_F(PathTest, OfADevice) {
    two_sessions(full_device(7, "db"));
    expect_both(rig, {"path", "list", "/dev/rblk7"}, "paths-device");
    EXPECT_EQ(rig.kernel.requests.at(0).command, RBLK_CLIENT_CMD_DEVICE_GET);
    EXPECT_EQ(rig.kernel.requests[0].u32(RBLK_CLIENT_A_DEVICE_INDEX), 7u);
}

TEST_F(PathTest, OfADeviceWithoutASession) {
    two_sessions(small_device(0, "db"));
    EXPECT_EQ(rig.run({"path", "list", "0"}).out, "no paths\n");
    EXPECT_EQ(json_of(rig.run({"path", "list", "0", "--json"}).out)["paths"], Json::array());
}

// What a program reads of a path is the same in both lists.
TEST_F(PathTest, AsInSessionList) {
    two_sessions(full_device(0, "db"));
    auto sessions = json_of(rig.run({"session", "list", "--json"}).out)["client_sessions"];
    Json wanted = Json::array();
    for (const auto& session : sessions)
        for (auto path : session["paths"]) {
            path["session_id"] = session["id"];
            path["client_name"] = session["client_name"];
            wanted.push_back(path);
        }
    auto paths = json_of(rig.run({"path", "list", "--json"}).out)["paths"];
    ASSERT_EQ(paths.size(), 4u);
    // The order of the keys is another.
    EXPECT_EQ(nlohmann::json(paths), nlohmann::json(wanted));
}

}  // namespace
}  // namespace rblk::test
