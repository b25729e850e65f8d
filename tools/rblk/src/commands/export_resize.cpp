// SPDX-License-Identifier: GPL-2.0
#include <cerrno>

#include <fmt/format.h>

#include "abi/connection.hpp"
#include "commands/commands.hpp"
#include "input/name.hpp"
#include "input/size.hpp"
#include "output/views.hpp"

namespace rblk {
namespace {

constexpr Argument arguments[] = {
    {.kind = Argument::Kind::positional,
     .name = "NAME",
     .meta = "NAME",
     .help = "name of the export",
     .offers = Argument::Offers::exports},
    {Argument::Kind::positional, "SIZE", "SIZE",
     "how large it is to be, a multiple of 2 MiB: 512M, 1G, 2T"},
    {Argument::Kind::flag, "--force", "", "also if it gets smaller; what is cut off is lost"},
};

std::string hint_for(int error, bool force) {
    if (error == ENOENT) return "'rblk export list' shows those there are";
    if (error == EINVAL && !force)
        return "--force cuts it off all the same; make the file systems on it smaller first";
    if (error == ENOMEM)
        return "give it less memory, or free some; see MemAvailable in /proc/meminfo";
    if (error == EBUSY) return "'rblk session list' shows who has it open";
    return {};
}

Exit run(Context& context, const Arguments& given) {
    const auto& name = given.text("NAME");
    check_name("export", name);
    auto size = parse_export_size(given.text("SIZE"));
    bool force = given.given("--force");
    ServerConnection server(context.env);
    try {
        server->resize_export(name, size, force);
    } catch (const KernelError& error) {
        throw refusal(error, fmt::format("cannot make the export '{}' {}", name, human_size(size)),
                      Operation::other, hint_for(error.error(), force));
    }
    context.print(resized_export_document(server->find_export(name)));
    return Exit::ok;
}

}  // namespace

constinit const Command export_resize_command = {
    .path = "export resize",
    .about = "Make an export larger or smaller, also while clients have it open",
    .details =
        "What is new is zeroes, and their devices have it within a second. To cut it off takes\n"
        "--force: what is beyond is lost, and no client has a key to it when this returns.",
    .arguments = arguments,
    .run = run};

}  // namespace rblk
