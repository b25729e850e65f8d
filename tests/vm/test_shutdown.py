# SPDX-License-Identifier: GPL-2.0
"""A node is switched off or started anew by its own kernel, whatever its paths are doing: that takes its time, and no more.

Nobody has unmapped or unloaded anything before, and nothing is written back first (as by 'poweroff -f -n'): where a path is lost
and I/O waits for it, that would wait too.
"""
import time

import pytest

from rblklab import fio
from rblklab.clock import moments
from rblklab.waits import busy, until, works

LIMIT = 10.0
SLACK = {"safety": 2.0, "lockdep": 8.0, "stock": 2.0}
REAPED = 40.0
STATES = ("idle", "busy", "lost", "coming back")


def shut_down(rig, node):
    """Return when the machine has ended."""
    # UML starts itself anew at a restart, QEMU is told to end then
    word = "poweroff" if node.kernel.machine == "uml" else "reboot"
    rig.spawn(node, f"/bin/busybox {word} -f -n")
    took = until(lambda: not node.alive(), LIMIT + SLACK[rig.kind], f"the end of {node}")
    print(f"--- {node} has ended after {took:.1f} s")
    node.kill()


@pytest.mark.parametrize("state", STATES)
def test_client_shuts_down(rig, state):
    """With two devices, of which one is open; the server is rid of both, and another client has them."""
    rng = moments()
    rig.client.reconnect = True
    for name in ("disk", "other"):
        rig.server.export(name, "8M")
    devices = [rig.client.map(rig.address, name, "--no-path-timeout", "forever") for name in ("disk", "other")]
    if state != "idle":
        busy(rig, devices[0])
    if state in ("lost", "coming back"):
        rig.a.freeze()
        until(lambda: rig.client.devices()[devices[0]]["state"] != "live", 30, lambda: rig.client.devices(), node=rig.b)
        time.sleep(rng.uniform(0, 5))
    if state == "coming back":
        rig.a.thaw()
        time.sleep(rng.uniform(0, 2))
    shut_down(rig, rig.b)
    rig.a.thaw()
    until(lambda: not rig.server.json("session", "list")["server_sessions"], REAPED, "the server's sessions", node=rig.a)
    rig.restart(rig.b)
    rig.client.load_client()
    for name in ("disk", "other"):
        works(rig, rig.address, name)


def test_server_shuts_down(rig):
    """Under I/O of a client, which says that the content is lost when it is back with other memory."""
    rig.client.reconnect = True
    rig.server.export("disk", "8M")
    device = rig.client.map(rig.address, "disk", "--no-path-timeout", "forever")
    job = busy(rig, device)
    shut_down(rig, rig.a)
    rig.restart(rig.a)
    rig.server.load_server()
    rig.server.export("disk", "8M")
    rig.server.listen(rig.address)
    until(lambda: rig.client.devices()[device]["state"] == "failed", REAPED, lambda: rig.client.devices(), node=rig.b)
    assert "content lost" in rig.client.devices()[device]["reason"]
    assert job.wait(20, check=False).code != 0
    rig.client.unmap(device)
    fio.verify(rig.b, rig.client.map(rig.address, "disk"), bs="4k", size="1m", iodepth=8)
