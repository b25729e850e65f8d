// SPDX-License-Identifier: GPL-2.0
#include "commands/path_change.hpp"

#include <cerrno>
#include <charconv>

#include <fmt/format.h>

#include "abi/connection.hpp"
#include "input/device.hpp"
#include "output/clean.hpp"
#include "output/views.hpp"

namespace rblk {
namespace {

// How many there can be is the kernel's to know.
std::uint32_t parse_path(const std::string& text, const std::string& device) {
    std::uint32_t number = 0;
    const char* end = text.data() + text.size();
    auto [at, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || at != end)
        throw Error(Exit::usage,
                    fmt::format("PATH is '{}', and must be the number of a path", clean(text)),
                    fmt::format("'rblk path list {}' shows them", device));
    return number;
}

std::string hint_for(int error, const PathChange& change, const std::string& device) {
    switch (error) {
        case ENODEV:
            return "'rblk device list' shows the devices";
        case ENOENT:
            return fmt::format("'rblk path list {}' shows the paths", device);
        case EBUSY:
            if (!change.ends_use || change.forced) return {};
            return fmt::format(
                "'rblk path list {}' shows the others; with --force I/O waits until one is live",
                device);
        case EINVAL:
            if (!change.ends_use) return {};
            return fmt::format(
                "a session keeps its last path: 'rblk path add {0} SERVER' adds another, 'rblk "
                "unmap {0}' ends the use of it",
                device);
        default:
            return {};
    }
}

}  // namespace

ChangedPath change_path(Context& context, const Arguments& given, const PathChange& change,
                        const PathChangeRequest& request) {
    PathOfDevice at;
    at.device = parse_device(given.text("DEVICE"));
    auto device = device_path(fmt::format("rblk{}", at.device));
    at.path = parse_path(given.text("PATH"), device);
    ClientConnection client(context.env);
    try {
        request(*client, at);
    } catch (const KernelError& error) {
        throw refusal(error, fmt::format("cannot {} path {} of {}", change.verb, at.path, device),
                      Operation::other, hint_for(error.error(), change, device));
    }
    return {device, at.path};
}

Exit change_path(Context& context, const Arguments& given, const PathChange& change,
                 const PathChangeRequest& request, std::string_view result) {
    auto changed = change_path(context, given, change, request);
    context.print(changed_path_document(changed.device, changed.path, result));
    return Exit::ok;
}

}  // namespace rblk
