// SPDX-License-Identifier: GPL-2.0
#include "commands/attempts.hpp"

#include <algorithm>
#include <cerrno>
#include <stdexcept>

#include <fmt/format.h>

namespace rblk {
namespace {

using std::chrono::milliseconds;

// What the kernel takes if it is told nothing; shared out here when there are many addresses.
constexpr milliseconds default_timeout{30'000};

}  // namespace

Attempts::Attempts(Context& context, std::optional<std::uint32_t> seconds) : context_(context) {
    if (seconds) timeout_ = milliseconds(*seconds * 1000);
}

void Attempts::run(const std::vector<Address>& addresses, const Once& once, const Goes& goes_on) {
    auto end = context_.env.now() + timeout_.value_or(default_timeout);
    for (std::size_t i = 0; i < addresses.size(); i++) {
        auto left = addresses.size() - i;
        Timeout timeout_ms;
        // The kernel's own limit is right for a single address without --timeout.
        if (timeout_ || addresses.size() > 1) {
            auto share = (end - context_.env.now()) / static_cast<std::int64_t>(left);
            timeout_ms = static_cast<std::uint32_t>(std::max(share, milliseconds(1)).count());
        }
        try {
            once(addresses[i], timeout_ms);
            return;
        } catch (const KernelError& error) {
            if (left == 1 || !goes_on(error)) throw;
            auto server = addresses[i].text(context_.env.interfaces);
            context_.note(fmt::format("{}: {}; trying the next address", server, error.why()));
            failed_.push_back({server, error.why()});
        }
    }
    throw std::logic_error("no address to try");
}

std::string Attempts::failed_text(std::string_view word) const {
    std::string text;
    for (const auto& attempt : failed_)
        text += fmt::format(", nor {} {} ({})", word, attempt.server, attempt.error);
    return text;
}

bool unanswered(const KernelError& error) {
    return exit_for_errno(error.error(), Operation::map) == Exit::unreachable;
}

std::string unreached_hint(int error, bool has_source) {
    switch (error) {
        case ENXIO:
        case ECONNREFUSED:
            return "on the server, 'rblk listen list' shows where it listens";
        case EPROTONOSUPPORT:
            return "use rblk modules of one version on both sides";
        case ENODEV:
            return "'rblk check' here and on the server shows the RDMA devices and what is "
                   "missing";
        case ETIMEDOUT:
            return "look for the server's address, its link and a firewall; --timeout gives it "
                   "longer";
        case EHOSTUNREACH:
        case ENETUNREACH:
        case EADDRNOTAVAIL:
            if (has_source)
                return "'ip addr' shows the addresses that can stand behind an '@', 'ip route get "
                       "ADDR from SOURCE' the way from there";
            return "'ip route get ADDR' shows how the server is reached from here";
        default:
            return {};
    }
}

std::string route_text(const Route& route, const Interfaces& interfaces) {
    auto text = route.server.text(interfaces);
    return route.source ? fmt::format("{}@{}", text, route.source->host(interfaces)) : text;
}

}  // namespace rblk
