// SPDX-License-Identifier: GPL-2.0
// What commands print, text and JSON, compared with files.
#include <sstream>

#include <linux/genetlink.h>
#include <linux/rblk_client.h>
#include <linux/rblk_server.h>

#include "command_fixture.hpp"
#include "objects.hpp"

namespace rblk::test {
namespace {

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
                       .u32(RBLK_CLIENT_A_DEVICE_BACKING, 42)
                       .u32(RBLK_CLIENT_A_DEVICE_POLICY, 43)
                       .u32(RBLK_CLIENT_A_DEVICE_WRITE_ORDER, 44);
    client_says({full_device(0, "db"), failed_device(1, std::string(63, 'n'), "the server is gone"),
                 small_device(2, "a.b_c:d-e"), recovering_device(3, 0xffff'ffff), unknown});
    expect_both(rig, {"device", "list"}, "devices-many");
}

TEST_F(Golden, FailedDeviceWithOddText) {
    client_says({failed_device(1, "db", "cut \x1b[31m\n\xff größe")});
    expect_both(rig, {"device", "show", "1"}, "device-failed");
}

TEST_F(Golden, RecoveringDevice) {
    client_says({recovering_device(0, 1050)});
    expect_both(rig, {"device", "show", "0"}, "device-recovering");
    const std::pair<std::uint32_t, const char*> table[] = {
        {0, "0 s"}, {1, "0.001 s"}, {86'400'000, "86400 s"}, {0xffff'ffff, "for ever"}};
    for (const auto& [ms, text] : table) {
        client_says({recovering_device(0, ms)});
        EXPECT_TRUE(has(rig.run({"device", "show", "0"}).out,
                        std::string("no-path timeout:  ") + text + "\n"))
            << text;
    }
}

TEST_F(Golden, SmallDevice) {
    client_says({small_device(0, "db")});
    expect_both(rig, {"device", "show", "0"}, "device-small");
}

TEST_F(Golden, Settings) {
    expect_both(rig,
                {"device", "set", "0", "--policy", "round-robin", "--write-order", "strict",
                 "--no-path-timeout", "forever"},
                "device-set");
    expect_both(
        rig, {"path", "set", "0", "1", "--tos", "32", "--ack-timeout", "14", "--retry-count", "0"},
        "path-set");
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

TEST_F(CommandTest, Monitor) {
    auto& kernel = rig.kernel;
    auto fill = [&] {
        kernel.event(client_id, RBLK_CLIENT_CMD_DEVICE_ADD_NTF, full_device(0, "db"));
        kernel.event(client_id, RBLK_CLIENT_CMD_DEVICE_CHANGE_NTF, recovering_device(0, 30'000));
        kernel.event(client_id, RBLK_CLIENT_CMD_DEVICE_CHANGE_NTF, full_device(0, "db"));
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
    EXPECT_EQ(count, 22u);
}

}  // namespace
}  // namespace rblk::test
