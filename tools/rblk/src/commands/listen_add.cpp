// SPDX-License-Identifier: GPL-2.0
#include <cerrno>

#include <fmt/format.h>

#include "abi/connection.hpp"
#include "commands/commands.hpp"
#include "output/views.hpp"

namespace rblk {
namespace {

constexpr Argument arguments[] = {
    {Argument::Kind::positional, "ADDR", "ADDR[:PORT]",
     "an address of this machine, or 'any'; the port is 7471 if none is given"},
};

std::string hint_for(int error, std::uint16_t port) {
    if (error == EEXIST) return "'rblk listen list' shows it";
    if (error == EADDRINUSE)
        return fmt::format(
            "'rblk listen list' and 'ss -lntp sport = :{}' may show who has it. "
            "Take another port",
            port);
    return {};
}

Exit run(Context& context, const Arguments& given) {
    const auto& interfaces = context.env.interfaces;
    auto address = parse_listener(given.text("ADDR"), interfaces);
    ServerConnection server(context.env);
    try {
        server->add_listener(address);
    } catch (const KernelError& error) {
        throw refusal(error, fmt::format("cannot listen on {}", address.text(interfaces)),
                      Operation::other, hint_for(error.error(), address.port()));
    }
    for (const auto& listener : server->listeners()) {
        if (!(listener.address == address)) continue;
        context.print(added_listener_document(listener, interfaces));
        if (listener.error)
            context.note(fmt::format("it waits and tries again by itself: {}", *listener.error));
        return Exit::ok;
    }
    throw Error(Exit::failure,
                fmt::format("the listener on {} was added and is gone", address.text(interfaces)),
                "'rblk listen list' shows those there are");
}

}  // namespace

constinit const Command listen_add_command = {
    .path = "listen add",
    .about = "Take connections on an address",
    .details =
        "Addresses: 10.0.0.1, 10.0.0.1:7471, 2001:db8::1, [2001:db8::1]:7471,\n"
        "[fe80::1%eth1]:7471, 0.0.0.0 (all IPv4), [::] or any or '*' (all).\n"
        "A listener stays although the address or the RDMA device is missing, and "
        "listens\nonce it is there.",
    .arguments = arguments,
    .run = run};

}  // namespace rblk
