// SPDX-License-Identifier: GPL-2.0
// Whole commands on a machine with both modules.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "output/document.hpp"
#include "rig.hpp"

namespace rblk::test {

inline Json json_of(const std::string& text) {
    auto json = Json::parse(text, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << text;
    EXPECT_EQ(json.value("schema", 0), 1) << text;
    return json;
}

inline bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// Runs with and without --json and compares both with the golden files.
inline void expect_both(Rig& rig, std::vector<std::string> words, const std::string& name) {
    auto text = rig.run(words);
    EXPECT_EQ(text.exit, 0) << text.err;
    expect_golden(name + ".txt", text.out);
    words.push_back("--json");
    auto json = rig.run(words);
    EXPECT_EQ(json.exit, 0);
    EXPECT_EQ(json.err, "");
    json_of(json.out);
    expect_golden(name + ".json", json.out);
}

class CommandTest : public ::testing::Test {
protected:
    CommandTest() {
        rig.kernel.load_client([this](const Seen& request) { return client(request); });
        rig.kernel.load_server([this](const Seen& request) { return server(request); });
    }

    Rig rig;
    Handler client = [](const Seen&) { return Answer(); };
    Handler server = [](const Seen&) { return Answer(); };

    void client_says(std::vector<Put> replies) {
        client = [replies](const Seen&) {
            Answer answer;
            answer.replies = replies;
            return answer;
        };
    }
    void server_says(std::vector<Put> replies) {
        server = [replies](const Seen&) {
            Answer answer;
            answer.replies = replies;
            return answer;
        };
    }
    void client_refuses(int error, const std::string& text = {}) {
        client = [=](const Seen&) { return Answer::refuse(error, text); };
    }
    void server_refuses(int error, const std::string& text = {}) {
        server = [=](const Seen&) { return Answer::refuse(error, text); };
    }
};

}  // namespace rblk::test
