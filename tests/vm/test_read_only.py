# SPDX-License-Identifier: GPL-2.0
"""Read-only is read-only, whoever asked for it."""
import pytest


@pytest.mark.parametrize("by", ["client", "server"])
def test_writes_are_refused(rig, by):
    rig.server.export("disk", "8M", ("any",), *(["--read-only"] if by == "server" else []))
    device = rig.client.map(rig.address, "disk", "--read-only")
    assert rig.b.run(["blockdev", "--getro", device]).stdout.strip() == "1"
    assert rig.client.devices()[device]["read_only"] is True
    write = rig.b.run(f"dd if=/dev/urandom of={device} bs=4k count=1 oflag=direct", check=False)
    assert write.code != 0
    # Making the device writable in the block layer must not make the export writable
    rig.b.run(["blockdev", "--setrw", device], check=False)
    rig.b.run(f"dd if=/dev/urandom of={device} bs=4k count=1 oflag=direct", check=False)
    rig.b.run(f"cmp -n 8388608 {device} /dev/zero")


def test_a_read_only_export_refuses_a_writer(rig):
    rig.server.export("disk", "8M", ("any",), "--read-only")
    refused = rig.client("map", rig.address, "disk", check=False)
    assert refused.code == 4, refused
    assert "read-only" in refused.stderr


def test_readers_beside_a_writer(rig):
    rig.server.export("disk", "8M")
    writer = rig.client.map(rig.address, "disk")
    reader = rig.client.map(rig.address, "disk", "--read-only", "--client-name", "reader")
    rig.b.run(f"yes shared | head -c 1048576 | dd of={writer} bs=1M iflag=fullblock oflag=direct")
    seen = rig.b.run(f"dd if={reader} bs=4k count=1 iflag=direct status=none | head -c 6").stdout
    assert seen == "shared"
