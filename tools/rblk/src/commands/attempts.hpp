// SPDX-License-Identifier: GPL-2.0
// The addresses of a server, tried one after the other until one answers.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "abi/client.hpp"
#include "cli/command.hpp"
#include "output/views.hpp"

namespace rblk {

class Attempts {
public:
    using Timeout = std::optional<std::uint32_t>;  // in milliseconds; the kernel's if absent
    using Once = std::function<void(const Address& address, Timeout timeout_ms)>;
    using Goes = std::function<bool(const KernelError& error)>;

    // The time of all attempts together, as --timeout has it.
    Attempts(Context& context, std::optional<std::uint32_t> seconds);

    // Until once() does not throw. A KernelError of which goes_on() is false, and that of the last
    // address, is thrown on.
    void run(const std::vector<Address>& addresses, const Once& once, const Goes& goes_on);

    const std::vector<FailedAttempt>& failed() const { return failed_; }
    // ", nor WORD 10.0.0.1:7471 (timed out)" for each that failed before the last.
    std::string failed_text(std::string_view word) const;

private:
    Context& context_;
    std::optional<std::chrono::milliseconds> timeout_;
    std::vector<FailedAttempt> failed_;
};

// Whether nothing answered at an address, so that another one is worth trying.
bool unanswered(const KernelError& error);

// What to do about a server that is not reached, or not understood; nothing of other errors.
std::string unreached_hint(int error, bool has_source);

// As the command line has it.
std::string route_text(const Route& route, const Interfaces& interfaces);

}  // namespace rblk
