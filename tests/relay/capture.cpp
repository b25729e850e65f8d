// SPDX-License-Identifier: GPL-2.0
#include "capture.hpp"

#include <ctime>

#include <fcntl.h>
#include <sys/stat.h>

namespace relay {

namespace {

constexpr std::uint32_t kMagic = 0xa1b2c3d4;  // microseconds, in the byte order of this machine
constexpr std::uint32_t kVersion = 2 | 4 << 16;
constexpr std::uint32_t kWhole = 262144;  // the longest frame that readers take
constexpr std::uint32_t kEthernet = 1;

void put(std::vector<std::uint8_t>& out, std::uint32_t value) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
    out.insert(out.end(), bytes, bytes + sizeof(value));
}

Fd regular_file(const std::string& path) {
    // Another kind could keep the writer waiting
    Fd file(must(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC, 0644),
                 path));
    struct stat about {};
    must(fstat(file.get(), &about), path);
    if (!S_ISREG(about.st_mode))
        throw std::system_error(EINVAL, std::generic_category(), path + " is no regular file");
    return file;
}

}  // namespace

Capture::Capture(const std::string& path) : file_(regular_file(path)) {
    for (const auto value : {kMagic, kVersion, 0U, 0U, kWhole, kEthernet}) put(buffer_, value);
    if (!write_out()) throw std::system_error(error_, std::generic_category(), path);
}

void Capture::record(std::span<const std::uint8_t> frame) {
    if (error_) return;
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    const auto length = static_cast<std::uint32_t>(frame.size());
    for (const auto value : {static_cast<std::uint32_t>(now.tv_sec),
                             static_cast<std::uint32_t>(now.tv_nsec / 1000), length, length})
        put(buffer_, value);
    buffer_.insert(buffer_.end(), frame.begin(), frame.end());
    if (write_out()) ++frames_;
}

bool Capture::write_out() {
    // At once, so that the file is whole however the relay ends
    const auto written = write(file_.get(), buffer_.data(), buffer_.size());
    if (written != static_cast<ssize_t>(buffer_.size())) error_ = written < 0 ? errno : ENOSPC;
    buffer_.clear();
    return !error_;
}

}  // namespace relay
