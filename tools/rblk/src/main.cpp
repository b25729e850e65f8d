// SPDX-License-Identifier: GPL-2.0
#include "cli/command.hpp"

int main(int argc, char** argv) {
    auto environment = rblk::Environment::of_this_machine();
    return rblk::run({argv + 1, argv + argc}, environment);
}
