// SPDX-License-Identifier: GPL-2.0
// One RC connection of the peer, over librdmacm. It waits where the peer says so and nowhere else:
// what a well-behaved program does by itself, this one may leave undone.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <rdma/rdma_cma.h>

namespace peer {

using Bytes = std::vector<std::uint8_t>;
using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

inline constexpr std::size_t kMessageSize = 4096;
inline constexpr Milliseconds kPatience{20000};  // for what must happen at once

// What could not be tried at all, as against what the other side answered.
class Broken : public std::exception {
public:
    explicit Broken(std::string what);
    const char* what() const noexcept override { return what_.c_str(); }

private:
    std::string what_;
};

// What a connection is made with.
struct Options {
    unsigned receives = 8;     // posted before it connects
    unsigned reads = 4;        // RDMA READs in flight
    unsigned retries = 6;      // both sides get this number; rxe takes 7 for endless
    unsigned rnr_retries = 1;  // 7 is for ever
};

class Connection {
public:
    explicit Connection(const Options& options);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // As a client: resolve, and send the request. The answer is not waited for.
    void start(const sockaddr* to, std::span<const std::uint8_t> private_data);
    // Wait for the answer: "accepted HEX", "rejected REASON HEX" or the CM's event.
    std::string finish();

    // As a server: take a request's id.
    void adopt(rdma_cm_id* id);
    void start_accept(std::span<const std::uint8_t> private_data);
    std::string accept(std::span<const std::uint8_t> private_data);
    void reject(std::span<const std::uint8_t> private_data);

    // Post a SEND; wait for the completion of as many as are out: "sent", "closed" or a status.
    void post(std::span<const std::uint8_t> message);
    std::string sent();
    // Wait for a message: "got HEX", "closed" or "silent".
    std::string receive(Milliseconds limit, Bytes& message);
    // Wait for the end of the connection.
    bool gone(Milliseconds limit);
    // An RDMA READ or WRITE of LEN bytes at ADDRESS of the other side: "success" or a status.
    std::string one_sided(bool write, std::uint32_t key, std::uint64_t address, std::uint32_t len);

    void disconnect();
    // The queue pair goes and the other side is not told.
    void hang();
    // Memory that the other side can reach at address 0 with this key.
    std::uint32_t expose(std::size_t size);

private:
    void make_queue_pair();
    void post_receive(std::size_t index);
    rdma_cm_event_type next_event(Milliseconds limit);
    bool closed();
    rdma_conn_param parameters(std::span<const std::uint8_t> private_data) const;

    Options options_;
    rdma_event_channel* channel_ = nullptr;
    rdma_cm_id* id_ = nullptr;
    ibv_cq* sends_ = nullptr;
    ibv_cq* receives_ = nullptr;
    ibv_mr* mr_ = nullptr;
    ibv_mr* exposed_ = nullptr;
    Bytes buffers_;  // one to send from, the others to receive into
    Bytes memory_;
    unsigned out_ = 0;
    bool closed_ = false;
    Bytes answer_;
    int status_ = 0;
};

std::string hex(std::span<const std::uint8_t> bytes);

}  // namespace peer
