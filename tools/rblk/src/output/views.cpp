// SPDX-License-Identifier: GPL-2.0
#include "output/views.hpp"

#include <array>
#include <initializer_list>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rblk {

std::string device_path(std::string_view name) {
    return fmt::format("/dev/{}", name);
}

namespace {

using Kind = Layout::Kind;

template <typename T>
Json maybe(const std::optional<T>& value) {
    return value ? Json(*value) : Json();
}

Json maybe(const std::optional<Uuid>& value) {
    return value ? Json(uuid_text(*value)) : Json();
}

Json maybe(const std::optional<Address>& value, const Interfaces& interfaces) {
    return value ? Json(value->text(interfaces)) : Json();
}

// A newer kernel can have more than is known here.
template <typename Word, std::size_t N>
std::string word(const std::array<Word, N>& words, std::uint32_t value) {
    return value < N ? std::string(words[value]) : fmt::format("unknown-{}", value);
}

template <typename Word, std::size_t N>
Json maybe_word(const std::array<Word, N>& words, const std::optional<std::uint32_t>& value) {
    return value ? Json(word(words, *value)) : Json();
}

Json gid(const std::optional<Gid>& value) {
    return value ? Json(gid_text(*value)) : Json();
}

std::string device_state(std::uint32_t value) {
    return word(std::array{"live", "failed", "removing", "recovering"}, value);
}

std::string path_state(std::uint32_t value) {
    return word(std::array{"new", "connecting", "live", "failed", "fenced", "backoff", "removed"},
                value);
}

std::string listener_state(std::uint32_t value) {
    return word(std::array{"waiting", "listening"}, value);
}

Json backing(const std::optional<std::uint32_t>& value) {
    return maybe_word(std::array{"memory", "disk"}, value);
}

Json no_path_timeout(const std::optional<std::uint32_t>& ms) {
    return ms == no_path_for_ever ? Json() : maybe(ms);
}

// A kernel that knows no reconnect says nothing of either.
Json reconnect(const Device& device) {
    return device.no_path_timeout_ms ? Json(!device.no_reconnect) : Json();
}

Json with_schema(Json rest) {
    Json document = {{"schema", json_schema}};
    document.update(rest);
    return document;
}

Json to_json(const QueueStats& stats) {
    return {{"index", stats.index},
            {"reads", stats.reads},
            {"writes", stats.writes},
            {"read_bytes", stats.read_bytes},
            {"write_bytes", stats.write_bytes},
            {"errors", stats.errors}};
}

Json to_json(const Device& device, const Interfaces& interfaces) {
    Json stats = Json::array();
    for (const auto& queue : device.queue_stats) stats.push_back(to_json(queue));
    return {{"index", device.index},
            {"name", device.name},
            {"device", device_path(device.name)},
            {"export", device.export_name},
            {"server", device.server.text(interfaces)},
            {"client_name", maybe(device.client_name)},
            {"read_only", device.read_only},
            {"shared", device.shared},
            {"queues", maybe(device.queues)},
            {"depth", maybe(device.depth)},
            {"state", device_state(device.state)},
            {"reason", maybe(device.reason)},
            {"size", device.size},
            {"block_size", maybe(device.block_size)},
            {"extent_size", maybe(device.extent_size)},
            {"extents", maybe(device.extents)},
            {"max_io", maybe(device.max_io)},
            {"backing", backing(device.backing)},
            {"incarnation", maybe(device.incarnation)},
            {"session_id", maybe(device.session_id)},
            {"openers", maybe(device.openers)},
            {"no_path_timeout_ms", no_path_timeout(device.no_path_timeout_ms)},
            {"reconnect", reconnect(device)},
            {"policy", maybe_word(policy_words, device.policy)},
            {"write_order", maybe_word(write_order_words, device.write_order)},
            {"queue_stats", stats}};
}

Json to_json(const Export& exported) {
    return {{"name", exported.name},
            {"size", exported.size},
            {"backing", backing(exported.backing)},
            {"device", maybe(exported.device)},
            {"failed", exported.failed},
            {"block_size", maybe(exported.block_size)},
            {"numa_node", maybe(exported.numa_node)},
            {"allow", exported.allow},
            {"allow_any", exported.allow_any},
            {"shared", exported.shared},
            {"read_only", exported.read_only},
            {"incarnation", maybe(exported.incarnation)},
            {"readers", maybe(exported.readers)},
            {"writers", maybe(exported.writers)}};
}

Json to_json(const Listener& listener, const Interfaces& interfaces) {
    return {{"addr", listener.address.host(interfaces)},
            {"port", listener.address.port()},
            {"state", listener_state(listener.state)},
            {"rdma_device", maybe(listener.rdma_device)},
            {"error", maybe(listener.error)}};
}

Json to_json(const ClientPath& path, const Interfaces& interfaces) {
    return {{"index", path.index},
            {"state", path_state(path.state)},
            {"active", path.active},
            {"drained", path.drained},
            {"generation", maybe(path.generation)},
            {"reconnects", maybe(path.reconnects)},
            {"losses", maybe(path.losses)},
            {"source", maybe(path.source, interfaces)},
            {"server", maybe(path.server, interfaces)},
            {"rdma_device", maybe(path.rdma_device)},
            {"rdma_port", maybe(path.rdma_port)},
            {"queues", maybe(path.queues)},
            {"depth", maybe(path.depth)},
            {"in_flight", maybe(path.in_flight)},
            {"reads", maybe(path.reads)},
            {"writes", maybe(path.writes)},
            {"read_bytes", maybe(path.read_bytes)},
            {"write_bytes", maybe(path.write_bytes)},
            {"latency_ns", maybe(path.latency_ns)},
            {"source_gid", gid(path.source_gid)},
            {"server_gid", gid(path.server_gid)},
            {"source_lid", maybe(path.source_lid)},
            {"server_lid", maybe(path.server_lid)},
            {"pkey", maybe(path.pkey)},
            {"sl", maybe(path.sl)},
            {"qp_numbers", path.qp_numbers},
            {"tos", maybe(path.tos)},
            {"ack_timeout", maybe(path.ack_timeout)},
            {"retry_count", maybe(path.retry_count)},
            {"server_device", maybe(path.server_device)},
            {"last_error", maybe(path.last_error)}};
}

Json to_json(const ClientSession& session, const Interfaces& interfaces) {
    Json paths = Json::array();
    for (const auto& path : session.paths) paths.push_back(to_json(path, interfaces));
    return {{"id", uuid_text(session.id)},
            {"client_name", maybe(session.client_name)},
            {"server_id", maybe(session.server_id)},
            {"devices", maybe(session.devices)},
            {"paths", paths}};
}

Json to_json(const ServerSession& session, const Interfaces& interfaces) {
    Json paths = Json::array();
    for (const auto& path : session.paths)
        paths.push_back({{"index", path.index},
                         {"generation", maybe(path.generation)},
                         {"client", maybe(path.client, interfaces)},
                         {"local", maybe(path.local, interfaces)},
                         {"rdma_device", maybe(path.rdma_device)},
                         {"queues", maybe(path.queues)},
                         {"live", path.live},
                         {"messages", maybe(path.messages)}});
    return {{"id", uuid_text(session.id)},
            {"client_name", maybe(session.client_name)},
            {"exports", session.exports},
            {"paths", paths}};
}

constexpr Column device_columns[] = {
    {"device", "DEVICE"},
    {"size", "SIZE", Format::size},
    {"state", "STATE"},
    {"", "MODE", Format::mode},
    {"export", "EXPORT"},
    {"server", "SERVER"},
    {"backing", "BACKING", Format::backing},
    {"openers", "OPENERS"},
};
constexpr Column device_facts[] = {
    {"device", "device"},
    {"export", "export"},
    {"server", "server"},
    {"client_name", "client name"},
    {"state", "state"},
    {"reason", "reason"},
    {"size", "size", Format::size_exact},
    {"", "mode", Format::mode},
    {"backing", "backing", Format::backing},
    {"block_size", "block size", Format::size},
    {"max_io", "largest request", Format::size},
    {"extents", "extents"},
    {"extent_size", "extent size", Format::size},
    {"queues", "queues"},
    {"depth", "depth"},
    {"", "no-path timeout", Format::no_path},
    {"reconnect", "reconnect"},
    {"policy", "policy"},
    {"write_order", "write order"},
    {"openers", "openers"},
    {"incarnation", "incarnation"},
    {"session_id", "session"},
};
constexpr Column queue_columns[] = {
    {"index", "QUEUE"},
    {"reads", "READS"},
    {"writes", "WRITES"},
    {"read_bytes", "READ", Format::size},
    {"write_bytes", "WRITTEN", Format::size},
    {"errors", "ERRORS"},
};
constexpr Layout device_parts[] = {
    {.kind = Kind::table, .key = "queue_stats", .columns = queue_columns}};
constexpr Layout device_table[] = {
    {.kind = Kind::table, .key = "devices", .columns = device_columns, .empty = "no devices"}};
constexpr Layout device_records[] = {
    {.kind = Kind::record, .key = "devices", .columns = device_facts, .parts = device_parts}};

constexpr Column export_columns[] = {
    {"name", "NAME"},
    {"size", "SIZE", Format::size},
    {"backing", "BACKING", Format::backing},
    {"", "MODE", Format::mode},
    {"", "ALLOWED", Format::allow},
    {"readers", "READERS"},
    {"writers", "WRITERS"},
};
constexpr Column export_facts[] = {
    {"name", "name"},
    {"size", "size", Format::size_exact},
    {"backing", "backing", Format::backing},
    {"block_size", "block size", Format::size},
    {"numa_node", "NUMA node"},
    {"", "allowed", Format::allow},
    {"", "mode", Format::mode},
    {"readers", "readers"},
    {"writers", "writers"},
    {"incarnation", "incarnation"},
};
constexpr Column export_said[] = {
    {"size", "size", Format::size},
    {"backing", "backing", Format::backing},
    {"", "mode", Format::mode},
    {"", "allowed", Format::allow},
};
constexpr Layout export_table[] = {
    {.kind = Kind::table, .key = "exports", .columns = export_columns, .empty = "no exports"}};
constexpr Layout export_records[] = {
    {.kind = Kind::record, .key = "exports", .columns = export_facts}};
constexpr Layout export_added[] = {
    {.kind = Kind::message,
     .key = "exports",
     .columns = export_said,
     .pattern = "export {name} added: {size} of {backing}, {mode}, for {allowed}"}};
constexpr Layout export_access[] = {{.kind = Kind::message,
                                     .key = "exports",
                                     .columns = export_said,
                                     .pattern = "export {name} is for {allowed}"}};
constexpr Layout export_resized[] = {{.kind = Kind::message,
                                      .key = "exports",
                                      .columns = export_said,
                                      .pattern = "export {name} has {size}"}};
constexpr Layout export_removed[] = {
    {.kind = Kind::message, .key = "", .columns = {}, .pattern = "export {removed} removed"}};

constexpr Column listener_columns[] = {
    {"addr", "ADDRESS"}, {"port", "PORT"}, {"state", "STATE"}, {"rdma_device", "RDMA DEVICE"},
    {"error", "ERROR"},
};
constexpr Layout listener_table[] = {{.kind = Kind::table,
                                      .key = "listeners",
                                      .columns = listener_columns,
                                      .empty = "no listeners"}};
constexpr Layout listener_added[] = {{.kind = Kind::message,
                                      .key = "listeners",
                                      .columns = {},
                                      .pattern = "listener {addr} port {port} added: {state}"}};
constexpr Layout listener_removed[] = {
    {.kind = Kind::message, .key = "", .columns = {}, .pattern = "listener {removed} removed"}};

constexpr Layout session_kicked[] = {{.kind = Kind::message,
                                      .key = "",
                                      .columns = {},
                                      .pattern = "session {kicked} of client {client_name} ended"}};

constexpr Column client_session_facts[] = {
    {"id", "session"},
    {"client_name", "client name"},
    {"server_id", "server"},
    {"devices", "devices"},
};
constexpr Column client_path_columns[] = {
    {"index", "PATH"},    {"", "ROLE", Format::role}, {"state", "STATE"},
    {"server", "SERVER"}, {"source", "SOURCE"},       {"", "RDMA PORT", Format::rdma_port},
    {"queues", "QUEUES"}, {"depth", "DEPTH"},         {"last_error", "LAST ERROR"},
};
constexpr Column client_path_counters[] = {
    {"index", "PATH"},
    {"in_flight", "IN-FLIGHT"},
    {"reads", "READS"},
    {"writes", "WRITES"},
    {"read_bytes", "READ", Format::size},
    {"write_bytes", "WRITTEN", Format::size},
    {"latency_ns", "LATENCY", Format::latency},
    {"generation", "GENERATION"},
    {"reconnects", "RECONNECTS"},
    {"losses", "LOSSES"},
};
constexpr Column client_path_transport[] = {
    {"index", "PATH"},
    {"server_device", "SERVER DEVICE"},
    {"tos", "TOS"},
    {"ack_timeout", "ACK TIMEOUT", Format::ack_timeout},
    {"retry_count", "RETRY COUNT"},
};
constexpr Column path_columns[] = {
    {"session_id", "SESSION", Format::short_id},
    {"index", "PATH"},
    {"", "ROLE", Format::role},
    {"state", "STATE"},
    {"in_flight", "IN-FLIGHT"},
    {"server", "SERVER"},
    {"source", "SOURCE"},
    {"", "RDMA PORT", Format::rdma_port},
    {"last_error", "LAST ERROR"},
};
constexpr Layout path_added[] = {{.kind = Kind::message,
                                  .key = "",
                                  .columns = {},
                                  .pattern = "path {path} of {device} added: {server}"}};
constexpr Layout path_changed[] = {{.kind = Kind::message,
                                    .key = "",
                                    .columns = {},
                                    .pattern = "path {path} of {device} {result}"}};
constexpr Column path_parameters[] = {
    {"tos", "type of service"},
    {"ack_timeout", "acknowledgement timeout", Format::ack_timeout},
    {"retry_count", "retry count"},
};
constexpr Layout path_set[] = {{.kind = Kind::changes,
                                .key = "",
                                .columns = path_parameters,
                                .pattern = "path {path} of {device} set:"}};
constexpr Column device_settings[] = {
    {"policy", "policy"},
    {"write_order", "write order"},
    {"no_path_timeout_ms", "no-path timeout", Format::wait},
};
constexpr Layout device_set[] = {
    {.kind = Kind::changes, .key = "", .columns = device_settings, .pattern = "{device} set:"}};
constexpr Layout path_table[] = {
    {.kind = Kind::table, .key = "paths", .columns = path_columns, .empty = "no paths"}};

constexpr Column server_session_facts[] = {
    {"id", "session"},
    {"client_name", "client name"},
    {"exports", "exports"},
};
constexpr Column server_path_columns[] = {
    {"index", "PATH"},    {"live", "LIVE"},         {"generation", "GENERATION"},
    {"client", "CLIENT"}, {"local", "LOCAL"},       {"rdma_device", "RDMA DEVICE"},
    {"queues", "QUEUES"}, {"messages", "MESSAGES"},
};
constexpr Layout client_session_parts[] = {
    {.kind = Kind::table, .key = "paths", .columns = client_path_columns, .empty = "no paths"},
    {.kind = Kind::table, .key = "paths", .columns = client_path_counters},
    {.kind = Kind::table, .key = "paths", .columns = client_path_transport}};
constexpr Layout server_session_parts[] = {
    {.kind = Kind::table, .key = "paths", .columns = server_path_columns, .empty = "no paths"}};
constexpr Layout session_records[] = {{.kind = Kind::record,
                                       .key = "client_sessions",
                                       .columns = client_session_facts,
                                       .empty = "no client sessions",
                                       .title = "CLIENT SESSIONS",
                                       .only_if = "client_loaded",
                                       .parts = client_session_parts},
                                      {.kind = Kind::record,
                                       .key = "server_sessions",
                                       .columns = server_session_facts,
                                       .empty = "no server sessions",
                                       .title = "SERVER SESSIONS",
                                       .only_if = "server_loaded",
                                       .parts = server_session_parts}};

constexpr Layout mapped_line[] = {
    {.kind = Kind::message, .key = "", .columns = {}, .pattern = "{device}"}};
constexpr Layout unmapped_lines[] = {
    {.kind = Kind::message, .key = "", .columns = {}, .pattern = "unmapped: {unmapped}"}};

constexpr Column version_facts[] = {{"version", "rblk"},
                                    {"client_loaded", "rblk-client loaded"},
                                    {"client_netlink_version", "rblk-client netlink version"},
                                    {"server_loaded", "rblk-server loaded"},
                                    {"server_netlink_version", "rblk-server netlink version"}};
constexpr Layout version_record[] = {{.kind = Kind::record, .key = "", .columns = version_facts}};

constexpr std::string_view event_pattern = "{time} {event}";
constexpr Column device_pairs[] = {
    {"device", "device"},           {"state", "state"},
    {"export", "export"},           {"server", "server"},
    {"size", "size", Format::size}, {"", "mode", Format::mode},
    {"openers", "openers"},         {"reason", "reason"},
};
constexpr Column export_pairs[] = {
    {"name", "export"},     {"size", "size", Format::size}, {"", "mode", Format::mode},
    {"readers", "readers"}, {"writers", "writers"},
};
constexpr Column listener_pairs[] = {
    {"addr", "addr"},   {"port", "port"}, {"state", "state"}, {"rdma_device", "rdma_device"},
    {"error", "error"},
};
constexpr Column client_session_pairs[] = {
    {"id", "session"},
    {"server_id", "server"},
    {"devices", "devices"},
    {"", "paths", Format::paths},
};
constexpr Column server_session_pairs[] = {
    {"id", "session"},
    {"client_name", "client"},
    {"exports", "exports"},
    {"", "paths", Format::paths},
};
constexpr Column modules_pairs[] = {{"modules", "modules"}};

constexpr Layout device_line[] = {
    {.kind = Kind::event, .key = "device", .columns = device_pairs, .pattern = event_pattern}};
constexpr Layout export_line[] = {
    {.kind = Kind::event, .key = "export", .columns = export_pairs, .pattern = event_pattern}};
constexpr Layout listener_line[] = {
    {.kind = Kind::event, .key = "listener", .columns = listener_pairs, .pattern = event_pattern}};
constexpr Layout client_session_line[] = {{.kind = Kind::event,
                                           .key = "session",
                                           .columns = client_session_pairs,
                                           .pattern = event_pattern}};
constexpr Layout server_session_line[] = {{.kind = Kind::event,
                                           .key = "session",
                                           .columns = server_session_pairs,
                                           .pattern = event_pattern}};
constexpr Layout modules_line[] = {
    {.kind = Kind::event, .key = "", .columns = modules_pairs, .pattern = event_pattern}};

constexpr Layout error_text[] = {{.kind = Kind::message,
                                  .key = "error",
                                  .columns = {},
                                  .pattern = "rblk: {message}",
                                  .tail = "hint"}};

constexpr Column check_columns[] = {{"status", "status", Format::tag}};
constexpr Layout check_lines[] = {
    {.kind = Kind::message,
     .key = "checks",
     .columns = check_columns,
     .pattern = "{status}  {message}",
     .tail = "next_step"},
    {.kind = Kind::message, .key = "", .columns = {}, .pattern = "client ready: {client_ready}"},
    {.kind = Kind::message, .key = "", .columns = {}, .pattern = "server ready: {server_ready}"}};

constexpr Column problem_pairs[] = {{"message", "message"}};
constexpr Layout problem_line[] = {
    {.kind = Kind::event, .key = "", .columns = problem_pairs, .pattern = event_pattern}};

Json event(const std::string& time, const std::string& what) {
    return {{"schema", json_schema}, {"time", time}, {"event", what}};
}

}  // namespace

Document devices_document(const std::vector<Device>& devices, Detail detail,
                          const Interfaces& interfaces) {
    Json list = Json::array();
    for (const auto& device : devices) list.push_back(to_json(device, interfaces));
    Json json = with_schema({{"devices", list}});
    if (detail == Detail::list) return Document(std::move(json), device_table);
    return Document(std::move(json), device_records);
}

namespace {

Json exports_json(const std::vector<Export>& exports) {
    Json list = Json::array();
    for (const auto& exported : exports) list.push_back(to_json(exported));
    return with_schema({{"exports", list}});
}

Json listeners_json(const std::vector<Listener>& listeners, const Interfaces& interfaces) {
    Json list = Json::array();
    for (const auto& listener : listeners) list.push_back(to_json(listener, interfaces));
    return with_schema({{"listeners", list}});
}

}  // namespace

Document exports_document(const std::vector<Export>& exports, Detail detail) {
    if (detail == Detail::list) return Document(exports_json(exports), export_table);
    return Document(exports_json(exports), export_records);
}

Document added_export_document(const Export& added) {
    return Document(exports_json({added}), export_added);
}

Document access_document(const Export& exported) {
    return Document(exports_json({exported}), export_access);
}

Document resized_export_document(const Export& exported) {
    return Document(exports_json({exported}), export_resized);
}

Document removed_export_document(const std::string& name) {
    return Document(with_schema({{"removed", name}}), export_removed);
}

Document listeners_document(const std::vector<Listener>& listeners, const Interfaces& interfaces) {
    return Document(listeners_json(listeners, interfaces), listener_table);
}

Document added_listener_document(const Listener& added, const Interfaces& interfaces) {
    return Document(listeners_json({added}, interfaces), listener_added);
}

Document removed_listener_document(const Address& removed, const Interfaces& interfaces) {
    return Document(with_schema({{"removed", removed.text(interfaces)}}), listener_removed);
}

Document paths_document(const std::vector<ClientSession>& sessions, const Interfaces& interfaces) {
    Json list = Json::array();
    for (const auto& session : sessions)
        for (const auto& path : session.paths) {
            Json row = {{"session_id", uuid_text(session.id)},
                        {"client_name", maybe(session.client_name)}};
            row.update(to_json(path, interfaces));
            list.push_back(std::move(row));
        }
    return Document(with_schema({{"paths", list}}), path_table);
}

Document changed_path_document(const std::string& device, std::uint32_t path,
                               std::string_view result) {
    return Document(with_schema({{"device", device}, {"path", path}, {"result", result}}),
                    path_changed);
}

namespace {

// Which keys have what was set, as null can be a value.
Json changed_keys(std::initializer_list<std::pair<const char*, bool>> keys) {
    Json changed = Json::array();
    for (const auto& [key, given] : keys)
        if (given) changed.push_back(key);
    return changed;
}

}  // namespace

Document set_device_document(const std::string& device, const DeviceSettings& settings) {
    auto changed = changed_keys({{"policy", settings.policy.has_value()},
                                 {"write_order", settings.write_order.has_value()},
                                 {"no_path_timeout_ms", settings.no_path_timeout_ms.has_value()}});
    return Document(
        with_schema({{"device", device},
                     {"changed", changed},
                     {"policy", maybe_word(policy_words, settings.policy)},
                     {"write_order", maybe_word(write_order_words, settings.write_order)},
                     {"no_path_timeout_ms", no_path_timeout(settings.no_path_timeout_ms)}}),
        device_set);
}

Document set_path_document(const std::string& device, std::uint32_t path,
                           const PathParameters& parameters) {
    auto changed = changed_keys({{"tos", parameters.tos.has_value()},
                                 {"ack_timeout", parameters.ack_timeout.has_value()},
                                 {"retry_count", parameters.retry_count.has_value()}});
    return Document(with_schema({{"device", device},
                                 {"path", path},
                                 {"changed", changed},
                                 {"tos", maybe(parameters.tos)},
                                 {"ack_timeout", maybe(parameters.ack_timeout)},
                                 {"retry_count", maybe(parameters.retry_count)}}),
                    path_set);
}

Document sessions_document(const std::optional<std::vector<ClientSession>>& client,
                           const std::optional<std::vector<ServerSession>>& server,
                           const Interfaces& interfaces) {
    Json client_list = Json::array();
    if (client)
        for (const auto& session : *client) client_list.push_back(to_json(session, interfaces));
    Json server_list = Json::array();
    if (server)
        for (const auto& session : *server) server_list.push_back(to_json(session, interfaces));
    return Document(with_schema({{"client_loaded", client.has_value()},
                                 {"client_sessions", client_list},
                                 {"server_loaded", server.has_value()},
                                 {"server_sessions", server_list}}),
                    session_records);
}

Document kicked_document(const ServerSession& kicked) {
    return Document(
        with_schema({{"kicked", uuid_text(kicked.id)}, {"client_name", maybe(kicked.client_name)}}),
        session_kicked);
}

namespace {

Json attempts_json(const std::vector<FailedAttempt>& failed) {
    Json attempts = Json::array();
    for (const auto& attempt : failed)
        attempts.push_back({{"server", attempt.server}, {"error", attempt.error}});
    return attempts;
}

}  // namespace

Document mapped_document(const Mapped& mapped, const std::string& server,
                         const std::string& export_name, const std::vector<FailedAttempt>& failed) {
    return Document(with_schema({{"device", device_path(mapped.name)},
                                 {"index", mapped.index},
                                 {"name", mapped.name},
                                 {"server", server},
                                 {"export", export_name},
                                 {"failed_attempts", attempts_json(failed)}}),
                    mapped_line);
}

Document added_path_document(const std::string& device, std::uint32_t path,
                             const std::string& server, const std::vector<FailedAttempt>& failed) {
    return Document(with_schema({{"device", device},
                                 {"path", path},
                                 {"server", server},
                                 {"failed_attempts", attempts_json(failed)}}),
                    path_added);
}

Document unmapped_document(const std::vector<std::string>& devices) {
    return Document(with_schema({{"unmapped", devices}}), unmapped_lines);
}

Document version_document(const std::string& version, const FamilyFacts& client,
                          const FamilyFacts& server) {
    auto netlink = [](const FamilyFacts& facts) {
        return facts.loaded ? Json(facts.version) : Json();
    };
    return Document(with_schema({{"version", version},
                                 {"client_loaded", client.loaded},
                                 {"client_netlink_version", netlink(client)},
                                 {"server_loaded", server.loaded},
                                 {"server_netlink_version", netlink(server)}}),
                    version_record);
}

Document device_event(const std::string& time, const std::string& what, const Device& device,
                      const Interfaces& interfaces) {
    auto json = event(time, what);
    json["device"] = to_json(device, interfaces);
    return Document(std::move(json), device_line);
}

Document client_session_event(const std::string& time, const std::string& what,
                              const ClientSession& session, const Interfaces& interfaces) {
    auto json = event(time, what);
    json["session"] = to_json(session, interfaces);
    return Document(std::move(json), client_session_line);
}

Document export_event(const std::string& time, const std::string& what, const Export& exported) {
    auto json = event(time, what);
    json["export"] = to_json(exported);
    return Document(std::move(json), export_line);
}

Document listener_event(const std::string& time, const std::string& what, const Listener& listener,
                        const Interfaces& interfaces) {
    auto json = event(time, what);
    json["listener"] = to_json(listener, interfaces);
    return Document(std::move(json), listener_line);
}

Document server_session_event(const std::string& time, const std::string& what,
                              const ServerSession& session, const Interfaces& interfaces) {
    auto json = event(time, what);
    json["session"] = to_json(session, interfaces);
    return Document(std::move(json), server_session_line);
}

Document modules_event(const std::string& time, const std::string& what,
                       const std::vector<std::string>& modules) {
    auto json = event(time, what);
    json["modules"] = modules;
    return Document(std::move(json), modules_line);
}

Document problem_event(const std::string& time, const std::string& what,
                       const std::string& message) {
    auto json = event(time, what);
    json["message"] = message;
    return Document(std::move(json), problem_line);
}

Document check_document(const CheckReport& report) {
    Json list = Json::array();
    for (const auto& finding : report.findings)
        list.push_back(
            {{"check", finding.check},
             {"status", finding.status},
             {"message", finding.message},
             {"next_step", finding.next_step.empty() ? Json() : Json(finding.next_step)}});
    return Document(with_schema({{"client_ready", report.client_ready},
                                 {"server_ready", report.server_ready},
                                 {"exit", static_cast<int>(report.exit)},
                                 {"checks", list}}),
                    check_lines);
}

Document error_document(const Error& error) {
    Json json = {{"code", exit_code_name(error.exit())},
                 {"exit", static_cast<int>(error.exit())},
                 {"message", error.what()},
                 {"hint", error.hint().empty() ? Json() : Json(error.hint())}};
    for (const auto& fact : error.facts())
        std::visit([&](const auto& value) { json[fact.key] = value; }, fact.value);
    return Document(with_schema({{"error", json}}), error_text);
}

Document text_document(const std::string& key, const std::string& text) {
    // Known to be clean, and with newlines that are meant.
    Document document(with_schema({{key, text}}), {});
    document.verbatim(text);
    return document;
}

}  // namespace rblk
