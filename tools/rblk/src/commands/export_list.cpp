// SPDX-License-Identifier: GPL-2.0
#include "abi/connection.hpp"
#include "commands/commands.hpp"
#include "output/views.hpp"

namespace rblk {
namespace {

Exit run(Context& context, const Arguments&) {
    ServerConnection server(context.env);
    context.print(exports_document(server->exports(), Detail::list));
    return Exit::ok;
}

}  // namespace

constinit const Command export_list_command = {.path = "export list",
                                               .about = "List what this machine exports",
                                               .details = "",
                                               .arguments = {},
                                               .run = run};

}  // namespace rblk
