// SPDX-License-Identifier: GPL-2.0
// Options for the settings of a device and of its session, of 'map' and of 'device set'.
#pragma once

#include <string_view>

#include "abi/client.hpp"
#include "cli/command.hpp"

namespace rblk {

constexpr Argument no_path_timeout_setting(std::string_view help) {
    return {.kind = Argument::Kind::value,
            .name = "--no-path-timeout",
            .meta = "SEC|forever",
            .help = help,
            .offers = Argument::Offers::forever};
}

constexpr Argument policy_setting(std::string_view help) {
    return {.kind = Argument::Kind::value,
            .name = "--policy",
            .meta = "",
            .help = help,
            .words = policy_words};
}

constexpr Argument write_order_setting(std::string_view help) {
    return {.kind = Argument::Kind::value,
            .name = "--write-order",
            .meta = "",
            .help = help,
            .words = write_order_words};
}

inline constexpr Argument new_no_path_timeout = no_path_timeout_setting(
    "how long I/O waits for a lost connection before it fails; 30 seconds if not given");
inline constexpr Argument new_policy = policy_setting(
    "how I/O is spread over the paths of the session; preferred, or as it is, if not given");
inline constexpr Argument new_write_order = write_order_setting(
    "what the end of a write promises to a read over another path; auto, or as it is, if not "
    "given");

inline constexpr Argument changed_no_path_timeout = no_path_timeout_setting(
    "how long I/O of this device waits for a lost connection before it "
    "fails");
inline constexpr Argument changed_policy =
    policy_setting("how I/O is spread over the paths of its session");
inline constexpr Argument changed_write_order =
    write_order_setting("what the end of a write promises to a read over another path");

// Of a command that has one of each.
DeviceSettings take_settings(const Arguments& given);

}  // namespace rblk
