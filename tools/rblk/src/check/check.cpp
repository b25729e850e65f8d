// SPDX-License-Identifier: GPL-2.0
#include "check/check.hpp"

#include <algorithm>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <linux/capability.h>
#include <linux/netlink.h>
#include <linux/rblk_client.h>
#include <linux/rblk_server.h>

#include "abi/connection.hpp"
#include "check/ports.hpp"
#include "netlink/rdma.hpp"

namespace rblk {
namespace {

// One look at the machine. Each check adds what it found and returns whether it is enough.
class Checker {
public:
    explicit Checker(const Environment& env) : env_(env), files_(env.files) {}

    CheckReport run() {
        find_families();
        bool permitted = permissions();
        bool manager = connection_manager();
        bool devices = rdma();
        bool client = client_ || loadable(RBLK_CLIENT_FAMILY_NAME);
        bool server = server_ || loadable(RBLK_SERVER_FAMILY_NAME);
        module(RBLK_CLIENT_FAMILY_NAME, client_.has_value(), client, server, "to map exports");
        module(RBLK_SERVER_FAMILY_NAME, server_.has_value(), server, client, "to export memory");
        if (server_) listeners();
        tcp_port();
        bool common = permitted && manager && devices;
        report_.client_ready = client && common;
        report_.server_ready = server && common;
        if (!report_.client_ready && !report_.server_ready)
            report_.exit = !client && !server ? Exit::module_not_loaded
                           : !permitted       ? Exit::denied
                                              : Exit::unreachable;
        return std::move(report_);
    }

private:
    void add(std::string check, std::string status, std::string message, std::string next = {}) {
        report_.findings.push_back(
            {std::move(check), std::move(status), std::move(message), std::move(next)});
    }

    // Whether a list of modules of this machine's kernel has one.
    bool listed(const std::string& list, const std::string& name) const {
        auto same = [](char a, char b) {
            return a == b || (a == '-' && b == '_') || (a == '_' && b == '-');
        };
        for (const auto& line : files_.lines("/lib/modules/" + env_.kernel_release() + list)) {
            auto path = line.substr(0, line.find(':'));
            auto file = path.substr(path.rfind('/') + 1);
            auto stem = file.substr(0, file.find(".ko"));
            if (std::equal(stem.begin(), stem.end(), name.begin(), name.end(), same)) return true;
        }
        return false;
    }

    // Whether the kernel of this machine has a module, built in or as a file.
    bool installed(const std::string& name) const {
        return listed("/modules.dep", name) || listed("/modules.builtin", name);
    }

    bool in_kernel(std::string name) const {
        std::replace(name.begin(), name.end(), '-', '_');
        return files_.exists("/sys/module/" + name);
    }

    // Whether the kernel loads a module of rblk when a command asks for its family.
    bool loadable(const std::string& name) const {
        return asked_ && listed("/modules.dep", name) && !in_kernel(name);
    }

    bool permissions() {
        std::uint64_t effective = 0;
        for (const auto& line : files_.lines("/proc/self/status"))
            if (line.starts_with("CapEff:"))
                std::istringstream(line.substr(7)) >> std::hex >> effective;
        if (!(effective >> CAP_NET_ADMIN & 1)) {
            add("permissions", "fail",
                "this process lacks CAP_NET_ADMIN and cannot change anything",
                "run it as root, as in 'sudo rblk check'");
            return false;
        }
        std::istringstream map(files_.read("/proc/self/uid_map").value_or(""));
        std::uint64_t inside = 0, outside = 0, count = 0;
        map >> inside >> outside >> count;
        if (map && (outside != 0 || count != 0xffffffffULL)) {
            add("permissions", "fail",
                "this process has CAP_NET_ADMIN in a user namespace only, where it does not count",
                "run it as root outside of the container");
            return false;
        }
        add("permissions", "ok", "this process has CAP_NET_ADMIN");
        return true;
    }

    bool connection_manager() {
        // What is built in has no folder, but the modules of rblk do not load without it.
        if (files_.exists("/sys/module/rdma_cm") || client_ || server_) {
            add("rdma_cm", "ok", "the RDMA connection manager (rdma_cm) is there");
            return true;
        }
        if (installed("rdma_cm")) {
            add("rdma_cm", "ok", "the RDMA connection manager (rdma_cm) comes with the modules");
            return true;
        }
        add("rdma_cm", "fail",
            fmt::format("the kernel {} shows no RDMA connection manager (rdma_cm)",
                        env_.kernel_release()),
            "install the kernel's other modules (linux-modules-extra, kernel-modules-extra), or a "
            "kernel with CONFIG_INFINIBAND_ADDR_TRANS");
        return false;
    }

    bool rdma() {
        auto devices = rdma_devices(files_);
        if (devices.empty()) {
            add("rdma_devices", "fail", "there is no RDMA device",
                installed("rdma_rxe")
                    ? "load the driver of the card, or make one in software: modprobe rdma_rxe; "
                      "rdma link add rxe0 type rxe netdev eth0"
                    : "load the driver of the card; the kernel has no software device (rdma_rxe)");
            return false;
        }
        add("rdma_devices", "ok", fmt::format("RDMA devices: {}", fmt::join(devices, ", ")));
        auto registering = registration(devices);
        bool usable = false;
        for (const auto& port : rdma_ports(files_)) {
            usable |= port.active() && registering[port.device];
            look_at(port);
        }
        return usable;
    }

    void look_at(const RdmaPort& port) {
        if (!port.active()) {
            auto next = port.interfaces.empty()
                            ? std::string("check its cable, and the subnet manager on InfiniBand")
                            : fmt::format("check its cable; ip link set {} up",
                                          fmt::join(port.interfaces, "; ip link set "));
            add("rdma_ports", "warn",
                fmt::format("{} is not active but {}", port.text(),
                            port.state.empty() ? "unknown" : port.state),
                next);
            return;
        }
        add("rdma_ports", "ok", fmt::format("{} is active", port.text()));
        for (const auto& name : port.interfaces) {
            auto state = files_.read("/sys/class/net/" + name + "/operstate").value_or("unknown");
            if (state == "down")
                add("network", "warn", fmt::format("{} below {} is down", name, port.device),
                    fmt::format("ip link set {} up", name));
        }
    }

    // For each device, whether it has the memory registration that rblk needs.
    std::map<std::string, bool> registration(const std::vector<std::string>& devices) {
        std::map<std::string, bool> able;
        std::map<std::string, bool> told;
        try {
            Exchange exchange(env_.open_netlink(NETLINK_RDMA));
            told = rdma_memory_registration(exchange);
        } catch (const std::exception&) {
            // Not told is not known; said below.
        }
        for (const auto& device : devices) {
            auto found = told.find(device);
            able[device] = found == told.end() || found->second;
            if (found == told.end())
                add("memory_registration", "warn",
                    fmt::format(
                        "{} does not say whether it can register memory by fast work requests",
                        device));
            else if (found->second)
                add("memory_registration", "ok",
                    fmt::format("{} can register memory by fast work requests", device));
            else
                add("memory_registration", "fail",
                    fmt::format("{} cannot register memory by fast work requests, which rblk needs",
                                device),
                    "use another RDMA device");
        }
        return able;
    }

    void find_families() {
        try {
            genl_.emplace(open_genl(env_));
            client_ = genl_->find_family(RBLK_CLIENT_FAMILY_NAME);
            server_ = genl_->find_family(RBLK_SERVER_FAMILY_NAME);
            asked_ = true;
        } catch (const std::exception& error) {
            add("netlink", "fail", fmt::format("the kernel cannot be asked: {}", error.what()));
        }
    }

    void module(const std::string& name, bool loaded, bool usable, bool other_usable,
                std::string_view purpose) {
        std::string check = name == RBLK_CLIENT_FAMILY_NAME ? "client_module" : "server_module";
        std::string status = other_usable ? "off" : "fail";
        if (loaded)
            add(check, "ok", fmt::format("{} is loaded", name));
        else if (usable)
            add(check, "off",
                fmt::format("{} is installed and not loaded; the first command that needs it "
                            "loads it",
                            name));
        else if (installed(name) || in_kernel(name))
            add(check, status,
                fmt::format("{} is there and does not answer; it is needed {}", name, purpose),
                "'dmesg' may say why");
        else
            add(check, status,
                fmt::format("{} is not installed for the kernel {}; it is needed {}", name,
                            env_.kernel_release(), purpose),
                fmt::format("build and install it, or load the files: insmod rblk-core.ko; insmod "
                            "{}.ko",
                            name));
    }

    void listeners() {
        try {
            Server server(*genl_, *server_);
            auto all = server.listeners();
            if (all.empty())
                add("listeners", "warn", "the server listens on no address", "rblk listen add any");
            for (const auto& listener : all) {
                auto text = listener.address.text(env_.interfaces);
                if (listener.state == RBLK_SERVER_LISTENER_STATE_LISTENING)
                    add("listeners", "ok", fmt::format("the server listens on {}", text));
                else
                    add("listeners", "warn",
                        fmt::format("the listener on {} waits: {}", text,
                                    listener.error.value_or("no reason given")),
                        "'ip addr' and 'rdma link' show what is there; it tries again by itself");
            }
        } catch (const std::exception& error) {
            add("listeners", "warn", fmt::format("the listeners cannot be read: {}", error.what()));
        }
    }

    void tcp_port() {
        if (!tcp_listens(files_, default_port)) return;
        add("port", "warn",
            fmt::format("TCP port {} is in use, which an iWARP device shares", default_port),
            fmt::format(
                "'ss -lntp sport = :{}' shows by whom; or take another port: rblk listen add "
                "ADDR:PORT",
                default_port));
    }

    const Environment& env_;
    const Files& files_;
    CheckReport report_;
    std::optional<Genl> genl_;
    bool asked_ = false;  // which families there are, and got an answer
    std::optional<Family> client_;
    std::optional<Family> server_;
};

}  // namespace

CheckReport check_machine(const Environment& environment) {
    return Checker(environment).run();
}

}  // namespace rblk
