// SPDX-License-Identifier: GPL-2.0
#include <cerrno>
#include <filesystem>

#include <fmt/format.h>

#include "abi/connection.hpp"
#include "commands/commands.hpp"
#include "input/clients.hpp"
#include "input/name.hpp"
#include "input/size.hpp"
#include "output/clean.hpp"
#include "output/views.hpp"
#include "system/identity.hpp"

namespace rblk {
namespace {

constexpr std::uint32_t max_node = 1023;

constexpr Argument arguments[] = {
    {Argument::Kind::positional, "NAME", "NAME", "name for the export"},
    {.kind = Argument::Kind::value,
     .name = "--memory",
     .meta = "SIZE",
     .help = "memory to take, a multiple of 2 MiB: 512M, 1G, 2T"},
    {.kind = Argument::Kind::value,
     .name = "--device",
     .meta = "PATH",
     .help = "a block device, instead: a disk, a partition, a volume; nobody else may use it"},
    {.kind = Argument::Kind::value,
     .name = "--id",
     .meta = "UUID",
     .help = "identity of the disk, where it has none of its own, or another one is wanted"},
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

// The kernel takes the path as it is, and this process may be anywhere.
std::string absolute(const std::string& path) {
    if (path.empty() || path.front() == '/') return path;
    return std::filesystem::absolute(path).string();
}

Uuid parse_id(const std::string& text) {
    auto id = parse_uuid(text);
    if (!id || *id == Uuid{})
        throw Error(Exit::usage, fmt::format("'{}' is not an identity", clean(text)),
                    "a UUID such as 6a2f41a3-c54c-4f3b-8dfb-2f0d3c6a2f41; 'uuidgen' makes one");
    return *id;
}

// Its own, unless one is given. Return whether it has any.
bool identify(const Context& context, ExportRequest& request) {
    if (request.device.empty() || request.id) return true;
    auto number = context.env.device_number(request.device);
    auto found = number ? disk_identity(context.env.files, *number) : std::nullopt;
    if (found) request.id = found->id;
    return found.has_value();
}

std::string what(const ExportRequest& request) {
    return request.device.empty() ? fmt::format("{} of memory", human_size(request.size))
                                  : clean(request.device);
}

ExportRequest request_of(const Arguments& given) {
    ExportRequest request;
    request.name = given.text("NAME");
    check_name("export", request.name);
    if (given.given("--memory") == given.given("--device"))
        throw Error(Exit::usage, "either --memory or --device is required",
                    "see 'rblk export add --help'");
    if (given.given("--memory")) request.size = parse_export_size(given.text("--memory"));
    if (given.given("--device")) request.device = absolute(given.text("--device"));
    if (given.given("--id")) request.id = parse_id(given.text("--id"));
    if (!given.given("--device") && request.id)
        throw Error(Exit::usage, "--id is for a disk: memory has a new identity each time", "");
    if (given.given("--device") && given.given("--numa-node"))
        throw Error(Exit::usage, "--numa-node is for memory: a disk is where it is", "");
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
    if (error == EBUSY) return "'lsblk' and 'rblk export list' show who may be using it";
    if (error == EROFS || error == EACCES) return "--read-only exports it for reading";
    if (error == ENOENT || error == ENOTBLK) return "'lsblk -p' shows the block devices";
    if (error == ENOMEM)
        return "give it less memory, or free some; see MemAvailable in /proc/meminfo";
    return {};
}

Exit run(Context& context, const Arguments& given) {
    auto request = request_of(given);
    ServerConnection server(context.env);
    bool lasting = identify(context, request);
    try {
        server->add_export(request);
    } catch (const KernelError& error) {
        throw refusal(error, fmt::format("cannot export {} as '{}'", what(request), request.name),
                      Operation::other, hint_for(error.error(), request.name));
    }
    context.print(added_export_document(server->find_export(request.name)));
    if (!lasting)
        context.note(fmt::format(
            "{} has no identity that outlives a restart: clients will not go on with it when it "
            "is exported anew; --id UUID gives it one",
            clean(request.device)));
    if (request.allow.empty() && !request.allow_any)
        context.note(fmt::format(
            "no client may open it: 'rblk export allow {} CLIENT' lets one in, 'any' all",
            request.name));
    return Exit::ok;
}

}  // namespace

constinit const Command export_add_command = {
    .path = "export add",
    .about = "Offer memory or a disk of this machine",
    .details =
        "Memory is volatile: its content is gone with the export, the module or the machine.\n"
        "A disk stays, and clients go on with it when it is exported anew, as long as it has the\n"
        "same identity: its volume's UUID, its WWID, its model and serial number, or --id.\n"
        "Without --allow no client may open it.",
    .arguments = arguments,
    .run = run};

}  // namespace rblk
