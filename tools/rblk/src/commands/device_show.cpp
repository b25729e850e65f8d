// SPDX-License-Identifier: GPL-2.0
#include <fmt/format.h>
#include <linux/rblk_client.h>

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

// What to do about a device that does not serve its I/O; nothing if it does.
std::string_view advice(const Device& device) {
    bool reconnects = device.no_path_timeout_ms && !device.no_reconnect;
    if (device.state == RBLK_CLIENT_DEVICE_STATE_RECOVERING)
        return "I/O waits for the connection to come back; 'rblk session list' shows its path";
    if (device.state != RBLK_CLIENT_DEVICE_STATE_FAILED) return {};
    if (!reconnects) return "I/O fails for good: unmap the device and map it again";
    return "I/O fails: 'rblk session list' shows whether the connection comes back; unmap the "
           "device if its content is lost or the export is gone";
}

Exit run(Context& context, const Arguments& given) {
    auto index = parse_device(given.text("DEVICE"));
    ClientConnection client(context.env);
    try {
        auto device = client->device(index);
        context.print(devices_document({device}, Detail::show, context.env.interfaces));
        if (auto text = advice(device); !text.empty()) context.note(text);
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
