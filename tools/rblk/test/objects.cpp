// SPDX-License-Identifier: GPL-2.0
#include "objects.hpp"

#include <linux/rblk_client.h>
#include <linux/rblk_server.h>

namespace rblk::test {

Put small_device(std::uint32_t index, const std::string& export_name) {
    return Put()
        .u32(RBLK_CLIENT_A_DEVICE_INDEX, index)
        .text(RBLK_CLIENT_A_DEVICE_NAME, "rblk" + std::to_string(index))
        .text(RBLK_CLIENT_A_DEVICE_EXPORT, export_name)
        .v4(RBLK_CLIENT_A_DEVICE_SERVER, "10.0.0.1", 7471)
        .u32(RBLK_CLIENT_A_DEVICE_STATE, RBLK_CLIENT_DEVICE_STATE_LIVE)
        .u64(RBLK_CLIENT_A_DEVICE_SIZE, 512ULL << 20);
}

namespace {

Put queue(std::uint32_t index) {
    return Put()
        .u32(RBLK_CLIENT_A_QUEUE_INDEX, index)
        .u64(RBLK_CLIENT_A_QUEUE_READS, 5'000'000'000)
        .u32(RBLK_CLIENT_A_QUEUE_WRITES, 7)  // a kernel sends small counts short
        .u64(RBLK_CLIENT_A_QUEUE_READ_BYTES, 20'480'000'000'000)
        .u32(RBLK_CLIENT_A_QUEUE_WRITE_BYTES, 28672)
        .u32(RBLK_CLIENT_A_QUEUE_ERRORS, index);
}

Put facts(Put device, std::uint32_t no_path_timeout_ms = 30'000) {
    return device.text(RBLK_CLIENT_A_DEVICE_CLIENT_NAME, "node-b")
        .u32(RBLK_CLIENT_A_DEVICE_QUEUES, 2)
        .u32(RBLK_CLIENT_A_DEVICE_DEPTH, 128)
        .u32(RBLK_CLIENT_A_DEVICE_BLOCK_SIZE, 512)
        .u32(RBLK_CLIENT_A_DEVICE_EXTENT_SIZE, 64 << 20)
        .u32(RBLK_CLIENT_A_DEVICE_EXTENTS, 8)
        .u32(RBLK_CLIENT_A_DEVICE_MAX_IO, 1 << 20)
        .u32(RBLK_CLIENT_A_DEVICE_BACKING, RBLK_CLIENT_BACKING_MEMORY)
        .id(RBLK_CLIENT_A_DEVICE_INCARNATION, 0x10)
        .id(RBLK_CLIENT_A_DEVICE_SESSION_ID, 0xa0)
        .u32(RBLK_CLIENT_A_DEVICE_OPENERS, 1)
        .u32(RBLK_CLIENT_A_DEVICE_NO_PATH_TIMEOUT_MS, no_path_timeout_ms)
        .u32(RBLK_CLIENT_A_DEVICE_POLICY, RBLK_CLIENT_POLICY_MIN_LATENCY)
        .u32(RBLK_CLIENT_A_DEVICE_WRITE_ORDER, RBLK_CLIENT_WRITE_ORDER_RELAXED)
        .nest(RBLK_CLIENT_A_DEVICE_QUEUE, queue(0))
        .nest(RBLK_CLIENT_A_DEVICE_QUEUE, queue(1));
}

}  // namespace

Put full_device(std::uint32_t index, const std::string& export_name) {
    return facts(small_device(index, export_name)).flag(RBLK_CLIENT_A_DEVICE_SHARED);
}

Put recovering_device(std::uint32_t index, std::uint32_t no_path_timeout_ms) {
    return facts(Put()
                     .u32(RBLK_CLIENT_A_DEVICE_INDEX, index)
                     .text(RBLK_CLIENT_A_DEVICE_NAME, "rblk" + std::to_string(index))
                     .text(RBLK_CLIENT_A_DEVICE_EXPORT, "db")
                     .v4(RBLK_CLIENT_A_DEVICE_SERVER, "10.0.0.1", 7471)
                     .u32(RBLK_CLIENT_A_DEVICE_STATE, RBLK_CLIENT_DEVICE_STATE_RECOVERING)
                     .u64(RBLK_CLIENT_A_DEVICE_SIZE, 512ULL << 20)
                     .text(RBLK_CLIENT_A_DEVICE_REASON, "transport retry counter exceeded"),
                 no_path_timeout_ms);
}

Put failed_device(std::uint32_t index, const std::string& export_name, const std::string& reason) {
    return facts(Put()
                     .u32(RBLK_CLIENT_A_DEVICE_INDEX, index)
                     .text(RBLK_CLIENT_A_DEVICE_NAME, "rblk" + std::to_string(index))
                     .text(RBLK_CLIENT_A_DEVICE_EXPORT, export_name)
                     .v6(RBLK_CLIENT_A_DEVICE_SERVER, "fe80::1", 7471, 3)
                     .u32(RBLK_CLIENT_A_DEVICE_STATE, RBLK_CLIENT_DEVICE_STATE_FAILED)
                     .u32(RBLK_CLIENT_A_DEVICE_SIZE, 2 << 20)
                     .text(RBLK_CLIENT_A_DEVICE_REASON, reason))
        .flag(RBLK_CLIENT_A_DEVICE_READ_ONLY)
        .flag(RBLK_CLIENT_A_DEVICE_NO_RECONNECT);
}

Put small_export(const std::string& name) {
    return Put().text(RBLK_SERVER_A_EXPORT_NAME, name).u32(RBLK_SERVER_A_EXPORT_SIZE, 2 << 20);
}

Put full_export(const std::string& name) {
    return Put()
        .text(RBLK_SERVER_A_EXPORT_NAME, name)
        .u64(RBLK_SERVER_A_EXPORT_SIZE, 3ULL << 29)
        .u32(RBLK_SERVER_A_EXPORT_NUMA_NODE, 1)
        .text(RBLK_SERVER_A_EXPORT_ALLOW, "node-b")
        .text(RBLK_SERVER_A_EXPORT_ALLOW, "node-c")
        .flag(RBLK_SERVER_A_EXPORT_SHARED)
        .id(RBLK_SERVER_A_EXPORT_INCARNATION, 0x10)
        .u32(RBLK_SERVER_A_EXPORT_BACKING, RBLK_SERVER_BACKING_MEMORY)
        .u32(RBLK_SERVER_A_EXPORT_BLOCK_SIZE, 512)
        .u32(RBLK_SERVER_A_EXPORT_READERS, 1)
        .u32(RBLK_SERVER_A_EXPORT_WRITERS, 2);
}

Put listener(const std::string& address, std::uint16_t port, std::uint32_t state) {
    Put put;
    if (address.find(':') == std::string::npos)
        put.v4(RBLK_SERVER_A_LISTENER_ADDR, address, port);
    else
        put.v6(RBLK_SERVER_A_LISTENER_ADDR, address, port, address.starts_with("fe80") ? 3 : 0);
    return put.u32(RBLK_SERVER_A_LISTENER_STATE, state);
}

Bytes route_bytes(const Bytes& server, const std::optional<Bytes>& source) {
    auto route = Put().raw(RBLK_CLIENT_A_ROUTE_SERVER, server);
    if (source) route.raw(RBLK_CLIENT_A_ROUTE_SOURCE, *source);
    return route.bytes();
}

Bytes gid_bytes(const std::string& text) {
    auto address = v6_bytes(text, 0);
    return Bytes(address.begin() + 8, address.begin() + 24);
}

Put client_path(std::uint32_t index, std::uint32_t state) {
    auto path = Put().u32(RBLK_CLIENT_A_PATH_INDEX, index).u32(RBLK_CLIENT_A_PATH_STATE, state);
    if (state == RBLK_CLIENT_PATH_STATE_NEW) return path;
    path.u32(RBLK_CLIENT_A_PATH_GENERATION, index + 1)
        .v4(RBLK_CLIENT_A_PATH_SOURCE, "10.0.0.2", 0)
        .v4(RBLK_CLIENT_A_PATH_SERVER, "10.0.0.1", 7471)
        .text(RBLK_CLIENT_A_PATH_RDMA_DEVICE, "rxe0")
        .u32(RBLK_CLIENT_A_PATH_RDMA_PORT, 1)
        .u32(RBLK_CLIENT_A_PATH_QUEUES, 2)
        .u32(RBLK_CLIENT_A_PATH_DEPTH, 128)
        .u32(RBLK_CLIENT_A_PATH_RECONNECTS, index)
        .u32(RBLK_CLIENT_A_PATH_TOS, 0)
        .u32(RBLK_CLIENT_A_PATH_RETRY_COUNT, 7);
    if (state == RBLK_CLIENT_PATH_STATE_FAILED)
        path.text(RBLK_CLIENT_A_PATH_LAST_ERROR, "transport retries used up")
            .u32(RBLK_CLIENT_A_PATH_LOSSES, 1)
            .u32(RBLK_CLIENT_A_PATH_IN_FLIGHT, 0);
    if (state == RBLK_CLIENT_PATH_STATE_LIVE) connected(path);
    if (state == RBLK_CLIENT_PATH_STATE_LIVE && index == 0) path.flag(RBLK_CLIENT_A_PATH_ACTIVE);
    return path;
}

Put& connected(Put& path) {
    return path.u32(RBLK_CLIENT_A_PATH_LOSSES, 2)
        .u32(RBLK_CLIENT_A_PATH_IN_FLIGHT, 17)
        .u64(RBLK_CLIENT_A_PATH_READS, 5'000'000'000)
        .u32(RBLK_CLIENT_A_PATH_WRITES, 7)  // a kernel sends small counts short
        .u64(RBLK_CLIENT_A_PATH_READ_BYTES, 20'480'000'000'000)
        .u32(RBLK_CLIENT_A_PATH_WRITE_BYTES, 28672)
        .u32(RBLK_CLIENT_A_PATH_LATENCY_NS, 12345)
        .raw(RBLK_CLIENT_A_PATH_SOURCE_GID, gid_bytes("fe80::2:c903:ab:cdef"))
        .raw(RBLK_CLIENT_A_PATH_SERVER_GID, gid_bytes("::ffff:10.0.0.1"))
        .u32(RBLK_CLIENT_A_PATH_SOURCE_LID, 3)
        .u32(RBLK_CLIENT_A_PATH_SERVER_LID, 49151)
        .u32(RBLK_CLIENT_A_PATH_PKEY, 0xffff)
        .u32(RBLK_CLIENT_A_PATH_SL, 0)
        .u32s(RBLK_CLIENT_A_PATH_QPS, {17, 18, 0xffffff})
        .u32(RBLK_CLIENT_A_PATH_ACK_TIMEOUT, 14)
        .u32(RBLK_CLIENT_A_PATH_SERVER_DEVICE, 0);
}

Put client_session() {
    return Put()
        .id(RBLK_CLIENT_A_SESSION_ID, 0xa0)
        .text(RBLK_CLIENT_A_SESSION_CLIENT_NAME, "node-b")
        .id(RBLK_CLIENT_A_SESSION_SERVER_ID, 0x50)
        .nest(RBLK_CLIENT_A_SESSION_PATH, client_path(0, RBLK_CLIENT_PATH_STATE_LIVE))
        .nest(RBLK_CLIENT_A_SESSION_PATH, client_path(1, RBLK_CLIENT_PATH_STATE_FAILED))
        .nest(RBLK_CLIENT_A_SESSION_PATH, client_path(2, RBLK_CLIENT_PATH_STATE_NEW))
        .u32(RBLK_CLIENT_A_SESSION_DEVICES, 1);
}

Put server_session() {
    return Put()
        .id(RBLK_SERVER_A_SESSION_ID, 0xa0)
        .text(RBLK_SERVER_A_SESSION_CLIENT_NAME, "node-b")
        .nest(RBLK_SERVER_A_SESSION_PATH, Put()
                                              .u32(RBLK_SERVER_A_PATH_INDEX, 0)
                                              .u32(RBLK_SERVER_A_PATH_GENERATION, 1)
                                              .v4(RBLK_SERVER_A_PATH_CLIENT, "10.0.0.2", 40001)
                                              .v4(RBLK_SERVER_A_PATH_LOCAL, "10.0.0.1", 7471)
                                              .text(RBLK_SERVER_A_PATH_RDMA_DEVICE, "rxe0")
                                              .u32(RBLK_SERVER_A_PATH_QUEUES, 2)
                                              .flag(RBLK_SERVER_A_PATH_LIVE)
                                              .u32(RBLK_SERVER_A_PATH_MESSAGES, 11))
        .text(RBLK_SERVER_A_SESSION_EXPORT, "db")
        .text(RBLK_SERVER_A_SESSION_EXPORT, "log");
}

}  // namespace rblk::test
