// SPDX-License-Identifier: GPL-2.0
#include "commands/path_parameters.hpp"

namespace rblk {

PathParameters take_parameters(const Arguments& given) {
    return {.tos = given.number("--tos"),
            .ack_timeout = given.number("--ack-timeout"),
            .retry_count = given.number("--retry-count")};
}

}  // namespace rblk
