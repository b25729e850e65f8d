# SPDX-License-Identifier: GPL-2.0
"""Modules unload in every state, quickly, and can be loaded again."""
from rblklab import fio
from rblklab.rig import UNLOAD_LIMIT


def test_idle_modules_unload_and_load_again(nodes):
    for _ in range(3):
        nodes.load()
        assert nodes.b.rmmod("rblk-client", "rblk-core") < UNLOAD_LIMIT
        assert nodes.a.rmmod("rblk-server", "rblk-core") < UNLOAD_LIMIT


def test_client_module_in_use_is_refused_then_unloads(rig):
    """A module with a device that nobody has open unloads; an open device holds it."""
    rig.server.export("disk", "8M")
    device = rig.client.map(rig.address, "disk")
    holder = rig.spawn(rig.b, f"exec 3<{device}; echo open; sleep 600")
    rig.b.run(f"for i in $(seq 100); do ls -l /proc/[0-9]*/fd 2>/dev/null | grep -q {device} && exit 0; sleep 0.1; done; exit 1")
    assert rig.b.run("rmmod rblk_client", check=False).code != 0
    holder.kill()
    holder.wait(10, check=False)
    assert rig.b.rmmod("rblk-client") < UNLOAD_LIMIT
    assert not rig.b.run("ls /sys/block | grep '^rblk' || true").stdout


def test_server_module_goes_under_io(rig):
    rig.server.export("disk", "64M")
    device = rig.client.map(rig.address, "disk")
    job = rig.spawn(rig.b, fio.command(device, rw="randrw", bs="4k", iodepth=32, size="32m", time_based=1, runtime=120))
    rig.wait_for_io(device)
    assert rig.a.rmmod("rblk-server") < UNLOAD_LIMIT
    assert job.wait(60, check=False).code != 0, "fio must see an error"
    devices = rig.client.devices()
    assert device in devices and devices[device]["state"] != "live", devices
    rig.client.unmap(device, timeout=20)


def test_server_comes_back_as_another_one(rig):
    """After the server has lost its memory nothing of the old device may go on."""
    rig.server.export("disk", "8M")
    device = rig.client.map(rig.address, "disk")
    rig.b.run(f"yes old | head -c 65536 | dd of={device} bs=64k iflag=fullblock oflag=direct")
    rig.a.rmmod("rblk-server")
    rig.a.insmod("rblk-server")
    rig.server.listen(rig.address)
    rig.server.export("disk", "8M")
    read = rig.b.run(f"dd if={device} bs=4k count=1 iflag=direct of=/dev/null", check=False, timeout=90)
    assert read.code != 0, "the device went on with another memory"
    rig.client.unmap(device)
    device = rig.client.map(rig.address, "disk")
    rig.b.run(f"cmp -n 65536 {device} /dev/zero")
