// SPDX-License-Identifier: GPL-2.0
// A command on one path of a device's session: its words, its request, what a refusal means.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "abi/client.hpp"
#include "cli/command.hpp"

namespace rblk {

struct PathChange {
    std::string_view verb;  // "drain"
    // Whether the path may be the only one that can carry the I/O.
    bool ends_use = false;
    bool forced = false;
};

using PathChangeRequest = std::function<void(Client& client, const PathOfDevice& path)>;

inline constexpr Argument changed_device = {.kind = Argument::Kind::positional,
                                            .name = "DEVICE",
                                            .meta = "DEVICE",
                                            .help = "/dev/rblk0, rblk0 or 0",
                                            .offers = Argument::Offers::devices};
inline constexpr Argument changed_path = {.kind = Argument::Kind::positional,
                                          .name = "PATH",
                                          .meta = "PATH",
                                          .help = "its number in 'rblk path list DEVICE'",
                                          .offers = Argument::Offers::paths};
inline constexpr Argument changed_force = {
    .kind = Argument::Kind::flag,
    .name = "--force",
    .meta = "",
    .help = "also if no other path could carry the I/O now; it waits for one then"};

struct ChangedPath {
    std::string device;  // "/dev/rblk0"
    std::uint32_t path = 0;
};

// Has the request sent of a command whose first arguments are the first two above.
ChangedPath change_path(Context& context, const Arguments& given, const PathChange& change,
                        const PathChangeRequest& request);
// The same, and prints what was done, as in "drained".
Exit change_path(Context& context, const Arguments& given, const PathChange& change,
                 const PathChangeRequest& request, std::string_view result);

}  // namespace rblk
