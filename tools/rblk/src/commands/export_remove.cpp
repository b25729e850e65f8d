// SPDX-License-Identifier: GPL-2.0
#include <cerrno>

#include <fmt/format.h>

#include "abi/connection.hpp"
#include "commands/commands.hpp"
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
    {Argument::Kind::flag, "--force", "",
     "also if clients have it open; they are told to close it"},
};

std::string hint_for(int error) {
    if (error == ENOENT) return "'rblk export list' shows those there are";
    if (error == EBUSY)
        return "unmap it on the clients, which 'rblk session list' shows; --force takes it "
               "from them and their I/O on it fails";
    return {};
}

Exit run(Context& context, const Arguments& given) {
    const auto& name = given.text("NAME");
    check_name("export", name);
    ServerConnection server(context.env);
    try {
        server->remove_export(name, given.given("--force"));
    } catch (const KernelError& error) {
        throw refusal(error, fmt::format("cannot remove the export '{}'", name), Operation::other,
                      hint_for(error.error()));
    }
    context.print(removed_export_document(name));
    return Exit::ok;
}

}  // namespace

constinit const Command export_remove_command = {.path = "export remove",
                                                 .about = "Withdraw an export and free its memory",
                                                 .details = "The content is gone with it.",
                                                 .arguments = arguments,
                                                 .run = run};

}  // namespace rblk
