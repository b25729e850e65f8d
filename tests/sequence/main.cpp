// SPDX-License-Identifier: GPL-2.0
// Proves on a block device that no write that was acknowledged is undone: numbers in each block
// only rise. See model.hpp for what a read may return.
//
//     rblk-sequence FILE [OPTIONS]     until SIGTERM, SIGINT or --seconds
//
// The first line comes when it begins. SIGUSR1 prints one more, of what was done and of the longest
// request since the last such line. The last line is the result. All are JSON.
//
// Exit code: 0 all was right; 1 it could not be tried; 2 a violation; 3 an I/O error, unless
// --allow-errors.
#include <csignal>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <thread>
#include <vector>

#include <poll.h>
#include <sys/signalfd.h>

#include "reader.hpp"
#include "writer.hpp"

namespace {

using namespace sequence;
using Clock = std::chrono::steady_clock;

enum Code { kRight, kNotTried, kViolation, kError };

constexpr int kTick = 100;  // milliseconds

// Signals as something to read, in all threads that come after it.
class Signals {
public:
    Signals() : fd_(make()) {}

    // Wait for one, a tick at the most; 0 if none came.
    int next() const {
        pollfd one{fd_.get(), POLLIN, 0};
        signalfd_siginfo info{};
        if (poll(&one, 1, kTick) == 1 && read(fd_.get(), &info, sizeof(info)) == sizeof(info))
            return static_cast<int>(info.ssi_signo);
        return 0;
    }

private:
    static int make() {
        sigset_t set;
        sigemptyset(&set);
        for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) sigaddset(&set, signal);
        sigprocmask(SIG_BLOCK, &set, nullptr);
        return signalfd(-1, &set, SFD_CLOEXEC);
    }

    Fd fd_;
};

void say(const std::string& line) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
}

void work(Check& check, const Signals& signals) {
    const auto began = Clock::now();
    // They are joined in any case, so they must know that it is enough
    struct Stop {
        Check& check;
        ~Stop() { check.stop = true; }
    };
    std::vector<std::jthread> threads;
    const Stop stop{check};
    Writer writer(check);
    for (std::size_t n = 0; n < check.options.readers; ++n)
        threads.emplace_back([&check, n] { read_blocks(check, n); });
    threads.emplace_back([&writer] { writer.run(); });
    while (!check.stop) {
        const int signal = signals.next();
        if (signal == SIGUSR1) say(check.mark());
        if (signal == SIGTERM || signal == SIGINT) break;
        if (check.options.seconds &&
            Clock::now() - began > std::chrono::seconds(check.options.seconds))
            break;
    }
    check.stop = true;
    threads.clear();
}

Code run(const Options& options) {
    const Signals signals;
    Check check(options);
    check.begin();
    say(check.mark());
    work(check, signals);
    check.end();
    say(check.result());
    if (check.violations) return kViolation;
    return (check.write_errors || check.read_errors) && !options.allow_errors ? kError : kRight;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(parse(argc, argv));
    } catch (const std::invalid_argument& error) {
        std::fprintf(stderr, "rblk-sequence: %s\n%s", error.what(), kUsage);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "rblk-sequence: %s\n", error.what());
    }
    return kNotTried;
}
