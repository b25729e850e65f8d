// SPDX-License-Identifier: GPL-2.0
#include <map>

#include <linux/genetlink.h>
#include <linux/rblk_client.h>
#include <linux/rblk_server.h>

#include "abi/connection.hpp"
#include "commands/commands.hpp"
#include "output/views.hpp"

namespace rblk {
namespace {

class Monitor {
public:
    explicit Monitor(Context& context) : context_(context), genl_(open_genl(context.env)) {}

    void watch() {
        genl_.stop_on_signals();
        // First the news of families, so that none is missed that comes meanwhile.
        if (auto controller = genl_.find_family("nlctrl"))
            if (auto group = controller->groups.find("notify"); group != controller->groups.end())
                genl_.join(group->second);
        for (auto name : {RBLK_CLIENT_FAMILY_NAME, RBLK_SERVER_FAMILY_NAME})
            if (auto family = genl_.find_family(name)) follow(*family);
        if (names_.empty()) no_module();
        print(modules_event(now(), "watching", names()));
        while (more()) {
        }
    }

private:
    bool more() {
        try {
            auto events = genl_.events();
            if (!events) return false;
            for (const auto& event : *events) tell(event);
        } catch (const Overrun&) {
            print(problem_event(now(), "events_lost",
                                "this reader was too slow; 'rblk device list' and 'rblk session "
                                "list' show what is"));
        } catch (const DecodeError& error) {
            print(problem_event(now(), "event_not_understood", error.what()));
        }
        return true;
    }

    void tell(const GenlEvent& event) {
        if (event.family_id == controller_id) return of_family(event);
        auto name = names_.find(event.family_id);
        if (name == names_.end()) return;
        if (name->second == RBLK_CLIENT_FAMILY_NAME)
            of_client(event);
        else
            of_server(event);
    }

    void of_family(const GenlEvent& event) {
        if (event.command != CTRL_CMD_NEWFAMILY && event.command != CTRL_CMD_DELFAMILY) return;
        auto family = Genl::decode_family(event.attributes);
        if (family.name != RBLK_CLIENT_FAMILY_NAME && family.name != RBLK_SERVER_FAMILY_NAME)
            return;
        if (event.command == CTRL_CMD_NEWFAMILY) {
            // It was there at the start already if the news crossed our question.
            if (names_.count(family.id)) return;
            follow(family);
            print(modules_event(now(), "module_loaded", {family.name}));
        } else {
            names_.erase(family.id);
            print(modules_event(now(), "module_unloaded", {family.name}));
        }
    }

    void of_client(const GenlEvent& event) {
        const auto& interfaces = context_.env.interfaces;
        auto device = [&](const char* what) {
            print(device_event(now(), what, decode_device(event.attributes), interfaces));
        };
        auto session = [&](const char* what) {
            print(client_session_event(now(), what, decode_client_session(event.attributes),
                                       interfaces));
        };
        switch (event.command) {
            case RBLK_CLIENT_CMD_DEVICE_ADD_NTF:
                return device("device_add");
            case RBLK_CLIENT_CMD_DEVICE_CHANGE_NTF:
                return device("device_change");
            case RBLK_CLIENT_CMD_DEVICE_REMOVE_NTF:
                return device("device_remove");
            case RBLK_CLIENT_CMD_SESSION_ADD_NTF:
                return session("client_session_add");
            case RBLK_CLIENT_CMD_SESSION_CHANGE_NTF:
                return session("client_session_change");
            case RBLK_CLIENT_CMD_SESSION_REMOVE_NTF:
                return session("client_session_remove");
            default:
                return;
        }
    }

    void of_server(const GenlEvent& event) {
        const auto& interfaces = context_.env.interfaces;
        auto exported = [&](const char* what) {
            print(export_event(now(), what, decode_export(event.attributes)));
        };
        auto session = [&](const char* what) {
            print(server_session_event(now(), what, decode_server_session(event.attributes),
                                       interfaces));
        };
        switch (event.command) {
            case RBLK_SERVER_CMD_EXPORT_ADD_NTF:
                return exported("export_add");
            case RBLK_SERVER_CMD_EXPORT_CHANGE_NTF:
                return exported("export_change");
            case RBLK_SERVER_CMD_EXPORT_REMOVE_NTF:
                return exported("export_remove");
            case RBLK_SERVER_CMD_LISTENER_CHANGE_NTF:
                return print(listener_event(now(), "listener_change",
                                            decode_listener(event.attributes), interfaces));
            case RBLK_SERVER_CMD_SESSION_ADD_NTF:
                return session("server_session_add");
            case RBLK_SERVER_CMD_SESSION_CHANGE_NTF:
                return session("server_session_change");
            case RBLK_SERVER_CMD_SESSION_REMOVE_NTF:
                return session("server_session_remove");
            default:
                return;
        }
    }

    void follow(const Family& family) {
        names_[family.id] = family.name;
        for (const auto& [name, group] : family.groups)
            if (name == RBLK_CLIENT_MCGRP_EVENTS) genl_.join(group);
    }

    std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (const auto& [id, name] : names_) all.push_back(name);
        return all;
    }

    std::string now() const { return context_.env.wall_time(); }
    void print(const Document& document) { context_.print(document, true); }

    Context& context_;
    Genl genl_;
    std::map<std::uint16_t, std::string> names_;  // of the followed families by id
};

static_assert(std::string_view(RBLK_CLIENT_MCGRP_EVENTS) == RBLK_SERVER_MCGRP_EVENTS);

Exit run(Context& context, const Arguments&) {
    Monitor(context).watch();
    return Exit::ok;
}

}  // namespace

constinit const Command monitor_command = {
    .path = "monitor",
    .about = "Print what happens as it happens",
    .details =
        "One line for each event, or one JSON document in one line with --json. The "
        "first,\n'watching', says that no event after it is missed. Ends on Ctrl-C or "
        "SIGTERM with 0.",
    .arguments = {},
    .run = run,
    .streams = true};

}  // namespace rblk
