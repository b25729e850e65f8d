// SPDX-License-Identifier: GPL-2.0
// What a command has to say, as one JSON document; the text for people is made from the same.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace rblk {

using Json = nlohmann::ordered_json;

inline constexpr int json_schema = 1;

enum class Format {
    plain,        // as it is; a list with commas, a flag as yes or no, nothing as '-'
    size,         // 512 MiB
    size_exact,   // 512 MiB (536870912 bytes)
    backing,      // memory (volatile)
    mode,         // of the whole object: read-only or read-write, shared
    allow,        // of the whole object: who may open an export
    tag,          // padded, to stand in front of a line
    no_path,      // of the whole object: how long I/O waits for a connection
    paths,        // of the whole object: index, state and role of each path
    role,         // of the whole object: what a path has to do with the I/O
    rdma_port,    // of the whole object: mlx5_0/1
    short_id,     // the first 8 digits
    latency,      // 12.3 us
    wait,         // 30 s, or for ever of nothing
    ack_timeout,  // 14 (67.1 ms)
};

struct Column {
    std::string_view key;
    std::string_view label;
    Format format = Format::plain;
};

// How one part of a document becomes text.
struct Layout {
    enum class Kind {
        table,    // a row for each object of the list at key
        record,   // a line for each column of each object of the list at key
        message,  // pattern, once for each object of the list at key
        event,    // pattern for the document, then label=value for the object at key
        changes,  // pattern, then label and value of the columns that the list 'changed' names
    };
    Kind kind;
    std::string_view key;  // empty is the document itself
    std::span<const Column> columns;
    std::string_view pattern = {};       // text with {label}
    std::string_view tail = {};          // of a message: key of a second line, where it is not null
    std::string_view empty = {};         // said of an empty list; nothing if empty itself
    std::string_view title = {};         // above a list
    std::string_view only_if = {};       // key of a flag without which the part is left out
    std::span<const Layout> parts = {};  // of each object of a record
};

class Document {
public:
    Document(Json json, std::span<const Layout> layouts);
    Document(Document&&) noexcept;
    Document& operator=(Document&&) noexcept;
    ~Document();

    const Json& json() const { return *json_; }
    std::string text() const;
    // Text to be used in place of what the layouts would make.
    void verbatim(std::string text) { verbatim_ = std::move(text); }
    // Ends with a newline; one_line leaves out all others.
    std::string json_text(bool one_line) const;

private:
    std::unique_ptr<Json> json_;
    std::span<const Layout> layouts_;
    std::string verbatim_;
};

// Text of a part of a document; ends with a newline if there is any.
std::string render(const Json& document, std::span<const Layout> layouts);

}  // namespace rblk
