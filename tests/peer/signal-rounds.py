#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Map and unmap again and again, with a signal to the tool at a random moment of either.

    signal-rounds.py TOOL SERVER EXPORT ROUNDS SEED

Runs in a client's node. After each command it must be wholly done, and then
the device is listed, has a node and does I/O; or wholly undone, and then there
is no device and no session. Prints how often what happened, as JSON; an error
says which round it was.
"""
import collections
import json
import mmap
import os
import random
import signal
import socket
import statistics
import struct
import subprocess
import sys
import time

GENL_ID_CTRL, CTRL_GETFAMILY, CTRL_ID, CTRL_NAME = 16, 3, 1, 2
DEVICE_GET, SESSION_GET = 3, 7  # commands of rblk-client, see include/uapi/linux/rblk_client.h
REQUEST, ACK, DUMP = 1, 4, 0x300
ERROR, DONE = 2, 3
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)


class Netlink:
    """Just enough of generic netlink to count objects: to start the tool for that takes too long."""

    def __init__(self):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
        self.sock.settimeout(60)
        name = b"rblk-client\0"
        attribute = struct.pack("HH", 4 + len(name), CTRL_NAME) + name + bytes(-len(name) % 4)
        body, = self._ask(GENL_ID_CTRL, CTRL_GETFAMILY, REQUEST | ACK, attribute)
        at = 4
        while at < len(body):
            size, kind = struct.unpack_from("HH", body, at)
            if kind == CTRL_ID:
                self.family, = struct.unpack_from("H", body, at + 4)
            at += size + -size % 4

    def count(self, command: int) -> int:
        return len(self._ask(self.family, command, REQUEST | DUMP, b""))

    def _ask(self, family: int, command: int, flags: int, attributes: bytes) -> list[bytes]:
        self.sock.send(struct.pack("IHHIIBBH", 20 + len(attributes), family, flags, 1, 0, command, 1, 0) + attributes)
        bodies = []
        while True:
            data = self.sock.recv(1 << 16)
            while data:
                size, kind = struct.unpack_from("IH", data)
                if kind == ERROR and struct.unpack_from("i", data, 16)[0]:
                    raise OSError(-struct.unpack_from("i", data, 16)[0], "netlink")
                if kind in (ERROR, DONE):
                    return bodies
                bodies.append(data[16:size])
                data = data[size + -size % 4:]


class Rounds:
    """What has been seen."""

    def __init__(self, tool: str, server: str, export: str, seed: int):
        self.tool, self.server, self.export = tool, server, export
        self.random = random.Random(seed)
        self.netlink = Netlink()
        self.seen = collections.Counter()
        self.page = mmap.mmap(-1, 4096)

    def command(self, *words: str) -> list[str]:
        return [self.tool, *words]

    @property
    def map(self) -> list[str]:
        return self.command("map", self.server, self.export, "--queues", "2", "--depth", "16")

    def devices(self) -> list[str]:
        """The disks there are, which must be those that are listed."""
        disks = [name for name in os.listdir("/sys/block") if name.startswith("rblk")]
        listed = self.netlink.count(DEVICE_GET)
        assert len(disks) == listed, f"disks {disks}, {listed} listed"
        sessions = self.netlink.count(SESSION_GET)
        assert sessions == bool(disks), f"{sessions} sessions with the disks {disks}"
        return disks

    def usable(self, name: str) -> None:
        fd = os.open(f"/dev/{name}", os.O_RDWR | os.O_DIRECT)
        try:
            mark = self.random.randbytes(16)
            self.page[:16] = mark
            assert os.pwritev(fd, [self.page], 0) == 4096
            self.page[:16] = bytes(16)
            assert os.preadv(fd, [self.page], 0) == 4096 and self.page[:16] == mark, f"{name} does not hold what is written"
        finally:
            os.close(fd)

    def whole(self, *words: str) -> float:
        began = time.monotonic()
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, timeout=60)
        return time.monotonic() - began

    def interrupted(self, words: list[str], typical: float, what: str) -> None:
        """Run a command and send it a signal at a moment of its time."""
        number = self.random.choice(SIGNALS)
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(self.random.uniform(0, 1.1 * typical))
        process.send_signal(number)
        code = process.wait(60)
        self.seen[f"{what} ended" if code >= 0 else f"{what} killed"] += 1

    def round(self, map_time: float, unmap_time: float) -> None:
        self.interrupted(self.map, map_time, "map")
        devices = self.devices()
        self.seen["mapped" if devices else "not mapped"] += 1
        if not devices:
            return
        name, = devices
        self.usable(name)
        self.interrupted(self.command("unmap", name), unmap_time, "unmap")
        devices = self.devices()
        self.seen["still mapped" if devices else "unmapped"] += 1
        if devices:
            self.usable(name)
            self.whole(*self.command("unmap", name))
            assert not self.devices()


def main() -> None:
    tool, server, export = sys.argv[1:4]
    rounds, seed = map(int, sys.argv[4:])
    run = Rounds(tool, server, export, seed)
    times = []
    for _ in range(5):
        map_time = run.whole(*run.map)
        times.append((map_time, run.whole(*run.command("unmap", "all"))))
    map_time, unmap_time = (statistics.median(column) for column in zip(*times))
    for number in range(rounds):
        try:
            run.round(map_time, unmap_time)
        except Exception as err:
            raise SystemExit(f"round {number}: {type(err).__name__}: {err}") from err
    print(json.dumps({"map_ms": round(map_time * 1000), "unmap_ms": round(unmap_time * 1000), **run.seen}))


main()
