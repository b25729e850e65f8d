// SPDX-License-Identifier: GPL-2.0
// Orders to the relay, a JSON object each, and the answers.
//
//   {"do": "set", "cut": true, "drop": 0.1, "duplicate": 0.1, "reorder": 0.1, "reorder_ms": 20,
//    "delay": 5, "jitter": 1, "rate": 100000, "queue": 20000}
//                                        any of these; what is not named stays as it is
//   {"do": "hold", "limit": 10}          keep frames, and lose those above the limit
//   {"do": "release"}                    forward them and keep no more: {"frames": 3}
//   {"do": "heal", "discard": true}      no rule any more; what is kept goes on, or is dropped
//   {"do": "counters"}                   {"ports": [{"link": 0, "node": 1, "frames": 7, ...}]}
//   {"do": "capture", "link": 0, "file": "PATH"}
//   {"do": "capture-end"}                {"frames": 20}; "link" for one of them
//   {"do": "seed", "seed": 1}            chance begins anew
//
// All but the last three take "link" and "node", the one that sends; without them all are meant.
// The answer is an object with "ok": true, or with "error" in words; then nothing was done.
#pragma once

#include <string>
#include <string_view>

#include "switch.hpp"

namespace relay {

std::string answer(Switch& network, std::string_view order);
std::string refusal(const std::string& why);

}  // namespace relay
