// SPDX-License-Identifier: GPL-2.0
// A switch between the sockets of the lab's nodes, whose ports lose, delay and keep frames on
// order.
//
//     rblk-relay SEED CONTROL LINK:NODE:FD...
//
// CONTROL is a stream socket for orders, one a line; see control.hpp. Each FD is a datagram socket,
// one frame a datagram. It ends when the other end of CONTROL is closed.
#include <charconv>
#include <cstdio>
#include <stdexcept>

#include "loop.hpp"

namespace {

// Numbers with colons between them, COUNT of them.
std::vector<std::uint64_t> numbers(std::string_view text, std::size_t count) {
    std::vector<std::uint64_t> found;
    const char* at = text.data();
    const char* const end = at + text.size();
    for (;;) {
        const auto [next, error] = std::from_chars(at, end, found.emplace_back());
        if (error != std::errc{}) break;
        if (next == end && found.size() == count) return found;
        if (next == end || *next != ':') break;
        at = next + 1;
    }
    throw std::invalid_argument("'" + std::string(text) + "' is not what belongs here");
}

relay::Fd inherited(std::uint64_t number) {
    return relay::Fd(static_cast<int>(number));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fputs("rblk-relay SEED CONTROL LINK:NODE:FD...\n", stderr);
        return 1;
    }
    try {
        relay::Switch network(numbers(argv[1], 1)[0]);
        relay::Fd control = inherited(numbers(argv[2], 1)[0]);
        for (int n = 3; n < argc; ++n) {
            const auto port = numbers(argv[n], 3);
            network.add(static_cast<unsigned>(port[0]), static_cast<unsigned>(port[1]),
                        inherited(port[2]));
        }
        relay::Loop(network, std::move(control)).run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "rblk-relay: %s\n", error.what());
        return 1;
    }
    return 0;
}
