// SPDX-License-Identifier: GPL-2.0
#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "input/size.hpp"
#include "output/clean.hpp"
#include "output/document.hpp"

namespace rblk {
namespace {

const Json& member(const Json& object, std::string_view key) {
    static const Json nothing;
    auto found = object.find(std::string(key));
    return found == object.end() ? nothing : *found;
}

bool flag(const Json& object, std::string_view key) {
    const auto& value = member(object, key);
    return value.is_boolean() && value.get<bool>();
}

std::string plain(const Json& value) {
    if (value.is_null()) return "-";
    if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
    if (value.is_string()) return clean(value.get<std::string>());
    if (!value.is_array()) return value.dump();
    std::string joined;
    for (const auto& item : value) {
        if (!joined.empty()) joined += ", ";
        joined += plain(item);
    }
    return joined.empty() ? "-" : joined;
}

std::string size(const Json& value, bool exact) {
    if (!value.is_number_unsigned()) return plain(value);
    auto bytes = value.get<std::uint64_t>();
    if (!exact || bytes < 1024) return human_size(bytes);
    return fmt::format("{} ({} bytes)", human_size(bytes), bytes);
}

std::string allow(const Json& object) {
    if (flag(object, "allow_any")) return "any client";
    const auto& names = member(object, "allow");
    return names.empty() ? "no client" : plain(names);
}

std::string role(const Json& path) {
    bool active = flag(path, "active");
    if (flag(path, "drained")) return active ? "draining" : "drained";
    if (active) return "active";
    return member(path, "state") == "live" ? "standby" : "-";
}

std::string rdma_port(const Json& path) {
    const auto& device = member(path, "rdma_device");
    const auto& port = member(path, "rdma_port");
    return port.is_null() ? plain(device) : fmt::format("{}/{}", plain(device), plain(port));
}

std::string latency(const Json& value) {
    if (!value.is_number_unsigned()) return plain(value);
    auto ns = value.get<std::uint64_t>();
    if (ns < 1000) return fmt::format("{} ns", ns);
    // What rounds to 1000.0 us is a millisecond.
    if (ns < 999'950) return fmt::format("{:.1f} us", static_cast<double>(ns) / 1e3);
    return fmt::format("{:.1f} ms", static_cast<double>(ns) / 1e6);
}

// 4.096 us x 2^n
std::string ack_timeout(const Json& value) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > 31) return plain(value);
    auto n = value.get<std::uint32_t>();
    auto ns = 4096ULL << n;
    // From here on it rounds to a second.
    bool long_one = ns >= 999'950'000;
    return fmt::format(
        "{} ({})", n,
        long_one ? fmt::format("{:.1f} s", static_cast<double>(ns) / 1e9) : latency(Json(ns)));
}

std::string paths(const Json& object) {
    std::string joined;
    for (const auto& path : member(object, "paths")) {
        if (!joined.empty()) joined += ",";
        const auto& state = member(path, "state");
        joined +=
            fmt::format("{}:{}", plain(member(path, "index")),
                        state.is_null() ? (flag(path, "live") ? "live" : "down") : plain(state));
        // That it stands by is seen from its state.
        if (flag(path, "active") || flag(path, "drained")) joined += "/" + role(path);
    }
    return joined.empty() ? "-" : joined;
}

std::string wait(const Json& value) {
    if (!value.is_number_unsigned()) return "for ever";
    auto ms = value.get<std::uint32_t>();
    if (ms % 1000 == 0) return fmt::format("{} s", ms / 1000);
    return fmt::format("{}.{:03} s", ms / 1000, ms % 1000);
}

std::string no_path(const Json& object) {
    return flag(object, "reconnect") ? wait(member(object, "no_path_timeout_ms")) : "-";
}

// Characters and not bytes; combining and wide ones are not known here.
std::size_t width(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string pad(std::string_view text, std::size_t to) {
    return std::string(text) + std::string(to > width(text) ? to - width(text) : 0, ' ');
}

std::string cell(const Json& object, const Column& column) {
    const auto& value = member(object, column.key);
    switch (column.format) {
        case Format::plain:
            return plain(value);
        case Format::size:
            return size(value, false);
        case Format::size_exact:
            return size(value, true);
        case Format::backing:
            if (value == "memory") return "memory (volatile)";
            // An export has it here; a client's device is none of its own.
            if (!object.contains("failed") || object["device"].is_null()) return plain(value);
            return fmt::format("{} {}{}", plain(value), plain(object["device"]),
                               flag(object, "failed") ? " (gone)" : "");
        case Format::mode:
            return fmt::format("{}{}", flag(object, "read_only") ? "read-only" : "read-write",
                               flag(object, "shared") ? ", shared" : "");
        case Format::allow:
            return allow(object);
        case Format::tag:
            return pad(plain(value), 4);
        case Format::no_path:
            return no_path(object);
        case Format::paths:
            return paths(object);
        case Format::role:
            return role(object);
        case Format::rdma_port:
            return rdma_port(object);
        case Format::short_id:
            return plain(value).substr(0, 8);
        case Format::latency:
            return latency(value);
        case Format::wait:
            return wait(value);
        case Format::ack_timeout:
            return ack_timeout(value);
    }
    return {};
}

std::string trimmed(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
}

std::string table(const Json& list, std::span<const Column> columns) {
    std::vector<std::vector<std::string>> rows(1);
    for (const auto& column : columns) rows[0].emplace_back(column.label);
    for (const auto& object : list) {
        auto& row = rows.emplace_back();
        for (const auto& column : columns) row.push_back(cell(object, column));
    }
    std::vector<std::size_t> widths(columns.size());
    for (const auto& row : rows)
        for (std::size_t i = 0; i < row.size(); i++) widths[i] = std::max(widths[i], width(row[i]));
    std::string text;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); i++) line += pad(row[i], widths[i] + 2);
        text += trimmed(line);
    }
    return text;
}

std::string indented(const std::string& text) {
    std::string result;
    std::size_t at = 0;
    while (at < text.size()) {
        auto end = text.find('\n', at);
        auto line = text.substr(at, end - at);
        result += line.empty() ? "\n" : "  " + line + "\n";
        at = end + 1;
    }
    return result;
}

std::string record(const Json& object, const Layout& layout) {
    std::size_t label_width = 0;
    for (const auto& column : layout.columns)
        label_width = std::max(label_width, width(column.label) + 1);
    std::string text;
    for (const auto& column : layout.columns)
        text +=
            trimmed(pad(fmt::format("{}:", column.label), label_width + 2) + cell(object, column));
    return text + indented(render(object, layout.parts));
}

std::string fill(const Json& object, const Layout& layout) {
    std::string text;
    auto rest = layout.pattern;
    for (;;) {
        auto open = rest.find('{');
        text += rest.substr(0, open);
        if (open == std::string_view::npos) return text;
        auto close = rest.find('}', open);
        auto label = rest.substr(open + 1, close - open - 1);
        Column column{label, label};
        for (const auto& known : layout.columns)
            if (known.label == label) column = known;
        text += cell(object, column);
        rest.remove_prefix(close + 1);
    }
}

std::string message(const Json& object, const Layout& layout) {
    auto text = fill(object, layout) + "\n";
    const auto& tail = member(object, layout.tail);
    if (!tail.is_null()) text += "      " + plain(tail) + "\n";
    return text;
}

std::string event(const Json& document, const Layout& layout) {
    auto text = fill(document, layout);
    const auto& object = layout.key.empty() ? document : member(document, layout.key);
    for (const auto& column : layout.columns) {
        auto value = cell(object, column);
        if (value == "-") continue;
        bool quoted = value.find(' ') != std::string::npos;
        text += fmt::format(" {}={}", column.label, quoted ? "\"" + value + "\"" : value);
    }
    return text + "\n";
}

std::string changes(const Json& document, const Layout& layout) {
    const auto& changed = member(document, "changed");
    std::string text;
    for (const auto& column : layout.columns) {
        if (std::find(changed.begin(), changed.end(), Json(column.key)) == changed.end()) continue;
        text += fmt::format("{} {} {}", text.empty() ? fill(document, layout) : ",", column.label,
                            cell(document, column));
    }
    return text + "\n";
}

// The objects that a layout is about.
Json objects(const Json& document, const Layout& layout) {
    const auto& part = layout.key.empty() ? document : member(document, layout.key);
    if (part.is_array() || part.is_null()) return part;
    return Json::array({part});
}

std::string one_part(const Json& document, const Layout& layout) {
    if (layout.kind == Layout::Kind::event) return event(document, layout);
    if (layout.kind == Layout::Kind::changes) return changes(document, layout);
    auto list = objects(document, layout);
    if (list.empty()) return layout.empty.empty() ? "" : std::string(layout.empty) + "\n";
    std::string text = layout.title.empty() ? "" : std::string(layout.title) + "\n";
    if (layout.kind == Layout::Kind::table) return text + table(list, layout.columns);
    bool first = true;
    for (const auto& object : list) {
        if (layout.kind == Layout::Kind::message) {
            text += message(object, layout);
        } else {
            if (!first) text += "\n";
            text += record(object, layout);
        }
        first = false;
    }
    return text;
}

}  // namespace

std::string render(const Json& document, std::span<const Layout> layouts) {
    std::string text;
    for (const auto& layout : layouts) {
        if (!layout.only_if.empty() && !flag(document, layout.only_if)) continue;
        auto part = one_part(document, layout);
        if (part.empty()) continue;
        bool apart = layout.kind == Layout::Kind::table || layout.kind == Layout::Kind::record;
        if (!text.empty() && apart) text += "\n";
        text += part;
    }
    return text;
}

}  // namespace rblk
