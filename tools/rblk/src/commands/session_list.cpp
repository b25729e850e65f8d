// SPDX-License-Identifier: GPL-2.0
#include <linux/rblk_client.h>
#include <linux/rblk_server.h>

#include "abi/connection.hpp"
#include "commands/commands.hpp"
#include "output/views.hpp"

namespace rblk {
namespace {

Exit run(Context& context, const Arguments&) {
    auto genl = open_genl(context.env);
    // To list what is there loads nothing that is not.
    auto client = genl.find_family(RBLK_CLIENT_FAMILY_NAME);
    auto server = genl.find_family(RBLK_SERVER_FAMILY_NAME);
    if (!client && !server) no_module();
    std::optional<std::vector<ClientSession>> client_sessions;
    std::optional<std::vector<ServerSession>> server_sessions;
    if (client) client_sessions = Client(genl, *client).sessions();
    if (server) server_sessions = Server(genl, *server).sessions();
    context.print(sessions_document(client_sessions, server_sessions, context.env.interfaces));
    return Exit::ok;
}

}  // namespace

constinit const Command session_list_command = {
    .path = "session list",
    .about = "List the sessions with servers and with clients",
    .details = "Shows those of whichever module is loaded, rblk-client or rblk-server.",
    .arguments = {},
    .run = run};

}  // namespace rblk
