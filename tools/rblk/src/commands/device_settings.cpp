// SPDX-License-Identifier: GPL-2.0
#include "commands/device_settings.hpp"

#include <linux/rblk_client.h>

#include "input/wait.hpp"

namespace rblk {

DeviceSettings take_settings(const Arguments& given) {
    DeviceSettings settings;
    constexpr std::string_view wait = "--no-path-timeout";
    if (auto text = given.opt_text(wait)) {
        auto seconds = parse_wait(wait, *text, RBLK_CLIENT_MAX_NO_PATH_TIMEOUT_MS / 1000);
        settings.no_path_timeout_ms = seconds ? *seconds * 1000 : no_path_for_ever;
    }
    settings.policy = given.word("--policy");
    settings.write_order = given.word("--write-order");
    return settings;
}

}  // namespace rblk
