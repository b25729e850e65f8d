// SPDX-License-Identifier: GPL-2.0
// The documents of the commands. Keys are stable: there may be more later, none goes.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "abi/client.hpp"
#include "abi/server.hpp"
#include "check/check.hpp"
#include "error.hpp"
#include "output/document.hpp"

namespace rblk {

enum class Detail { list, show };

Document devices_document(const std::vector<Device>& devices, Detail detail,
                          const Interfaces& interfaces);
Document exports_document(const std::vector<Export>& exports, Detail detail);
Document added_export_document(const Export& added);
// Whom it is for now.
Document access_document(const Export& exported);
Document resized_export_document(const Export& exported);
Document removed_export_document(const std::string& name);
Document listeners_document(const std::vector<Listener>& listeners, const Interfaces& interfaces);
Document added_listener_document(const Listener& added, const Interfaces& interfaces);
Document removed_listener_document(const Address& removed, const Interfaces& interfaces);

Document paths_document(const std::vector<ClientSession>& sessions, const Interfaces& interfaces);
// What was done to a path, as in "drained".
Document changed_path_document(const std::string& device, std::uint32_t path,
                               std::string_view result);

// What was given of them.
Document set_device_document(const std::string& device, const DeviceSettings& settings);
Document set_path_document(const std::string& device, std::uint32_t path,
                           const PathParameters& parameters);

// Absent is a module that is not loaded.
Document sessions_document(const std::optional<std::vector<ClientSession>>& client,
                           const std::optional<std::vector<ServerSession>>& server,
                           const Interfaces& interfaces);

Document kicked_document(const ServerSession& kicked);

// An address of a server at which nothing answered.
struct FailedAttempt {
    std::string server;
    std::string error;
};

Document mapped_document(const Mapped& mapped, const std::string& server,
                         const std::string& export_name, const std::vector<FailedAttempt>& failed);
Document added_path_document(const std::string& device, std::uint32_t path,
                             const std::string& server, const std::vector<FailedAttempt>& failed);
Document unmapped_document(const std::vector<std::string>& devices);

struct FamilyFacts {
    bool loaded = false;
    std::uint32_t version = 0;
};

Document version_document(const std::string& version, const FamilyFacts& client,
                          const FamilyFacts& server);

// One event of 'monitor'; what is the word for it, as in device_add.
Document device_event(const std::string& time, const std::string& what, const Device& device,
                      const Interfaces& interfaces);
Document client_session_event(const std::string& time, const std::string& what,
                              const ClientSession& session, const Interfaces& interfaces);
Document export_event(const std::string& time, const std::string& what, const Export& exported);
Document listener_event(const std::string& time, const std::string& what, const Listener& listener,
                        const Interfaces& interfaces);
Document server_session_event(const std::string& time, const std::string& what,
                              const ServerSession& session, const Interfaces& interfaces);
Document modules_event(const std::string& time, const std::string& what,
                       const std::vector<std::string>& modules);

Document problem_event(const std::string& time, const std::string& what,
                       const std::string& message);

Document check_document(const CheckReport& report);

Document error_document(const Error& error);
// Text that is no data, as the help, as it is; key is its place in JSON.
Document text_document(const std::string& key, const std::string& text);

std::string device_path(std::string_view name);

}  // namespace rblk
