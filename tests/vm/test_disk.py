# SPDX-License-Identifier: GPL-2.0
"""A disk of the server's is a disk of the client's; the rest is in test_disk_io.py and test_disk_paths.py."""
import pytest

from _backing import Backing
from rblklab import fio

MIB = 1 << 20


@pytest.fixture
def backing(rig):
    made = Backing(rig.a, "null-cache", 16)
    yield made
    rig.a.run("rmmod rblk_server")
    made.remove()


def test_a_disk(rig, backing):
    """What is written is there, in the device itself, after a flush; beside memory in one session."""
    rig.server("export", "add", "disk", "--device", backing.path, "--allow", "any")
    rig.server.export("memory", "4M")
    disk, memory = (rig.client.map(rig.address, name) for name in ("disk", "memory"))
    fio.verify(rig.b, disk, bs="4k", size="1m", iodepth=8, fsync=32)
    fio.verify(rig.b, memory, bs="4k", size="256k", iodepth=8)
    rig.b.run(f"dd if=/dev/urandom of={disk} bs=256k count=4 oflag=direct conv=fsync status=none")
    mine = rig.b.run(f"dd if={disk} bs=256k count=4 iflag=direct status=none | sha256sum").stdout.split()[0]
    assert backing.sha(0, MIB) == mine
    assert backing.flushes() > 0
    shown = rig.client.devices()
    assert [(shown[device]["backing"], shown[device]["extents"]) for device in (disk, memory)] == [("disk", None), ("memory", 1)]
    for device, facts in ((disk, "disk 1 0 0"), (memory, "memory 0 67108864 1")):
        names = " ".join(f"/sys/block/{device[5:]}/rblk/{name}" for name in ("backing", "persistent", "extent_size", "extents"))
        assert rig.b.run(f"cat {names}").stdout.split() == facts.split()
    assert len(rig.client.json("session", "list")["client_sessions"]) == 1
    rig.client.unmap(disk)
    rig.client.unmap(memory)
