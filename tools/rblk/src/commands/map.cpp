// SPDX-License-Identifier: GPL-2.0
#include <algorithm>
#include <cerrno>
#include <chrono>

#include <fmt/format.h>
#include <linux/rblk_client.h>

#include "abi/connection.hpp"
#include "commands/attempts.hpp"
#include "commands/commands.hpp"
#include "commands/device_settings.hpp"
#include "commands/path_parameters.hpp"
#include "input/name.hpp"
#include "output/views.hpp"

namespace rblk {
namespace {

using std::chrono::milliseconds;

// udev or devtmpfs have the node there in no time; longer than this, nothing makes one.
constexpr milliseconds node_timeout{10'000};
constexpr milliseconds node_poll{10};

constexpr Argument arguments[] = {
    {Argument::Kind::positional, "SERVER", "SERVER[:PORT][@SOURCE]",
     "host name or address of the server; the port is 7471 if none is given"},
    {Argument::Kind::positional, "EXPORT", "EXPORT", "name of the export there"},
    {Argument::Kind::values, "--path", "SERVER[:PORT][@SOURCE]",
     "a further path to the same server; may be repeated"},
    {Argument::Kind::flag, "--read-only", "", "open it for reading only"},
    {Argument::Kind::flag, "--steal", "",
     "take it over from another client that has it open for writing: its device fails"},
    {.kind = Argument::Kind::value,
     .name = "--queues",
     .meta = "N",
     .help = "I/O connections; one for each CPU if not given",
     .min = 1,
     .max = RBLK_CLIENT_MAX_QUEUES},
    {.kind = Argument::Kind::value,
     .name = "--depth",
     .meta = "N",
     .help = "requests in flight on each of them; 128 if not given",
     .min = 1,
     .max = RBLK_CLIENT_MAX_DEPTH},
    {Argument::Kind::value, "--client-name", "NAME",
     "what the server's access list calls this client; the host name if not given"},
    {.kind = Argument::Kind::value,
     .name = "--timeout",
     .meta = "SEC",
     .help = "how long it may take; 30 seconds if not given",
     .min = 1,
     .max = RBLK_CLIENT_MAX_TIMEOUT_MS / 1000},
    new_no_path_timeout,
    {Argument::Kind::flag, "--no-reconnect", "",
     "do not bring a lost connection back: I/O fails at once and for good"},
    new_policy,
    new_write_order,
    new_tos,
    new_ack_timeout,
    new_retry_count,
};

std::string client_name(const Environment& env, const Arguments& given) {
    if (auto name = given.opt_text("--client-name")) {
        check_name("client", *name);
        return *name;
    }
    auto name = env.host_name();
    if (auto fault = name_fault(name); !fault.empty())
        throw Error(Exit::usage,
                    fmt::format("the host name '{}' cannot be the client name: it {}", name, fault),
                    "give another one with --client-name");
    return name;
}

void take_settings_of(MapRequest& request, const Arguments& given) {
    request.no_reconnect = given.given("--no-reconnect");
    request.settings = take_settings(given);
    if (request.no_reconnect && request.settings.no_path_timeout_ms)
        throw Error(Exit::usage, "--no-path-timeout and --no-reconnect exclude each other",
                    "with --no-reconnect I/O never waits for a connection");
}

void check_further(const std::vector<std::string>& texts, bool no_reconnect) {
    if (texts.empty()) return;
    if (no_reconnect)
        throw Error(Exit::usage, "--path and --no-reconnect exclude each other",
                    "several paths need reconnecting: I/O of a lost path continues on another");
    constexpr std::size_t most = RBLK_CLIENT_MAX_PATHS - 1;
    if (texts.size() > most)
        throw Error(
            Exit::usage,
            fmt::format("--path is given {} times, and {} are the most", texts.size(), most),
            fmt::format("leave some out: a session has {} paths, the first included", most + 1));
}

// Which addresses the first path tries, and the further paths in the request.
std::vector<Address> take_paths(MapRequest& request, const Target& first,
                                const std::vector<Target>& further, const Environment& env) {
    auto addresses = addresses_of(first, env.resolve);
    request.first = {addresses.front(), first.source};
    for (const auto& target : further) {
        Route route{addresses_of(target, env.resolve).front(), target.source};
        const auto& known = request.further;
        if (route == request.first || std::find(known.begin(), known.end(), route) != known.end())
            throw Error(
                Exit::usage,
                fmt::format("the path {} is given twice", route_text(route, env.interfaces)),
                "a further path needs another address of the server or another '@SOURCE'");
        request.further.push_back(route);
    }
    // One that is a further path is tried as such with the first address.
    std::erase_if(addresses, [&](const Address& address) {
        const auto& known = request.further;
        return std::find(known.begin(), known.end(), Route{address, first.source}) != known.end();
    });
    return addresses;
}

bool has_source(const MapRequest& request) {
    auto sourced = [](const Route& route) { return route.source.has_value(); };
    return sourced(request.first) ||
           std::any_of(request.further.begin(), request.further.end(), sourced);
}

// EINVAL names no attribute where the session is there already and is another one.
bool is_other_session(const KernelError& error) {
    return error.text().starts_with("the session with this server has ");
}

std::string other_session_hint(const KernelError& error, const MapRequest& request) {
    if (error.text().find("other paths") != std::string::npos)
        return "map it without --path; 'rblk path add' adds paths to the session";
    bool policy = request.settings.policy.has_value();
    bool write_order = request.settings.write_order.has_value();
    std::vector<std::string_view> out;
    if (policy) out.push_back("--policy");
    if (write_order) out.push_back("--write-order");
    if (request.queues) out.push_back("--queues");
    if (request.depth) out.push_back("--depth");
    if (request.no_reconnect) out.push_back("--no-reconnect");
    if (out.empty()) return {};
    auto hint = fmt::format("leave out {} to use the session as it is", fmt::join(out, ", "));
    if (policy || write_order) hint += "; 'rblk device set' changes its policy and its write order";
    return hint;
}

std::string hint_for(const KernelError& error, const MapRequest& request) {
    switch (error.error()) {
        case ENOENT:
            return "on the server, 'rblk export list' shows the exports";
        case EACCES:
            return fmt::format(
                "this client is '{0}'; on the server, 'rblk export allow {1} {0}' lets it in",
                request.client_name, request.export_name);
        case EBUSY:
            if (request.steal)
                return "who has it did not let go of it in time: try again, or 'rblk session kick' "
                       "on the server first";
            return "one client can write it at a time: unmap it there, take it over with --steal, "
                   "use --read-only, or export it with --shared";
        case EINVAL:
            if (is_other_session(error)) return other_session_hint(error, request);
            return request.steal ? "map it without --steal" : "";
        case EROFS:
            return "use --read-only";
        case EEXIST:
            return "'rblk device list' shows where it is mapped";
        default:
            return unreached_hint(error.error(), has_source(request));
    }
}

Error refused(const KernelError& error, const MapRequest& request, const Attempts& attempts,
              const Interfaces& interfaces) {
    auto what = fmt::format("cannot map the export '{}' of {}", request.export_name,
                            route_text(request.first, interfaces));
    for (const auto& route : request.further)
        what += fmt::format(", nor over {}", route_text(route, interfaces));
    what += attempts.failed_text("of");
    return refusal(error, what, Operation::map, hint_for(error, request));
}

void wait_for_node(const Environment& env, const std::string& path) {
    auto end = env.now() + node_timeout;
    while (!env.is_block_device(path)) {
        if (env.now() >= end)
            throw Error(Exit::failure,
                        fmt::format("the export is mapped, but {} did not appear in {} seconds",
                                    path, node_timeout.count() / 1000),
                        fmt::format("is /dev a devtmpfs, or does udev run? 'rblk unmap {}' undoes "
                                    "the mapping",
                                    path));
        env.sleep(node_poll);
    }
}

Exit run(Context& context, const Arguments& given) {
    auto& env = context.env;
    auto first = parse_target(given.text("SERVER"), env.interfaces);
    MapRequest request;
    request.export_name = given.text("EXPORT");
    check_name("export", request.export_name);
    request.client_name = client_name(env, given);
    request.read_only = given.given("--read-only");
    request.steal = given.given("--steal");
    if (request.steal && request.read_only)
        throw Error(Exit::usage, "--steal and --read-only exclude each other",
                    "any number of clients can read, beside the one that writes");
    request.queues = given.number("--queues");
    request.depth = given.number("--depth");
    take_settings_of(request, given);
    request.parameters = take_parameters(given);
    check_further(given.values("--path"), request.no_reconnect);
    std::vector<Target> further;
    for (const auto& text : given.values("--path"))
        further.push_back(parse_target(text, env.interfaces));
    Attempts attempts(context, given.number("--timeout"));

    auto addresses = take_paths(request, first, further, env);
    ClientConnection client(env);
    Mapped mapped;
    auto once = [&](const Address& address, Attempts::Timeout timeout_ms) {
        request.first.server = address;
        request.timeout_ms = timeout_ms;
        mapped = client->map(request);
    };
    try {
        attempts.run(addresses, once, unanswered);
    } catch (const KernelError& error) {
        throw refused(error, request, attempts, env.interfaces);
    }
    wait_for_node(env, device_path(mapped.name));
    context.print(mapped_document(mapped, request.first.server.text(env.interfaces),
                                  request.export_name, attempts.failed()));
    return Exit::ok;
}

}  // namespace

constinit const Command map_command = {
    .path = "map",
    .about = "Make an export of a server a block device here",
    .details =
        "Prints the path of the device alone, as in /dev/rblk0, once it is there.\n"
        "Servers: node-a, node-a:7471, 10.0.0.1, 10.0.0.1:7471, [2001:db8::1]:7471,\n"
        "[fe80::1%eth1]:7471. The addresses of a host name are tried in order until one "
        "answers.\n"
        "SOURCE is an address of this node to come from, as in 10.0.0.1@10.0.0.2. By "
        "policy preferred\none of the paths carries the I/O, and the others stand by; by the other "
        "policies all carry it that\nend at the same RDMA device of the server. 'rblk path add' "
        "adds more later.",
    .arguments = arguments,
    .run = run};

}  // namespace rblk
