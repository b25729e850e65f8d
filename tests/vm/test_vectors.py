# SPDX-License-Identifier: GPL-2.0
"""Memory that begins anywhere and lies in many pieces, and requests at every border of a device.

The block layer takes buffers that begin at a multiple of 4 bytes. What lies in many
pieces is a registration of up to 257 pages, or many requests of a sector or so.
rblk-pattern sees each byte that is in a wrong place, on the device and in memory.
"""
import pytest

from _pattern import MIB

EXTENT = 64 * MIB
SIZE = 130 * MIB  # two whole extents and a short one


@pytest.fixture
def device(rig):
    """A device of three extents whose pages were never written."""
    rig.server.export("disk", "130M")
    device = rig.client.map(rig.address, "disk")
    facts = rig.client.devices()[device]
    assert (facts["size"], facts["extent_size"], facts["extents"]) == (SIZE, EXTENT, 3), facts
    yield device
    assert rig.client.devices()[device]["state"] == "live"


def sent(rig, device, before=None):
    """Requests that the device has done."""
    stats = rig.client.json("device", "show", device)["devices"][0]["queue_stats"]
    total = sum(queue["reads"] + queue["writes"] for queue in stats)
    assert not sum(queue["errors"] for queue in stats), stats
    return total


def test_every_place_in_a_page(rig, device, pattern):
    """Lengths up to a sector over the largest request, at the border of two extents."""
    assert rig.b.read(f"/sys/block/{device[5:]}/queue/dma_alignment") == "3\n"
    pattern(rig.b, "offsets", device, EXTENT - MIB, 2 * MIB)
    assert sent(rig, device) > 500


def test_hundreds_of_vectors(rig, device, pattern):
    """Up to 1024 vectors in one call, of odd numbers of sectors, of which some lie across two pages."""
    jobs = [rig.spawn(rig.b, pattern.command("vectors", device, start * MIB, 4 * MIB, 4, seed, 20))
            for seed, start in enumerate((2, 62, 126), 1)]
    for job in jobs:
        job.wait(300)
    assert sent(rig, device) > 5000


def test_borders_of_extents_and_of_the_device(rig, device, pattern):
    """Requests are cut at an extent; the first and the last sector; short or refused at the end, and nothing else changes."""
    pattern(rig.b, "borders", device, EXTENT)
    for start, end in ((1, 63), (65, 127)):
        rig.b.run(f"tail -c +{start * MIB + 1} {device} | cmp -n {(end - start) * MIB} - /dev/zero")


def test_the_checker_sees_one_byte(rig, pattern):
    """The control: one byte that is not right is found, and named."""
    rig.server.export("disk", "8M")
    device = rig.client.map(rig.address, "disk")
    pattern.fill(rig.b, device, 0, 8 * MIB, gen=3)
    pattern.check(rig.b, device, 0, 8 * MIB, gen=3)
    rig.b.run(f"printf x | dd of={device} bs=1 seek=1234567 conv=notrunc,fsync")
    found = pattern(rig.b, "check", device, 0, 8 * MIB, 0, 3, check=False)
    assert found.code == 2, found
    assert f"sector {1234567 // 512} generation 3 differs at byte {1234567 % 512}: 0x78 is not" in found.stderr, found.stderr
