// SPDX-License-Identifier: GPL-2.0
#include <cerrno>

#include <fmt/format.h>

#include "abi/connection.hpp"
#include "commands/commands.hpp"
#include "output/views.hpp"

namespace rblk {
namespace {

constexpr Argument arguments[] = {
    {.kind = Argument::Kind::positional,
     .name = "ADDR",
     .meta = "ADDR[:PORT]",
     .help = "the address and port as they were added",
     .offers = Argument::Offers::listeners},
};

Exit run(Context& context, const Arguments& given) {
    const auto& interfaces = context.env.interfaces;
    auto address = parse_listener(given.text("ADDR"), interfaces);
    ServerConnection server(context.env);
    try {
        server->remove_listener(address);
    } catch (const KernelError& error) {
        throw refusal(error, fmt::format("cannot stop listening on {}", address.text(interfaces)),
                      Operation::other,
                      error.error() == ENOENT ? "'rblk listen list' shows the listeners" : "");
    }
    context.print(removed_listener_document(address, interfaces));
    return Exit::ok;
}

}  // namespace

constinit const Command listen_remove_command = {.path = "listen remove",
                                                 .about = "Stop taking connections on an address",
                                                 .details = "Connections that exist stay.",
                                                 .arguments = arguments,
                                                 .run = run};

}  // namespace rblk
