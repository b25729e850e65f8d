// SPDX-License-Identifier: GPL-2.0
// The longest that a request took, with those that take it still.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

namespace sequence {

// Nanoseconds of the clock that /proc/uptime shows, but for the time asleep.
inline std::int64_t now() {
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

class Stall {
public:
    explicit Stall(std::size_t slots) : began_(slots) {}

    void begin(std::size_t slot) { began_[slot].store(now()); }
    void end(std::size_t slot) { keep(longest_, now() - began_[slot].exchange(0)); }

    // Since the last one, in seconds. Requests in flight count with what they took so far.
    double take() {
        std::int64_t most = longest_.exchange(0);
        const std::int64_t at = now();
        for (const auto& slot : began_)
            if (const std::int64_t began = slot.load()) most = std::max(most, at - began);
        keep(ever_, most);
        return seconds(most);
    }

    double ever() {
        take();
        return seconds(ever_.load());
    }

private:
    static void keep(std::atomic<std::int64_t>& most, std::int64_t value) {
        std::int64_t seen = most.load();
        while (seen < value && !most.compare_exchange_weak(seen, value)) {
        }
    }

    static double seconds(std::int64_t nanoseconds) {
        return static_cast<double>(nanoseconds) / 1e9;
    }

    std::vector<std::atomic<std::int64_t>> began_;
    std::atomic<std::int64_t> longest_ = 0;
    std::atomic<std::int64_t> ever_ = 0;
};

}  // namespace sequence
