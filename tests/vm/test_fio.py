# SPDX-License-Identifier: GPL-2.0
"""Data written is data read, at every request size, with many requests in flight."""
import pytest

from rblklab import fio

JOBS = 4
DEPTH = 64
# How much each of the four jobs writes and reads back: bounded by what the debug kernels do in a few seconds
AMOUNT = {"512": "768k", "4k": "4m", "64k": "16m", "1m": "32m"}


@pytest.mark.parametrize("size", AMOUNT)
def test_random_writes_verify(rig, size):
    rig.server.export("disk", "256M")
    device = rig.client.map(rig.address, "disk")
    # Regions of 48 MiB: two of them lie across the border of two 64-MiB extents
    job = fio.verify(rig.b, device, bs=size, size=AMOUNT[size], numjobs=JOBS, iodepth=DEPTH, offset_increment="48m")
    wanted = JOBS * to_bytes(AMOUNT[size])
    assert job["write"]["io_bytes"] == wanted
    assert rig.client.devices()[device]["state"] == "live"


def test_mixed_sizes_across_extents_verify(rig):
    """Sizes that do not divide the extent put requests across its border: they must be split, not refused."""
    rig.server.export("disk", "192M")
    device = rig.client.map(rig.address, "disk")
    fio.verify(rig.b, device, rw="write", bssplit="512/10:3k/10:4k/30:52k/20:340k/15:1m/15", bs_unaligned=1,
               offset="60m", size="10m", iodepth=DEPTH)
    fio.verify(rig.b, device, rw="write", bs="1000k", offset="120m", size="16m", iodepth=8)


def test_the_last_sector(rig):
    rig.server.export("disk", "2M")
    device = rig.client.map(rig.address, "disk")
    size = int(rig.b.run(["blockdev", "--getsize64", device]).stdout)
    assert size == 2 << 20
    fio.verify(rig.b, device, rw="write", bs="512", offset=size - 512, size=512)
    beyond = rig.b.run(f"dd if=/dev/zero of={device} bs=512 seek={size // 512} count=1 oflag=direct", check=False)
    assert beyond.code != 0


def to_bytes(text):
    return int(text[:-1]) << {"k": 10, "m": 20}[text[-1]]
