// SPDX-License-Identifier: GPL-2.0
#include <cerrno>

#include <fmt/format.h>

#include "abi/connection.hpp"
#include "commands/commands.hpp"
#include "input/device.hpp"
#include "output/views.hpp"
#include "system/usage.hpp"

namespace rblk {
namespace {

constexpr Argument arguments[] = {
    {.kind = Argument::Kind::positional,
     .name = "DEVICE",
     .meta = "DEVICE",
     .help = "/dev/rblk0, rblk0 or 0; or 'all'",
     .offers = Argument::Offers::devices},
    {Argument::Kind::flag, "--force", "",
     "also if it is in use; its I/O fails from then on and unwritten data is lost"},
};

std::vector<std::string> targets(const Usage& usage) {
    std::vector<std::string> paths;
    for (const auto& mount : usage.mounts) paths.push_back(mount.target);
    return paths;
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
    return fmt::format("{}", fmt::join(words, between));
}

std::optional<std::uint32_t> openers_of(ClientConnection& client, std::uint32_t index) {
    try {
        return client->device(index).openers;
    } catch (const std::exception&) {
        // It is gone meanwhile, or says nothing; the refusal stands without the number.
        return std::nullopt;
    }
}

// Why a device is busy, as far as this machine tells, and how it gets free.
Error in_use(const Context& context, ClientConnection& client, std::uint32_t index,
             const KernelError& error) {
    auto name = fmt::format("rblk{}", index);
    auto usage = usage_of(context.env.files, name);
    auto openers = openers_of(client, index);
    auto what = fmt::format("cannot unmap {}", device_path(name));
    std::vector<std::string> reasons;
    if (openers && *openers > 0)
        reasons.push_back(*openers == 1 ? "open once" : fmt::format("open {} times", *openers));
    std::vector<std::string> steps;
    for (const auto& mount : usage.mounts) {
        reasons.push_back(fmt::format("{} is mounted on {}", mount.device, mount.target));
        steps.push_back(fmt::format("umount {}", mount.target));
    }
    for (const auto& swap : usage.swap) {
        reasons.push_back(fmt::format("{} is swap", swap));
        steps.push_back(fmt::format("swapoff {}", swap));
    }
    for (const auto& holder : usage.holders)
        reasons.push_back(fmt::format("{} is made of it", holder));
    if (!usage.holders.empty())
        steps.push_back(fmt::format("remove {}", joined(usage.holders, " and ")));
    if (!reasons.empty()) what += fmt::format(" ({})", joined(reasons, "; "));
    std::string hint = steps.empty()
                           ? fmt::format("'fuser -v {}' shows who has it open", device_path(name))
                           : joined(steps, ", ");
    auto refused = refusal(error, what, Operation::other,
                           hint + "; --force unmaps it all the same and its I/O fails");
    if (openers) refused.with({"openers", std::uint64_t{*openers}});
    return refused.with({"mounts", targets(usage)})
        .with({"holders", usage.holders})
        .with({"swap", usage.swap});
}

void unmap(const Context& context, ClientConnection& client, std::uint32_t index, bool force) {
    try {
        client->unmap(index, force);
    } catch (const KernelError& error) {
        if (error.error() == EBUSY) throw in_use(context, client, index, error);
        throw refusal(error, fmt::format("cannot unmap /dev/rblk{}", index), Operation::other,
                      error.error() == ENODEV || error.error() == ENOENT
                          ? "'rblk device list' shows the devices"
                          : "");
    }
}

// Each that can go, goes; the first that cannot decides on the exit code.
Exit unmap_all(Context& context, ClientConnection& client, bool force) {
    std::vector<std::string> unmapped;
    std::vector<Error> failed;
    for (const auto& device : client->devices()) {
        try {
            unmap(context, client, device.index, force);
            unmapped.push_back(device_path(device.name));
        } catch (const Error& error) {
            // Somebody else was faster.
            if (error.exit() != Exit::not_found) failed.push_back(error);
        }
    }
    if (failed.empty()) {
        context.print(unmapped_document(unmapped));
        return Exit::ok;
    }
    std::vector<std::string> messages;
    std::vector<std::string> hints;
    for (const auto& error : failed) {
        messages.emplace_back(error.what());
        if (!error.hint().empty()) hints.push_back(error.hint());
    }
    throw Error(failed.front().exit(), joined(messages, "\n"), joined(hints, "\n"))
        .with({"unmapped", unmapped});
}

Exit run(Context& context, const Arguments& given) {
    bool force = given.given("--force");
    const auto& device = given.text("DEVICE");
    if (device == "all") {
        ClientConnection client(context.env);
        return unmap_all(context, client, force);
    }
    auto index = parse_device(device);
    ClientConnection client(context.env);
    unmap(context, client, index, force);
    context.print(unmapped_document({fmt::format("/dev/rblk{}", index)}));
    return Exit::ok;
}

}  // namespace

constinit const Command unmap_command = {
    .path = "unmap",
    .about = "Remove a device",
    .details = "The export and its content stay on the server.",
    .arguments = arguments,
    .run = run};

}  // namespace rblk
