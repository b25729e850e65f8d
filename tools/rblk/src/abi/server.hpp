// SPDX-License-Identifier: GPL-2.0
// The netlink family "rblk-server": its objects as types and its requests as functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "abi/family.hpp"
#include "input/address.hpp"

namespace rblk {

// What a kernel may leave out is optional.
struct Export {
    std::string name;
    std::uint64_t size = 0;
    std::optional<std::int32_t> numa_node;
    std::vector<std::string> allow;
    bool allow_any = false;
    bool shared = false;
    bool read_only = false;
    std::optional<Uuid> incarnation;
    std::optional<std::uint32_t> backing;
    std::optional<std::uint32_t> block_size;
    std::optional<std::uint32_t> readers;
    std::optional<std::uint32_t> writers;
    std::optional<std::string> device;
    bool failed = false;
};

struct Listener {
    Address address;
    std::uint32_t state = 0;
    std::optional<std::string> rdma_device;
    std::optional<std::string> error;
};

struct ServerPath {
    std::uint32_t index = 0;
    std::optional<std::uint32_t> generation;
    std::optional<Address> client;
    std::optional<Address> local;
    std::optional<std::string> rdma_device;
    std::optional<std::uint32_t> queues;
    bool live = false;
    std::optional<std::uint64_t> messages;
};

struct ServerSession {
    Uuid id{};
    std::optional<std::string> client_name;
    std::vector<std::string> exports;
    std::vector<ServerPath> paths;
};

struct ExportRequest {
    std::string name;
    std::uint64_t size = 0;
    std::vector<std::string> allow;
    bool allow_any = false;
    bool shared = false;
    bool read_only = false;
    std::optional<std::int32_t> numa_node;
    std::string device{};  // instead of a size
    std::optional<Uuid> id{};
};

Export decode_export(ByteView attributes);
Listener decode_listener(ByteView attributes);
ServerSession decode_server_session(ByteView attributes);

class Server {
public:
    // The Genl must outlive it.
    Server(Genl& genl, const Family& family) : family_(genl, family) {}

    void add_export(const ExportRequest& request);
    // Change an access list; any stands for all clients.
    void allow(const std::string& name, const std::vector<std::string>& clients, bool any);
    void unallow(const std::string& name, const std::vector<std::string>& clients, bool any);
    void resize_export(const std::string& name, std::uint64_t size, bool force);
    void remove_export(const std::string& name, bool force);
    Export find_export(const std::string& name);
    std::vector<Export> exports();
    void add_listener(const Address& address);
    void remove_listener(const Address& address);
    std::vector<Listener> listeners();
    std::vector<ServerSession> sessions();
    void kick_session(const Uuid& id);

private:
    void access(std::uint8_t command, const std::string& name,
                const std::vector<std::string>& clients, bool any);

    FamilyUser family_;
};

}  // namespace rblk
