// SPDX-License-Identifier: GPL-2.0
// 'rblk path list': the paths of all sessions, and of the one of a device.
#include <sstream>
#include <tuple>

#include <linux/rblk_client.h>

#include "command_fixture.hpp"
#include "objects.hpp"

namespace rblk::test {
namespace {

// Another session, with a path that says little and none that is active.
Put other_session() {
    return Put()
        .id(RBLK_CLIENT_A_SESSION_ID, 0xb0)
        .nest(RBLK_CLIENT_A_SESSION_PATH,
              Put()
                  .u32(RBLK_CLIENT_A_PATH_INDEX, 0)
                  .u32(RBLK_CLIENT_A_PATH_STATE, RBLK_CLIENT_PATH_STATE_BACKOFF)
                  .v6(RBLK_CLIENT_A_PATH_SERVER, "fe80::1", 7000, 3)
                  .v6(RBLK_CLIENT_A_PATH_SOURCE, "fe80::2", 0, 3)
                  .flag(RBLK_CLIENT_A_PATH_DRAINED))
        .nest(RBLK_CLIENT_A_SESSION_PATH, client_path(1, RBLK_CLIENT_PATH_STATE_LIVE))
        .nest(RBLK_CLIENT_A_SESSION_PATH,
              client_path(2, RBLK_CLIENT_PATH_STATE_LIVE).flag(RBLK_CLIENT_A_PATH_DRAINED));
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
    ASSERT_EQ(paths.size(), 6u);
    // The order of the keys is another.
    EXPECT_EQ(nlohmann::json(paths), nlohmann::json(wanted));
}

TEST_F(PathTest, Role) {
    const std::tuple<std::uint32_t, bool, bool, const char*, const char*> table[] = {
        {RBLK_CLIENT_PATH_STATE_LIVE, false, false, "standby", "paths=1:live\n"},
        {RBLK_CLIENT_PATH_STATE_LIVE, true, false, "active", "paths=1:live/active\n"},
        {RBLK_CLIENT_PATH_STATE_LIVE, false, true, "drained", "paths=1:live/drained\n"},
        {RBLK_CLIENT_PATH_STATE_LIVE, true, true, "draining", "paths=1:live/draining\n"},
        {RBLK_CLIENT_PATH_STATE_BACKOFF, false, true, "drained", "paths=1:backoff/drained\n"},
        {RBLK_CLIENT_PATH_STATE_BACKOFF, false, false, "-", "paths=1:backoff\n"},
    };
    for (const auto& [state, active, drained, role, pair] : table) {
        auto path = Put().u32(RBLK_CLIENT_A_PATH_INDEX, 1).u32(RBLK_CLIENT_A_PATH_STATE, state);
        if (active) path.flag(RBLK_CLIENT_A_PATH_ACTIVE);
        if (drained) path.flag(RBLK_CLIENT_A_PATH_DRAINED);
        auto session =
            Put().id(RBLK_CLIENT_A_SESSION_ID, 0xa0).nest(RBLK_CLIENT_A_SESSION_PATH, path);
        client_says({session});
        auto json = json_of(rig.run({"path", "list", "--json"}).out)["paths"][0];
        EXPECT_EQ(json["active"], active);
        EXPECT_EQ(json["drained"], drained);
        std::istringstream row(rig.run({"path", "list"}).out);
        std::string line, id, number, word;
        std::getline(row, line);
        row >> id >> number >> word;
        EXPECT_EQ(id, "a0a1a2a3");
        EXPECT_EQ(number, "1");
        EXPECT_EQ(word, role);
        rig.kernel.event(client_id, RBLK_CLIENT_CMD_SESSION_CHANGE_NTF, session);
        EXPECT_TRUE(has(rig.run({"monitor"}).out, pair)) << pair;
    }
}

TEST_F(PathTest, LatencyForPeople) {
    const std::pair<std::uint64_t, const char*> table[] = {
        {0, "0 ns"},
        {999, "999 ns"},
        {1000, "1.0 us"},
        {999'949, "999.9 us"},
        {999'950, "1.0 ms"},
        {4'321'000, "4.3 ms"},
        {~0ULL, "18446744073709.6 ms"},
    };
    for (const auto& [ns, text] : table) {
        auto path = Put().u32(RBLK_CLIENT_A_PATH_INDEX, 0).u32(RBLK_CLIENT_A_PATH_STATE, 2);
        path.u64(RBLK_CLIENT_A_PATH_LATENCY_NS, ns);
        client_says({Put().id(RBLK_CLIENT_A_SESSION_ID, 1).nest(RBLK_CLIENT_A_SESSION_PATH, path)});
        EXPECT_TRUE(has(rig.run({"session", "list"}).out, std::string(" ") + text + " ")) << text;
    }
}

// A row of a session that is well fits a terminal.
TEST_F(PathTest, WidthOfTheTable) {
    auto session = Put().id(RBLK_CLIENT_A_SESSION_ID, 0xa0);
    session.nest(RBLK_CLIENT_A_SESSION_PATH, client_path(0, RBLK_CLIENT_PATH_STATE_LIVE));
    session.nest(RBLK_CLIENT_A_SESSION_PATH, client_path(1, RBLK_CLIENT_PATH_STATE_CONNECTING));
    client_says({session});
    for (const char* group : {"path", "session"}) {
        std::istringstream text(rig.run({group, "list"}).out);
        for (std::string line; std::getline(text, line);) EXPECT_LE(line.size(), 100u) << line;
    }
}

}  // namespace
}  // namespace rblk::test
