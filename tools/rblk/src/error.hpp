// SPDX-License-Identifier: GPL-2.0
// What a command can fail with: the documented exit codes, and the two exceptions that carry them.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace rblk {

enum class Exit : int {
    ok = 0,
    failure = 1,
    usage = 2,
    not_found = 3,
    denied = 4,
    busy = 5,
    unreachable = 6,
    protocol_version = 7,
    module_not_loaded = 8,
};

struct ExitInfo {
    Exit exit;
    std::string_view code;     // the word for it in JSON
    std::string_view meaning;  // for --help
};

const std::vector<ExitInfo>& exit_table();
std::string_view exit_code_name(Exit exit);

// A fact that a program may want to read beside the words of an error.
struct Fact {
    std::string key;
    std::variant<std::uint64_t, std::vector<std::string>> value;
};

// A failed command: message says what failed, where and why; hint says what to do next.
class Error : public std::runtime_error {
public:
    Error(Exit exit, const std::string& message, std::string hint = {})
        : std::runtime_error(message), exit_(exit), hint_(std::move(hint)) {}

    Exit exit() const { return exit_; }
    const std::string& hint() const { return hint_; }
    const std::vector<Fact>& facts() const { return facts_; }
    Error& with(Fact fact) {
        facts_.push_back(std::move(fact));
        return *this;
    }

private:
    Exit exit_;
    std::string hint_;
    std::vector<Fact> facts_;
};

// The kernel's refusal of one request, before a command has said what it was about.
class KernelError : public std::runtime_error {
public:
    KernelError(int error, std::string text, std::string attribute);

    int error() const { return error_; }
    const std::string& text() const { return text_; }            // extack; may be empty
    const std::string& attribute() const { return attribute_; }  // the one at fault; may be empty
    // Why, in one clause: the extack if there is one, else the words for the errno.
    std::string why() const;

private:
    int error_;
    std::string text_;
    std::string attribute_;
};

// ENODEV is "no RDMA device" for a map and "no such device" for the rest.
enum class Operation { map, other };

Exit exit_for_errno(int error, Operation operation);

// "WHAT: why" with the exit code of the errno. An empty hint gets the general one, if any.
Error refusal(const KernelError& error, std::string_view what, Operation operation,
              std::string hint = {});

}  // namespace rblk
