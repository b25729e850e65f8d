// SPDX-License-Identifier: GPL-2.0
// Ports and links: each frame goes from its port to all others of the link, unless the rules for
// what this port sends say otherwise. Nothing here waits.
//
// The way of a frame: counted and captured; cut or dropped; doubled; put behind what the rate has
// not let through yet; delayed, and perhaps out of order; held; sent. A port that takes no more has
// a queue, with an end.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "capture.hpp"
#include "fd.hpp"

namespace relay {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;
using Duration = Clock::duration;
using Bytes = std::span<const std::uint8_t>;
using Frame = std::shared_ptr<const std::vector<std::uint8_t>>;

inline constexpr std::size_t kMostKept = 16384;         // frames of a direction, delayed or held
inline constexpr std::size_t kMostQueued = 4096;        // frames for a port that takes no more
inline constexpr std::uint64_t kRateQueue = 256 << 10;  // bytes that wait for a rate

// What happens to the frames that one port sends. As made, they just go on.
struct Rules {
    bool cut = false;
    double drop = 0;
    double duplicate = 0;
    double reorder = 0;
    Duration reorder_by{};
    Duration delay{};
    Duration jitter{};
    std::uint64_t rate = 0;  // bytes a second, 0: as they come
    std::uint64_t queue = kRateQueue;
};

struct Counters {
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0;
    std::uint64_t dropped = 0;
    std::uint64_t duplicated = 0;
    std::uint64_t delayed = 0;
    std::uint64_t reordered = 0;
    std::uint64_t held = 0;
    std::uint64_t overflowed = 0;  // lost since a queue, a limit or a reader had no room
};

// Bytes that are copied when somebody has to keep them, and then once.
class Parcel {
public:
    explicit Parcel(Bytes bytes) : bytes_(bytes) {}
    explicit Parcel(Frame frame) : bytes_(*frame), frame_(std::move(frame)) {}

    Bytes bytes() const { return bytes_; }
    const Frame& keep();

private:
    Bytes bytes_;
    Frame frame_;
};

class Port {
public:
    Port(unsigned its_link, unsigned its_node, Fd socket)
        : link(its_link), node(its_node), fd(std::move(socket)) {}

    const unsigned link;
    const unsigned node;
    const Fd fd;
    Rules rules;
    Counters counters;

    // Frames of other ports that the socket had no room for
    struct Queued {
        Frame frame;
        Counters* from;
    };
    std::deque<Queued> queue;

private:
    friend class Switch;
    std::uint64_t number = 0;  // of the next frame, for chance
    Time rate_free{};          // when all that came before is through the rate
    Time last{};               // when the last one in order is due
    std::multimap<Time, Frame> waiting;
    std::optional<std::size_t> hold;  // how many to keep
    std::deque<Frame> held;
};

class Switch {
public:
    explicit Switch(std::uint64_t seed) : seed_(seed) {}

    void add(unsigned link, unsigned node, Fd fd);
    const std::vector<std::unique_ptr<Port>>& ports() const { return ports_; }

    // Take some of what there is at PORT. pass_due(NOW) comes before it.
    void receive(Port& port, Time now);
    // Send what waited for room.
    void flush(Port& port);
    // Let go on what has waited long enough, and say when the next one has.
    void pass_due(Time now);
    std::optional<Time> next_due() const;

    void hold(Port& port, std::size_t limit);
    // The number of frames that were held and go on now.
    std::size_t release(Port& port);
    // No rules any more; what is kept goes on at once, or is dropped. The number of those.
    std::size_t heal(Port& port, bool discard);
    // Chance begins anew.
    void reseed(std::uint64_t seed);
    static std::size_t waiting(const Port& port) { return port.waiting.size(); }
    static std::size_t holding(const Port& port) { return port.held.size(); }

    std::map<unsigned, Capture> captures;  // by link

private:
    enum class Chance { Drop, Duplicate, Jitter, Reorder, Count };

    double chance(const Port& port, std::uint64_t number, Chance what) const;
    void arrive(Port& port, Bytes bytes, Time now);
    void delay(Port& port, std::uint64_t number, Parcel& parcel, Time now);
    void pass(Port& port, Parcel& parcel);
    void send(Port& port, Parcel& parcel);
    static void send_to(Port& to, Port& from, Parcel& parcel);

    std::uint64_t seed_;
    std::vector<std::unique_ptr<Port>> ports_;
    std::vector<std::uint8_t> buffer_ = std::vector<std::uint8_t>(128 << 10);
};

}  // namespace relay
