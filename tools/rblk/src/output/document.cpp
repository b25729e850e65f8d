// SPDX-License-Identifier: GPL-2.0
#include "output/document.hpp"

#include <nlohmann/json.hpp>

namespace rblk {

Document::Document(Json json, std::span<const Layout> layouts)
    : json_(std::make_unique<Json>(std::move(json))), layouts_(layouts) {}

Document::Document(Document&&) noexcept = default;
Document& Document::operator=(Document&&) noexcept = default;
Document::~Document() = default;

std::string Document::text() const {
    return verbatim_.empty() ? render(*json_, layouts_) : verbatim_;
}

std::string Document::json_text(bool one_line) const {
    // What is no UTF-8 is replaced, so that the result is JSON whatever the kernel said.
    return json_->dump(one_line ? -1 : 2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rblk
