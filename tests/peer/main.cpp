// SPDX-License-Identifier: GPL-2.0
// A peer of rblk's wire protocol that does what the real one never would, as a client and as a
// server, from user space over librdmacm. What to do is a script on standard input; it knows how to
// connect and to send, and nothing of the protocol.
//
//     rblk-peer ADDRESS PORT < SCRIPT
//
// Prints a line for what came of each command. Exit code 0: all of it ran, whatever the answers
// were; 1: it could not be tried.
#include <cstdio>
#include <iostream>

#include <unistd.h>

#include "script.hpp"

int main(int argc, char** argv) {
    constexpr unsigned kLimit = 180;  // seconds for everything

    if (argc != 3) {
        std::fputs("rblk-peer ADDRESS PORT < SCRIPT\n", stderr);
        return 1;
    }
    alarm(kLimit);
    std::string line;
    try {
        peer::Script script(argv[1], argv[2]);
        while (std::getline(std::cin, line)) {
            const auto said = script.run(line);
            if (!said.empty()) std::cout << said << std::endl;
        }
    } catch (const std::exception& error) {
        std::cerr << "rblk-peer: '" << line.substr(0, 60) << "': " << error.what() << '\n';
        return 1;
    }
    return 0;
}
