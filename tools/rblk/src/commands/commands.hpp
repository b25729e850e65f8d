// SPDX-License-Identifier: GPL-2.0
// The commands, one file for each.
#pragma once

#include "cli/command.hpp"

namespace rblk {

extern const Command export_add_command;
extern const Command export_list_command;
extern const Command export_show_command;
extern const Command export_allow_command;
extern const Command export_unallow_command;
extern const Command export_resize_command;
extern const Command export_remove_command;
extern const Command listen_add_command;
extern const Command listen_list_command;
extern const Command listen_remove_command;
extern const Command map_command;
extern const Command unmap_command;
extern const Command device_list_command;
extern const Command device_show_command;
extern const Command device_set_command;
extern const Command path_list_command;
extern const Command path_add_command;
extern const Command path_remove_command;
extern const Command path_drain_command;
extern const Command path_undrain_command;
extern const Command path_set_command;
extern const Command session_list_command;
extern const Command session_kick_command;
extern const Command monitor_command;
extern const Command check_command;
extern const Command completion_command;
extern const Command version_command;

}  // namespace rblk
