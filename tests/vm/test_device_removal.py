# SPDX-License-Identifier: GPL-2.0
"""The RDMA device goes away while it is in use, on either side."""
import time

import pytest

from rblklab import fio

LIMIT = 10.0


def wait_until_it_listens(rig):
    """The listener comes back by itself, but not in the same instant as the device."""
    deadline = time.monotonic() + LIMIT
    while any(item["state"] != "listening" for item in rig.server.json("listen", "list")["listeners"]):
        assert time.monotonic() < deadline, "the listener did not come back with its device"
        time.sleep(0.2)


@pytest.mark.parametrize("side", ["client", "server"])
def test_link_delete_under_io(rig, side):
    rig.server.export("disk", "64M")
    device = rig.client.map(rig.address, "disk")
    job = rig.spawn(rig.b, fio.command(device, rw="randrw", bs="4k", iodepth=32, size="32m", time_based=1, runtime=120))
    rig.wait_for_io(device)
    node = rig.b if side == "client" else rig.a
    began = time.monotonic()
    node.rdma_link_delete()
    assert time.monotonic() - began < LIMIT, "the device's removal had to wait for rblk"
    assert job.wait(60, check=False).code != 0, "fio must see an error"
    assert device in rig.client.devices()
    rig.client.unmap(device, timeout=20)

    # The device comes back: listeners re-arm by themselves
    node.rdma_link_add()
    wait_until_it_listens(rig)
    device = rig.client.map(rig.address, "disk")
    fio.verify(rig.b, device, bs="4k", size="1m", iodepth=16)


@pytest.mark.parametrize("side", ["client", "server"])
def test_link_delete_when_idle(rig, side):
    rig.server.export("disk", "8M")
    device = rig.client.map(rig.address, "disk")
    node = rig.b if side == "client" else rig.a
    began = time.monotonic()
    node.rdma_link_delete()
    assert time.monotonic() - began < LIMIT
    rig.client.unmap(device, timeout=20)
    node.rdma_link_add()
    wait_until_it_listens(rig)
    device = rig.client.map(rig.address, "disk")
    fio.verify(rig.b, device, bs="4k", size="512k", iodepth=8)
