# SPDX-License-Identifier: GPL-2.0
"""Mapping and unmapping again and again, with I/O between, leaves nothing behind."""
from rblklab import fio

CYCLES = 6


def test_cycles_with_io(rig):
    rig.server.export("disk", "64M")
    counts = []
    for number in range(CYCLES):
        device = rig.client.map(rig.address, "disk")
        pattern = f"cycle-{number:08d}"
        rig.b.run(f"yes {pattern} | head -c 65536 | dd of={device} bs=64k seek={number} iflag=fullblock oflag=direct")
        for earlier in range(number + 1):
            seen = rig.b.run(f"dd if={device} bs=64k skip={earlier} count=1 iflag=direct status=none | head -c 14").stdout
            assert seen == f"cycle-{earlier:08d}", f"cycle {number}: block {earlier}"
        rig.client.unmap(device)
        counts.append((rig.a.rdma_counts(), rig.b.rdma_counts()))
    # The first cycle may set up what stays with a device; after that nothing may grow.
    # The server closes its side when the disconnect arrives, so the last count is taken with patience by the rig.
    assert counts[-1][1] == counts[1][1], f"client: {counts[1][1]} after two cycles, {counts[-1][1]} after {CYCLES}"


def test_unmap_with_io_in_flight_is_refused_unless_forced(rig):
    rig.server.export("disk", "64M")
    device = rig.client.map(rig.address, "disk")
    process = rig.spawn(rig.b, fio.command(device, rw="randrw", bs="4k", iodepth=16, time_based=1, runtime=60, size="32m"))
    rig.wait_for_io(device)
    refused = rig.client("unmap", device, check=False)
    assert refused.code == 5, refused
    assert device in rig.client.devices()
    rig.client.unmap(device, "--force", timeout=20)
    assert process.wait(30, check=False).code != 0, "fio must see an error"
