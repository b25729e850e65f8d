#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Runs in a node: let the N-th allocation of one operation fail, for every N until none is reached.

    nth.py map SERVER EXPORT [FIRST [STEP]]       then unmap what was mapped
    nth.py unmap SERVER EXPORT ...
    nth.py export NAME BYTES ...                  then remove it
    nth.py listen ADDRESS ...
    nth.py read DEVICE ...                        256 scattered pages through O_DIRECT, compared with what is there

Prints one JSON object: how many allocations the operation has, how it ended after each failure.
The operation runs in the thread that asks, so /proc/thread-self/fail-nth reaches all of it.
"""
import collections
import dataclasses
import errno
import json
import mmap
import os
import pathlib
import socket
import struct
import sys
from typing import Callable

import yaml
from genl import Family, Socket, attribute

SPECS = pathlib.Path(__file__).resolve().parents[2] / "Documentation/netlink/specs"
PORT = 7471
MOST = 20000  # allocations of one operation
GONE = (0, errno.ENOENT, errno.ENODEV)  # how an undo may end of which nobody knows whether it is due


@dataclasses.dataclass
class Operation:
    """What is tried, and what is done around it. Each returns an errno, 0 for success."""
    work: Callable[[], int]
    undo: Callable[[], int]  # after a success, or if nobody knows
    prepare: Callable[[], int] = lambda: 0  # before each
    repair: Callable[[], int] = lambda: 0  # after a failure, or if nobody knows


class Side:
    """One family, asked by one socket."""

    def __init__(self, name: str):
        self.family = Family(yaml.safe_load((SPECS / f"{name}.yaml").read_text()))
        self.socket = Socket()
        self.replies: list[bytes] = []

    def message(self, command: str, group: str, **words: bytes) -> tuple[int, bytes]:
        fields = self.family.sets[group]
        return self.family.command(command), b"".join(attribute(fields[name.replace("_", "-")].number, value)
                                                      for name, value in words.items())

    def ask(self, message: tuple[int, bytes]) -> int:
        """An errno; ENOBUFS says that there was no memory for the acknowledgement, whatever was done."""
        try:
            answer = self.socket.ask(self.family.number, *message)
        except OSError as err:
            if err.errno != errno.ENOBUFS:
                raise
            self.replies = self.rest()
            return errno.ENOBUFS
        self.replies = answer.messages
        return answer.error

    def rest(self) -> list[bytes]:
        """Replies that wait in the socket."""
        self.socket.sock.setblocking(False)
        found = []
        try:
            while True:
                found += [payload for kind, _, _, payload in self.socket.parts() if kind == self.family.number]
        except BlockingIOError:
            return found
        finally:
            self.socket.sock.settimeout(60)


class Nth:
    """The allocation that fails."""

    def __init__(self):
        self.fd = os.open("/proc/thread-self/fail-nth", os.O_RDWR)

    def run(self, count: int, work: Callable[[], int]) -> tuple[int, bool]:
        """What WORK returned, and whether an allocation failed in it."""
        order, off = str(count).encode(), b"0"
        os.pwrite(self.fd, order, 0)
        try:
            result = work()
        except OSError as err:
            result = err.errno
        left = int(os.pread(self.fd, 32, 0))
        os.pwrite(self.fd, off, 0)
        return result, left == 0


def address(text: str) -> bytes:
    return struct.pack("=H", socket.AF_INET) + struct.pack("!H", PORT) + socket.inet_aton(text) + bytes(20)


def mapping(server: str, export: str) -> tuple[Side, tuple[int, bytes], Callable[[], int]]:
    side = Side("rblk-client")
    number = struct.Struct("=I")
    message = side.message("map", "device", server=address(server), export=export.encode() + b"\0", client_name=b"nth\0",
                           queues=number.pack(1), depth=number.pack(4), timeout_ms=number.pack(20000))

    def unmap() -> int:
        """The device that the last reply named."""
        if not side.replies:
            return errno.ENOENT
        index = struct.unpack_from("=I", side.replies[0], 8)[0]
        return side.ask(side.message("unmap", "device", index=number.pack(index)))
    return side, message, unmap


def map_operation(server: str, export: str) -> Operation:
    side, message, unmap = mapping(server, export)
    return Operation(lambda: side.ask(message), undo=unmap)


def unmap_operation(server: str, export: str) -> Operation:
    """Mapped before each failure; an unmap that failed leaves the device, and is then done without a failure."""
    side, message, _ = mapping(server, export)
    again: list[tuple[int, bytes]] = []

    def prepare() -> int:
        error = side.ask(message)
        if not error:
            again[:] = [side.message("unmap", "device", index=side.replies[0][8:12])]
        return error
    return Operation(lambda: side.ask(again[0]), undo=lambda: 0, prepare=prepare, repair=lambda: side.ask(again[0]))


def server_operation(command: str, back: str, group: str, **words: bytes) -> Operation:
    side = Side("rblk-server")
    message = side.message(command, group, **words)
    first = next(iter(words))
    undo = side.message(back, group, **{first: words[first]})
    return Operation(lambda: side.ask(message), undo=lambda: side.ask(undo))


def read_operation(path: str) -> Operation:
    pages, size = 256, 4096
    fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
    buffer = mmap.mmap(-1, pages * size)
    view = memoryview(buffer)
    vector = [view[page * size:(page + 1) * size] for page in reversed(range(pages))]
    os.preadv(fd, vector, 0)
    expected = buffer[:]

    def work() -> int:
        os.preadv(fd, vector, 0)
        return 0
    return Operation(work, undo=lambda: 0 if buffer[:] == expected else errno.EILSEQ)


OPERATIONS = {
    "map": (2, map_operation), "unmap": (2, unmap_operation), "read": (1, read_operation),
    "export": (2, lambda name, size: server_operation("export-add", "export-remove", "export", name=name.encode() + b"\0",
                                                      size=struct.pack("=Q", int(size)), allow_any=b"")),
    "listen": (1, lambda where: server_operation("listen-add", "listen-remove", "listener", addr=address(where))),
}


def walk(operation: Operation, first: int, step: int) -> dict:
    nth, number = Nth(), first
    ends: collections.Counter = collections.Counter()
    while number <= MOST:
        if error := operation.prepare():
            raise SystemExit(f"before allocation {number}: {os.strerror(error)}")
        result, injected = nth.run(number, operation.work)
        unknown = result == errno.ENOBUFS  # nobody heard whether it was done
        after = [operation.undo()] if unknown or not result else []
        after += [operation.repair()] if result else []
        if wrong := [os.strerror(error) for error in after if error not in (GONE if unknown else (0,))]:
            raise SystemExit(f"allocation {number}: {os.strerror(result)}, and then: {', '.join(wrong)}")
        if not injected:
            if result:
                raise SystemExit(f"without a failure, at {number}: {os.strerror(result)}")
            return {"allocations": number - 1, "tried": sum(ends.values()), "ends": ends}
        ends[errno.errorcode[result] if result else "done"] += 1
        number += step
    raise SystemExit("there is no end of allocations")


def main() -> None:
    name, *words = sys.argv[1:]
    count, make = OPERATIONS[name]
    first, step = (list(map(int, words[count:])) + [1, 1][len(words) - count:])[:2]
    print(json.dumps(walk(make(*words[:count]), first, step)))


if __name__ == "__main__":
    main()
