# SPDX-License-Identifier: GPL-2.0
"""A file system lives on a device, and its content outlives an unmap."""

TREE = "/usr/include/linux"


def test_tree_survives_unmap(rig):
    rig.server.export("disk", "128M")
    device = rig.client.map(rig.address, "disk")
    node = rig.b
    node.run(["mkfs.ext4", "-q", device], timeout=120)
    node.run("mkdir -p /mnt/disk")
    node.run(["mount", device, "/mnt/disk"])
    node.run(f"cp -r {TREE} /mnt/disk/tree && sync", timeout=120)
    sums = "cd {} && find . -type f -print0 | sort -z | xargs -0 md5sum | md5sum"
    wanted = node.run(sums.format(TREE), timeout=120).stdout
    count = int(node.run("find /mnt/disk/tree -type f | wc -l").stdout)
    assert count > 100
    node.run(["umount", "/mnt/disk"], timeout=60)
    rig.client.unmap(device)
    assert device not in rig.client.devices()

    device = rig.client.map(rig.address, "disk")
    node.run(["fsck.ext4", "-f", "-n", device], timeout=120)
    node.run(["mount", "-o", "ro", device, "/mnt/disk"])
    found = node.run(sums.format("/mnt/disk/tree"), timeout=120).stdout
    node.run(["umount", "/mnt/disk"], timeout=60)
    assert found == wanted


def test_a_new_export_of_the_same_name_is_zeroed(rig):
    """Memory that another export has used must not be seen through this one."""
    rig.server.export("disk", "8M")
    device = rig.client.map(rig.address, "disk")
    rig.b.run(f"yes secret | head -c 8388608 | dd of={device} bs=1M iflag=fullblock oflag=direct")
    rig.client.unmap(device)
    rig.server("export", "remove", "disk")
    rig.server.export("disk", "8M")
    device = rig.client.map(rig.address, "disk")
    rig.b.run(f"cmp -n 8388608 {device} /dev/zero")
