// SPDX-License-Identifier: GPL-2.0
#include "abi/connection.hpp"
#include "commands/commands.hpp"
#include "output/views.hpp"

namespace rblk {
namespace {

Exit run(Context& context, const Arguments&) {
    ServerConnection server(context.env);
    context.print(listeners_document(server->listeners(), context.env.interfaces));
    return Exit::ok;
}

}  // namespace

constinit const Command listen_list_command = {.path = "listen list",
                                               .about = "List where this machine takes connections",
                                               .details = "",
                                               .arguments = {},
                                               .run = run};

}  // namespace rblk
