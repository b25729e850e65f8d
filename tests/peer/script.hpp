// SPDX-License-Identifier: GPL-2.0
// The peer's script: a line is a command, and prints a line about what came of it. The words are in
// script.cpp. Bytes are written in hex, "-" for none; {NAME} among them stands for what "take"
// kept.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "connection.hpp"

namespace peer {

class Script {
public:
    Script(const std::string& address, const std::string& port);
    ~Script();
    // Run one line; what there is to say about it, or nothing.
    std::string run(const std::string& line);

private:
    using Words = std::vector<std::string>;

    std::string request(const Words& words);
    std::string on_connection(const Words& words);
    std::string with(Connection& connection, const Words& words);
    void take(const Words& words);
    void listen();
    Bytes bytes(const std::string& text) const;
    std::uint32_t number(const std::string& name) const;
    const sockaddr* address() const;

    rdma_addrinfo* address_ = nullptr;
    rdma_event_channel* channel_ = nullptr;
    rdma_cm_id* listener_ = nullptr;
    Options options_;
    std::map<std::string, std::unique_ptr<Connection>> connections_;
    std::map<std::string, Bytes> kept_;
    Bytes last_;  // message or private data
};

}  // namespace peer
