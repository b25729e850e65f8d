// SPDX-License-Identifier: GPL-2.0
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fmt/format.h>
#include <libmnl/libmnl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "error.hpp"
#include "netlink/transport.hpp"

namespace rblk {
namespace {

struct CloseSocket {
    void operator()(mnl_socket* socket) const { mnl_socket_close(socket); }
};

class FileDescriptor {
public:
    FileDescriptor() = default;
    FileDescriptor(const FileDescriptor&) = delete;
    FileDescriptor& operator=(const FileDescriptor&) = delete;
    ~FileDescriptor() {
        if (fd_ >= 0) close(fd_);
    }
    void reset(int fd) {
        if (fd_ >= 0) close(fd_);
        fd_ = fd;
    }
    int get() const { return fd_; }

private:
    int fd_ = -1;
};

[[noreturn]] void fail(const char* what) {
    throw Error(Exit::failure, fmt::format("{}: {}", what, std::strerror(errno)));
}

// Longer than any datagram of a dump, which the kernel cuts at 32 KiB.
constexpr std::size_t receive_size = 64 * 1024;
// Events come in bursts when a server with many devices goes.
constexpr int receive_buffer = 1024 * 1024;

class MnlTransport final : public NetlinkTransport {
public:
    explicit MnlTransport(int protocol) : socket_(mnl_socket_open2(protocol, SOCK_CLOEXEC)) {
        if (!socket_) fail("cannot open a netlink socket");
        if (mnl_socket_bind(socket_.get(), 0, MNL_SOCKET_AUTOPID) < 0)
            fail("cannot bind a netlink socket");
        // Older kernels lack these; errors are then less precise and nothing else.
        int one = 1;
        mnl_socket_setsockopt(socket_.get(), NETLINK_CAP_ACK, &one, sizeof(one));
        mnl_socket_setsockopt(socket_.get(), NETLINK_EXT_ACK, &one, sizeof(one));
        setsockopt(fd(), SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof(receive_buffer));
    }

    void send(ByteView datagram) override {
        if (mnl_socket_sendto(socket_.get(), datagram.data(), datagram.size()) < 0)
            fail("cannot send a netlink request");
    }

    std::optional<Bytes> receive() override {
        for (;;) {
            if (!wait()) return std::nullopt;
            Bytes bytes(receive_size);
            sockaddr_nl from{};
            iovec part{bytes.data(), bytes.size()};
            msghdr message{};
            message.msg_name = &from;
            message.msg_namelen = sizeof(from);
            message.msg_iov = &part;
            message.msg_iovlen = 1;
            ssize_t size = recvmsg(fd(), &message, 0);
            if (size < 0 && errno == ENOBUFS) throw Overrun();
            if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
            if (size < 0) fail("cannot receive a netlink message");
            if (message.msg_flags & MSG_TRUNC)
                throw Error(Exit::failure, "a netlink message is longer than any should be");
            // Another process can send here too; only the kernel's port is 0.
            if (from.nl_pid != 0) continue;
            bytes.resize(static_cast<std::size_t>(size));
            return bytes;
        }
    }

    void join(std::uint32_t group) override {
        if (mnl_socket_setsockopt(socket_.get(), NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)) < 0)
            fail("cannot join a netlink multicast group");
    }

    void stop_on_signals() override {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGINT);
        sigaddset(&set, SIGTERM);
        if (sigprocmask(SIG_BLOCK, &set, nullptr) < 0) fail("cannot block signals");
        signals_.reset(signalfd(-1, &set, SFD_CLOEXEC));
        if (signals_.get() < 0) fail("cannot make a signalfd");
    }

private:
    int fd() const { return mnl_socket_get_fd(socket_.get()); }

    bool wait() const {
        pollfd fds[2] = {{fd(), POLLIN, 0}, {signals_.get(), POLLIN, 0}};
        while (poll(fds, 2, -1) < 0)
            if (errno != EINTR) fail("cannot wait for netlink messages");
        return !(fds[1].revents & POLLIN);
    }

    std::unique_ptr<mnl_socket, CloseSocket> socket_;
    FileDescriptor signals_;
};

}  // namespace

std::unique_ptr<NetlinkTransport> open_netlink(int protocol) {
    return std::make_unique<MnlTransport>(protocol);
}

}  // namespace rblk
