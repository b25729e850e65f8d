// SPDX-License-Identifier: GPL-2.0
// A command as a row of the command table, which makes the parser, the help and the completion.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "error.hpp"
#include "output/document.hpp"
#include "system/environment.hpp"

namespace rblk {

struct Argument {
    enum class Kind {
        positional,   // NAME, required
        positionals,  // NAME..., at least one, and the last
        optional,     // NAME, may be left out
        flag,         // --name
        value,        // --name VALUE
        values,       // the same, any number of times
    };
    // What completion can offer for its value.
    enum class Offers { nothing, devices, paths, exports, listeners, sessions, forever };

    Kind kind;
    std::string_view name;  // "EXPORT", "--queues"
    std::string_view meta;  // "N"; of a positional, what stands in the help; empty if it has words
    std::string_view help;
    bool required = false;
    // A number in this range where max is not 0.
    std::uint32_t min = 0;
    std::uint32_t max = 0;
    Offers offers = Offers::nothing;
    // One of these where there are any.
    std::span<const std::string_view> words = {};
};

// What was given. Asking for an argument that the command has not is a bug and throws.
class Arguments {
public:
    explicit Arguments(std::span<const Argument> known);

    bool given(std::string_view name) const { return !values(name).empty(); }
    const std::string& text(std::string_view name) const;
    std::optional<std::string> opt_text(std::string_view name) const;
    const std::vector<std::string>& values(std::string_view name) const;
    // Throws a usage error if it is out of the range of the table.
    std::optional<std::uint32_t> number(std::string_view name) const;
    // Which of the words of the table it is. Throws a usage error if it is none.
    std::optional<std::uint32_t> word(std::string_view name) const;
    // Throws a usage error that names the options if none of them is given.
    void require_option() const;

    std::vector<std::string>& slot(std::string_view name);

private:
    const Argument& argument(std::string_view name) const;

    std::span<const Argument> known_;
    std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

class Context {
public:
    Context(Environment& environment, bool json) : env(environment), json_(json) {}

    Environment& env;

    // The result of the command. one_line is for a stream of documents.
    void print(const Document& document, bool one_line = false);
    // The same, for an error.
    void fail(const Document& document, bool one_line = false);
    // A remark for a person; left out where a program reads.
    void note(std::string_view text);

private:
    bool json_;
};

struct Command {
    std::string_view path;  // "export add"
    std::string_view about;
    std::string_view details;
    std::span<const Argument> arguments;
    Exit (*run)(Context&, const Arguments&);
    bool streams = false;  // prints one document a line
};

struct Group {
    std::string_view name;
    std::string_view about;
};

std::span<const Command> command_table();
std::span<const Group> group_table();

// The tool without its main(): the exit code.
int run(const std::vector<std::string>& words, Environment& environment);

}  // namespace rblk
