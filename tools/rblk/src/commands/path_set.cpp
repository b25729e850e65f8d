// SPDX-License-Identifier: GPL-2.0
#include <fmt/format.h>

#include "commands/commands.hpp"
#include "commands/path_change.hpp"
#include "commands/path_parameters.hpp"
#include "output/views.hpp"

namespace rblk {
namespace {

constexpr Argument arguments[] = {changed_device, changed_path, changed_tos, changed_ack_timeout,
                                  changed_retry_count};

Exit run(Context& context, const Arguments& given) {
    given.require_option();
    auto parameters = take_parameters(given);
    auto changed = change_path(context, given, {.verb = "set parameters of"},
                               [&parameters](Client& client, const PathOfDevice& path) {
                                   client.set_path(path, parameters);
                               });
    context.print(set_path_document(changed.device, changed.path, parameters));
    context.note(
        fmt::format("if it carries I/O, this holds from its next connection on; 'rblk path drain "
                    "{} {}' and 'undrain' make one",
                    changed.device, changed.path));
    return Exit::ok;
}

}  // namespace

constinit const Command path_set_command = {
    .path = "path set",
    .about = "Change how the transport of a path works",
    .details =
        "What is not given stays as it is. It holds from the next connection of the path "
        "on: 'rblk path\ndrain' and 'undrain' make one.",
    .arguments = arguments,
    .run = run};

}  // namespace rblk
