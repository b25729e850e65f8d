// SPDX-License-Identifier: GPL-2.0
// The netlink family "rblk-client": its objects as types and its requests as functions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "abi/family.hpp"
#include "input/address.hpp"

namespace rblk {

// The no-path timeout that never ends.
inline constexpr std::uint32_t no_path_for_ever = 0xffff'ffff;

// The words for enums that people write as well, in the order of their numbers.
inline constexpr std::array<std::string_view, 4> policy_words = {"preferred", "round-robin",
                                                                 "min-inflight", "min-latency"};
inline constexpr std::array<std::string_view, 3> write_order_words = {"auto", "strict", "relaxed"};

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
    std::optional<std::uint32_t> policy;
    std::optional<std::uint32_t> write_order;
    std::vector<QueueStats> queue_stats;
};

// Of an RDMA port, in the order of the wire.
using Gid = std::array<std::uint8_t, 16>;

// "fe80::2:c903:ab:cdef", "::ffff:10.0.0.1"
std::string gid_text(const Gid& gid);

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
    bool active = false;   // it carries I/O
    bool drained = false;  // by order it is not to
    std::optional<std::uint32_t> losses;
    std::optional<std::uint32_t> in_flight;
    std::optional<std::uint64_t> reads;
    std::optional<std::uint64_t> writes;
    std::optional<std::uint64_t> read_bytes;
    std::optional<std::uint64_t> write_bytes;
    std::optional<std::uint64_t> latency_ns;
    std::optional<Gid> source_gid;
    std::optional<Gid> server_gid;
    std::optional<std::uint32_t> source_lid;
    std::optional<std::uint32_t> server_lid;
    std::optional<std::uint32_t> pkey;
    std::optional<std::uint32_t> sl;
    std::vector<std::uint32_t> qp_numbers;  // the control connection's first
    std::optional<std::uint32_t> tos;
    std::optional<std::uint32_t> ack_timeout;
    std::optional<std::uint32_t> retry_count;
    std::optional<std::uint32_t> server_device;  // a number that paths to the same one share
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

// Of a device, or of its session. What is absent is not asked for.
struct DeviceSettings {
    std::optional<std::uint32_t> no_path_timeout_ms = {};  // no_path_for_ever has no end
    std::optional<std::uint32_t> policy = {};
    std::optional<std::uint32_t> write_order = {};
};

// How the transport of a path works. What is absent is not asked for.
struct PathParameters {
    std::optional<std::uint32_t> tos = {};
    std::optional<std::uint32_t> ack_timeout = {};
    std::optional<std::uint32_t> retry_count = {};
};

struct MapRequest {
    Route first;
    std::vector<Route> further;
    std::string export_name;
    std::string client_name;
    bool read_only = false;
    bool steal = false;
    // The kernel's choice if absent.
    std::optional<std::uint32_t> queues;
    std::optional<std::uint32_t> depth;
    std::optional<std::uint32_t> timeout_ms;
    bool no_reconnect = false;
    DeviceSettings settings;
    PathParameters parameters;  // of all its paths
};

struct Mapped {
    std::uint32_t index = 0;
    std::string name;
};

// A path to add to the session of a device.
struct PathRequest {
    std::uint32_t device = 0;
    Route route;
    std::optional<std::uint32_t> timeout_ms;  // the kernel's choice if absent
    PathParameters parameters = {};
};

struct PathOfDevice {
    std::uint32_t device = 0;
    std::uint32_t path = 0;
};

Device decode_device(ByteView attributes);
ClientSession decode_client_session(ByteView attributes);

class Client {
public:
    // The Genl must outlive it.
    Client(Genl& genl, const Family& family) : family_(genl, family) {}

    Mapped map(const MapRequest& request);
    void unmap(std::uint32_t index, bool force);
    // The number that the path got.
    std::uint32_t add_path(const PathRequest& request);
    void remove_path(const PathOfDevice& path, bool force);
    void drain_path(const PathOfDevice& path, bool force);
    void undrain_path(const PathOfDevice& path);
    // They hold from the path's next connection on.
    void set_path(const PathOfDevice& path, const PathParameters& parameters);
    void set_device(std::uint32_t index, const DeviceSettings& settings);
    Device device(std::uint32_t index);
    std::vector<Device> devices();
    std::vector<ClientSession> sessions();

private:
    void change_path(std::uint8_t command, const PathOfDevice& path, bool force);

    FamilyUser family_;
};

}  // namespace rblk
