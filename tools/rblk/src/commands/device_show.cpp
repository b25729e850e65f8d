// SPDX-License-Identifier: GPL-2.0
#include <fmt/format.h>

#include "abi/connection.hpp"
#include "commands/commands.hpp"
#include "input/device.hpp"
#include "output/views.hpp"

namespace rblk {
namespace {

constexpr Argument arguments[] = {
    {.kind = Argument::Kind::positional,
     .name = "DEVICE",
     .meta = "DEVICE",
     .help = "/dev/rblk0, rblk0 or 0",
     .offers = Argument::Offers::devices},
};

Exit run(Context& context, const Arguments& given) {
    auto index = parse_device(given.text("DEVICE"));
    ClientConnection client(context.env);
    try {
        context.print(
            devices_document({client->device(index)}, Detail::show, context.env.interfaces));
    } catch (const KernelError& error) {
        throw refusal(error, fmt::format("cannot show /dev/rblk{}", index), Operation::other,
                      "'rblk device list' shows the devices");
    }
    return Exit::ok;
}

}  // namespace

constinit const Command device_show_command = {
    .path = "device show",
    .about = "Show all about a device, with its counters",
    .details = "",
    .arguments = arguments,
    .run = run};

}  // namespace rblk
