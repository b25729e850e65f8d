// SPDX-License-Identifier: GPL-2.0
#include "check/check.hpp"

#include "commands/commands.hpp"
#include "output/views.hpp"

namespace rblk {
namespace {

Exit run(Context& context, const Arguments&) {
    auto report = check_machine(context.env);
    context.print(check_document(report));
    return report.exit;
}

}  // namespace

constinit const Command check_command = {
    .path = "check",
    .about = "Say what is missing on this machine",
    .details =
        "Ends with 0 if a client or a server can work here, else with the code of what is "
        "missing.\nLoads nothing and changes nothing.",
    .arguments = {},
    .run = run};

}  // namespace rblk
