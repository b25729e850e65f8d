// SPDX-License-Identifier: GPL-2.0
// The words of a script:
//
//   receives N, reads N, retries N, rnr N
//                            for the connections made from now on
//   connect C HEX            connect, and wait for the answer
//   start C HEX              send a connect request, no more
//   finish C                 wait for the answer to it
//   listen                   take connections
//   request C MS [FROM HEX]  wait for a connect request, with HEX at FROM of its private data;
//                            others are refused, and C is another connection from then on
//   accept C HEX             accept, and wait until the connection is up
//   start-accept C HEX       accept, no more
//   reject C HEX
//   send C HEX               send a message, and wait until it is out
//   post C HEX [N]           send it N times, and wait for nothing
//   flush C                  wait until all of them are out
//   recv C MS [HEX]          wait for a message; for one that begins with HEX, others are dropped
//   take NAME FROM LEN       keep bytes of the last message, or of the last private data
//   gone C MS                wait for the end of the connection
//   read C KEY ADDRESS LEN, write C KEY ADDRESS LEN
//   expose C NAME LEN        memory for the other side; NAME is the key
//   disconnect C             the other side is told; "hang C": it is not, "drop C": C is forgotten
//   reset                    drop all connections and all that was kept
//   sleep MS, say TEXT, die
#include "script.hpp"

#include <algorithm>
#include <csignal>
#include <sstream>

#include <poll.h>
#include <unistd.h>

namespace peer {

namespace {

std::vector<std::string> split(const std::string& line) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
}

Milliseconds ms(const std::string& text) {
    return Milliseconds{std::stol(text)};
}

bool has(const Bytes& data, const std::string& from, const Bytes& part) {
    const auto at = std::stoul(from);
    return at + part.size() <= data.size() && std::equal(part.begin(), part.end(), &data[at]);
}

}  // namespace

Script::Script(const std::string& address, const std::string& port) {
    rdma_addrinfo hints{};
    hints.ai_port_space = RDMA_PS_TCP;
    if (rdma_getaddrinfo(address.c_str(), port.c_str(), &hints, &address_))
        throw Broken("address " + address);
}

Script::~Script() {
    connections_.clear();
    if (listener_) rdma_destroy_id(listener_);
    if (channel_) rdma_destroy_event_channel(channel_);
    rdma_freeaddrinfo(address_);
}

const sockaddr* Script::address() const {
    return address_->ai_dst_addr;
}

Bytes Script::bytes(const std::string& text) const {
    Bytes out;
    for (std::size_t at = 0; text != "-" && at < text.size();) {
        if (text[at] != '{') {
            out.push_back(static_cast<std::uint8_t>(std::stoul(text.substr(at, 2), nullptr, 16)));
            at += 2;
            continue;
        }
        const auto end = text.find('}', at);
        const auto found = kept_.find(text.substr(at + 1, end - at - 1));
        if (found == kept_.end()) throw Broken("nothing kept for " + text.substr(at));
        out.insert(out.end(), found->second.begin(), found->second.end());
        at = end + 1;
    }
    return out;
}

std::uint32_t Script::number(const std::string& name) const {
    std::uint32_t value = 0;
    const auto data = bytes(name);
    for (std::size_t i = 0; i < 4 && i < data.size(); i++) value |= std::uint32_t{data[i]} << 8 * i;
    return value;
}

// Shorter than that: zeroes, so that a script goes on after an answer it did not count on.
void Script::take(const Words& words) {
    const std::size_t from = std::stoul(words.at(2)), len = std::stoul(words.at(3));
    Bytes part(len);
    for (std::size_t i = 0; i < len && from + i < last_.size(); i++) part[i] = last_[from + i];
    kept_[words.at(1)] = part;
}

void Script::listen() {
    channel_ = rdma_create_event_channel();
    if (!channel_ || rdma_create_id(channel_, &listener_, nullptr, RDMA_PS_TCP) ||
        rdma_bind_addr(listener_, const_cast<sockaddr*>(address())) || rdma_listen(listener_, 64))
        throw Broken("listen");
}

std::string Script::request(const Words& words) {
    pollfd wait{channel_->fd, POLLIN, 0};
    rdma_cm_event* event = nullptr;
    const auto deadline = Clock::now() + ms(words.at(2));
    while (true) {
        const auto left = std::chrono::duration_cast<Milliseconds>(deadline - Clock::now()).count();
        if (left <= 0 || poll(&wait, 1, static_cast<int>(left)) <= 0) return "no request";
        if (rdma_get_cm_event(channel_, &event)) return "no request";
        const auto* data = static_cast<const std::uint8_t*>(event->param.conn.private_data);
        const bool asks = event->event == RDMA_CM_EVENT_CONNECT_REQUEST;
        if (asks) last_.assign(data, data + event->param.conn.private_data_len);
        const bool wanted = asks && (words.size() < 5 || has(last_, words[3], bytes(words[4])));
        auto* id = event->id;
        rdma_ack_cm_event(event);
        if (wanted) {
            auto connection = std::make_unique<Connection>(options_);
            connection->adopt(id);
            connections_[words.at(1)] = std::move(connection);
            return words.at(1) + " request " + hex(last_);
        }
        if (asks) rdma_destroy_id(id);
    }
}

std::string Script::with(Connection& connection, const Words& words) {
    const auto& verb = words.at(0);
    if (verb == "finish") return connection.finish();
    if (verb == "accept") return connection.accept(bytes(words.at(2)));
    if (verb == "start-accept") return connection.start_accept(bytes(words.at(2))), "";
    if (verb == "reject") return connection.reject(bytes(words.at(2))), "rejected";
    if (verb == "send") return connection.post(bytes(words.at(2))), connection.sent();
    if (verb == "flush") return connection.sent();
    if (verb == "recv") {
        const auto wanted = words.size() > 3 ? "got " + words.at(3) : "";
        const auto deadline = Clock::now() + ms(words.at(2));
        for (;;) {
            const auto left = std::chrono::duration_cast<Milliseconds>(deadline - Clock::now());
            const auto result = connection.receive(left, last_);
            if (result.starts_with(wanted) || !result.starts_with("got ")) return result;
        }
    }
    if (verb == "disconnect") return connection.disconnect(), "";
    if (verb == "hang") return connection.hang(), "";
    if (verb == "gone") {
        const auto began = Clock::now();
        if (!connection.gone(ms(words.at(2)))) return "still there";
        const auto took = std::chrono::duration_cast<Milliseconds>(Clock::now() - began);
        return "gone after " + std::to_string(took.count()) + " ms";
    }
    if (verb == "read" || verb == "write")
        return verb + " " +
               connection.one_sided(verb == "write", number(words.at(2)), std::stoull(words.at(3)),
                                    static_cast<std::uint32_t>(std::stoul(words.at(4))));
    if (verb == "post") {
        const auto message = bytes(words.at(2));
        for (auto left = words.size() > 3 ? std::stoul(words[3]) : 1; left; left--)
            connection.post(message);
        return "";
    }
    if (verb == "expose") {
        const auto key = connection.expose(std::stoul(words.at(3)));
        Bytes data;
        for (int i = 0; i < 4; i++) data.push_back(static_cast<std::uint8_t>(key >> 8 * i));
        kept_[words.at(2)] = data;
        return "";
    }
    throw Broken("no command " + verb);
}

std::string Script::on_connection(const Words& words) {
    const auto& verb = words.at(0);
    const auto& name = words.at(1);
    std::string result;
    if (verb == "drop") {
        connections_.erase(name);
        return "";
    }
    if (verb == "connect" || verb == "start") {
        auto connection = std::make_unique<Connection>(options_);
        connection->start(address(), bytes(words.at(2)));
        if (verb == "connect") result = connection->finish();
        connections_[name] = std::move(connection);
    } else {
        const auto found = connections_.find(name);
        if (found == connections_.end()) throw Broken("no connection " + name);
        result = with(*found->second, words);
    }
    return result.empty() ? "" : name + " " + result;
}

std::string Script::run(const std::string& line) {
    const auto words = split(line);
    if (words.empty()) return "";
    const auto& verb = words[0];
    if (verb == "die") raise(SIGKILL);
    if (verb == "say") return line.substr(4);
    if (verb == "sleep") return poll(nullptr, 0, std::stoi(words.at(1))), "";
    if (verb == "take") return take(words), "";
    if (verb == "request") return request(words);
    if (verb == "listen") return listen(), "listening";
    if (verb == "receives" || verb == "reads" || verb == "retries" || verb == "rnr") {
        const auto value = static_cast<unsigned>(std::stoul(words.at(1)));
        (verb == "receives"  ? options_.receives
         : verb == "reads"   ? options_.reads
         : verb == "retries" ? options_.retries
                             : options_.rnr_retries) = value;
        return "";
    }
    if (verb == "reset") {
        connections_.clear();
        kept_.clear();
        options_ = {};
        return "";
    }
    return on_connection(words);
}

}  // namespace peer
