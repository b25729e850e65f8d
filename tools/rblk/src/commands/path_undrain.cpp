// SPDX-License-Identifier: GPL-2.0
#include "commands/commands.hpp"
#include "commands/path_change.hpp"

namespace rblk {
namespace {

constexpr Argument arguments[] = {changed_device, changed_path};

Exit run(Context& context, const Arguments& given) {
    return change_path(context, given, {.verb = "undrain", .result = "undrained"},
                       [](Client& client, const PathOfDevice& path) { client.undrain_path(path); });
}

}  // namespace

constinit const Command path_undrain_command = {
    .path = "path undrain",
    .about = "Let a path that was drained carry I/O again",
    .details = "It does when its turn comes, as any other path that stands by.",
    .arguments = arguments,
    .run = run};

}  // namespace rblk
