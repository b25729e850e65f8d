// SPDX-License-Identifier: GPL-2.0
#include "loop.hpp"

#include <array>

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include "control.hpp"

namespace relay {

namespace {

constexpr std::size_t kLongestOrder = 64 << 10;

}  // namespace

Loop::Loop(Switch& network, Fd control)
    : network_(network),
      control_(std::move(control)),
      epoll_(must(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      timer_(must(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), "timerfd_create")) {
    watch(control_.get(), EPOLLIN);
    watch(timer_.get(), EPOLLIN);
    for (const auto& port : network_.ports()) {
        by_fd_[port->fd.get()] = port.get();
        watch(port->fd.get(), EPOLLIN);
    }
}

// Has epoll look at FD for WHAT, if it does not already.
void Loop::watch(int fd, std::uint32_t what) {
    const auto found = watched_.find(fd);
    if (found != watched_.end() && found->second == what) return;
    epoll_event event{};
    event.events = what;
    event.data.fd = fd;
    must(epoll_ctl(epoll_.get(), found == watched_.end() ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd,
                   &event),
         "epoll_ctl");
    watched_[fd] = what;
}

void Loop::run() {
    std::array<epoll_event, 32> events;
    for (;;) {
        set_timer();
        for (const auto& port : network_.ports())
            watch(port->fd.get(), port->queue.empty() ? EPOLLIN : EPOLLIN | EPOLLOUT);
        // Whoever does not read the answers can wait with orders
        watch(control_.get(), answers_.empty() ? EPOLLIN : EPOLLOUT);

        const int count = epoll_wait(epoll_.get(), events.data(), events.size(), -1);
        if (count < 0 && errno == EINTR) continue;
        must(count, "epoll_wait");
        const auto now = Clock::now();
        network_.pass_due(now);
        for (int n = 0; n < count; ++n) {
            const auto& event = events[static_cast<std::size_t>(n)];
            if (const auto found = by_fd_.find(event.data.fd); found != by_fd_.end()) {
                if (event.events & EPOLLOUT) network_.flush(*found->second);
                if (event.events & ~EPOLLOUT) network_.receive(*found->second, now);
            } else if (event.data.fd == control_.get()) {
                if (!answers_.empty())
                    give_answers();
                else if (!take_orders())
                    return;
            } else {
                std::uint64_t times;
                [[maybe_unused]] const auto size = read(timer_.get(), &times, sizeof(times));
                armed_.reset();
            }
        }
    }
}

void Loop::set_timer() {
    const auto due = network_.next_due();
    if (due == armed_) return;
    armed_ = due;
    itimerspec when{};  // all zero: never
    if (due) {
        const auto ns = std::chrono::nanoseconds(due->time_since_epoch()).count();
        when.it_value.tv_sec = ns / 1'000'000'000;
        when.it_value.tv_nsec = ns % 1'000'000'000;
    }
    must(timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr), "timerfd_settime");
}

// False at the end of the orders.
bool Loop::take_orders() {
    std::array<char, 4096> piece;
    const auto size = recv(control_.get(), piece.data(), piece.size(), MSG_DONTWAIT);
    if (size < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    if (size == 0) return false;
    orders_.append(piece.data(), static_cast<std::size_t>(size));
    for (std::size_t end; (end = orders_.find('\n')) != std::string::npos;
         orders_.erase(0, end + 1)) {
        const auto order = std::string_view(orders_).substr(0, end);
        answers_ += too_long_ || end > kLongestOrder ? refusal("the line is too long")
                                                     : answer(network_, order);
        answers_ += '\n';
        too_long_ = false;
    }
    if (orders_.size() > kLongestOrder) {
        orders_.clear();
        too_long_ = true;
    }
    give_answers();
    return true;
}

void Loop::give_answers() {
    while (!answers_.empty()) {
        const auto size =
            send(control_.get(), answers_.data(), answers_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (size < 0)
            answers_.clear();  // nobody is there to read them, which the next read says
        else
            answers_.erase(0, static_cast<std::size_t>(size));
    }
}

}  // namespace relay
