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
        context, given, {.verb = "drain", .ends_use = true, .forced = force},
        [force](Client& client, const PathOfDevice& path) { client.drain_path(path, force); },
        "drained");
}

}  // namespace

constinit const Command path_drain_command = {
    .path = "path drain",
    .about = "Have a path carry no I/O, for maintenance",
    .details =
        "What is in flight on it ends, then another path goes on. The drained one stays "
        "connected.\nIt is so for all devices of the session, until 'rblk path undrain'.",
    .arguments = arguments,
    .run = run};

}  // namespace rblk
