// SPDX-License-Identifier: GPL-2.0
// A socket together with the family that a command talks to.
#pragma once

#include "abi/client.hpp"
#include "abi/server.hpp"
#include "system/environment.hpp"

namespace rblk {

Genl open_genl(const Environment& environment);

// Has the kernel load it. Throws Error with Exit::module_not_loaded if that fails.
Family require_family(Genl& genl, std::string_view name);
// The same error of a command that takes either module and loads none.
[[noreturn]] void no_module();

class ClientConnection {
public:
    explicit ClientConnection(const Environment& environment);
    Client* operator->() { return &client_; }
    Client& operator*() { return client_; }

private:
    Genl genl_;
    Client client_;
};

class ServerConnection {
public:
    explicit ServerConnection(const Environment& environment);
    Server* operator->() { return &server_; }

private:
    Genl genl_;
    Server server_;
};

}  // namespace rblk
