# SPDX-License-Identifier: GPL-2.0
"""The RDMA device or its driver goes away in each state, on either side, and comes back under another name.

The output of a failure ends with the removal after which it came.
"""
import itertools

import pytest

from rblklab import checks, fio, rblk
from rblklab.clock import moments
from rblklab.loops import MapLoop, work_and_stop
from rblklab.removal import CASES, LIMIT, WAYS, Removal, cases


@pytest.fixture
def removal(rig):
    gone = Removal(rig)
    yield gone
    gone.restore()


def comes_back(rig, removal, side):
    """A listener finds it by itself; that maps work shows next."""
    name = removal.give(removal.node(side))
    checks.listens(rig, name if side == "server" else None)


def test_idle(rig, removal):
    rig.server.export("disk", "8M")
    for side, way in cases():
        device = rig.client.map(rig.address, "disk")
        removal.take(removal.node(side), way)
        reason = "the RDMA device went away" if side == "client" else "the peer closed the connection"
        assert checks.failed(rig, device) == [reason]
        checks.server_forgets(rig)
        rig.client.unmap(device)
        checks.nothing_left(rig)
        comes_back(rig, removal, side)
    checks.serves(rig)


def test_in_use(rig, removal):
    """One device does I/O, one is open and one is mounted. What was synced there outlives it."""
    exports = ("busy", "open", "mounted")
    for export in exports:
        rig.server.export(export, "32M")
    device = rig.client.map(rig.address, "mounted")
    rig.b.run(f"mkfs.ext4 -q {device} && mkdir -p /mnt/disk && echo 0 >/run/kept", timeout=120)
    rig.b.run(f"mount {device} /mnt/disk && cp /run/kept /mnt/disk/kept && umount /mnt/disk")
    rig.client.unmap(device)
    for side, way in cases():
        busy, opened, mounted = (rig.client.map(rig.address, export) for export in exports)
        checked = rig.b.run(["fsck.ext4", "-f", "-y", mounted], check=False, timeout=120)
        assert checked.code in (0, 1), checked
        rig.b.run(f"mount {mounted} /mnt/disk && cmp /mnt/disk/kept /run/kept && "
                  "date +%N >/mnt/disk/kept && cp /mnt/disk/kept /run/kept && sync -f /mnt/disk/kept")
        job = rig.spawn(rig.b, fio.command(busy, rw="randrw", bs="4k", iodepth=64, size="32m", time_based=1, runtime=120))
        writer = rig.spawn(rig.b, "while dd if=/dev/zero of=/mnt/disk/file bs=64k count=16 conv=fsync,notrunc status=none; do :; done")
        holder = rig.spawn(rig.b, f"rm -f /run/held /run/go /run/result; exec 3<>{opened}; echo >/run/held; "
                           "until [ -e /run/go ]; do sleep 0.1; done; dd bs=4k count=1 iflag=direct of=/dev/null <&3 2>/run/dd; "
                           "echo $? >>/run/dd; mv /run/dd /run/result; exec sleep 600")
        rig.wait_for_io(busy)
        rig.b.run("until [ -e /run/held ] && [ -s /mnt/disk/file ]; do sleep 0.1; done")

        removal.take(removal.node(side), way)
        ended = job.wait(60, check=False)
        assert ended.code != 0 and fio.parse(ended.stdout)["error"] == checks.ENOLINK, ended
        ended = writer.wait(60, check=False)
        assert "/mnt/disk/file" in ended.stderr, ended
        checks.failed(rig, busy, opened)
        assert rig.client.devices()[mounted]["state"] == "failed"
        checks.server_forgets(rig)
        refused = rig.client("unmap", "all", check=False)
        assert refused.code == rblk.BUSY, refused
        assert f"{opened} (open once)" in refused.stderr and f"{mounted} (open once; {mounted[5:]} is mounted on /mnt/disk)" in refused.stderr
        assert {name: item["openers"] for name, item in rig.client.devices().items()} == {opened: 1, mounted: 1}
        read = rig.b.run("umount /mnt/disk && echo >/run/go; until [ -e /run/result ]; do sleep 0.1; done; cat /run/result").stdout
        assert "severed" in read and read.endswith("\n1\n"), read
        holder.kill()
        holder.wait(10, check=False)
        rig.client("unmap", "all")
        checks.nothing_left(rig)
        comes_back(rig, removal, side)
    checks.serves(rig, "open")


def test_with_listeners_only(rig, removal):
    """Of an address of each family, and of all addresses."""
    rig.server.export("disk", "8M")
    ipv6 = rig.a.ports[0].ipv6
    rig.server.listen(ipv6)
    rig.server.listen("any:7500")
    for way in WAYS:
        removal.take(rig.a, way)
        checks.until(lambda: list(checks.listeners(rig)) == ["::"], "waiting for a device", 5)
        name = removal.give(rig.a)
        checks.listens(rig, name, count=3)
        for address in (rig.address, ipv6, f"{rig.address}:7500", f"[{ipv6}]:7500"):
            rig.client.unmap(rig.client.map(address, "disk"))
    checks.serves(rig)


def test_while_clients_connect(rig, removal):
    """Two clients of one node map and unmap, the device goes at random moments of that.

    Found that a map whose path broke gave "the connection is closed" or "WR flushed" as the
    reason, with another exit code: what followed from the error was reported instead of it.
    """
    moment = moments()
    rig.server.export("disk", "8M")
    rig.server.export("other", "2M")
    loops = [MapLoop(rig, "disk", "one"), MapLoop(rig, "other", "two")]
    for loop in loops:
        loop.wait_for("map 0")
    removals = list(CASES)
    moment.shuffle(removals)
    for side, way in removals:
        node = removal.node(side)
        rig.b.run(f"sleep {moment.uniform(0.3, 2.5):.3f}")
        removal.take(node, way)
        rig.b.run(f"sleep {moment.uniform(0, 1):.3f}")
        removal.give(node)
    work_and_stop(loops)
    checks.nothing_left(rig)
    checks.serves(rig)


def test_while_unmapping(rig, removal):
    """Four devices of two sessions, at a random moment."""
    moment = moments()
    exports = ("disk", "disk1", "disk2", "disk3")
    for export in exports:
        rig.server.export(export, "2M")
    maps = " && ".join(rig.client.command("map", rig.address, export, "--client-name", client)
                       for export, client in zip(exports, itertools.cycle(("one", "two"))))
    for side, way in cases():
        rig.b.run(f"({maps}) >&2")
        job = rig.spawn(rig.b, f"read -r began rest </proc/uptime; {rig.client.command('unmap', 'all')} >&2 || exit; "
                        "read -r now rest </proc/uptime; echo $began $now")
        rig.b.run(f"sleep {moment.uniform(0, 0.5):.3f}")
        removal.take(removal.node(side), way)
        began, now = map(float, job.wait(60).stdout.split())
        assert now - began < LIMIT, f"unmap took {now - began:.1f} s"
        checks.nothing_left(rig)
        comes_back(rig, removal, side)
    checks.serves(rig)
