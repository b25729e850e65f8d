// SPDX-License-Identifier: GPL-2.0
#include <cerrno>

#include <fmt/format.h>

#include "abi/connection.hpp"
#include "commands/commands.hpp"
#include "input/clients.hpp"
#include "input/name.hpp"
#include "input/size.hpp"
#include "output/views.hpp"

namespace rblk {
namespace {

constexpr std::uint32_t max_node = 1023;

constexpr Argument arguments[] = {
    {Argument::Kind::positional, "NAME", "NAME", "name for the export"},
    {.kind = Argument::Kind::value,
     .name = "--memory",
     .meta = "SIZE",
     .help = "memory to take, a multiple of 2 MiB: 512M, 1G, 2T",
     .required = true},
    {Argument::Kind::values, "--allow", "CLIENT",
     "a client that may open it, by its name, or 'any' for all; may be given many times"},
    {Argument::Kind::flag, "--shared", "", "more than one client may have it open for writing"},
    {Argument::Kind::flag, "--read-only", "", "no client may write"},
    {.kind = Argument::Kind::value,
     .name = "--numa-node",
     .meta = "N",
     .help = "take the memory of this node only",
     .max = max_node},
};

ExportRequest request_of(const Arguments& given) {
    ExportRequest request;
    request.name = given.text("NAME");
    check_name("export", request.name);
    request.size = parse_export_size(given.text("--memory"));
    auto clients = parse_clients(given.values("--allow"));
    request.allow = clients.names;
    request.allow_any = clients.any;
    request.shared = given.given("--shared");
    request.read_only = given.given("--read-only");
    if (auto node = given.number("--numa-node"))
        request.numa_node = static_cast<std::int32_t>(*node);
    return request;
}

std::string hint_for(int error, const std::string& name) {
    if (error == EEXIST)
        return fmt::format("'rblk export show {0}' shows it, 'rblk export remove {0}' removes it",
                           name);
    if (error == ENOMEM)
        return "give it less memory, or free some; see MemAvailable in /proc/meminfo";
    return {};
}

Exit run(Context& context, const Arguments& given) {
    auto request = request_of(given);
    ServerConnection server(context.env);
    try {
        server->add_export(request);
    } catch (const KernelError& error) {
        throw refusal(error,
                      fmt::format("cannot export {} of memory as '{}'", human_size(request.size),
                                  request.name),
                      Operation::other, hint_for(error.error(), request.name));
    }
    context.print(added_export_document(server->find_export(request.name)));
    if (request.allow.empty() && !request.allow_any)
        context.note(fmt::format(
            "no client may open it: 'rblk export allow {} CLIENT' lets one in, 'any' all",
            request.name));
    return Exit::ok;
}

}  // namespace

constinit const Command export_add_command = {
    .path = "export add",
    .about = "Offer memory of this machine",
    .details =
        "The memory is volatile: its content is gone with the export, the module or the "
        "machine.\nWithout --allow no client may open it.",
    .arguments = arguments,
    .run = run};

}  // namespace rblk
