// SPDX-License-Identifier: GPL-2.0
#include "abi/server.hpp"

#include <array>
#include <span>

#include <linux/rblk_server.h>

namespace rblk {
namespace {

// In the order of the spec, which is that of the numbers.
constexpr std::array<std::string_view, RBLK_SERVER_A_EXPORT_MAX> export_names = {
    "name",        "size",    "numa-node",  "allow",   "allow-any", "shared", "read-only", "force",
    "incarnation", "backing", "block-size", "readers", "writers",   "device", "failed"};
constexpr AttributeSpec export_spec = {"export", export_names};

constexpr std::array<std::string_view, RBLK_SERVER_A_LISTENER_MAX> listener_names = {
    "addr", "state", "rdma-device", "error"};
constexpr AttributeSpec listener_spec = {"listener", listener_names};

constexpr std::array<std::string_view, RBLK_SERVER_A_SESSION_MAX> session_names = {
    "id", "client-name", "path", "export"};
constexpr AttributeSpec session_spec = {"session", session_names};

constexpr std::array<std::string_view, RBLK_SERVER_A_PATH_MAX> path_names = {
    "index", "generation", "client", "local", "rdma-device", "queues", "live", "messages"};
constexpr AttributeSpec path_spec = {"path", path_names};

// Fails to compile when the ABI has grown and the names above have not.
static_assert(!export_names.back().empty() && !listener_names.back().empty() &&
              !session_names.back().empty() && !path_names.back().empty());

ServerPath decode_path(ByteView bytes) {
    Attributes a(bytes, path_spec);
    ServerPath path;
    path.index = a.u32(RBLK_SERVER_A_PATH_INDEX);
    path.generation = a.opt_u32(RBLK_SERVER_A_PATH_GENERATION);
    path.client = opt_address(a, RBLK_SERVER_A_PATH_CLIENT);
    path.local = opt_address(a, RBLK_SERVER_A_PATH_LOCAL);
    path.rdma_device = a.opt_text(RBLK_SERVER_A_PATH_RDMA_DEVICE);
    path.queues = a.opt_u32(RBLK_SERVER_A_PATH_QUEUES);
    path.live = a.flag(RBLK_SERVER_A_PATH_LIVE);
    path.messages = a.opt_uint(RBLK_SERVER_A_PATH_MESSAGES);
    return path;
}

}  // namespace

Export decode_export(ByteView bytes) {
    Attributes a(bytes, export_spec);
    Export exported;
    exported.name = a.text(RBLK_SERVER_A_EXPORT_NAME);
    exported.size = a.uint(RBLK_SERVER_A_EXPORT_SIZE);
    exported.numa_node = a.opt_s32(RBLK_SERVER_A_EXPORT_NUMA_NODE);
    exported.allow = a.texts(RBLK_SERVER_A_EXPORT_ALLOW);
    exported.allow_any = a.flag(RBLK_SERVER_A_EXPORT_ALLOW_ANY);
    exported.shared = a.flag(RBLK_SERVER_A_EXPORT_SHARED);
    exported.read_only = a.flag(RBLK_SERVER_A_EXPORT_READ_ONLY);
    exported.incarnation = opt_uuid(a, RBLK_SERVER_A_EXPORT_INCARNATION);
    exported.backing = a.opt_u32(RBLK_SERVER_A_EXPORT_BACKING);
    exported.block_size = a.opt_u32(RBLK_SERVER_A_EXPORT_BLOCK_SIZE);
    exported.readers = a.opt_u32(RBLK_SERVER_A_EXPORT_READERS);
    exported.writers = a.opt_u32(RBLK_SERVER_A_EXPORT_WRITERS);
    exported.device = a.opt_text(RBLK_SERVER_A_EXPORT_DEVICE);
    exported.failed = a.flag(RBLK_SERVER_A_EXPORT_FAILED);
    return exported;
}

Listener decode_listener(ByteView bytes) {
    Attributes a(bytes, listener_spec);
    Listener listener;
    listener.address = required_address(a, RBLK_SERVER_A_LISTENER_ADDR);
    listener.state = a.u32(RBLK_SERVER_A_LISTENER_STATE);
    listener.rdma_device = a.opt_text(RBLK_SERVER_A_LISTENER_RDMA_DEVICE);
    listener.error = a.opt_text(RBLK_SERVER_A_LISTENER_ERROR);
    return listener;
}

ServerSession decode_server_session(ByteView bytes) {
    Attributes a(bytes, session_spec);
    ServerSession session;
    session.id = required_uuid(a, RBLK_SERVER_A_SESSION_ID);
    session.client_name = a.opt_text(RBLK_SERVER_A_SESSION_CLIENT_NAME);
    session.exports = a.texts(RBLK_SERVER_A_SESSION_EXPORT);
    for (auto path : a.nests(RBLK_SERVER_A_SESSION_PATH))
        session.paths.push_back(decode_path(path));
    return session;
}

void Server::add_export(const ExportRequest& request) {
    auto message = family_.request(RBLK_SERVER_CMD_EXPORT_ADD, export_spec);
    message.text(RBLK_SERVER_A_EXPORT_NAME, request.name);
    if (request.device.empty())
        message.u64(RBLK_SERVER_A_EXPORT_SIZE, request.size);
    else
        message.text(RBLK_SERVER_A_EXPORT_DEVICE, request.device);
    if (request.id)
        message.binary(RBLK_SERVER_A_EXPORT_INCARNATION, std::as_bytes(std::span(*request.id)));
    if (request.numa_node) message.s32(RBLK_SERVER_A_EXPORT_NUMA_NODE, *request.numa_node);
    for (const auto& client : request.allow) message.text(RBLK_SERVER_A_EXPORT_ALLOW, client);
    if (request.allow_any) message.flag(RBLK_SERVER_A_EXPORT_ALLOW_ANY);
    if (request.shared) message.flag(RBLK_SERVER_A_EXPORT_SHARED);
    if (request.read_only) message.flag(RBLK_SERVER_A_EXPORT_READ_ONLY);
    family_.send(std::move(message));
}

void Server::access(std::uint8_t command, const std::string& name,
                    const std::vector<std::string>& clients, bool any) {
    auto message = family_.request(command, export_spec);
    message.text(RBLK_SERVER_A_EXPORT_NAME, name);
    for (const auto& client : clients) message.text(RBLK_SERVER_A_EXPORT_ALLOW, client);
    if (any) message.flag(RBLK_SERVER_A_EXPORT_ALLOW_ANY);
    family_.send(std::move(message));
}

void Server::allow(const std::string& name, const std::vector<std::string>& clients, bool any) {
    access(RBLK_SERVER_CMD_EXPORT_ALLOW, name, clients, any);
}

void Server::unallow(const std::string& name, const std::vector<std::string>& clients, bool any) {
    access(RBLK_SERVER_CMD_EXPORT_UNALLOW, name, clients, any);
}

void Server::resize_export(const std::string& name, std::uint64_t size, bool force) {
    auto message = family_.request(RBLK_SERVER_CMD_EXPORT_RESIZE, export_spec);
    message.text(RBLK_SERVER_A_EXPORT_NAME, name);
    message.u64(RBLK_SERVER_A_EXPORT_SIZE, size);
    if (force) message.flag(RBLK_SERVER_A_EXPORT_FORCE);
    family_.send(std::move(message));
}

void Server::remove_export(const std::string& name, bool force) {
    auto message = family_.request(RBLK_SERVER_CMD_EXPORT_REMOVE, export_spec);
    message.text(RBLK_SERVER_A_EXPORT_NAME, name);
    if (force) message.flag(RBLK_SERVER_A_EXPORT_FORCE);
    family_.send(std::move(message));
}

Export Server::find_export(const std::string& name) {
    auto message = family_.request(RBLK_SERVER_CMD_EXPORT_GET, export_spec);
    message.text(RBLK_SERVER_A_EXPORT_NAME, name);
    return decode_export(family_.ask(std::move(message)));
}

std::vector<Export> Server::exports() {
    std::vector<Export> exports;
    for (const auto& reply : family_.list(family_.dump(RBLK_SERVER_CMD_EXPORT_GET, export_spec)))
        exports.push_back(decode_export(reply));
    return exports;
}

void Server::add_listener(const Address& address) {
    auto message = family_.request(RBLK_SERVER_CMD_LISTEN_ADD, listener_spec);
    message.binary(RBLK_SERVER_A_LISTENER_ADDR, address.to_wire());
    family_.send(std::move(message));
}

void Server::remove_listener(const Address& address) {
    auto message = family_.request(RBLK_SERVER_CMD_LISTEN_REMOVE, listener_spec);
    message.binary(RBLK_SERVER_A_LISTENER_ADDR, address.to_wire());
    family_.send(std::move(message));
}

std::vector<Listener> Server::listeners() {
    std::vector<Listener> listeners;
    for (const auto& reply : family_.list(family_.dump(RBLK_SERVER_CMD_LISTEN_GET, listener_spec)))
        listeners.push_back(decode_listener(reply));
    return listeners;
}

std::vector<ServerSession> Server::sessions() {
    std::vector<ServerSession> sessions;
    for (const auto& reply : family_.list(family_.dump(RBLK_SERVER_CMD_SESSION_GET, session_spec)))
        sessions.push_back(decode_server_session(reply));
    return sessions;
}

void Server::kick_session(const Uuid& id) {
    auto message = family_.request(RBLK_SERVER_CMD_SESSION_KICK, session_spec);
    message.binary(RBLK_SERVER_A_SESSION_ID, std::as_bytes(std::span(id)));
    family_.send(std::move(message));
}

}  // namespace rblk
