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
import errno
import json
import mmap
import os
import pathlib
import socket
import struct
import sys

SPECS = pathlib.Path(__file__).resolve().parents[2] / "Documentation/netlink/specs"
PORT = 7471
ACK, REQUEST = 4, 1
NETLINK_GENERIC = 16
GET_FAMILY, FAMILY_NAME, FAMILY_ID = 3, 2, 1


def attribute(kind: int, data: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


class Family:
    """One generic netlink family, its numbers from its specification."""

    def __init__(self, name: str):
        import yaml
        spec = yaml.safe_load((SPECS / f"{name}.yaml").read_text())
        self.sets = {group["name"]: {attr["name"]: number for number, attr in enumerate(group["attributes"], 1)}
                     for group in spec["attribute-sets"]}
        self.commands = {operation["name"]: number for number, operation in enumerate(spec["operations"]["list"], 1)}
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
        self.sock.bind((0, 0))
        self.number = 0x10
        error, reply = self.ask(GET_FAMILY, attribute(FAMILY_NAME, name.encode() + b"\0"))
        if error:
            raise OSError(error, f"no family {name}")
        self.number = struct.unpack("=H", self.find(reply, FAMILY_ID)[:2])[0]

    def request(self, command: int, data: bytes) -> bytes:
        return struct.pack("=IHHIIBBH", 20 + len(data), self.number, REQUEST | ACK, 1, 0, command, 1, 0) + data

    def take(self) -> tuple[int, bytes]:
        """The kernel's answer: an errno, and the reply if there is one."""
        reply = b""
        while True:
            data = self.sock.recv(65536)
            while data:
                length, kind = struct.unpack("=IH", data[:6])
                if kind == 2:
                    return -struct.unpack("=i", data[16:20])[0], reply
                reply = data[20:length]
                data = data[(length + 3) & ~3:]

    def rest(self) -> bytes:
        """A reply that waits in the socket."""
        reply = b""
        try:
            while True:
                data = self.sock.recv(65536, socket.MSG_DONTWAIT)
                if struct.unpack("=H", data[4:6])[0] == self.number:
                    reply = data[20:]
        except BlockingIOError:
            return reply

    def ask(self, command: int, data: bytes) -> tuple[int, bytes]:
        self.sock.send(self.request(command, data))
        return self.take()

    @staticmethod
    def find(data: bytes, wanted: int) -> bytes:
        while data:
            length, kind = struct.unpack("=HH", data[:4])
            if kind & 0x3fff == wanted:
                return data[4:length]
            data = data[(length + 3) & ~3:]
        raise KeyError(wanted)


class Nth:
    """The allocation that fails."""

    def __init__(self):
        self.fd = os.open("/proc/thread-self/fail-nth", os.O_RDWR)

    def run(self, count: int, work) -> tuple[object, bool]:
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


class Asked:
    """An operation that is one netlink request."""

    def __init__(self, family: Family, command: str, **attrs: bytes):
        self.family = family
        self.data = family.request(family.commands[command],
                                   b"".join(attribute(int(key[1:]), value) for key, value in attrs.items()))
        self.reply = b""

    def __call__(self) -> int:
        self.family.sock.send(self.data)
        try:
            error, self.reply = self.family.take()
        except OSError as err:
            if err.errno != errno.ENOBUFS:
                raise
            # No memory for the acknowledgement: the reply, if there is one, waits all the same
            error, self.reply = errno.ENOBUFS, self.family.rest()
        return error


def device_words(family: Family, **words) -> dict[str, bytes]:
    return {f"_{family.sets['device'][name.replace('_', '-')]}": value for name, value in words.items()}


def map_operation(server: str, export: str):
    family = Family("rblk-client")
    number = struct.Struct("=I")
    operation = Asked(family, "map", **device_words(
        family, server=address(server), export=export.encode() + b"\0", client_name=b"nth\0",
        queues=number.pack(1), depth=number.pack(4), timeout_ms=number.pack(20000)))

    def undo():
        if not operation.reply:
            return errno.ENOENT
        index = family.find(operation.reply, family.sets["device"]["index"])
        error, _ = family.ask(family.commands["unmap"], attribute(family.sets["device"]["index"], index))
        return error
    return operation, undo


def unmap_operation(server: str, export: str):
    """The device is mapped before each failure; an unmap that failed leaves it, and is then done without."""
    family = Family("rblk-client")
    mapping, _ = map_operation(server, export)
    state = {}

    def prepare():
        error = mapping()
        if error:
            raise OSError(error, "map")
        state["index"] = attribute(family.sets["device"]["index"],
                                   family.find(mapping.reply, family.sets["device"]["index"]))
        state["data"] = family.request(family.commands["unmap"], state["index"])

    def operation():
        family.sock.send(state["data"])
        return family.take()[0]

    def repair():
        error, _ = family.ask(family.commands["unmap"], state["index"])
        return error
    return operation, lambda: 0, prepare, repair


def server_operation(command: str, back: str, group: str, **words: bytes):
    family = Family("rblk-server")
    numbers = {name: family.sets[group][name.replace("_", "-")] for name in words}
    operation = Asked(family, command, **{f"_{numbers[name]}": value for name, value in words.items()})
    first = next(iter(words))

    def undo():
        return family.ask(family.commands[back], attribute(numbers[first], words[first]))[0]
    return operation, undo


def read_operation(path: str):
    fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
    pages = 256
    buffer = mmap.mmap(-1, pages * 4096)
    view = memoryview(buffer)
    vector = [view[page * 4096:(page + 1) * 4096] for page in reversed(range(pages))]
    os.preadv(fd, vector, 0)
    expected = buffer[:]

    def operation():
        os.preadv(fd, vector, 0)
        return 0

    def undo():
        return 0 if buffer[:] == expected else errno.EILSEQ
    return operation, undo


def main() -> int:
    name, *words = sys.argv[1:]
    count = {"listen": 1, "read": 1}.get(name, 2)
    own, (first, step) = words[:count], (list(map(int, words[count:])) + [1, 1][len(words) - count:])[:2]
    prepare = repair = None
    if name == "map":
        operation, undo = map_operation(*own)
    elif name == "unmap":
        operation, undo, prepare, repair = unmap_operation(*own)
    elif name == "export":
        operation, undo = server_operation("export-add", "export-remove", "export", name=own[0].encode() + b"\0",
                                           size=struct.pack("=Q", int(own[1])), allow_any=b"")
    elif name == "listen":
        operation, undo = server_operation("listen-add", "listen-remove", "listener", addr=address(own[0]))
    else:
        operation, undo = read_operation(*own)

    nth = Nth()
    ends: collections.Counter = collections.Counter()
    tried, number = 0, first
    while True:
        if prepare:
            prepare()
        result, injected = nth.run(number, operation)
        if result == 0:
            error = undo()
            if error:
                print(f"allocation {number}: done, but then: {os.strerror(error)}", file=sys.stderr)
                return 1
        elif result == errno.ENOBUFS:
            # Nobody heard whether it was done
            error = repair() if repair else undo()
            if error not in (0, errno.ENOENT, errno.ENODEV):
                print(f"allocation {number}: unknown, and then: {os.strerror(error)}", file=sys.stderr)
                return 1
        elif repair and (error := repair()):
            print(f"allocation {number}: {os.strerror(result)}, and then: {os.strerror(error)}", file=sys.stderr)
            return 1
        if not injected:
            if result:
                print(f"without a failure, at {number}: {os.strerror(result)}", file=sys.stderr)
                return 1
            break
        tried += 1
        ends[errno.errorcode[result] if result else "done"] += 1
        number += step
        if number > 20000:
            print("there is no end of allocations", file=sys.stderr)
            return 1
    print(json.dumps({"allocations": number - 1, "tried": tried, "ends": ends}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
