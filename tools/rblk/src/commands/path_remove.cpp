// SPDX-License-Identifier: GPL-2.0
#include "commands/commands.hpp"
#include "commands/path_change.hpp"

namespace rblk {
namespace {

constexpr Argument arguments[] = {
    changed_device,
    changed_path,
    changed_force,
};

Exit run(Context& context, const Arguments& given) {
    bool force = given.given("--force");
    return change_path(
        context, given, {.verb = "remove", .ends_use = true, .forced = force},
        [force](Client& client, const PathOfDevice& path) { client.remove_path(path, force); },
        "removed");
}

}  // namespace

constinit const Command path_remove_command = {
    .path = "path remove",
    .about = "Drain a path of a device's session and end it",
    .details = "It is gone for all devices of the session. The last path cannot be removed.",
    .arguments = arguments,
    .run = run};

}  // namespace rblk
