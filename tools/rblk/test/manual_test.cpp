// SPDX-License-Identifier: GPL-2.0
// The manual has every command, option, exit code and event that there is.
#include <fstream>
#include <iterator>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cli/command.hpp"
#include "error.hpp"

namespace rblk::test {
namespace {

class Manual : public ::testing::Test {
protected:
    void SetUp() override {
        std::ifstream file(RBLK_TEST_MANUAL);
        ASSERT_TRUE(file) << "there is no " << RBLK_TEST_MANUAL;
        text.assign(std::istreambuf_iterator<char>(file), {});
    }

    bool has(const std::string& part) const { return text.find(part) != std::string::npos; }

    std::string text;
};

TEST_F(Manual, Commands) {
    for (const auto& command : command_table()) {
        auto begin = text.find(fmt::format("| `rblk {}", command.path));
        ASSERT_NE(begin, std::string::npos) << command.path;
        auto line = text.substr(begin, text.find('\n', begin) - begin);
        for (const auto& argument : command.arguments)
            EXPECT_NE(line.find(argument.name), std::string::npos)
                << command.path << " " << argument.name;
    }
}

TEST_F(Manual, ExitCodes) {
    for (const auto& info : exit_table())
        EXPECT_TRUE(has(fmt::format("| {} | `{}` |", static_cast<int>(info.exit), info.code)))
            << info.code;
}

TEST_F(Manual, Events) {
    std::ifstream golden(RBLK_TEST_GOLDEN "/monitor.txt");
    ASSERT_TRUE(golden);
    std::size_t lines = 0;
    for (std::string line; std::getline(golden, line); lines++) {
        std::istringstream words(line);
        std::string time, event;
        words >> time >> event;
        EXPECT_TRUE(has(fmt::format("`{}`", event))) << event;
    }
    EXPECT_GT(lines, 10u);
}

}  // namespace
}  // namespace rblk::test
