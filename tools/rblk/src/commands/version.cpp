// SPDX-License-Identifier: GPL-2.0
#include <linux/rblk_client.h>
#include <linux/rblk_server.h>

#include "abi/connection.hpp"
#include "commands/commands.hpp"
#include "output/views.hpp"

namespace rblk {
namespace {

FamilyFacts facts_of(const std::optional<Family>& family) {
    if (!family) return {};
    return {true, family->version};
}

Exit run(Context& context, const Arguments&) {
    FamilyFacts client;
    FamilyFacts server;
    try {
        auto genl = open_genl(context.env);
        client = facts_of(genl.find_family(RBLK_CLIENT_FAMILY_NAME));
        server = facts_of(genl.find_family(RBLK_SERVER_FAMILY_NAME));
    } catch (const std::exception& error) {
        // The version of the tool is known without the kernel.
        context.note(error.what());
    }
    context.print(version_document(RBLK_TOOL_VERSION, client, server));
    return Exit::ok;
}

}  // namespace

constinit const Command version_command = {
    .path = "version",
    .about = "Show the version of the tool and what is loaded",
    .details = "",
    .arguments = {},
    .run = run};

}  // namespace rblk
