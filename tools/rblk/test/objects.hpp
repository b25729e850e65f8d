// SPDX-License-Identifier: GPL-2.0
// Objects of the two families as their attributes.
#pragma once

#include <optional>
#include <string>

#include "wire.hpp"

namespace rblk::test {

// Only what a kernel must say.
Put small_device(std::uint32_t index, const std::string& export_name);
// All there is, live.
Put full_device(std::uint32_t index, const std::string& export_name);
// Waits for its connection, for as long as is given.
Put recovering_device(std::uint32_t index, std::uint32_t no_path_timeout_ms);
// Of a connection that is not made again.
Put failed_device(std::uint32_t index, const std::string& export_name, const std::string& reason);

Put small_export(const std::string& name);
Put full_export(const std::string& name);
Put listener(const std::string& address, std::uint16_t port, std::uint32_t state);

// The content of one.
Bytes route_bytes(const Bytes& server, const std::optional<Bytes>& source = {});
Bytes gid_bytes(const std::string& text);
// Path 0 is the active one if it is live.
Put client_path(std::uint32_t index, std::uint32_t state);
// What a kernel says besides, of a path that is connected over InfiniBand.
Put& connected(Put& path);
Put client_session();
Put server_session();

}  // namespace rblk::test
