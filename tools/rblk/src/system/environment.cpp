// SPDX-License-Identifier: GPL-2.0
#include "system/environment.hpp"

#include <climits>
#include <ctime>
#include <iostream>
#include <thread>

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace rblk {
namespace {

std::string utc_now() {
    auto now = std::chrono::system_clock::now().time_since_epoch();
    auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
    auto seconds = static_cast<std::time_t>(milliseconds / 1000);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900,
                       parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                       milliseconds % 1000);
}

utsname system_names() {
    utsname names{};
    uname(&names);
    return names;
}

}  // namespace

Environment Environment::of_this_machine() {
    return {
        .out = std::cout,
        .err = std::cerr,
        .open_netlink = rblk::open_netlink,
        .resolve = resolve_host,
        .interfaces = Interfaces::of_this_machine(),
        .files = Files(),
        .host_name = [] { return std::string(system_names().nodename); },
        .kernel_release = [] { return std::string(system_names().release); },
        .is_block_device =
            [](const std::string& path) {
                struct stat status {};
                return stat(path.c_str(), &status) == 0 && S_ISBLK(status.st_mode);
            },
        .device_number = [](const std::string& path) -> std::optional<std::string> {
            struct stat status {};
            if (stat(path.c_str(), &status) != 0 || !S_ISBLK(status.st_mode)) return {};
            return fmt::format("{}:{}", major(status.st_rdev), minor(status.st_rdev));
        },
        .now =
            [] {
                return std::chrono::duration_cast<std::chrono::milliseconds>(
                    std::chrono::steady_clock::now().time_since_epoch());
            },
        .sleep = [](std::chrono::milliseconds time) { std::this_thread::sleep_for(time); },
        .wall_time = utc_now,
    };
}

}  // namespace rblk
