# SPDX-License-Identifier: GPL-2.0
"""The peer of tests/peer in a scenario: scripts for it, and somebody else's device that must not notice."""
import contextlib
import os
import pathlib
import subprocess

import _wire as wire
from rblklab import fio
from rblklab.node import GuestProcess, Node
from rblklab.rundir import TOP

PORT = "7471"
SOURCES = pathlib.Path(__file__).parent.parent / "peer"


def build() -> pathlib.Path:
    # A name of this process: the suites of two kernels may run at once.
    target = TOP / f"build/tests/rblk-peer-{os.getpid()}"
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["c++", "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-o", str(target),
                    *map(str, sorted(SOURCES.glob("*.cpp"))), "-lrdmacm", "-libverbs"], check=True)
    return target


def words(binary: pathlib.Path, node: Node, address: str, script: list[str], port: str = PORT) -> str:
    path = node.put("".join(line + "\n" for line in script).encode())
    return f"{binary} {address} {port} < {path}"


class Peer:
    """The peer on one node, towards one address."""

    def __init__(self, binary: pathlib.Path, node: Node, address: str):
        self.binary, self.node, self.address = binary, node, address

    def run(self, script: list[str], timeout: float = 120, check: bool = True) -> list[str]:
        """Run SCRIPT; the lines in words. A peer that kills itself needs CHECK off."""
        result = self.node.run(words(self.binary, self.node, self.address, script), timeout=timeout, check=check)
        return [wire.explain(line) for line in result.stdout.splitlines()]

    def start(self, rig, script: list[str]) -> GuestProcess:
        return rig.spawn(self.node, words(self.binary, self.node, self.address, script))


def set_up(name: str, session: bytes, queues: int = 1, export: str = "", **request) -> list[str]:
    """Everything that a client does until it is ready, and OPEN and EXTENTS of EXPORT."""
    script = [f"connect {name} {wire.connect_request(session=session, **request)}",
              f"send {name} {wire.hello(queues=queues)}", f"recv {name} 5000", "take token 48 8"]
    for n in range(queues):
        script.append(f"connect {name}{n} {wire.connect_request(wire.IO, session, '{token}', n, **request)}")
    script += [f"send {name} {wire.ready(queues)}", f"recv {name} 5000"]
    if export:
        script += [f"send {name} {wire.open_export(export)}", f"recv {name} 20000", "take handle 16 4",
                   f"send {name} {wire.extents()}", f"recv {name} 5000", "take key 32 4"]
    return script


def is_set_up(name: str, queues: int = 1, export: str = "") -> list[str]:
    """What the peer says when that went well."""
    lines = [f"{name} accepted", f"{name} sent", f"{name} got hello-reply ok", *(f"{name}{n} accepted" for n in range(queues)),
             f"{name} sent", f"{name} got ready-reply ok"]
    if export:
        lines += [f"{name} sent", f"{name} got open-reply ok", f"{name} sent", f"{name} got extents-reply ok"]
    return lines


@contextlib.contextmanager
def bystander(rig):
    """Another client's device under I/O that is verified, from before to after."""
    rig.server.export("bystander", "8M")
    device = rig.client.map(rig.address, "bystander")
    rounds, stop = "/run/rounds", "/run/stop"
    job = fio.command(device, rw="randwrite", bs="4k", size="512k", iodepth=8, verify="crc32c", verify_fatal=1, do_verify=1)
    rig.b.run(f"rm -f {rounds} {stop}")
    loop = rig.spawn(rig.b, f"while ! [ -e {stop} ]; do {job} > /dev/null || exit 1; echo >> {rounds}; done")
    yield device
    rig.b.run(f"touch {stop}")
    done = loop.wait(60, check=False)
    assert done.code == 0, f"the other client's I/O failed: {done.stderr}"
    assert rig.client.devices()[device]["state"] == "live"
    assert rig.b.read(rounds), "the other client did nothing"
    rig.client.unmap(device)
