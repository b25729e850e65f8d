// SPDX-License-Identifier: GPL-2.0
#include "connection.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include <fcntl.h>
#include <poll.h>

namespace peer {

namespace {

constexpr unsigned kQueueSize = 64;
constexpr int kResolveMs = 5000;

[[noreturn]] void broken(const std::string& what) {
    throw Broken(what + ": " + std::strerror(errno));
}

}  // namespace

Broken::Broken(std::string what) : what_(std::move(what)) {}

std::string hex(std::span<const std::uint8_t> bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (auto byte : bytes) {
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text.empty() ? "-" : text;
}

Connection::Connection(const Options& options) : options_(options) {
    channel_ = rdma_create_event_channel();
    if (!channel_) broken("event channel");
    fcntl(channel_->fd, F_SETFL, fcntl(channel_->fd, F_GETFL) | O_NONBLOCK);
}

Connection::~Connection() {
    hang();
    if (exposed_) ibv_dereg_mr(exposed_);
    if (mr_) ibv_dereg_mr(mr_);
    if (sends_) ibv_destroy_cq(sends_);
    if (receives_) ibv_destroy_cq(receives_);
    if (id_) rdma_destroy_id(id_);
    if (channel_) rdma_destroy_event_channel(channel_);
}

void Connection::hang() {
    if (id_ && id_->qp) rdma_destroy_qp(id_);
}

// The CM's next event; what it carries is kept. RDMA_CM_EVENT_MULTICAST_ERROR stands for none.
rdma_cm_event_type Connection::next_event(Milliseconds limit) {
    pollfd wait{channel_->fd, POLLIN, 0};
    rdma_cm_event* event = nullptr;

    if (poll(&wait, 1, static_cast<int>(limit.count())) <= 0) return RDMA_CM_EVENT_MULTICAST_ERROR;
    if (rdma_get_cm_event(channel_, &event)) return RDMA_CM_EVENT_MULTICAST_ERROR;
    const auto type = event->event;
    const auto* data = static_cast<const std::uint8_t*>(event->param.conn.private_data);
    status_ = event->status;
    if (type == RDMA_CM_EVENT_ESTABLISHED || type == RDMA_CM_EVENT_REJECTED)
        answer_.assign(data, data + (data ? event->param.conn.private_data_len : 0));
    // An error of the CM is the end too; the answer to a request is told from it in finish()
    closed_ |= type == RDMA_CM_EVENT_DISCONNECTED || type == RDMA_CM_EVENT_DEVICE_REMOVAL ||
               type == RDMA_CM_EVENT_REJECTED || type == RDMA_CM_EVENT_UNREACHABLE ||
               type == RDMA_CM_EVENT_CONNECT_ERROR;
    rdma_ack_cm_event(event);
    return type;
}

bool Connection::closed() {
    while (!closed_ && next_event(Milliseconds{0}) != RDMA_CM_EVENT_MULTICAST_ERROR) continue;
    return closed_;
}

void Connection::make_queue_pair() {
    // Completion queues of our own: librdmacm's would have channels that nobody reads
    sends_ = ibv_create_cq(id_->verbs, kQueueSize, nullptr, nullptr, 0);
    receives_ = ibv_create_cq(id_->verbs, kQueueSize, nullptr, nullptr, 0);
    if (!sends_ || !receives_) broken("completion queue");
    ibv_qp_init_attr attr{};
    attr.send_cq = sends_;
    attr.recv_cq = receives_;
    attr.qp_type = IBV_QPT_RC;
    attr.sq_sig_all = 1;
    attr.cap = {kQueueSize, kQueueSize, 1, 1, 0};
    if (rdma_create_qp(id_, nullptr, &attr)) broken("queue pair");
    buffers_.resize((options_.receives + 1) * kMessageSize);
    mr_ = ibv_reg_mr(id_->pd, buffers_.data(), buffers_.size(), IBV_ACCESS_LOCAL_WRITE);
    if (!mr_) broken("message buffers");
    for (unsigned i = 0; i < options_.receives; i++) post_receive(i + 1);
}

void Connection::post_receive(std::size_t index) {
    ibv_sge sge{reinterpret_cast<std::uintptr_t>(&buffers_[index * kMessageSize]), kMessageSize,
                mr_->lkey};
    ibv_recv_wr request{index, nullptr, &sge, 1};
    ibv_recv_wr* bad = nullptr;
    // On a connection that has ended there is nothing to receive
    if (id_->qp) ibv_post_recv(id_->qp, &request, &bad);
}

rdma_conn_param Connection::parameters(std::span<const std::uint8_t> private_data) const {
    rdma_conn_param param{};
    param.private_data = private_data.data();
    param.private_data_len = static_cast<std::uint8_t>(private_data.size());
    param.responder_resources = static_cast<std::uint8_t>(options_.reads);
    param.initiator_depth = static_cast<std::uint8_t>(options_.reads);
    param.retry_count = static_cast<std::uint8_t>(options_.retries);
    param.rnr_retry_count = static_cast<std::uint8_t>(options_.rnr_retries);
    return param;
}

void Connection::start(const sockaddr* to, std::span<const std::uint8_t> private_data) {
    auto* address = const_cast<sockaddr*>(to);
    if (rdma_create_id(channel_, &id_, nullptr, RDMA_PS_TCP)) broken("id");
    if (rdma_resolve_addr(id_, nullptr, address, kResolveMs) ||
        next_event(kPatience) != RDMA_CM_EVENT_ADDR_RESOLVED)
        broken("no path to the address");
    if (rdma_resolve_route(id_, kResolveMs) ||
        next_event(kPatience) != RDMA_CM_EVENT_ROUTE_RESOLVED)
        broken("no route to the address");
    make_queue_pair();
    auto param = parameters(private_data);
    if (rdma_connect(id_, &param)) broken("connect");
}

std::string Connection::finish() {
    const auto type = next_event(kPatience);
    if (type == RDMA_CM_EVENT_MULTICAST_ERROR) return "no answer";
    if (type == RDMA_CM_EVENT_ESTABLISHED) return "accepted " + hex(answer_);
    if (type == RDMA_CM_EVENT_REJECTED)
        return "rejected " + std::to_string(status_) + " " + hex(answer_);
    return rdma_event_str(type);
}

void Connection::adopt(rdma_cm_id* id) {
    id_ = id;
    if (rdma_migrate_id(id_, channel_)) broken("migrate");
}

void Connection::start_accept(std::span<const std::uint8_t> private_data) {
    make_queue_pair();
    auto param = parameters(private_data);
    closed_ = rdma_accept(id_, &param) != 0;
}

std::string Connection::accept(std::span<const std::uint8_t> private_data) {
    start_accept(private_data);
    if (closed_) return "gone";
    const auto type = next_event(kPatience);
    return type == RDMA_CM_EVENT_ESTABLISHED ? "up" : rdma_event_str(type);
}

void Connection::reject(std::span<const std::uint8_t> private_data) {
    rdma_reject(id_, private_data.data(), static_cast<std::uint8_t>(private_data.size()));
    closed_ = true;
}

void Connection::post(std::span<const std::uint8_t> message) {
    std::copy_n(message.begin(), std::min(message.size(), kMessageSize), buffers_.begin());
    ibv_sge sge{reinterpret_cast<std::uintptr_t>(buffers_.data()),
                static_cast<std::uint32_t>(message.size()), mr_->lkey};
    ibv_send_wr request{};
    request.sg_list = &sge;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
    ibv_send_wr* bad = nullptr;
    if (id_->qp && !ibv_post_send(id_->qp, &request, &bad)) out_++;
}

// A send may never be acknowledged, if the other side destroys its queue pair between receiving and
// that; and the queue pair of user space does not notice by itself that its connection has ended.
std::string Connection::sent() {
    const auto deadline = Clock::now() + kPatience;
    while (out_) {
        ibv_wc wc{};
        if (ibv_poll_cq(sends_, 1, &wc) > 0) {
            out_--;
            if (wc.status != IBV_WC_SUCCESS) return ibv_wc_status_str(wc.status);
        } else if (closed()) {
            return "closed";
        } else if (Clock::now() > deadline) {
            return "never acknowledged";
        } else {
            poll(nullptr, 0, 1);
        }
    }
    return closed_ ? "closed" : "sent";
}

std::string Connection::receive(Milliseconds limit, Bytes& message) {
    const auto deadline = Clock::now() + limit;
    for (bool last = false;;) {
        ibv_wc wc{};
        if (ibv_poll_cq(receives_, 1, &wc) > 0) {
            if (wc.status != IBV_WC_SUCCESS) return "closed";
            const auto* buffer = &buffers_[wc.wr_id * kMessageSize];
            message.assign(buffer, buffer + wc.byte_len);
            post_receive(wc.wr_id);
            return "got " + hex(message);
        }
        // What came before the end is still looked at
        if (last) return "closed";
        if (closed()) {
            last = true;
        } else if (Clock::now() > deadline) {
            return "silent";
        } else {
            poll(nullptr, 0, 1);
        }
    }
}

bool Connection::gone(Milliseconds limit) {
    const auto deadline = Clock::now() + limit;
    while (!closed() && Clock::now() < deadline) poll(nullptr, 0, 5);
    return closed_;
}

std::string Connection::one_sided(bool write, std::uint32_t key, std::uint64_t address,
                                  std::uint32_t len) {
    std::fill_n(buffers_.begin(), len, 0xee);
    ibv_sge sge{reinterpret_cast<std::uintptr_t>(buffers_.data()), len, mr_->lkey};
    ibv_send_wr request{};
    request.sg_list = &sge;
    request.num_sge = 1;
    request.opcode = write ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ;
    request.wr.rdma = {address, key};
    ibv_send_wr* bad = nullptr;
    if (!id_->qp || ibv_post_send(id_->qp, &request, &bad)) return "not posted";
    out_++;
    const auto result = sent();
    return result == "sent" ? "success" : result;
}

void Connection::disconnect() {
    rdma_disconnect(id_);
}

std::uint32_t Connection::expose(std::size_t size) {
    // On a page: its offset in that is the address's
    memory_.resize(size + kMessageSize);
    void* start = memory_.data();
    std::size_t room = memory_.size();
    std::align(kMessageSize, size, start, room);
    exposed_ =
        ibv_reg_mr_iova(id_->pd, start, size, 0,
                        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
    if (!exposed_) broken("exposed memory");
    return exposed_->rkey;
}

}  // namespace peer
