// SPDX-License-Identifier: GPL-2.0
#include "abi/client.hpp"

#include <array>
#include <cstring>

#include <arpa/inet.h>
#include <linux/rblk_client.h>

namespace rblk {
namespace {

// In the order of the spec, which is that of the numbers.
constexpr std::array<std::string_view, RBLK_CLIENT_A_DEVICE_MAX> device_names = {
    "index",        "name",        "export",      "server",     "client-name", "read-only",
    "queues",       "depth",       "timeout-ms",  "force",      "state",       "reason",
    "size",         "block-size",  "extent-size", "extents",    "max-io",      "backing",
    "shared",       "incarnation", "session-id",  "openers",    "queue",       "no-path-timeout-ms",
    "no-reconnect", "source",      "route",       "path",       "steal",       "policy",
    "write-order",  "tos",         "ack-timeout", "retry-count"};
constexpr AttributeSpec device_spec = {"device", device_names};

constexpr std::array<std::string_view, RBLK_CLIENT_A_QUEUE_MAX> queue_names = {
    "index", "reads", "writes", "read-bytes", "write-bytes", "errors"};
constexpr AttributeSpec queue_spec = {"queue", queue_names};

constexpr std::array<std::string_view, RBLK_CLIENT_A_SESSION_MAX> session_names = {
    "id", "client-name", "server-id", "path", "devices"};
constexpr AttributeSpec session_spec = {"session", session_names};

constexpr std::array<std::string_view, RBLK_CLIENT_A_PATH_MAX> path_names = {
    "index",        "state",      "generation", "source",     "server",      "rdma-device",
    "rdma-port",    "queues",     "depth",      "last-error", "reconnects",  "active",
    "drained",      "losses",     "in-flight",  "reads",      "writes",      "read-bytes",
    "write-bytes",  "latency-ns", "source-gid", "server-gid", "source-lid",  "server-lid",
    "pkey",         "sl",         "qps",        "tos",        "ack-timeout", "retry-count",
    "server-device"};
constexpr AttributeSpec path_spec = {"path", path_names};

// Fails to compile when the ABI has grown and the names above have not.
static_assert(!device_names.back().empty() && !queue_names.back().empty() &&
              !session_names.back().empty() && !path_names.back().empty());

static_assert(policy_words.size() == RBLK_CLIENT_POLICY_MIN_LATENCY + 1 &&
              write_order_words.size() == RBLK_CLIENT_WRITE_ORDER_RELAXED + 1);

QueueStats decode_queue(ByteView bytes) {
    Attributes a(bytes, queue_spec);
    QueueStats stats;
    stats.index = a.u32(RBLK_CLIENT_A_QUEUE_INDEX);
    stats.reads = a.uint(RBLK_CLIENT_A_QUEUE_READS);
    stats.writes = a.uint(RBLK_CLIENT_A_QUEUE_WRITES);
    stats.read_bytes = a.uint(RBLK_CLIENT_A_QUEUE_READ_BYTES);
    stats.write_bytes = a.uint(RBLK_CLIENT_A_QUEUE_WRITE_BYTES);
    stats.errors = a.uint(RBLK_CLIENT_A_QUEUE_ERRORS);
    return stats;
}

std::optional<Gid> opt_gid(const Attributes& attributes, unsigned type) {
    auto bytes = attributes.opt_binary(type, sizeof(Gid));
    if (!bytes) return std::nullopt;
    Gid gid;
    std::memcpy(gid.data(), bytes->data(), gid.size());
    return gid;
}

ClientPath decode_path(ByteView bytes) {
    Attributes a(bytes, path_spec);
    ClientPath path;
    path.index = a.u32(RBLK_CLIENT_A_PATH_INDEX);
    path.state = a.u32(RBLK_CLIENT_A_PATH_STATE);
    path.generation = a.opt_u32(RBLK_CLIENT_A_PATH_GENERATION);
    path.source = opt_address(a, RBLK_CLIENT_A_PATH_SOURCE);
    path.server = opt_address(a, RBLK_CLIENT_A_PATH_SERVER);
    path.rdma_device = a.opt_text(RBLK_CLIENT_A_PATH_RDMA_DEVICE);
    path.rdma_port = a.opt_u32(RBLK_CLIENT_A_PATH_RDMA_PORT);
    path.queues = a.opt_u32(RBLK_CLIENT_A_PATH_QUEUES);
    path.depth = a.opt_u32(RBLK_CLIENT_A_PATH_DEPTH);
    path.last_error = a.opt_text(RBLK_CLIENT_A_PATH_LAST_ERROR);
    path.reconnects = a.opt_u32(RBLK_CLIENT_A_PATH_RECONNECTS);
    path.active = a.flag(RBLK_CLIENT_A_PATH_ACTIVE);
    path.drained = a.flag(RBLK_CLIENT_A_PATH_DRAINED);
    path.losses = a.opt_u32(RBLK_CLIENT_A_PATH_LOSSES);
    path.in_flight = a.opt_u32(RBLK_CLIENT_A_PATH_IN_FLIGHT);
    path.reads = a.opt_uint(RBLK_CLIENT_A_PATH_READS);
    path.writes = a.opt_uint(RBLK_CLIENT_A_PATH_WRITES);
    path.read_bytes = a.opt_uint(RBLK_CLIENT_A_PATH_READ_BYTES);
    path.write_bytes = a.opt_uint(RBLK_CLIENT_A_PATH_WRITE_BYTES);
    path.latency_ns = a.opt_uint(RBLK_CLIENT_A_PATH_LATENCY_NS);
    path.source_gid = opt_gid(a, RBLK_CLIENT_A_PATH_SOURCE_GID);
    path.server_gid = opt_gid(a, RBLK_CLIENT_A_PATH_SERVER_GID);
    path.source_lid = a.opt_u32(RBLK_CLIENT_A_PATH_SOURCE_LID);
    path.server_lid = a.opt_u32(RBLK_CLIENT_A_PATH_SERVER_LID);
    path.pkey = a.opt_u32(RBLK_CLIENT_A_PATH_PKEY);
    path.sl = a.opt_u32(RBLK_CLIENT_A_PATH_SL);
    path.qp_numbers = a.u32s(RBLK_CLIENT_A_PATH_QPS);
    path.tos = a.opt_u32(RBLK_CLIENT_A_PATH_TOS);
    path.ack_timeout = a.opt_u32(RBLK_CLIENT_A_PATH_ACK_TIMEOUT);
    path.retry_count = a.opt_u32(RBLK_CLIENT_A_PATH_RETRY_COUNT);
    path.server_device = a.opt_u32(RBLK_CLIENT_A_PATH_SERVER_DEVICE);
    return path;
}

void put_settings(Message& message, const DeviceSettings& settings) {
    if (settings.no_path_timeout_ms)
        message.u32(RBLK_CLIENT_A_DEVICE_NO_PATH_TIMEOUT_MS, *settings.no_path_timeout_ms);
    if (settings.policy) message.u32(RBLK_CLIENT_A_DEVICE_POLICY, *settings.policy);
    if (settings.write_order) message.u32(RBLK_CLIENT_A_DEVICE_WRITE_ORDER, *settings.write_order);
}

void put_parameters(Message& message, const PathParameters& parameters) {
    if (parameters.tos) message.u32(RBLK_CLIENT_A_DEVICE_TOS, *parameters.tos);
    if (parameters.ack_timeout)
        message.u32(RBLK_CLIENT_A_DEVICE_ACK_TIMEOUT, *parameters.ack_timeout);
    if (parameters.retry_count)
        message.u32(RBLK_CLIENT_A_DEVICE_RETRY_COUNT, *parameters.retry_count);
}

}  // namespace

Device decode_device(ByteView bytes) {
    Attributes a(bytes, device_spec);
    Device device;
    device.index = a.u32(RBLK_CLIENT_A_DEVICE_INDEX);
    device.name = a.text(RBLK_CLIENT_A_DEVICE_NAME);
    device.export_name = a.text(RBLK_CLIENT_A_DEVICE_EXPORT);
    device.server = required_address(a, RBLK_CLIENT_A_DEVICE_SERVER);
    device.client_name = a.opt_text(RBLK_CLIENT_A_DEVICE_CLIENT_NAME);
    device.read_only = a.flag(RBLK_CLIENT_A_DEVICE_READ_ONLY);
    device.shared = a.flag(RBLK_CLIENT_A_DEVICE_SHARED);
    device.queues = a.opt_u32(RBLK_CLIENT_A_DEVICE_QUEUES);
    device.depth = a.opt_u32(RBLK_CLIENT_A_DEVICE_DEPTH);
    device.state = a.u32(RBLK_CLIENT_A_DEVICE_STATE);
    device.reason = a.opt_text(RBLK_CLIENT_A_DEVICE_REASON);
    device.size = a.uint(RBLK_CLIENT_A_DEVICE_SIZE);
    device.block_size = a.opt_u32(RBLK_CLIENT_A_DEVICE_BLOCK_SIZE);
    device.extent_size = a.opt_uint(RBLK_CLIENT_A_DEVICE_EXTENT_SIZE);
    device.extents = a.opt_u32(RBLK_CLIENT_A_DEVICE_EXTENTS);
    device.max_io = a.opt_u32(RBLK_CLIENT_A_DEVICE_MAX_IO);
    device.backing = a.opt_u32(RBLK_CLIENT_A_DEVICE_BACKING);
    device.incarnation = opt_uuid(a, RBLK_CLIENT_A_DEVICE_INCARNATION);
    device.session_id = opt_uuid(a, RBLK_CLIENT_A_DEVICE_SESSION_ID);
    device.openers = a.opt_u32(RBLK_CLIENT_A_DEVICE_OPENERS);
    device.no_path_timeout_ms = a.opt_u32(RBLK_CLIENT_A_DEVICE_NO_PATH_TIMEOUT_MS);
    device.no_reconnect = a.flag(RBLK_CLIENT_A_DEVICE_NO_RECONNECT);
    device.policy = a.opt_u32(RBLK_CLIENT_A_DEVICE_POLICY);
    device.write_order = a.opt_u32(RBLK_CLIENT_A_DEVICE_WRITE_ORDER);
    for (auto queue : a.nests(RBLK_CLIENT_A_DEVICE_QUEUE))
        device.queue_stats.push_back(decode_queue(queue));
    return device;
}

ClientSession decode_client_session(ByteView bytes) {
    Attributes a(bytes, session_spec);
    ClientSession session;
    session.id = required_uuid(a, RBLK_CLIENT_A_SESSION_ID);
    session.client_name = a.opt_text(RBLK_CLIENT_A_SESSION_CLIENT_NAME);
    session.server_id = opt_uuid(a, RBLK_CLIENT_A_SESSION_SERVER_ID);
    session.devices = a.opt_u32(RBLK_CLIENT_A_SESSION_DEVICES);
    for (auto path : a.nests(RBLK_CLIENT_A_SESSION_PATH))
        session.paths.push_back(decode_path(path));
    return session;
}

std::string gid_text(const Gid& gid) {
    char buffer[INET6_ADDRSTRLEN] = "";
    inet_ntop(AF_INET6, gid.data(), buffer, sizeof(buffer));
    return buffer;
}

Mapped Client::map(const MapRequest& request) {
    auto message = family_.request(RBLK_CLIENT_CMD_MAP, device_spec);
    message.binary(RBLK_CLIENT_A_DEVICE_SERVER, request.first.server.to_wire());
    if (request.first.source)
        message.binary(RBLK_CLIENT_A_DEVICE_SOURCE, request.first.source->to_wire());
    message.text(RBLK_CLIENT_A_DEVICE_EXPORT, request.export_name);
    message.text(RBLK_CLIENT_A_DEVICE_CLIENT_NAME, request.client_name);
    if (request.read_only) message.flag(RBLK_CLIENT_A_DEVICE_READ_ONLY);
    if (request.steal) message.flag(RBLK_CLIENT_A_DEVICE_STEAL);
    if (request.queues) message.u32(RBLK_CLIENT_A_DEVICE_QUEUES, *request.queues);
    if (request.depth) message.u32(RBLK_CLIENT_A_DEVICE_DEPTH, *request.depth);
    if (request.timeout_ms) message.u32(RBLK_CLIENT_A_DEVICE_TIMEOUT_MS, *request.timeout_ms);
    if (request.no_reconnect) message.flag(RBLK_CLIENT_A_DEVICE_NO_RECONNECT);
    put_settings(message, request.settings);
    put_parameters(message, request.parameters);
    for (const auto& route : request.further)
        message.nest(RBLK_CLIENT_A_DEVICE_ROUTE, [&](Message& nest) {
            nest.binary(RBLK_CLIENT_A_ROUTE_SERVER, route.server.to_wire());
            if (route.source) nest.binary(RBLK_CLIENT_A_ROUTE_SOURCE, route.source->to_wire());
        });
    auto reply = family_.ask(std::move(message));
    Attributes a(reply, device_spec);
    return {a.u32(RBLK_CLIENT_A_DEVICE_INDEX), a.text(RBLK_CLIENT_A_DEVICE_NAME)};
}

void Client::unmap(std::uint32_t index, bool force) {
    auto message = family_.request(RBLK_CLIENT_CMD_UNMAP, device_spec);
    message.u32(RBLK_CLIENT_A_DEVICE_INDEX, index);
    if (force) message.flag(RBLK_CLIENT_A_DEVICE_FORCE);
    family_.send(std::move(message));
}

std::uint32_t Client::add_path(const PathRequest& request) {
    auto message = family_.request(RBLK_CLIENT_CMD_PATH_ADD, device_spec);
    message.u32(RBLK_CLIENT_A_DEVICE_INDEX, request.device);
    message.binary(RBLK_CLIENT_A_DEVICE_SERVER, request.route.server.to_wire());
    if (request.route.source)
        message.binary(RBLK_CLIENT_A_DEVICE_SOURCE, request.route.source->to_wire());
    if (request.timeout_ms) message.u32(RBLK_CLIENT_A_DEVICE_TIMEOUT_MS, *request.timeout_ms);
    put_parameters(message, request.parameters);
    auto reply = family_.ask(std::move(message));
    return Attributes(reply, device_spec).u32(RBLK_CLIENT_A_DEVICE_PATH);
}

void Client::remove_path(const PathOfDevice& path, bool force) {
    change_path(RBLK_CLIENT_CMD_PATH_REMOVE, path, force);
}

void Client::drain_path(const PathOfDevice& path, bool force) {
    change_path(RBLK_CLIENT_CMD_PATH_DRAIN, path, force);
}

void Client::undrain_path(const PathOfDevice& path) {
    change_path(RBLK_CLIENT_CMD_PATH_UNDRAIN, path, false);
}

void Client::change_path(std::uint8_t command, const PathOfDevice& path, bool force) {
    auto message = family_.request(command, device_spec);
    message.u32(RBLK_CLIENT_A_DEVICE_INDEX, path.device);
    message.u32(RBLK_CLIENT_A_DEVICE_PATH, path.path);
    if (force) message.flag(RBLK_CLIENT_A_DEVICE_FORCE);
    family_.send(std::move(message));
}

void Client::set_path(const PathOfDevice& path, const PathParameters& parameters) {
    auto message = family_.request(RBLK_CLIENT_CMD_PATH_SET, device_spec);
    message.u32(RBLK_CLIENT_A_DEVICE_INDEX, path.device);
    message.u32(RBLK_CLIENT_A_DEVICE_PATH, path.path);
    put_parameters(message, parameters);
    family_.send(std::move(message));
}

void Client::set_device(std::uint32_t index, const DeviceSettings& settings) {
    auto message = family_.request(RBLK_CLIENT_CMD_DEVICE_SET, device_spec);
    message.u32(RBLK_CLIENT_A_DEVICE_INDEX, index);
    put_settings(message, settings);
    family_.send(std::move(message));
}

Device Client::device(std::uint32_t index) {
    auto message = family_.request(RBLK_CLIENT_CMD_DEVICE_GET, device_spec);
    message.u32(RBLK_CLIENT_A_DEVICE_INDEX, index);
    return decode_device(family_.ask(std::move(message)));
}

std::vector<Device> Client::devices() {
    std::vector<Device> devices;
    for (const auto& reply : family_.list(family_.dump(RBLK_CLIENT_CMD_DEVICE_GET, device_spec)))
        devices.push_back(decode_device(reply));
    return devices;
}

std::vector<ClientSession> Client::sessions() {
    std::vector<ClientSession> sessions;
    for (const auto& reply : family_.list(family_.dump(RBLK_CLIENT_CMD_SESSION_GET, session_spec)))
        sessions.push_back(decode_client_session(reply));
    return sessions;
}

}  // namespace rblk
