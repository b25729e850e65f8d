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
    if (error == ENOENT)
        return fmt::format(
            "'rblk export show {}' shows whom it is for, 'rblk export list' the "
            "exports",
            name);
    if (error == EINVAL)
        return fmt::format("name 'any' as well: 'rblk export unallow {} any'", name);
    if (error == EBUSY) return "'rblk session list' shows who has it open still";
    return {};
}

Exit run(Context& context, const Arguments& given) {
    const auto& name = given.text("NAME");
    check_name("export", name);
    auto clients = parse_clients(given.values("CLIENT"));
    ServerConnection server(context.env);
    try {
        server->unallow(name, clients.names, clients.any);
    } catch (const KernelError& error) {
        throw refusal(error, fmt::format("cannot keep clients from the export '{}'", name),
                      Operation::other, hint_for(error.error(), name));
    }
    context.print(access_document(server->find_export(name)));
    return Exit::ok;
}

}  // namespace

constinit const Command export_unallow_command = {
    .path = "export unallow",
    .about = "Let clients open an export no longer",
    .details =
        "What they have open on it is taken from them: their device fails, and no key of it is "
        "good\n"
        "any more when this returns. What else they have mapped goes on.",
    .arguments = arguments,
    .run = run};

}  // namespace rblk
