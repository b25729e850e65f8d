// SPDX-License-Identifier: GPL-2.0
// The whole tool on a machine that does not exist.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "fake_kernel.hpp"

namespace rblk::test {

// A folder that stands for "/" and goes with the object.
class Root {
public:
    Root();
    Root(const Root&) = delete;
    Root& operator=(const Root&) = delete;
    ~Root();

    void write(const std::string& path, const std::string& text) const;
    void folder(const std::string& path) const;
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

// Interfaces eth0 (2) and eth1 (3).
Interfaces two_interfaces();

// Exit code, stdout and stderr.
struct Outcome {
    int exit = -1;
    std::string out;
    std::string err;
};

class Rig {
public:
    Rig() = default;

    FakeKernel kernel;
    Root root;
    std::map<std::string, std::vector<Address>> hosts;
    std::string host = "node-b";
    std::set<std::string> nodes;                 // block devices that exist
    std::map<std::string, std::string> numbers;  // of block devices
    std::chrono::milliseconds clock{1000};
    // Called by each sleep, after the clock went on.
    std::function<void()> tick = [] {};

    Outcome run(const std::vector<std::string>& words);
};

// Fails the test if text is not what golden/NAME has. RBLK_TEST_UPDATE_GOLDEN=1 writes it.
void expect_golden(const std::string& name, const std::string& text);

}  // namespace rblk::test
