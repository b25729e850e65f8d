// SPDX-License-Identifier: GPL-2.0
#include <charconv>
#include <ostream>
#include <stdexcept>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "output/clean.hpp"

namespace rblk {
namespace {

// "a, b LAST c"
std::string listed(const std::vector<std::string_view>& words, std::string_view last) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); i++) {
        if (i) text += i + 1 == words.size() ? fmt::format(" {} ", last) : ", ";
        text += words[i];
    }
    return text;
}

}  // namespace

Arguments::Arguments(std::span<const Argument> known) : known_(known) {
    for (const auto& argument : known) values_[std::string(argument.name)];
}

const std::vector<std::string>& Arguments::values(std::string_view name) const {
    auto found = values_.find(name);
    if (found == values_.end())
        throw std::logic_error(fmt::format("the command has no argument {}", name));
    return found->second;
}

std::vector<std::string>& Arguments::slot(std::string_view name) {
    return values_.at(std::string(name));
}

const std::string& Arguments::text(std::string_view name) const {
    return values(name).at(0);
}

std::optional<std::string> Arguments::opt_text(std::string_view name) const {
    const auto& all = values(name);
    if (all.empty()) return std::nullopt;
    return all.back();
}

std::optional<std::uint32_t> Arguments::number(std::string_view name) const {
    auto text = opt_text(name);
    if (!text) return std::nullopt;
    const auto& known = argument(name);
    std::uint32_t value = 0;
    const char* end = text->data() + text->size();
    auto [at, error] = std::from_chars(text->data(), end, value);
    if (text->empty() || error != std::errc() || at != end || value < known.min ||
        value > known.max)
        throw Error(Exit::usage, fmt::format("{} is '{}', and must be a number from {} to {}", name,
                                             clean(*text), known.min, known.max));
    return value;
}

std::optional<std::uint32_t> Arguments::word(std::string_view name) const {
    auto text = opt_text(name);
    if (!text) return std::nullopt;
    auto words = argument(name).words;
    for (std::uint32_t i = 0; i < words.size(); i++)
        if (words[i] == *text) return i;
    throw Error(Exit::usage, fmt::format("{} is '{}', and must be {}", name, clean(*text),
                                         listed({words.begin(), words.end()}, "or")));
}

void Arguments::require_option() const {
    std::vector<std::string_view> options;
    for (const auto& known : known_) {
        if (!known.name.starts_with("--")) continue;
        if (given(known.name)) return;
        options.push_back(known.name);
    }
    throw Error(Exit::usage, fmt::format("nothing is to be set: give {}", listed(options, "or")));
}

const Argument& Arguments::argument(std::string_view name) const {
    for (const auto& known : known_)
        if (known.name == name) return known;
    throw std::logic_error(fmt::format("the command has no argument {}", name));
}

void Context::print(const Document& document, bool one_line) {
    env.out << (json_ ? document.json_text(one_line) : document.text());
    env.out.flush();
}

void Context::fail(const Document& document, bool one_line) {
    if (json_)
        env.out << document.json_text(one_line);
    else
        env.err << document.text();
    env.out.flush();
}

void Context::note(std::string_view text) {
    if (!json_) env.err << "rblk: " << text << "\n";
}

}  // namespace rblk
