// SPDX-License-Identifier: GPL-2.0
// Options for how the transport of a path works, of commands that make one and that change one.
#pragma once

#include <string_view>

#include "abi/client.hpp"
#include "cli/command.hpp"

namespace rblk {

constexpr Argument parameter(std::string_view name, std::string_view help, std::uint32_t max) {
    return {.kind = Argument::Kind::value, .name = name, .meta = "N", .help = help, .max = max};
}

inline constexpr Argument new_tos = parameter(
    "--tos", "type of service of the packets of a path, 0 to 255; 0 if not given", max_tos);
inline constexpr Argument new_ack_timeout =
    parameter("--ack-timeout",
              "how long its transport waits for an acknowledgement before it sends again, 0 to 31: "
              "4.096 us x 2^N; 0 or not given: the connection manager's choice",
              max_ack_timeout);
inline constexpr Argument new_retry_count = parameter(
    "--retry-count", "how often it sends again before the path is lost, 0 to 7; 7 if not given",
    max_retry_count);

inline constexpr Argument changed_tos =
    parameter("--tos", "type of service of its packets, 0 to 255", max_tos);
inline constexpr Argument changed_ack_timeout =
    parameter("--ack-timeout",
              "how long its transport waits for an acknowledgement before it sends again, 0 to 31: "
              "4.096 us x 2^N; 0: the connection manager's choice",
              max_ack_timeout);
inline constexpr Argument changed_retry_count = parameter(
    "--retry-count", "how often it sends again before the path is lost, 0 to 7", max_retry_count);

// Of a command that has one of each.
PathParameters take_parameters(const Arguments& given);

}  // namespace rblk
