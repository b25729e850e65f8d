# SPDX-License-Identifier: GPL-2.0
"""A map fails at every step of every connection, at the client and at the server, and leaves nothing."""
import errno
import time

import pytest

from rblklab import clock, fio, rblk

from _faults import GUEST, Fault

# A queue for each processor at the most, which the block layer sets
QUEUES = {"safety": 1, "lockdep": 2}
OPTIONS = ("--queues", "2", "--depth", "8")
EXTENTS = 2
EACH = "each connection"
# 16 receives, and each goes back after its message; what happens after the last no longer matters to the map
RECEIVES = 19
# What a map passes, and how often: once, or for each connection
CLIENT = {"cm_id": EACH, "addr": EACH, "route": EACH, "dev": 1, "pd": 1, "cq": EACH, "qp": EACH, "recv": RECEIVES, "connect": EACH,
          "send": 4, "tags": 1, "disk": 1, "add_disk": 1}
SERVER = {"dev": 1, "pd": 1, "cq": EACH, "qp": EACH, "recv": RECEIVES, "accept": EACH, "send": 4, "mr": EXTENTS, "map_mr": EXTENTS,
          "reg": EXTENTS}
GIVE_UP = 20


def settled(node, wanted, limit=10):
    """The node's RDMA objects, once they are as WANTED or the time is over."""
    deadline = time.monotonic() + limit
    while (now := node.rdma_counts()) != wanted and time.monotonic() < deadline:
        time.sleep(0.2)
    return now


def walk(rig, node, point, passes):
    """Let each pass of POINT fail in turn; the exit codes."""
    fault = Fault(node, point)
    before = {each: each.rdma_counts() for each in rig.lab.nodes}
    codes = []
    numbers = range(1, passes + 1)
    if rig.kind == "lockdep":
        # Slow under emulation, and all receives of a queue are alike: the first, the last, those that go back
        numbers = sorted({1, 2, 16, 17, passes} & set(numbers))
    for number in numbers:
        fault.order(number)
        result = rig.client("map", rig.address, "disk", *OPTIONS, check=False, timeout=60)
        where = f"{node}: {point}, pass {number} of {passes}"
        assert fault.seen()[1] == 1, f"{where}: the failure was not reached: {result}"
        assert result.code not in (rblk.OK, rblk.USAGE) and not result.stdout and result.stderr, f"{where}: {result}"
        codes.append(result.code)
        left = rig.b.run("ls /sys/block | grep ^rblk", check=False).stdout
        assert not left, f"{where}: {left}"
        for each in rig.lab.nodes:
            assert settled(each, before[each]) == before[each], f"{where}: objects left on {each}"
    # One pass more is never reached: the numbers above are all there are
    passes += passes == RECEIVES
    fault.order(passes + 1)
    device = rig.client.map(rig.address, "disk", *OPTIONS)
    assert fault.seen() == (passes, 0), f"{node}: {point}: a map has other passes than this test knows"
    fault.cancel()
    rig.client.unmap(device)
    return codes


@pytest.mark.parametrize("side", ["client", "server"])
def test_a_map_fails_at_every_step_of_every_connection(rig, side):
    rig.injects = True
    rig.server.export("disk", f"{64 * EXTENTS}M")
    node, points = (rig.b, CLIENT) if side == "client" else (rig.a, SERVER)
    if rig.kind == "lockdep":
        # Slow under emulation: half of them by chance each time
        points = {point: points[point] for point in clock.moments().sample(sorted(points), len(points) // 2)}
    for point, passes in points.items():
        walk(rig, node, point, 1 + QUEUES[rig.kind] if passes == EACH else passes)
    assert not rig.server.json("session", "list")["server_sessions"]
    device = rig.client.map(rig.address, "disk", *OPTIONS)
    fio.verify(rig.b, device, bs="64k", size="2m", iodepth=8)


def test_a_device_that_refuses_large_pages_gets_small_ones(rig):
    """Registration falls back once, and the data is where it belongs."""
    rig.server.export("disk", "128M")
    fault = Fault(rig.a, "map_mr")
    fault.order(1, errno.EINVAL)
    device = rig.client.map(rig.address, "disk")
    assert fault.seen()[1] == 1
    fio.verify(rig.b, device, bs="64k", size="4m", offset="62m", iodepth=16)


@pytest.mark.parametrize("point", ["post", "inv"])
def test_a_post_that_fails_under_io_fails_the_device(nodes, point):
    """All in flight ends with an error, once; nothing is retried on a queue pair that took half of a post."""
    nodes.injects = True
    nodes.a.insmod("rblk-core", "rblk-server")
    # One SGE: every request of several pages goes through an MR
    nodes.b.run(f"insmod {nodes.b.kernel.rblk}/rblk-core.ko limits=max_send_sge=1,max_sge_rd=1,mr_replays=0")
    nodes.b.insmod("rblk-client")
    nodes.server.listen(nodes.address)
    nodes.server.export("disk", "64M")
    device = nodes.client.map(nodes.address, "disk", *OPTIONS)
    fault = Fault(nodes.b, point)
    fault.order(100, errno.EIO)
    # Several at once, all through MRs
    users = [nodes.spawn(nodes.b, ["/usr/bin/python3", str(GUEST / "scattered.py"), device, "16", "1000", str(part), "4"])
             for part in range(4)]
    assert [user.wait(60, check=False).code for user in users] == [errno.ENOLINK] * len(users)
    assert fault.seen()[1] == 1
    facts = nodes.client.devices()[device]
    assert facts["state"] == "failed"
    assert facts["reason"] == {"post": "a request could not be posted", "inv": "an invalidation could not be posted"}[point]
    nodes.client.unmap(device)
    again = nodes.client.map(nodes.address, "disk", *OPTIONS)
    fio.verify(nodes.b, again, bs="64k", size="2m", iodepth=8)


def test_a_listener_that_cannot_be_made_comes_by_itself(nodes):
    nodes.load()
    fault = Fault(nodes.a, "listen")
    fault.order(1)
    nodes.server.listen(nodes.address)
    assert fault.seen()[1] == 1
    nodes.server.export("disk", "8M")
    deadline = time.monotonic() + GIVE_UP
    while not all(entry["state"] == "listening" for entry in nodes.server.json("listen", "list")["listeners"]):
        assert time.monotonic() < deadline, nodes.server.json("listen", "list")
        time.sleep(0.3)
    nodes.client.map(nodes.address, "disk")
