# SPDX-License-Identifier: GPL-2.0
"""Every allocation of an operation fails in turn: it is done or undone, and nothing leaks or breaks.

In the thread that asks, the kernel counts the allocations (guest/nth.py), and the memory-safety kernel walks
all of them; in a work, the orders of _faults.py do, and it takes a quarter of them at random. The lockdep kernel is
too slow for that under emulation: it takes every STRIDE-th from a random first one. All numbers are printed.
"""
import json
import random

import pytest

from rblklab import rblk

from _faults import GUEST, Fault, allow_failures

STRIDE = {"safety": 1, "lockdep": 19}


def walk(rig, node, *words, stride=None, timeout=300):
    """Run guest/nth.py in NODE; what it says."""
    rig.injects = True
    allow_failures(node)
    step = stride or STRIDE[rig.kind]
    first = random.randint(1, step)
    print(f"allocations {first}, {first + step}, ...")
    result = node.run(["/usr/bin/python3", str(GUEST / "nth.py"), *words, str(first), str(step)], timeout=timeout)
    report = json.loads(result.stdout)
    print(report)
    assert report["tried"], report
    return report


def test_map(rig):
    rig.server.export("disk", "8M")
    report = walk(rig, rig.b, "map", rig.address, "disk")
    # An operation that does not fail for want of memory is no test of that
    assert report["ends"]["ENOMEM"] > report["tried"] / 10, report
    assert not rig.client.devices()
    rig.client.map(rig.address, "disk")


def test_unmap(rig):
    """What cannot fail does not: an unmap is done, or says so before it begins."""
    rig.server.export("disk", "8M")
    walk(rig, rig.b, "unmap", rig.address, "disk")
    assert not rig.client.devices()


def test_export_and_listen(nodes):
    nodes.load()
    assert walk(nodes, nodes.a, "export", "disk", str(8 << 20), stride=1)["ends"]["ENOMEM"]
    assert not nodes.server.json("export", "list")["exports"]
    walk(nodes, nodes.a, "listen", nodes.address, stride=1)
    assert not nodes.server.json("listen", "list")["listeners"]


def test_read(rig):
    """An allocation of the block layer fails, never one of ours: the path of a request has none."""
    rig.server.export("disk", "8M")
    device = rig.client.map(rig.address, "disk")
    rig.b.run(f"head -c 1M /dev/urandom | dd of={device} bs=64k iflag=fullblock oflag=direct status=none")
    walk(rig, rig.b, "read", device, stride=1)
    assert rig.client.devices()[device]["state"] == "live"


def works(rig, work, number, operation):
    """Let each allocation in the NUMBER-th run of WORK fail in turn; how often one did."""
    rig.injects = True
    allow_failures(rig.a)
    fault = Fault(rig.a, work)
    nth = 1
    while True:
        fault.order(number, nth)
        code = operation()
        passes, injected = fault.seen()
        assert passes >= number, f"{work}: run {number} did not come"
        if not injected:
            assert code == rblk.OK, f"{work}, run {number}: without a failure the map ended with {code}"
            fault.cancel()
            return nth - 1
        nth += random.randint(1, {"safety": 7, "lockdep": 25}[rig.kind])
        assert nth < 2000


@pytest.mark.parametrize("work, runs", [("work_accept", 2), ("work_message", 4), ("work_end", 1)])
def test_works_of_the_server(rig, work, runs):
    """A connection that is accepted, a message that is answered (hello, ready, open, keys), a path that ends."""
    rig.server.export("disk", "8M")

    def cycle():
        result = rig.client("map", rig.address, "disk", "--queues", "1", "--depth", "4", check=False)
        if result.code == rblk.OK:
            rig.client.unmap(result.stdout.strip())
        assert rig.b.run("ls /sys/block | grep -c ^rblk", check=False).stdout == "0\n"
        if work == "work_end":
            rig.a.run("for i in $(seq 100); do grep -q 'passes 0' /sys/kernel/debug/rblk/fault/work_end || exit 0; sleep 0.1; done")
        return result.code

    for number in range(1, runs + 1):
        print(f"{work}, run {number}: {works(rig, work, number, cycle)} allocations")
    rig.client.map(rig.address, "disk")
