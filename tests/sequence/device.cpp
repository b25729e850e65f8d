// SPDX-License-Identifier: GPL-2.0
#include "device.hpp"

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <new>
#include <system_error>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sequence {

namespace {

constexpr std::size_t kPage = 4096;

[[noreturn]] void fail(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
}

int outcome(ssize_t moved, std::size_t wanted) {
    if (moved < 0) return errno;
    return static_cast<std::size_t>(moved) == wanted ? 0 : EREMOTEIO;
}

}  // namespace

Fd::~Fd() {
    if (fd_ >= 0) close(fd_);
}

Pages::Pages(std::size_t size)
    : size_(size),
      memory_(
          static_cast<std::byte*>(std::aligned_alloc(kPage, (size + kPage - 1) / kPage * kPage))) {
    if (!memory_) throw std::bad_alloc();
}

void Pages::Free::operator()(std::byte* memory) const {
    std::free(memory);
}

Device::Device(const std::string& path, std::uint64_t size, bool buffered)
    : fd_(open(path.c_str(), O_RDWR | O_CLOEXEC | (buffered ? 0 : O_DIRECT))) {
    if (fd_.get() < 0) fail(path);
    const off_t end = lseek(fd_.get(), 0, SEEK_END);
    if (end < 0) fail(path);
    if (static_cast<std::uint64_t>(end) < size) {
        errno = ENOSPC;
        fail(path + " holds " + std::to_string(end) + " bytes, not " + std::to_string(size));
    }
}

int Device::read(std::span<std::byte> data, std::uint64_t offset) const {
    return outcome(pread(fd_.get(), data.data(), data.size(), static_cast<off_t>(offset)),
                   data.size());
}

int Device::write(std::span<const std::byte> data, std::uint64_t offset) const {
    return outcome(pwrite(fd_.get(), data.data(), data.size(), static_cast<off_t>(offset)),
                   data.size());
}

Queue::Queue(unsigned depth) {
    if (syscall(SYS_io_setup, depth, &context_) < 0) fail("io_setup");
}

Queue::~Queue() {
    syscall(SYS_io_destroy, context_);
}

int Queue::submit(iocb& request) {
    iocb* list[] = {&request};
    return syscall(SYS_io_submit, context_, 1, list) == 1 ? 0 : errno;
}

std::span<const io_event> Queue::wait(std::span<io_event> events, int milliseconds) {
    timespec limit{milliseconds / 1000, milliseconds % 1000 * 1000000L};
    const long got = syscall(SYS_io_getevents, context_, 1L, static_cast<long>(events.size()),
                             events.data(), &limit);
    if (got < 0 && errno != EINTR) fail("io_getevents");
    return events.first(got < 0 ? 0 : static_cast<std::size_t>(got));
}

}  // namespace sequence
