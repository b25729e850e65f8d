// SPDX-License-Identifier: GPL-2.0
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
};

Exit run(Context& context, const Arguments& given) {
    const auto& name = given.text("NAME");
    check_name("export", name);
    ServerConnection server(context.env);
    try {
        context.print(exports_document({server->find_export(name)}, Detail::show));
    } catch (const KernelError& error) {
        throw refusal(error, fmt::format("cannot show the export '{}'", name), Operation::other,
                      "'rblk export list' shows those there are");
    }
    return Exit::ok;
}

}  // namespace

constinit const Command export_show_command = {.path = "export show",
                                               .about = "Show all about an export",
                                               .details = "",
                                               .arguments = arguments,
                                               .run = run};

}  // namespace rblk
