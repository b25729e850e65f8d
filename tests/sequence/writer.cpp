// SPDX-License-Identifier: GPL-2.0
#include "writer.hpp"

#include <algorithm>
#include <cerrno>
#include <thread>

namespace sequence {

namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kAfterError{20};  // a device that fails does so at once
constexpr int kTick = 100;               // milliseconds after which it looks whether it is enough

}  // namespace

Writer::Writer(Check& check)
    : check_(check),
      pages_(check.options.depth * check.options.block_size),
      queue_(static_cast<unsigned>(check.options.depth)),
      slots_(check.options.depth),
      busy_(check.options.blocks),
      events_(check.options.depth),
      chance_(check.options.seed * 1000) {}

void Writer::run() {
    while (!check_.stop || in_flight_) {
        const int wait = check_.stop ? kTick : pause();
        const auto slot = free_slot();
        if (!check_.stop && !wait && slot) {
            submit(*slot);
            // More of them, before it waits
            if (in_flight_ < slots_.size()) continue;
        }
        if (!in_flight_) {
            std::this_thread::sleep_for(milliseconds(std::clamp(wait, 1, kTick)));
            continue;
        }
        for (const io_event& event :
             queue_.wait(events_, std::clamp(wait ? wait : kTick, 1, kTick)))
            ended(static_cast<std::size_t>(event.data), event.res);
    }
}

void Writer::submit(std::size_t index) {
    Slot& slot = slots_[index];
    slot.block = free_block();
    slot.number = check_.model.submit(slot.block);
    slot.busy = true;
    busy_[slot.block] = true;
    ++in_flight_;
    ++submitted_;
    const std::size_t size = check_.options.block_size;
    const auto data = pages_.bytes().subspan(index * size, size);
    check_.model.fill(data, slot.block, slot.number);
    slot.request = {};
    slot.request.aio_data = index;
    slot.request.aio_lio_opcode = IOCB_CMD_PWRITE;
    slot.request.aio_fildes = static_cast<std::uint32_t>(check_.device.fd());
    slot.request.aio_buf = reinterpret_cast<std::uint64_t>(data.data());
    slot.request.aio_nbytes = size;
    slot.request.aio_offset = static_cast<std::int64_t>(check_.offset(slot.block));
    check_.write_stall.begin(index);
    if (const int error = queue_.submit(slot.request)) ended(index, -error);
}

void Writer::ended(std::size_t index, std::int64_t result) {
    Slot& slot = slots_[index];
    check_.write_stall.end(index);
    if (result == static_cast<std::int64_t>(check_.options.block_size)) {
        check_.model.acknowledge(slot.block, slot.number);
        ++check_.writes;
    } else {
        check_.error(check_.write_errors, "write", slot.block,
                     result < 0 ? static_cast<int>(-result) : EREMOTEIO);
        rest_until_ = Clock::now() + kAfterError;
    }
    slot.busy = false;
    busy_[slot.block] = false;
    --in_flight_;
}

std::uint64_t Writer::free_block() {
    std::uint64_t block;
    do {
        block = chance_() % check_.options.blocks;
    } while (busy_[block]);
    return block;
}

std::optional<std::size_t> Writer::free_slot() const {
    const auto found = std::ranges::find(slots_, false, &Slot::busy);
    if (found == slots_.end()) return {};
    return static_cast<std::size_t>(found - slots_.begin());
}

int Writer::pause() const {
    auto next = rest_until_;
    if (const std::uint64_t rate = check_.options.rate) {
        const std::chrono::nanoseconds due(1000000000 * submitted_ / rate);
        next = std::max(next, began_ + due);
    }
    const auto left = std::chrono::ceil<milliseconds>(next - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1000));
}

}  // namespace sequence
