// SPDX-License-Identifier: GPL-2.0
#include <cerrno>

#include <fmt/format.h>

#include "abi/connection.hpp"
#include "commands/commands.hpp"
#include "input/clients.hpp"
#include "input/name.hpp"
#include "output/views.hpp"

namespace rblk {
namespace {

constexpr Argument arguments[] = {
    {.kind = Argument::Kind::positional,
     .name = "NAME",
     .meta = "NAME",
     .help = "name of the export",
     .offers = Argument::Offers::exports},
    {Argument::Kind::positionals, "CLIENT", "CLIENT...",
     "clients, by their names, or 'any' for all"},
};

std::string hint_for(int error, const std::string& name) {
    if (error == ENOENT) return "'rblk export list' shows those there are";
    if (error == ENOSPC)
        return fmt::format(
            "'rblk export unallow {0}' takes some off, 'rblk export allow {0} any' "
            "lets every client in",
            name);
    return {};
}

Exit run(Context& context, const Arguments& given) {
    const auto& name = given.text("NAME");
    check_name("export", name);
    auto clients = parse_clients(given.values("CLIENT"));
    ServerConnection server(context.env);
    try {
        server->allow(name, clients.names, clients.any);
    } catch (const KernelError& error) {
        throw refusal(error, fmt::format("cannot let clients open the export '{}'", name),
                      Operation::other, hint_for(error.error(), name));
    }
    context.print(access_document(server->find_export(name)));
    return Exit::ok;
}

}  // namespace

constinit const Command export_allow_command = {.path = "export allow",
                                                .about = "Let more clients open an export",
                                                .details = "Those who may already, may still.",
                                                .arguments = arguments,
                                                .run = run};

}  // namespace rblk
