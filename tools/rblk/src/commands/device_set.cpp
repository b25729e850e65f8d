// SPDX-License-Identifier: GPL-2.0
#include <cerrno>

#include <fmt/format.h>

#include "abi/connection.hpp"
#include "commands/commands.hpp"
#include "commands/device_settings.hpp"
#include "commands/path_change.hpp"
#include "input/device.hpp"
#include "output/views.hpp"

namespace rblk {
namespace {

constexpr Argument arguments[] = {changed_device, changed_policy, changed_write_order,
                                  changed_no_path_timeout};

std::string hint_for(const KernelError& error) {
    switch (error.error()) {
        case ENODEV:
            return "'rblk device list' shows the devices";
        case EOPNOTSUPP:
            // Without a text it is a kernel that does not know the request.
            if (error.text().empty()) return {};
            return "unmap all of this server, and map it without --no-reconnect: that takes these "
                   "settings";
        default:
            return {};
    }
}

Exit run(Context& context, const Arguments& given) {
    given.require_option();
    auto index = parse_device(given.text("DEVICE"));
    auto device = device_path(fmt::format("rblk{}", index));
    auto settings = take_settings(given);
    ClientConnection client(context.env);
    try {
        client->set_device(index, settings);
    } catch (const KernelError& error) {
        throw refusal(error, fmt::format("cannot change the settings of {}", device),
                      Operation::other, hint_for(error));
    }
    context.print(set_device_document(device, settings));
    return Exit::ok;
}

}  // namespace

constinit const Command device_set_command = {
    .path = "device set",
    .about = "Change settings of a device, or of its session",
    .details =
        "What is not given stays as it is. Policy and write order are those of the session, and so "
        "of all its\ndevices. Of what is given, all is set or nothing.",
    .arguments = arguments,
    .run = run};

}  // namespace rblk
