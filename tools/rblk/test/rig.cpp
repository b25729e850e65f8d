// SPDX-License-Identifier: GPL-2.0
#include "rig.hpp"

#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include <gtest/gtest.h>

#include "error.hpp"

namespace rblk::test {

namespace fs = std::filesystem;

Root::Root() {
    auto pattern = (fs::temp_directory_path() / "rblk-test-XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw std::runtime_error("no temporary folder");
    path_ = pattern;
}

Root::~Root() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

void Root::folder(const std::string& path) const {
    fs::create_directories(path_ / fs::path(path).relative_path());
}

void Root::write(const std::string& path, const std::string& text) const {
    auto at = path_ / fs::path(path).relative_path();
    fs::create_directories(at.parent_path());
    std::ofstream file(at);
    file << text;
    if (!file.flush()) throw std::runtime_error("cannot write " + at.string());
}

Interfaces two_interfaces() {
    return {[](const std::string& name) -> std::uint32_t {
                return name == "eth0" ? 2 : name == "eth1" ? 3 : 0;
            },
            [](std::uint32_t index) -> std::string {
                return index == 2 ? "eth0" : index == 3 ? "eth1" : "";
            }};
}

Outcome Rig::run(const std::vector<std::string>& words) {
    std::ostringstream out;
    std::ostringstream err;
    Environment environment{
        .out = out,
        .err = err,
        .open_netlink = [this](int protocol) { return kernel.open(protocol); },
        .resolve = [this](const std::string& name) -> std::vector<Address> {
            auto found = hosts.find(name);
            if (found == hosts.end()) throw Error(Exit::unreachable, "no such host " + name);
            return found->second;
        },
        .interfaces = two_interfaces(),
        .files = Files(root.path()),
        .host_name = [this] { return host; },
        .kernel_release = [] { return std::string("6.12.9"); },
        .is_block_device = [this](const std::string& path) { return nodes.count(path) > 0; },
        .device_number = [this](const std::string& path) -> std::optional<std::string> {
            auto found = numbers.find(path);
            if (found == numbers.end()) return {};
            return found->second;
        },
        .now = [this] { return clock; },
        .sleep =
            [this](std::chrono::milliseconds time) {
                clock += time;
                tick();
            },
        .wall_time = [] { return std::string("2026-01-02T03:04:05.678Z"); },
    };
    Outcome outcome;
    outcome.exit = rblk::run(words, environment);
    outcome.out = out.str();
    outcome.err = err.str();
    return outcome;
}

void expect_golden(const std::string& name, const std::string& text) {
    auto path = fs::path(RBLK_TEST_GOLDEN) / name;
    const char* update = std::getenv("RBLK_TEST_UPDATE_GOLDEN");
    if (update && std::string(update) == "1") {
        fs::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << text;
        return;
    }
    std::ifstream file(path, std::ios::binary);
    ASSERT_TRUE(file) << "there is no " << path;
    std::string wanted{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(text, wanted) << "differs from " << path;
}

}  // namespace rblk::test
