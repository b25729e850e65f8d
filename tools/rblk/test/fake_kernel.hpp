// SPDX-License-Identifier: GPL-2.0
// A kernel of netlink families that a test scripts.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "netlink/transport.hpp"
#include "wire.hpp"

namespace rblk::test {

inline constexpr std::uint16_t client_id = 0x21;
inline constexpr std::uint16_t server_id = 0x22;
inline constexpr std::uint32_t client_group = 31;
inline constexpr std::uint32_t server_group = 32;
inline constexpr std::uint32_t notify_group = 16;

// What the kernel does with a request: replies, or an error.
struct Answer {
    std::vector<Put> replies;
    int error = 0;
    std::string text = {};                   // extack
    std::optional<unsigned> attribute = {};  // at fault
    std::optional<unsigned> missing = {};    // attribute
    bool interrupted = false;                // of a dump

    static Answer refuse(int error, std::string text = {}, std::optional<unsigned> at = {}) {
        return {{}, error, std::move(text), at, {}, false};
    }
};

using Handler = std::function<Answer(const Seen&)>;

class FakeKernel {
public:
    FakeKernel();

    void load_client(Handler handler) { load("rblk-client", client_id, client_group, handler); }
    void load_server(Handler handler) { load("rblk-server", server_id, server_group, handler); }
    // RDMA netlink; without it the kernel has none.
    void load_rdma(Handler handler) { rdma_ = std::move(handler); }

    // Put behind all answers, as they come; a signal is what ends them.
    void event(Bytes datagram) { events_.emplace_back(std::move(datagram)); }
    void event(std::uint16_t family, std::uint8_t command, const Put& attributes);
    void overrun() { events_.emplace_back(Overrun{}); }
    void family_event(std::uint8_t command, const std::string& name, std::uint16_t id,
                      std::uint32_t group);

    std::unique_ptr<NetlinkTransport> open(int protocol);

    // Requests to the families of rblk.
    std::vector<Seen> requests;
    std::set<std::uint32_t> joined;
    // Asked for by name, which loads modules.
    std::vector<std::string> named;
    // Unloaded as soon as somebody has found it.
    std::set<std::string> going;

private:
    friend class FakeTransport;

    struct Family {
        std::string name;
        std::uint32_t group;
        Handler handler;
    };

    void load(const std::string& name, std::uint16_t id, std::uint32_t group, Handler handler) {
        families_[id] = {name, group, std::move(handler)};
    }
    Answer controller(const Seen& request);
    std::vector<Bytes> answer(ByteView datagram, bool generic);

    std::map<std::uint16_t, Family> families_;
    Handler rdma_;
    std::deque<std::variant<Bytes, Overrun>> events_;
};

// A transport that gives what it was filled with, whatever is sent.

class CannedTransport final : public NetlinkTransport {
public:
    explicit CannedTransport(std::deque<Bytes> datagrams) : datagrams_(std::move(datagrams)) {}
    void send(ByteView) override {}
    std::optional<Bytes> receive() override;
    void join(std::uint32_t) override {}
    void stop_on_signals() override {}

private:
    std::deque<Bytes> datagrams_;
};

}  // namespace rblk::test
