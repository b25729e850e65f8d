// SPDX-License-Identifier: GPL-2.0
#include "error.hpp"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace rblk {

const std::vector<ExitInfo>& exit_table() {
    static const std::vector<ExitInfo> table = {
        {Exit::ok, "ok", "done"},
        {Exit::failure, "failure", "another failure"},
        {Exit::usage, "usage", "the command line is wrong"},
        {Exit::not_found, "not_found", "no such export, device, path, listener or session"},
        {Exit::denied, "denied", "not allowed: by the export, or CAP_NET_ADMIN is missing"},
        {Exit::busy, "busy", "in use, or there already"},
        {Exit::unreachable, "unreachable",
         "no way to the server: nothing listens, timeout, no route, no RDMA device"},
        {Exit::protocol_version, "protocol_version",
         "client and server speak different protocol versions"},
        {Exit::module_not_loaded, "module_not_loaded", "the kernel module is not loaded"},
    };
    return table;
}

std::string_view exit_code_name(Exit exit) {
    for (const auto& info : exit_table())
        if (info.exit == exit) return info.code;
    return "failure";
}

namespace {

std::string errno_text(int error) {
    // What the kernel says of a request that a signal ended, as netlink cannot say EINTR.
    return error == ECANCELED ? "interrupted" : std::strerror(error);
}

}  // namespace

KernelError::KernelError(int error, std::string text, std::string attribute)
    : std::runtime_error(text.empty() ? errno_text(error) : text),
      error_(error),
      text_(std::move(text)),
      attribute_(std::move(attribute)) {}

std::string KernelError::why() const {
    std::string why = text_.empty() ? errno_text(error_) : text_;
    if (!attribute_.empty()) why += fmt::format(" (attribute '{}')", attribute_);
    return why;
}

Exit exit_for_errno(int error, Operation operation) {
    switch (error) {
        case ENOENT:
            return Exit::not_found;
        case ENODEV:
            return operation == Operation::map ? Exit::unreachable : Exit::not_found;
        case EACCES:
        case EPERM:
        case EROFS:
            return Exit::denied;
        case EBUSY:
        case EEXIST:
        case EADDRINUSE:
            return Exit::busy;
        case ENXIO:
        case ECONNREFUSED:
        case ETIMEDOUT:
        case EHOSTUNREACH:
        case ENETUNREACH:
        case EADDRNOTAVAIL:
            return Exit::unreachable;
        case EPROTONOSUPPORT:
            return Exit::protocol_version;
        default:
            return Exit::failure;
    }
}

namespace {

std::string general_hint(int error) {
    switch (error) {
        case EPERM:
            return "run it as root: it needs CAP_NET_ADMIN outside of any user namespace";
        case EOPNOTSUPP:
            return "the loaded module does not know this request; use the tool and the modules of "
                   "one version";
        case ENOMEM:
            return "see /proc/meminfo and 'rblk export list' for what takes the memory";
        default:
            return {};
    }
}

}  // namespace

Error refusal(const KernelError& error, std::string_view what, Operation operation,
              std::string hint) {
    if (hint.empty() || error.error() == EPERM) {
        auto general = general_hint(error.error());
        if (!general.empty()) hint = std::move(general);
    }
    return Error(exit_for_errno(error.error(), operation), fmt::format("{}: {}", what, error.why()),
                 std::move(hint));
}

}  // namespace rblk
