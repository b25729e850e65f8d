// SPDX-License-Identifier: GPL-2.0
// The netlink family "rblk-client": its objects as types and its requests as functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "abi/family.hpp"
#include "input/address.hpp"

namespace rblk {

// The no-path timeout that never ends.
inline constexpr std::uint32_t no_path_for_ever = 0xffff'ffff;

struct QueueStats {
    std::uint32_t index = 0;
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    std::uint64_t read_bytes = 0;
    std::uint64_t write_bytes = 0;
    std::uint64_t errors = 0;
};

// What a kernel may leave out is optional.
struct Device {
    std::uint32_t index = 0;
    std::string name;
    std::string export_name;
    Address server;
    std::optional<std::string> client_name;
    bool read_only = false;
    bool shared = false;
    std::optional<std::uint32_t> queues;
    std::optional<std::uint32_t> depth;
    std::uint32_t state = 0;
    std::optional<std::string> reason;
    std::uint64_t size = 0;
    std::optional<std::uint32_t> block_size;
    std::optional<std::uint64_t> extent_size;
    std::optional<std::uint32_t> extents;
    std::optional<std::uint32_t> max_io;
    std::optional<std::uint32_t> backing;
    std::optional<Uuid> incarnation;
    std::optional<Uuid> session_id;
    std::optional<std::uint32_t> openers;
    std::optional<std::uint32_t> no_path_timeout_ms;  // no_path_for_ever has no end
    bool no_reconnect = false;
    std::vector<QueueStats> queue_stats;
};

struct ClientPath {
    std::uint32_t index = 0;
    std::uint32_t state = 0;
    std::optional<std::uint32_t> generation;
    std::optional<Address> source;
    std::optional<Address> server;
    std::optional<std::string> rdma_device;
    std::optional<std::uint32_t> rdma_port;
    std::optional<std::uint32_t> queues;
    std::optional<std::uint32_t> depth;
    std::optional<std::string> last_error;
    std::optional<std::uint32_t> reconnects;
};

struct ClientSession {
    Uuid id{};
    std::optional<std::string> client_name;
    std::optional<Uuid> server_id;
    std::optional<std::uint32_t> devices;
    std::vector<ClientPath> paths;
};

// A path that is asked for. Without a source the routing table chooses it.
struct Route {
    Address server;
    std::optional<Address> source;

    bool operator==(const Route&) const = default;
};

struct MapRequest {
    Route first;
    std::vector<Route> further;
    std::string export_name;
    std::string client_name;
    bool read_only = false;
    // The kernel's choice if absent.
    std::optional<std::uint32_t> queues;
    std::optional<std::uint32_t> depth;
    std::optional<std::uint32_t> timeout_ms;
    std::optional<std::uint32_t> no_path_timeout_ms;  // no_path_for_ever has no end
    bool no_reconnect = false;
};

struct Mapped {
    std::uint32_t index = 0;
    std::string name;
};

Device decode_device(ByteView attributes);
ClientSession decode_client_session(ByteView attributes);

class Client {
public:
    // The Genl must outlive it.
    Client(Genl& genl, const Family& family) : family_(genl, family) {}

    Mapped map(const MapRequest& request);
    void unmap(std::uint32_t index, bool force);
    Device device(std::uint32_t index);
    std::vector<Device> devices();
    std::vector<ClientSession> sessions();

private:
    FamilyUser family_;
};

}  // namespace rblk
