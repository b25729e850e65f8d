// SPDX-License-Identifier: GPL-2.0
// Which session 'session kick' means.
#include <cerrno>

#include <linux/rblk_server.h>

#include "command_fixture.hpp"
#include "objects.hpp"

namespace rblk::test {
namespace {

constexpr const char* a0 = "a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf";
constexpr const char* b0 = "b0b1b2b3-b4b5-b6b7-b8b9-babbbcbdbebf";
constexpr const char* c0 = "c0c1c2c3-c4c5-c6c7-c8c9-cacbcccdcecf";

Put session_of(std::uint8_t id, const std::string& client) {
    return Put().id(RBLK_SERVER_A_SESSION_ID, id).text(RBLK_SERVER_A_SESSION_CLIENT_NAME, client);
}

class KickTest : public CommandTest {
protected:
    KickTest() {
        server = [this](const Seen& request) {
            Answer answer;
            if (request.command == RBLK_SERVER_CMD_SESSION_GET) answer.replies = sessions;
            return request.command == RBLK_SERVER_CMD_SESSION_KICK ? kicked : answer;
        };
    }

    // The id that the kernel was told, as its first byte; 0 if it was told none.
    std::uint8_t id() {
        for (const auto& request : rig.kernel.requests)
            if (request.command == RBLK_SERVER_CMD_SESSION_KICK) {
                auto bytes = request.value(RBLK_SERVER_A_SESSION_ID);
                EXPECT_EQ(bytes.size(), 16u);
                return std::to_integer<std::uint8_t>(bytes.front());
            }
        return 0;
    }

    std::vector<Put> sessions = {session_of(0xa0, "node-b"), session_of(0xb0, "twice"),
                                 session_of(0xc0, "twice"), session_of(0x10, a0)};
    Answer kicked;
};

TEST_F(KickTest, ByName) {
    auto outcome = rig.run({"session", "kick", "node-b"});
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_EQ(outcome.out, std::string("session ") + a0 + " of client node-b ended\n");
    EXPECT_EQ(id(), 0xa0);
    auto json = json_of(rig.run({"session", "kick", "node-b", "--json"}).out);
    EXPECT_EQ(json["kicked"], a0);
    EXPECT_EQ(json["client_name"], "node-b");
}

TEST_F(KickTest, ById) {
    EXPECT_EQ(rig.run({"session", "kick", c0}).exit, 0);
    EXPECT_EQ(id(), 0xc0);
    rig.kernel.requests.clear();
    EXPECT_EQ(rig.run({"session", "kick", "C0C1C2C3-C4C5-C6C7-C8C9-CACBCCCDCECF"}).exit, 0);
    EXPECT_EQ(id(), 0xc0);
}

TEST_F(KickTest, AnIdGoesBeforeANameThatLooksLikeOne) {
    for (int order = 0; order < 2; order++) {
        rig.kernel.requests.clear();
        EXPECT_EQ(rig.run({"session", "kick", a0}).exit, 0);
        EXPECT_EQ(id(), 0xa0);
        std::swap(sessions.front(), sessions.back());
    }
    // Where there is no such session, it is the client's name.
    sessions = {session_of(0x10, a0)};
    rig.kernel.requests.clear();
    EXPECT_EQ(rig.run({"session", "kick", a0}).exit, 0);
    EXPECT_EQ(id(), 0x10);
}

TEST_F(KickTest, NoneOfSeveral) {
    auto text = rig.run({"session", "kick", "twice"});
    EXPECT_EQ(text.exit, 1);
    EXPECT_EQ(text.out, "");
    EXPECT_EQ(text.err, std::string("rblk: client 'twice' has 2 sessions: ") + b0 + ", " + c0 +
                            "\n      give the id of the one that is meant\n");
    EXPECT_EQ(id(), 0);
    auto error = json_of(rig.run({"session", "kick", "twice", "--json"}).out)["error"];
    EXPECT_EQ(error["code"], "failure");
    EXPECT_EQ(error["sessions"], (Json{b0, c0}));
}

TEST_F(KickTest, OneThatIsNotThere) {
    for (const char* word :
         {"node-z", "d0d1d2d3-d4d5-d6d7-d8d9-dadbdcdddedf", "a0a1", "",
          "a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeag", "a0a1a2a3+a4a5-a6a7-a8a9-aaabacadaeaf"}) {
        auto outcome = rig.run({"session", "kick", word});
        EXPECT_EQ(outcome.exit, 3) << word;
        EXPECT_TRUE(has(outcome.err, std::string("'") + word + "'")) << outcome.err;
        EXPECT_TRUE(has(outcome.err, "rblk session list")) << outcome.err;
    }
    EXPECT_EQ(id(), 0);
}

TEST_F(KickTest, OneThatEndedMeanwhile) {
    kicked = Answer::refuse(ENOENT, "there is no session of this id", RBLK_SERVER_A_SESSION_ID);
    auto outcome = rig.run({"session", "kick", "node-b"});
    EXPECT_EQ(outcome.exit, 3);
    EXPECT_EQ(outcome.err, std::string("rblk: cannot end the session ") + a0 +
                               ": there is no session of this id (attribute 'id')\n"
                               "      'rblk session list' shows the sessions and their ids\n");
    kicked = Answer::refuse(EBUSY, "a path did not end in time, its end goes on");
    EXPECT_EQ(rig.run({"session", "kick", "node-b"}).exit, 5);
    kicked = Answer::refuse(EPERM);
    EXPECT_TRUE(has(rig.run({"session", "kick", "node-b"}).err, "root"));
}

}  // namespace
}  // namespace rblk::test
