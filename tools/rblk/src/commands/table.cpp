// SPDX-License-Identifier: GPL-2.0
#include <array>

#include "commands/commands.hpp"

namespace rblk {

std::span<const Command> command_table() {
    static const std::array table = {
        export_add_command,     export_list_command,   export_show_command,   export_allow_command,
        export_unallow_command, export_resize_command, export_remove_command, listen_add_command,
        listen_list_command,    listen_remove_command, map_command,           unmap_command,
        device_list_command,    device_show_command,   device_set_command,    path_list_command,
        path_add_command,       path_remove_command,   path_drain_command,    path_undrain_command,
        path_set_command,       session_list_command,  session_kick_command,  monitor_command,
        check_command,          completion_command,    version_command,
    };
    return table;
}

std::span<const Group> group_table() {
    static constexpr std::array table = {
        Group{"export", "What this machine offers (server)"},
        Group{"listen", "Where this machine takes connections (server)"},
        Group{"device", "Mapped devices (client)"},
        Group{"path", "Ways to a server, of which the active ones carry the I/O (client)"},
        Group{"session", "Connections between clients and servers"},
    };
    return table;
}

}  // namespace rblk
