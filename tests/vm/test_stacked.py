# SPDX-License-Identifier: GPL-2.0
"""What sits on top of a device: dm, md, xfs, readahead, swap. Each makes requests of a shape of its own."""
import pytest

from rblklab import rblk

from _pattern import MIB

ALIGN = 512  # dm and md of 6.12 want whole sectors in memory, whatever is below


@pytest.fixture
def two(rig):
    rig.server.export("one", "16M")
    rig.server.export("two", "16M")
    return [rig.client.map(rig.address, name) for name in ("one", "two")]


def test_dm_linear_over_two_devices(rig, two, pattern):
    """The joint of the two lies at a sector that divides nothing."""
    node, (one, two) = rig.b, two
    joint = 12345
    node.run("modprobe dm-mod")
    table = f"0 {joint} linear {one} 7\n{joint} 20001 linear {two} 1\n"
    node.run("DM_DISABLE_UDEV=1 dmsetup create joined", stdin=table)
    try:
        joined = "/dev/mapper/joined"
        pattern(node, "vectors", joined, (joint - 4096) * 512, 4 * MIB, ALIGN, 5, 30)
        pattern.fill(node, joined, 0, (joint + 20001) * 512, gen=2)
        pattern.check(node, joined, 0, (joint + 20001) * 512, gen=2)
        refused = rig.client("unmap", one, check=False)
        assert refused.code == 5, refused
    finally:
        node.run("DM_DISABLE_UDEV=1 dmsetup remove --retry joined")
    pattern.check(node, one, 7 * 512, joint * 512, 0, 2)
    pattern.check(node, two, 512, 20001 * 512, joint, 2)


def test_md_raid1_over_two_devices(rig, two, pattern):
    """Both halves are the same, and a new half is filled from the other."""
    node, (one, two) = rig.b, two
    # What is cached of them knows nothing of what md does
    same = f"blockdev --flushbufs {one} {two} && cmp {one} {two}"
    node.run("modprobe raid1")
    node.run(f"mdadm --build /dev/md0 --level=1 --raid-devices=2 --assume-clean {one} {two}")
    try:
        pattern(node, "vectors", "/dev/md0", 4 * MIB, 4 * MIB, ALIGN, 6, 30)
        node.run(same)
        node.run(f"mdadm /dev/md0 --fail {two} --remove {two}")
        pattern.fill(node, "/dev/md0", 0, 16 * MIB, gen=4)
        assert node.run(same, check=False).code == 1
        node.run(f"mdadm /dev/md0 --add {two}")
        node.run("mdadm --wait /dev/md0", check=False, timeout=120)
        assert "[UU]" in node.read("/proc/mdstat")
    finally:
        node.run("mdadm --stop /dev/md0")
    pattern.check(node, two, 0, 16 * MIB, gen=4)


def test_xfs(rig, pattern):
    """Large buffered writes come as long requests of pages that are not in a row, direct ones with a sector's alignment.

    The test kernels have no transparent huge pages, and without them xfs makes no large folios.
    """
    rig.server.export("disk", "64M")
    device = rig.client.map(rig.address, "disk")
    node = rig.b
    node.run(["mkfs.xfs", "-q", "--unsupported", device], timeout=120)
    node.run("modprobe xfs; mkdir -p /mnt/disk")
    node.run(["mount", device, "/mnt/disk"])
    try:
        before = moved(rig, device, "write")
        pattern.fill(node, "/mnt/disk/large", 0, 24 * MIB, gen=5)
        assert average(before, moved(rig, device, "write")) > 128 << 10
        pattern.fill(node, "/mnt/disk/direct", 0, 4 * MIB, gen=1)
        pattern(node, "vectors", "/mnt/disk/direct", 0, 4 * MIB, 4, 7, 20)
        node.run(["umount", "/mnt/disk"])
        node.run(["xfs_repair", "-n", device], timeout=120)
        node.run(["mount", device, "/mnt/disk"])
        pattern.check(node, "/mnt/disk/large", 0, 24 * MIB, gen=5)
    finally:
        node.run("umount /mnt/disk")


def test_readahead_larger_than_a_request(rig, pattern):
    """4 MiB are asked for at once; a request takes 1 MiB, or 16 pages of the page cache where none are neighbours."""
    rig.server.export("disk", "64M")
    device = rig.client.map(rig.address, "disk")
    pattern.fill(rig.b, device, 0, 24 * MIB, gen=6)
    rig.b.run(f"blockdev --flushbufs {device}; blockdev --setra 8192 {device}")
    before = moved(rig, device, "read")
    rig.b.run(f"dd if={device} of=/dev/null bs=1M count=24")
    after = moved(rig, device, "read")
    assert after[1] - before[1] >= 24 * MIB
    assert average(before, after) > 60 << 10
    pattern.check(rig.b, device, 0, 24 * MIB, gen=6)


def moved(rig, device, what):
    """Requests and bytes that the device has done."""
    stats = rig.client.json("device", "show", device)["devices"][0]["queue_stats"]
    return sum(queue[f"{what}s"] for queue in stats), sum(queue[f"{what}_bytes"] for queue in stats)


def average(before, after):
    """Bytes of a request between two moments."""
    return (after[1] - before[1]) / (after[0] - before[0])


def vm_counter(node, name):
    return next(int(line.split()[1]) for line in node.read("/proc/vmstat").splitlines() if line.split()[0] == name)


def test_swap(rig, pattern):
    """Memory goes out when it is told to, in clusters of 32 pages, and is as it was.

    Not for want of memory: rxe breaks a queue pair for which it gets no memory for a packet. So most of
    it comes back from the swap cache: reading it from the device is not tested here.
    """
    rig.server.export("swap", "128M")
    device = rig.client.map(rig.address, "swap")
    node = rig.b
    node.run(f"mkswap -q {device} && swapon {device} && echo 5 > /proc/sys/vm/page-cluster")
    try:
        refused = rig.client("unmap", device, check=False)
        assert refused.code == rblk.BUSY, refused
        before = vm_counter(node, "pswpout")
        pattern(node, "memory", 24 * MIB, 3)
        assert vm_counter(node, "pswpout") - before >= 24 * MIB // 4096
    finally:
        node.run(f"swapoff {device}; echo 3 > /proc/sys/vm/page-cluster", timeout=120)
    assert rig.client.devices()[device]["state"] == "live"
