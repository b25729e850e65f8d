// SPDX-License-Identifier: GPL-2.0
#include "commands/commands.hpp"
#include "commands/path_change.hpp"

namespace rblk {
namespace {

constexpr Argument arguments[] = {changed_device, changed_path};

Exit run(Context& context, const Arguments& given) {
    return change_path(
        context, given, {.verb = "undrain"},
        [](Client& client, const PathOfDevice& path) { client.undrain_path(path); }, "undrained");
}

}  // namespace

constinit const Command path_undrain_command = {
    .path = "path undrain",
    .about = "Let a path that was drained carry I/O again",
    .details =
        "It does as the policy of the session has it: when its turn comes, or beside the others.",
    .arguments = arguments,
    .run = run};

}  // namespace rblk
