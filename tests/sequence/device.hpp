// SPDX-License-Identifier: GPL-2.0
// The device, memory for direct I/O, and the kernel's asynchronous I/O, each ended by its owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <linux/aio_abi.h>

namespace sequence {

class Fd {
public:
    explicit Fd(int fd) : fd_(fd) {}
    Fd(const Fd&) = delete;
    Fd& operator=(const Fd&) = delete;
    ~Fd();

    int get() const { return fd_; }

private:
    int fd_;
};

// Memory that starts at a page.
class Pages {
public:
    explicit Pages(std::size_t size);

    std::span<std::byte> bytes() { return {memory_.get(), size_}; }

private:
    struct Free {
        void operator()(std::byte* memory) const;
    };
    std::size_t size_;
    std::unique_ptr<std::byte, Free> memory_;
};

class Device {
public:
    // It must be open for writing, past the page cache unless BUFFERED, and hold SIZE bytes.
    Device(const std::string& path, std::uint64_t size, bool buffered);

    int fd() const { return fd_.get(); }
    // 0 or an errno; EREMOTEIO for less than all of it.
    int read(std::span<std::byte> data, std::uint64_t offset) const;
    int write(std::span<const std::byte> data, std::uint64_t offset) const;

private:
    Fd fd_;
};

// Some requests at a time that wait for nobody.
class Queue {
public:
    explicit Queue(unsigned depth);
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;
    ~Queue();

    // 0 or an errno.
    int submit(iocb& request);
    // Those that have ended, of which there is at least one when it returns before MILLISECONDS.
    std::span<const io_event> wait(std::span<io_event> events, int milliseconds);

private:
    aio_context_t context_ = 0;
};

}  // namespace sequence
