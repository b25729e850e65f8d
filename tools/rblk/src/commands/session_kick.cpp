// SPDX-License-Identifier: GPL-2.0
#include <cerrno>

#include <fmt/format.h>

#include "abi/connection.hpp"
#include "commands/commands.hpp"
#include "output/clean.hpp"
#include "output/views.hpp"

namespace rblk {
namespace {

constexpr Argument arguments[] = {
    {.kind = Argument::Kind::positional,
     .name = "SESSION",
     .meta = "SESSION|CLIENT-NAME",
     .help = "id of the session, or the name of a client that has one only",
     .offers = Argument::Offers::sessions},
};

constexpr std::string_view list_hint = "'rblk session list' shows the sessions and their ids";

[[noreturn]] void ambiguous(const std::string& word, const std::vector<ServerSession>& found) {
    std::vector<std::string> ids;
    std::string joined;
    for (const auto& session : found) {
        ids.push_back(uuid_text(session.id));
        joined += fmt::format("{}{}", joined.empty() ? "" : ", ", ids.back());
    }
    Error error(Exit::failure,
                fmt::format("client '{}' has {} sessions: {}", clean(word), found.size(), joined),
                "give the id of the one that is meant");
    throw error.with({"sessions", std::move(ids)});
}

// The session that is meant. An id goes before a name that looks like one.
ServerSession find(const std::vector<ServerSession>& sessions, const std::string& word) {
    auto id = parse_uuid(word);
    std::vector<ServerSession> found;
    for (const auto& session : sessions) {
        if (id && session.id == *id) return session;
        if (session.client_name == word) found.push_back(session);
    }
    if (found.size() > 1) ambiguous(word, found);
    if (found.empty())
        throw Error(Exit::not_found,
                    id ? fmt::format("there is no session '{}' here", word)
                       : fmt::format("no client '{}' has a session here", clean(word)),
                    std::string(list_hint));
    return found.front();
}

Exit run(Context& context, const Arguments& given) {
    ServerConnection server(context.env);
    auto session = find(server->sessions(), given.text("SESSION"));
    try {
        server->kick_session(session.id);
    } catch (const KernelError& error) {
        throw refusal(error, fmt::format("cannot end the session {}", uuid_text(session.id)),
                      Operation::other, error.error() == ENOENT ? std::string(list_hint) : "");
    }
    context.print(kicked_document(session));
    return Exit::ok;
}

}  // namespace

constinit const Command session_kick_command = {
    .path = "session kick",
    .about = "Cut off a client of this server",
    .details =
        "When this returns its connections and keys are gone, and it has no export open.\n"
        "It may connect again at once.",
    .arguments = arguments,
    .run = run};

}  // namespace rblk
