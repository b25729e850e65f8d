// SPDX-License-Identifier: GPL-2.0
// Each refusal of the kernel: exit code, words, hint, JSON.
#include <cerrno>
#include <cstring>
#include <set>

#include <linux/rblk_client.h>

#include "command_fixture.hpp"
#include "error.hpp"

namespace rblk::test {
namespace {

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
    EXPECT_TRUE(has(rig.run(wanted.words).err,
                    wanted.error == ECANCELED ? "interrupted" : std::strerror(wanted.error)));
}

const std::vector<std::string> map_words = {"map", "10.0.0.1", "db"};
const std::vector<std::string> steal_words = {"map", "10.0.0.1", "db", "--steal"};
const std::vector<std::string> add_words = {"export", "add", "db", "--memory", "2M"};
const std::vector<std::string> path_words = {"path", "add", "0", "10.0.1.1"};
const std::vector<std::string> remove_words = {"path", "remove", "0", "1"};
const std::vector<std::string> drain_words = {"path", "drain", "0", "1"};
const std::vector<std::string> undrain_words = {"path", "undrain", "0", "1"};
const std::vector<std::string> device_set_words = {"device", "set", "0", "--policy", "preferred"};
const std::vector<std::string> path_set_words = {"path", "set", "0", "1", "--tos", "0"};

INSTANTIATE_TEST_SUITE_P(
    All, RefusalTest,
    ::testing::Values(
        Refusal{map_words, ENXIO, 6, "unreachable", "rblk listen list"},
        Refusal{map_words, ECONNREFUSED, 6, "unreachable", "rblk listen list"},
        Refusal{map_words, ETIMEDOUT, 6, "unreachable", "--timeout"},
        Refusal{map_words, EHOSTUNREACH, 6, "unreachable", "ip route"},
        Refusal{map_words, ENETUNREACH, 6, "unreachable", "ip route"},
        Refusal{map_words, ENODEV, 6, "unreachable", "'rblk check' here and on the server"},
        Refusal{map_words, ENOENT, 3, "not_found", "rblk export list"},
        Refusal{map_words, EACCES, 4, "denied", "rblk export allow db node-b"},
        Refusal{map_words, EPERM, 4, "denied", "root"},
        Refusal{map_words, EROFS, 4, "denied", "--read-only"},
        Refusal{map_words, EBUSY, 5, "busy", "--shared"},
        Refusal{map_words, EBUSY, 5, "busy", "--steal"},
        Refusal{steal_words, EBUSY, 5, "busy", "did not let go of it in time"},
        Refusal{steal_words, EINVAL, 1, "failure", "without --steal"},
        Refusal{map_words, EEXIST, 5, "busy", "rblk device list"},
        Refusal{map_words, EPROTONOSUPPORT, 7, "protocol_version", "one version"},
        Refusal{map_words, ECANCELED, 1, "failure", ""},
        Refusal{map_words, EINTR, 1, "failure", ""}, Refusal{map_words, EIO, 1, "failure", ""},
        Refusal{{"unmap", "0"}, ENODEV, 3, "not_found", "rblk device list"},
        Refusal{{"unmap", "0"}, EBUSY, 5, "busy", "--force"},
        Refusal{{"unmap", "0"}, EPERM, 4, "denied", "root"},
        Refusal{{"unmap", "0"}, EOPNOTSUPP, 1, "failure", "one version"},
        Refusal{{"device", "show", "0"}, ENODEV, 3, "not_found", "rblk device list"},
        Refusal{{"device", "show", "0"}, ENOENT, 3, "not_found", "rblk device list"},
        Refusal{{"device", "list"}, EPERM, 4, "denied", "root"},
        Refusal{{"path", "list"}, EPERM, 4, "denied", "root"},
        Refusal{{"path", "list", "0"}, ENODEV, 3, "not_found", "rblk device list"},
        Refusal{path_words, EEXIST, 5, "busy", "'rblk path list /dev/rblk0'"},
        Refusal{path_words, ENOSPC, 1, "failure", "'rblk path remove /dev/rblk0 PATH'"},
        Refusal{path_words, EXDEV, 1, "failure", "to the server of /dev/rblk0"},
        Refusal{path_words, ENODEV, 3, "not_found", "rblk device list"},
        Refusal{path_words, ENXIO, 6, "unreachable", "rblk listen list"},
        Refusal{path_words, ECONNREFUSED, 6, "unreachable", "rblk listen list"},
        Refusal{path_words, ETIMEDOUT, 6, "unreachable", "--timeout"},
        Refusal{path_words, EHOSTUNREACH, 6, "unreachable", "ip route"},
        Refusal{path_words, EPROTONOSUPPORT, 7, "protocol_version", "one version"},
        Refusal{path_words, EPERM, 4, "denied", "root"},
        Refusal{path_words, EINVAL, 1, "failure", ""},
        Refusal{path_words, ECANCELED, 1, "failure", ""},
        Refusal{remove_words, ENODEV, 3, "not_found", "rblk device list"},
        Refusal{remove_words, ENOENT, 3, "not_found", "'rblk path list /dev/rblk0'"},
        Refusal{remove_words, EBUSY, 5, "busy", "with --force"},
        Refusal{remove_words, EINVAL, 1, "failure", "'rblk path add /dev/rblk0 SERVER'"},
        Refusal{remove_words, EPERM, 4, "denied", "root"},
        Refusal{remove_words, EOPNOTSUPP, 1, "failure", "one version"},
        Refusal{drain_words, ENODEV, 3, "not_found", "rblk device list"},
        Refusal{drain_words, ENOENT, 3, "not_found", "'rblk path list /dev/rblk0'"},
        Refusal{drain_words, EBUSY, 5, "busy", "with --force"},
        Refusal{drain_words, EINVAL, 1, "failure", "'rblk path add /dev/rblk0 SERVER'"},
        Refusal{drain_words, EPERM, 4, "denied", "root"},
        Refusal{undrain_words, ENODEV, 3, "not_found", "rblk device list"},
        Refusal{undrain_words, ENOENT, 3, "not_found", "'rblk path list /dev/rblk0'"},
        Refusal{undrain_words, EBUSY, 5, "busy", ""},
        Refusal{undrain_words, EPERM, 4, "denied", "root"},
        Refusal{device_set_words, ENODEV, 3, "not_found", "rblk device list"},
        Refusal{device_set_words, EOPNOTSUPP, 1, "failure", "without --no-reconnect"},
        Refusal{device_set_words, EINVAL, 1, "failure", ""},
        Refusal{device_set_words, EPERM, 4, "denied", "root"},
        Refusal{path_set_words, ENODEV, 3, "not_found", "rblk device list"},
        Refusal{path_set_words, ENOENT, 3, "not_found", "'rblk path list /dev/rblk0'"},
        Refusal{path_set_words, EINVAL, 1, "failure", ""},
        Refusal{path_set_words, EOPNOTSUPP, 1, "failure", "one version"},
        Refusal{path_set_words, EPERM, 4, "denied", "root"},
        Refusal{{"session", "list"}, ENOMEM, 1, "failure", ""},
        Refusal{add_words, EEXIST, 5, "busy", "rblk export show db"},
        Refusal{add_words, ENOMEM, 1, "failure", "less memory"},
        Refusal{add_words, EINVAL, 1, "failure", ""},
        Refusal{add_words, ECANCELED, 1, "failure", ""},
        Refusal{add_words, EPERM, 4, "denied", "root"},
        Refusal{{"export", "show", "db"}, ENOENT, 3, "not_found", "rblk export list"},
        Refusal{{"export", "allow", "db", "a"}, ENOENT, 3, "not_found", "rblk export list"},
        Refusal{{"export", "allow", "db", "a"}, ENOSPC, 1, "failure", "rblk export unallow db"},
        Refusal{{"export", "allow", "db", "a"}, EPERM, 4, "denied", "root"},
        Refusal{{"export", "unallow", "db", "a"}, ENOENT, 3, "not_found", "rblk export show db"},
        Refusal{{"export", "unallow", "db", "a"}, EINVAL, 1, "failure", "'any' as well"},
        Refusal{{"export", "unallow", "db", "a"}, EBUSY, 5, "busy", "rblk session list"},
        Refusal{{"export", "resize", "db", "2M"}, ENOENT, 3, "not_found", "rblk export list"},
        Refusal{{"export", "resize", "db", "2M"}, EINVAL, 1, "failure", "--force"},
        Refusal{{"export", "resize", "db", "2M", "--force"}, EINVAL, 1, "failure", ""},
        Refusal{{"export", "resize", "db", "2M"}, ENOMEM, 1, "failure", "less memory"},
        Refusal{{"export", "resize", "db", "2M"}, EBUSY, 5, "busy", "rblk session list"},
        Refusal{{"export", "resize", "db", "2M"}, ECANCELED, 1, "failure", ""},
        Refusal{{"export", "resize", "db", "2M"}, EPERM, 4, "denied", "root"},
        Refusal{{"export", "remove", "db"}, ENOENT, 3, "not_found", "rblk export list"},
        Refusal{{"export", "remove", "db"}, EBUSY, 5, "busy", "--force takes it from them"},
        Refusal{{"listen", "add", "any"}, EEXIST, 5, "busy", "rblk listen list"},
        Refusal{{"listen", "add", "any"},
                EADDRINUSE,
                5,
                "busy",
                "'rblk listen list' and 'ss -lntp sport = :7471'"},
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

TEST_F(CommandTest, DeviceSetOfAnOlderKernel) {
    // It says no more than that it does not know the request.
    client_refuses(EOPNOTSUPP);
    auto outcome = rig.run({"device", "set", "0", "--policy", "preferred"});
    EXPECT_EQ(outcome.exit, 1);
    EXPECT_TRUE(has(outcome.err, "cannot change the settings of /dev/rblk0: ")) << outcome.err;
    EXPECT_TRUE(has(outcome.err, "one version")) << outcome.err;
}

TEST_F(CommandTest, RefusalOfWhatASignalEnded) {
    client_refuses(ECANCELED);
    EXPECT_EQ(rig.run({"map", "10.0.0.1", "db"}).err,
              "rblk: cannot map the export 'db' of 10.0.0.1:7471: interrupted\n");
    server_refuses(ECANCELED);
    EXPECT_EQ(rig.run({"export", "add", "db", "--memory", "2M"}).err,
              "rblk: cannot export 2 MiB of memory as 'db': interrupted\n");
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
