# SPDX-License-Identifier: GPL-2.0
"""An administrator takes an export away from a client that is using it."""
import time

from rblklab import fio, rblk

LIMIT = 30.0


def test_forced_remove_under_io(rig):
    rig.server.export("disk", "64M")
    device = rig.client.map(rig.address, "disk")
    job = rig.spawn(rig.b, fio.command(device, rw="randrw", bs="4k", iodepth=32, size="32m", time_based=1, runtime=120))
    rig.wait_for_io(device)
    refused = rig.server("export", "remove", "disk", check=False)
    assert refused.code == rblk.BUSY, refused
    assert job.poll() is None, "a refused removal must not disturb the I/O"

    began = time.monotonic()
    rig.server("export", "remove", "disk", "--force", timeout=30)
    assert job.wait(LIMIT, check=False).code != 0, "fio must see an error"
    assert time.monotonic() - began < LIMIT
    assert not rig.server.json("export", "list")["exports"]
    assert rig.client.devices()[device]["state"] != "live"
    assert rig.b.run(f"dd if={device} of=/dev/null bs=4k count=1 iflag=direct", check=False, timeout=60).code != 0
    rig.client.unmap(device, timeout=20)


def test_other_exports_go_on(rig):
    """
    A forced removal asks the clients to close the export, and one that does keeps
    its session: first the whole path was cut, and with it all else it had open.
    """
    rig.server.export("goes", "32M")
    rig.server.export("stays", "32M")
    goes = rig.client.map(rig.address, "goes")
    stays = rig.client.map(rig.address, "stays")
    other = rig.client.map(rig.address, "stays", "--client-name", "other", "--read-only")
    killed = rig.spawn(rig.b, fio.command(goes, rw="randrw", bs="4k", iodepth=32, size="16m", time_based=1, runtime=120))
    rig.wait_for_io(goes)
    job = fio.start(rig.b, stays, rw="randwrite", bs="4k", iodepth=16, size="4m", verify="crc32c", do_verify=1, verify_fatal=1)
    rig.server("export", "remove", "goes", "--force", timeout=30)
    assert killed.wait(LIMIT, check=False).code != 0, "fio must see an error"
    assert fio.parse(job.wait(120).stdout)["error"] == 0
    states = {device: facts["state"] for device, facts in rig.client.devices().items()}
    assert states == {goes: "failed", stays: "live", other: "live"}
    assert "withdrew" in rig.client.devices()[goes]["reason"]
    rig.client.unmap(goes, timeout=20)
    fio.verify(rig.b, stays, bs="4k", size="1m", iodepth=16)
