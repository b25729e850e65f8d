// SPDX-License-Identifier: GPL-2.0
#include "abi/connection.hpp"
#include "commands/commands.hpp"
#include "output/views.hpp"

namespace rblk {
namespace {

Exit run(Context& context, const Arguments&) {
    ClientConnection client(context.env);
    context.print(devices_document(client->devices(), Detail::list, context.env.interfaces));
    return Exit::ok;
}

}  // namespace

constinit const Command device_list_command = {.path = "device list",
                                               .about = "List the mapped devices",
                                               .details = "",
                                               .arguments = {},
                                               .run = run};

}  // namespace rblk
