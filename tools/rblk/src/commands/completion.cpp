// SPDX-License-Identifier: GPL-2.0
#include <fmt/format.h>

#include "commands/commands.hpp"
#include "output/views.hpp"

namespace rblk {
namespace {

// What only the machine knows comes from the tool itself.
std::string_view source_of(Argument::Offers offers) {
    switch (offers) {
        case Argument::Offers::devices:
            return "$(rblk device list 2>/dev/null | awk 'NR > 1 {print $1}')";
        case Argument::Offers::paths:
            // Those of the device, which is the word in front.
            return "$(rblk path list \"${COMP_WORDS[3]}\" 2>/dev/null | awk 'NR > 1 {print $2}')";
        case Argument::Offers::exports:
            return "$(rblk export list 2>/dev/null | awk 'NR > 1 {print $1}')";
        case Argument::Offers::listeners:
            return "$(rblk listen list 2>/dev/null | awk 'NR > 1 {print $1 ~ /:/ ? \"[\" $1 \"]:\" "
                   "$2 : $1 \":\" $2}')";
        case Argument::Offers::sessions:
            return "$(rblk session list 2>/dev/null | awk '/^SERVER/ {s = 1} "
                   "s && /^session:/ {print $2} s && /^client name:/ {print $3}')";
        case Argument::Offers::forever:
            return "forever";
        case Argument::Offers::nothing:
            break;
    }
    return "";
}

std::string words_of(const Command& command) {
    std::string words = "--json --help";
    for (const auto& argument : command.arguments) {
        if (argument.name.starts_with("--")) words += fmt::format(" {}", argument.name);
        auto source = source_of(argument.offers);
        if (!source.empty()) words += fmt::format(" {}", source);
        for (const auto& word : argument.words) words += fmt::format(" {}", word);
        if (argument.name == "DEVICE" && command.path == "unmap") words += " all";
    }
    return words;
}

std::string script() {
    std::string first = "--json --help --version";
    std::string groups;
    std::string cases;
    for (const auto& group : group_table()) {
        first += fmt::format(" {}", group.name);
        groups += fmt::format("|{}", group.name);
        std::string second;
        for (const auto& command : command_table())
            if (command.path.starts_with(fmt::format("{} ", group.name)))
                second += fmt::format(" {}", command.path.substr(group.name.size() + 1));
        cases += fmt::format("        \"{}\") words=\"--help{}\" ;;\n", group.name, second);
    }
    for (const auto& command : command_table()) {
        if (command.path.find(' ') == std::string_view::npos)
            first += fmt::format(" {}", command.path);
        cases += fmt::format("        \"{}\") words=\"{}\" ;;\n", command.path, words_of(command));
    }
    return fmt::format(R"(# SPDX-License-Identifier: GPL-2.0
# bash completion of rblk; made by 'rblk completion'
_rblk() {{
    local words="" path="" word i
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${{COMP_WORDS[i]}}
        [[ $word == -* ]] && continue
        case "$path" in
        ""{}) path="${{path:+$path }}$word" ;;
        esac
    done
    case "$path" in
        "") words="{}" ;;
{}    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}")
}}
complete -F _rblk rblk
)",
                       groups, first, cases);
}

Exit run(Context& context, const Arguments&) {
    context.print(text_document("completion", script()));
    return Exit::ok;
}

}  // namespace

constinit const Command completion_command = {
    .path = "completion",
    .about = "Print the completion for bash",
    .details = "For example: rblk completion > /usr/share/bash-completion/completions/rblk",
    .arguments = {},
    .run = run};

}  // namespace rblk
