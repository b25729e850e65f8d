// SPDX-License-Identifier: GPL-2.0
#include "switch.hpp"

#include <algorithm>

#include <sys/socket.h>

namespace relay {

namespace {

constexpr int kAtOnce = 64;  // frames of one port before the others have their turn

// Of splitmix64: each bit of the result depends on all of VALUE.
std::uint64_t mix(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    return value ^ value >> 31;
}

}  // namespace

const Frame& Parcel::keep() {
    if (!frame_) {
        frame_ = std::make_shared<std::vector<std::uint8_t>>(bytes_.begin(), bytes_.end());
        bytes_ = *frame_;
    }
    return frame_;
}

void Switch::add(unsigned link, unsigned node, Fd fd) {
    ports_.push_back(std::make_unique<Port>(link, node, std::move(fd)));
}

// From 0 to below 1. It depends on the seed, the port and how many frames came before, and on no
// other rule: what is decided about a frame stays the same when another rule changes.
double Switch::chance(const Port& port, std::uint64_t number, Chance what) const {
    const auto place = mix(seed_ ^ mix(std::uint64_t{port.link} << 32 | port.node));
    const auto value = mix(place + number * static_cast<std::uint64_t>(Chance::Count) +
                           static_cast<std::uint64_t>(what));
    return static_cast<double>(value >> 11) * 0x1p-53;
}

void Switch::receive(Port& port, Time now) {
    for (int n = 0; n < kAtOnce; ++n) {
        const auto size =
            recv(port.fd.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT | MSG_TRUNC);
        if (size < 0) return;  // nothing more; or an error, which is gone with this call
        if (static_cast<std::size_t>(size) > buffer_.size()) {
            ++port.counters.overflowed;
            continue;
        }
        arrive(port, Bytes(buffer_.data(), static_cast<std::size_t>(size)), now);
    }
}

void Switch::arrive(Port& port, Bytes bytes, Time now) {
    const auto number = port.number++;
    ++port.counters.frames;
    port.counters.bytes += bytes.size();
    if (const auto found = captures.find(port.link); found != captures.end())
        found->second.record(bytes);
    if (port.rules.cut || chance(port, number, Chance::Drop) < port.rules.drop) {
        ++port.counters.dropped;
        return;
    }
    Parcel parcel(bytes);
    if (chance(port, number, Chance::Duplicate) < port.rules.duplicate) {
        ++port.counters.duplicated;
        delay(port, number, parcel, now);
    }
    delay(port, number, parcel, now);
}

void Switch::delay(Port& port, std::uint64_t number, Parcel& parcel, Time now) {
    const auto& rules = port.rules;
    auto due = now;
    if (rules.rate) {
        using Seconds = std::chrono::duration<double>;
        const auto rate = static_cast<double>(rules.rate);
        const auto size = static_cast<double>(parcel.bytes().size());
        const auto free = std::max(port.rate_free, now);
        if (Seconds(free - now).count() * rate + size > static_cast<double>(rules.queue)) {
            ++port.counters.overflowed;
            return;
        }
        due = port.rate_free = free + std::chrono::duration_cast<Duration>(Seconds(size / rate));
    }
    due += rules.delay + std::chrono::duration_cast<Duration>(rules.jitter *
                                                              chance(port, number, Chance::Jitter));
    due = std::max(due, port.last);  // only 'reorder' changes the order
    const bool late = due > now;
    const bool reordered = chance(port, number, Chance::Reorder) < rules.reorder;
    if ((late || reordered) && port.waiting.size() >= kMostKept) {
        ++port.counters.overflowed;
        return;
    }
    port.counters.delayed += late;
    port.counters.reordered += reordered;
    if (reordered)
        due += rules.reorder_by;
    else
        port.last = due;
    if (due > now)
        port.waiting.emplace(due, parcel.keep());
    else
        pass(port, parcel);
}

void Switch::pass_due(Time now) {
    for (const auto& port : ports_) {
        while (!port->waiting.empty() && port->waiting.begin()->first <= now) {
            Parcel parcel(std::move(port->waiting.begin()->second));
            port->waiting.erase(port->waiting.begin());
            pass(*port, parcel);
        }
    }
}

std::optional<Time> Switch::next_due() const {
    std::optional<Time> next;
    for (const auto& port : ports_)
        if (!port->waiting.empty() && (!next || port->waiting.begin()->first < *next))
            next = port->waiting.begin()->first;
    return next;
}

// The hold is the last place on the way, so that what was delayed before cannot pass it by.
void Switch::pass(Port& port, Parcel& parcel) {
    if (!port.hold) {
        send(port, parcel);
    } else if (port.held.size() >= *port.hold) {
        ++port.counters.overflowed;
    } else {
        ++port.counters.held;
        port.held.push_back(parcel.keep());
    }
}

void Switch::send(Port& port, Parcel& parcel) {
    for (const auto& to : ports_)
        if (to->link == port.link && to.get() != &port) send_to(*to, port, parcel);
}

void Switch::send_to(Port& to, Port& from, Parcel& parcel) {
    const auto bytes = parcel.bytes();
    if (to.queue.empty()) {
        if (::send(to.fd.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
            return;
        if (errno != EAGAIN && errno != EWOULDBLOCK) {
            ++from.counters.overflowed;
            return;
        }
    }
    if (to.queue.size() >= kMostQueued)
        ++from.counters.overflowed;
    else
        to.queue.push_back({parcel.keep(), &from.counters});
}

void Switch::flush(Port& port) {
    while (!port.queue.empty()) {
        const auto& [frame, from] = port.queue.front();
        if (::send(port.fd.get(), frame->data(), frame->size(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
            if (errno == EAGAIN || errno == EWOULDBLOCK) return;
            ++from->overflowed;
        }
        port.queue.pop_front();
    }
}

void Switch::hold(Port& port, std::size_t limit) {
    port.hold = limit;
}

std::size_t Switch::release(Port& port) {
    port.hold.reset();
    const auto held = std::exchange(port.held, {});
    for (const auto& frame : held) {
        Parcel parcel(frame);
        send(port, parcel);
    }
    return held.size();
}

std::size_t Switch::heal(Port& port, bool discard) {
    auto kept = port.held.size() + port.waiting.size();
    if (discard) {
        port.counters.dropped += kept;
        port.held.clear();
        port.waiting.clear();
    }
    release(port);
    for (const auto& [due, frame] : std::exchange(port.waiting, {})) {
        Parcel parcel(frame);
        send(port, parcel);
    }
    port.rules = {};
    port.rate_free = port.last = {};
    return kept;
}

void Switch::reseed(std::uint64_t seed) {
    seed_ = seed;
    for (const auto& port : ports_) port->number = 0;
}

}  // namespace relay
