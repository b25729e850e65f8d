// SPDX-License-Identifier: GPL-2.0
// Waits for frames, for orders and for the time of what is delayed, and for nothing else.
#pragma once

#include <map>
#include <string>

#include "fd.hpp"
#include "switch.hpp"

namespace relay {

class Loop {
public:
    Loop(Switch& network, Fd control);

    // Until whoever gives the orders is gone.
    void run();

private:
    void watch(int fd, std::uint32_t what);
    void set_timer();
    bool take_orders();
    void give_answers();

    Switch& network_;
    Fd control_;
    Fd epoll_;
    Fd timer_;
    std::map<int, Port*> by_fd_;
    std::map<int, std::uint32_t> watched_;
    std::optional<Time> armed_;
    std::string orders_;   // read, without the end of a line yet
    std::string answers_;  // not written yet
    bool too_long_ = false;
};

}  // namespace relay
