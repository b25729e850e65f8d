// SPDX-License-Identifier: GPL-2.0
#include <fmt/format.h>

#include "abi/connection.hpp"
#include "commands/commands.hpp"
#include "input/device.hpp"
#include "output/views.hpp"

namespace rblk {
namespace {

constexpr Argument arguments[] = {
    {.kind = Argument::Kind::optional,
     .name = "DEVICE",
     .meta = "DEVICE",
     .help = "only those of this device's session",
     .offers = Argument::Offers::devices},
};

Device find_device(ClientConnection& client, std::uint32_t index) {
    try {
        return client->device(index);
    } catch (const KernelError& error) {
        throw refusal(error, fmt::format("cannot list the paths of /dev/rblk{}", index),
                      Operation::other, "'rblk device list' shows the devices");
    }
}

Exit run(Context& context, const Arguments& given) {
    std::optional<std::uint32_t> index;
    if (auto text = given.opt_text("DEVICE")) index = parse_device(*text);
    ClientConnection client(context.env);
    std::optional<Device> device;
    if (index) device = find_device(client, *index);
    auto sessions = client->sessions();
    if (device)
        std::erase_if(sessions,
                      [&](const auto& session) { return session.id != device->session_id; });
    context.print(paths_document(sessions, context.env.interfaces));
    return Exit::ok;
}

}  // namespace

constinit const Command path_list_command = {
    .path = "path list",
    .about = "List the paths to the servers",
    .details =
        "ROLE: active carries I/O of its session; standby is live and ready to; drained is not "
        "to, by\n'rblk path drain'; draining is not to and still does; - is not live.\n"
        "'rblk session list' has the counters, --json all.",
    .arguments = arguments,
    .run = run};

}  // namespace rblk
