// SPDX-License-Identifier: GPL-2.0
#include <cerrno>

#include <fmt/format.h>
#include <linux/rblk_client.h>

#include "abi/connection.hpp"
#include "commands/attempts.hpp"
#include "commands/commands.hpp"
#include "commands/path_parameters.hpp"
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
    {Argument::Kind::positional, "SERVER", "SERVER[:PORT][@SOURCE]",
     "another address of the same server, or the same from another address of this node"},
    {.kind = Argument::Kind::value,
     .name = "--timeout",
     .meta = "SEC",
     .help = "how long it may take; 30 seconds if not given",
     .min = 1,
     .max = RBLK_CLIENT_MAX_TIMEOUT_MS / 1000},
    new_tos,
    new_ack_timeout,
    new_retry_count,
};

// ENODEV has two meanings: no such device, and no RDMA device towards the server.
bool is_mapped(Client& client, std::uint32_t index) {
    try {
        client.device(index);
    } catch (const KernelError& error) {
        return error.error() != ENODEV;
    }
    return true;
}

std::string hint_for(const KernelError& error, const Route& route, const std::string& device) {
    switch (error.error()) {
        case EEXIST:
            return fmt::format(
                "'rblk path list {}' shows it; another path needs another address of the server "
                "or another '@SOURCE'",
                device);
        case ENOSPC:
            return fmt::format("'rblk path remove {} PATH' makes room", device);
        case EXDEV:
            return fmt::format(
                "a path leads to the server of {}: on that one, 'rblk listen list' shows its "
                "addresses",
                device);
        case EOPNOTSUPP:
            // Without a text it is a kernel that does not know the request.
            if (error.text().empty()) return {};
            return "several paths need reconnecting: unmap all of this server, and map it without "
                   "--no-reconnect";
        default:
            return unreached_hint(error.error(), route.source.has_value());
    }
}

Exit run(Context& context, const Arguments& given) {
    const auto& env = context.env;
    PathRequest request;
    request.device = parse_device(given.text("DEVICE"));
    auto device = device_path(fmt::format("rblk{}", request.device));
    auto target = parse_target(given.text("SERVER"), env.interfaces);
    request.parameters = take_parameters(given);
    Attempts attempts(context, given.number("--timeout"));
    auto addresses = addresses_of(target, env.resolve);
    request.route.source = target.source;

    ClientConnection client(env);
    std::uint32_t path = 0;
    auto once = [&](const Address& address, Attempts::Timeout timeout_ms) {
        request.route.server = address;
        request.timeout_ms = timeout_ms;
        path = client->add_path(request);
    };
    auto goes_on = [&](const KernelError& error) {
        if (error.error() == ENODEV) return is_mapped(*client, request.device);
        // Of a host name the address is meant that has no path yet.
        return error.error() == EEXIST || unanswered(error);
    };
    try {
        attempts.run(addresses, once, goes_on);
    } catch (const KernelError& error) {
        auto what =
            fmt::format("cannot add the path {} to {}{}", route_text(request.route, env.interfaces),
                        device, attempts.failed_text("over"));
        if (error.error() == ENODEV && !is_mapped(*client, request.device))
            throw refusal(error, what, Operation::other, "'rblk device list' shows the devices");
        throw refusal(error, what, Operation::map, hint_for(error, request.route, device));
    }
    context.print(added_path_document(device, path, request.route.server.text(env.interfaces),
                                      attempts.failed()));
    return Exit::ok;
}

}  // namespace

constinit const Command path_add_command = {
    .path = "path add",
    .about = "Bring up a further path of a device's session",
    .details =
        "Prints which number it has. Servers and sources are written as for 'rblk map'. The "
        "addresses of a\nhost name are tried in order until one answers to which there is no "
        "path yet. All devices of the\nsession can use it.",
    .arguments = arguments,
    .run = run};

}  // namespace rblk
