// SPDX-License-Identifier: GPL-2.0
// Options for how the transport of a path works, of commands that make one and that change one.
#pragma once

#include <string_view>

#include <linux/rblk_client.h>

#include "abi/client.hpp"
#include "cli/command.hpp"

namespace rblk {

constexpr Argument parameter(std::string_view name, std::string_view help, std::uint32_t min,
                             std::uint32_t max) {
    return {.kind = Argument::Kind::value,
            .name = name,
            .meta = "N",
            .help = help,
            .min = min,
            .max = max};
}

inline constexpr Argument new_tos =
    parameter("--tos", "type of service of the packets of a path, 0 to 255; 0 if not given", 0,
              RBLK_CLIENT_MAX_TOS);
inline constexpr Argument new_ack_timeout =
    parameter("--ack-timeout",
              "how long its transport waits for an acknowledgement before it sends again, 8 to 22: "
              "4.096 us x 2^N; 17 if not given",
              RBLK_CLIENT_MIN_ACK_TIMEOUT, RBLK_CLIENT_MAX_ACK_TIMEOUT);
inline constexpr Argument new_retry_count = parameter(
    "--retry-count", "how often it sends again before the path is lost, 0 to 6; 6 if not given", 0,
    RBLK_CLIENT_MAX_RETRY_COUNT);

inline constexpr Argument changed_tos =
    parameter("--tos", "type of service of its packets, 0 to 255", 0, RBLK_CLIENT_MAX_TOS);
inline constexpr Argument changed_ack_timeout =
    parameter("--ack-timeout",
              "how long its transport waits for an acknowledgement before it sends again, 8 to 22: "
              "4.096 us x 2^N",
              RBLK_CLIENT_MIN_ACK_TIMEOUT, RBLK_CLIENT_MAX_ACK_TIMEOUT);
inline constexpr Argument changed_retry_count =
    parameter("--retry-count", "how often it sends again before the path is lost, 0 to 6", 0,
              RBLK_CLIENT_MAX_RETRY_COUNT);

// Of a command that has one of each.
PathParameters take_parameters(const Arguments& given);

}  // namespace rblk
