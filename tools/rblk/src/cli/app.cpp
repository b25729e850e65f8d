// SPDX-License-Identifier: GPL-2.0
// From words to a command and from its end to an exit code.
#include <algorithm>
#include <deque>
#include <map>
#include <ostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/command.hpp"
#include "commands/commands.hpp"
#include "netlink/attributes.hpp"
#include "output/clean.hpp"
#include "output/views.hpp"

namespace rblk {
namespace {

std::string exit_code_help() {
    std::string text = "Exit codes:\n";
    for (const auto& info : exit_table())
        text +=
            fmt::format("  {}  {:<18} {}\n", static_cast<int>(info.exit), info.code, info.meaning);
    return text + "\nEvery command takes --json: one JSON document on stdout, also for an error.";
}

// A command of the table with the place its values go to.
struct Bound {
    const Command* command;
    CLI::App* app;
    Arguments arguments;
};

class Parser {
public:
    Parser() : root_("Control of rblk, the RDMA block device.", "rblk") {
        root_.require_subcommand(1);
        root_.footer(exit_code_help());
        root_.add_flag("--json", json_, "print JSON");
        // The text is not CLI11's to print: whoever catches it runs the command.
        root_.set_version_flag("--version", "", "the same as 'rblk version'");
        for (const auto& group : group_table()) {
            auto* app = root_.add_subcommand(std::string(group.name), std::string(group.about));
            app->require_subcommand(1);
            app->add_flag("--json", json_, "print JSON");
            groups_[std::string(group.name)] = app;
        }
        for (const auto& command : command_table()) bind(command);
    }

    void parse(const std::vector<std::string>& words) {
        check_command(words);
        std::vector<std::string> reversed(words.rbegin(), words.rend());
        root_.parse(reversed);
    }

    std::string help() const { return root_.help(); }
    bool json() const { return json_; }

    const Bound& chosen() const {
        for (const auto& bound : bound_)
            if (bound.app->parsed()) return bound;
        throw std::logic_error("no command was parsed");
    }

    const Bound& named(std::string_view path) const {
        for (const auto& bound : bound_)
            if (bound.command->path == path) return bound;
        throw std::logic_error(fmt::format("there is no command '{}'", path));
    }

    // CLI11 calls a command a subcommand.
    std::string complaint(const CLI::ParseError& error) const {
        auto parsed = [](const Bound& bound) { return bound.app->parsed(); };
        if (dynamic_cast<const CLI::RequiredError*>(&error) &&
            std::none_of(bound_.begin(), bound_.end(), parsed))
            return "a command is required";
        return tidy(error.what());
    }

    // "rblk export add", as far as the words were understood.
    std::string understood() const {
        std::string path = "rblk";
        const CLI::App* app = &root_;
        while (!app->get_subcommands().empty()) {
            app = app->get_subcommands().back();
            path += " " + app->get_name();
        }
        return path;
    }

private:
    // CLI11 has some errors end with a newline or a dot.
    static std::string tidy(std::string text) {
        text.erase(text.find_last_not_of("\n .") + 1);
        return text;
    }

    // CLI11 says of an unknown command that one is required.
    void check_command(const std::vector<std::string>& words) const {
        const CLI::App* app = &root_;
        for (const auto& word : words) {
            if (word.starts_with("-")) continue;
            const auto subcommands = app->get_subcommands([](const CLI::App*) { return true; });
            if (subcommands.empty()) return;
            auto found = std::find_if(subcommands.begin(), subcommands.end(),
                                      [&](const auto* sub) { return sub->check_name(word); });
            if (found == subcommands.end())
                throw Error(
                    Exit::usage, fmt::format("there is no command '{}'", clean(word)),
                    fmt::format("see 'rblk {}--help'", app == &root_ ? "" : app->get_name() + " "));
            app = *found;
        }
    }

    void bind(const Command& command) {
        auto space = command.path.find(' ');
        auto* parent = &root_;
        auto name = command.path;
        if (space != std::string_view::npos) {
            parent = groups_.at(std::string(command.path.substr(0, space)));
            name = command.path.substr(space + 1);
        }
        auto* app = parent->add_subcommand(std::string(name), std::string(command.about));
        app->footer(std::string(command.details));
        auto& bound = bound_.emplace_back(Bound{&command, app, Arguments(command.arguments)});
        for (const auto& argument : command.arguments)
            add(*app, argument, bound.arguments.slot(argument.name));
        app->add_flag("--json", json_, "print JSON");
    }

    static std::string meta_of(const Argument& argument) {
        if (argument.words.empty()) return std::string(argument.meta);
        return fmt::format("{}", fmt::join(argument.words, "|"));
    }

    static void add(CLI::App& app, const Argument& argument, std::vector<std::string>& slot) {
        std::string name(argument.name);
        std::string help(argument.help);
        bool many = argument.kind == Argument::Kind::positionals;
        bool required = many || argument.kind == Argument::Kind::positional;
        bool positional = required || argument.kind == Argument::Kind::optional;
        if (argument.meta != argument.name && positional)
            help = fmt::format("{}: {}", argument.meta, help);
        if (argument.kind == Argument::Kind::flag) {
            app.add_flag_callback(
                name, [&slot] { slot = {"yes"}; }, help);
            return;
        }
        if (many) {
            auto take_all = [&slot](const std::vector<std::string>& values) { slot = values; };
            app.add_option_function<std::vector<std::string>>(name, take_all, help)
                ->option_text(" ")
                ->required();
            return;
        }
        // A function and not the vector itself: CLI11 would take "[::]" for a list then.
        auto take = [&slot](const std::string& value) { slot.push_back(value); };
        auto* option = app.add_option_function<std::string>(name, take, help);
        // CLI11 puts the name in front of it.
        option->option_text(positional ? " " : meta_of(argument));
        option->required(argument.required || required);
        if (argument.kind == Argument::Kind::values) {
            option->trigger_on_parse();
            option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
        }
    }

    CLI::App root_;
    bool json_ = false;
    std::map<std::string, CLI::App*> groups_;
    std::deque<Bound> bound_;
};

// The flag counts wherever it stands, also where the rest makes no sense.
bool wants_json(const std::vector<std::string>& words) {
    for (const auto& word : words) {
        if (word == "--") return false;
        if (word == "--json") return true;
    }
    return false;
}

Exit guarded(Context& context, const Bound& bound) {
    Error caught(Exit::failure, "");
    try {
        return bound.command->run(context, bound.arguments);
    } catch (const Error& error) {
        caught = error;
    } catch (const KernelError& error) {
        caught = refusal(error, fmt::format("'{}' failed", bound.command->path), Operation::other);
    } catch (const DecodeError& error) {
        caught = Error(Exit::failure,
                       fmt::format("the kernel's answer cannot be understood: {}", error.what()),
                       "use the tool and the modules of one version; 'rblk version' shows them");
    } catch (const std::exception& error) {
        caught = Error(Exit::failure, fmt::format("'{}': {}", bound.command->path, error.what()));
    }
    context.fail(error_document(caught), bound.command->streams);
    return caught.exit();
}

}  // namespace

int run(const std::vector<std::string>& words, Environment& environment) {
    Context context(environment, wants_json(words));
    Parser parser;
    Exit exit = Exit::ok;
    try {
        parser.parse(words);
        exit = guarded(context, parser.chosen());
    } catch (const Error& error) {
        exit = error.exit();
        context.fail(error_document(error));
    } catch (const CLI::CallForHelp&) {
        context.print(text_document("help", parser.help()));
    } catch (const CLI::CallForVersion&) {
        exit = guarded(context, parser.named(version_command.path));
    } catch (const CLI::ParseError& error) {
        exit = Exit::usage;
        context.fail(error_document(Error(exit, parser.complaint(error),
                                          fmt::format("see '{} --help'", parser.understood()))));
    }
    environment.out.flush();
    if (!environment.out) {
        environment.err << "rblk: the output could not be written\n";
        return static_cast<int>(exit == Exit::ok ? Exit::failure : exit);
    }
    return static_cast<int>(exit);
}

}  // namespace rblk
