# SPDX-License-Identifier: GPL-2.0
"""A peer stands still, and hears and says nothing; then it goes on as if nothing had been."""
import time

import pytest

from rblklab import rblk
from rblklab.rig import UNLOAD_LIMIT
from rblklab.waits import busy, counts_return, sessions_end, timed, took, until, works

QUESTION = 10.0  # documented: what the server does not answer in this time breaks the path
FORCE = 3.0 + 5.0  # documented: requests in flight at a forced unmap, and then no I/O connection takes long to end
RETRIES = 20.0  # documented: about 4 s, 30 s if the block layer had to do it; and the machine may be slow
LOOK = 20.0  # what only looks waits for nobody; 'rblk check' reads all of the GID table
SLACK = 5.0


def timed_run(node, command, limit, **more):
    """Run a command that must not take longer than LIMIT, as the node sees it."""
    result = node.run(timed(command), timeout=3 * limit + 20, **more)
    words = command.partition(" ")[2]
    assert took(result) < limit, f"{words} took {took(result):.1f} s"
    print(f"{words}: {took(result):.1f} s")
    return result


def test_frozen_server(rig):
    """
    I/O failed after the 30 s of the block layer instead of 4, see test_dead_peer.py. And
    'rblk check' failed on any machine: it read an entry of the GID table that is empty.
    """
    for name in ("busy", "idle", "held"):
        rig.server.export(name, "8M")
    busy_one = rig.client.map(rig.address, "busy")
    idle = rig.client.map(rig.address, "idle", "--client-name", "idle")
    held = rig.client.map(rig.address, "held", "--client-name", "held")
    holder = rig.spawn(rig.b, f"exec 3<{held}; sleep 600")
    job = busy(rig, busy_one)
    rig.a.freeze()

    run = rig.client.command
    for words in (("device", "list"), ("session", "list"), ("device", "show", busy_one), ("check",)):
        timed_run(rig.b, run(*words), LOOK)
    timed_run(rig.b, run("unmap", busy_one, "--force"), FORCE)
    assert job.wait(RETRIES, check=False).code != 0, "fio must see an error"
    refused = timed_run(rig.b, run("unmap", held), SLACK, check=False)
    assert refused.code == rblk.BUSY, refused
    timed_run(rig.b, run("unmap", idle), QUESTION + SLACK)
    timed_run(rig.b, run("unmap", held, "--force"), QUESTION + SLACK)
    holder.kill()

    for timeout in (1, 5):
        refused = timed_run(rig.b, run("map", rig.address, "idle", "--timeout", str(timeout)), timeout + SLACK, check=False)
        assert refused.code == rblk.UNREACHABLE, refused
    # A map that waits for 30 s does not hold up the removal of its module, and ends with it
    waiting = rig.spawn(rig.b, timed(run("map", rig.address, "idle")))
    until(lambda: rig.client.json("session", "list")["client_sessions"], 10, "the map does not begin")
    assert rig.b.rmmod("rblk-client") < UNLOAD_LIMIT
    ended = waiting.wait(UNLOAD_LIMIT, check=False)
    assert ended.code not in (0, rblk.USAGE), ended
    counts_return(rig, rig.b)

    rig.a.thaw()
    sessions_end(rig, 35)
    rig.b.insmod("rblk-client")
    for name in ("busy", "idle", "held"):
        works(rig, rig.address, name)


def test_frozen_server_under_a_module_that_is_removed(rig):
    """Devices that are idle and one that failed; nothing is unmapped before."""
    for name in ("busy", "idle"):
        rig.server.export(name, "8M")
    device = rig.client.map(rig.address, "busy")
    rig.client.map(rig.address, "idle", "--client-name", "idle")
    job = busy(rig, device)
    rig.a.freeze()
    result = job.wait(RETRIES, check=False)
    assert result.code != 0 and rig.client.devices()[device]["state"] == "failed"
    assert rig.b.rmmod("rblk-client") < UNLOAD_LIMIT
    counts_return(rig, rig.b)
    rig.a.thaw()
    sessions_end(rig, RETRIES)


@pytest.mark.parametrize("end", ["export remove", "rmmod", "wait"])
def test_frozen_client(rig, end):
    """The server takes back what a client has that says nothing, and the client finds that out by itself."""
    rig.server.export("busy", "8M")
    rig.server.export("idle", "8M")
    device = rig.client.map(rig.address, "busy")
    idle = rig.client.map(rig.address, "idle", "--client-name", "idle")
    job = busy(rig, device)
    rig.b.freeze()
    run = rig.server.command
    if end == "export remove":
        assert rig.server("export", "remove", "busy", check=False).code == rblk.BUSY
        timed_run(rig.a, run("export", "remove", "busy", "--force"), 5 + SLACK)
        timed_run(rig.a, run("export", "remove", "idle", "--force"), 5 + SLACK)
    elif end == "rmmod":
        assert rig.a.rmmod("rblk-server") < UNLOAD_LIMIT
        rig.a.insmod("rblk-server")
        rig.server.listen(rig.address)
    else:
        sessions_end(rig, RETRIES)
        for name in ("busy", "idle"):
            rig.server("export", "remove", name)
    for words in (("export", "list"), ("listen", "list"), ("session", "list")):
        timed_run(rig.a, run(*words), LOOK)
    counts_return(rig, rig.a)

    rig.b.thaw()
    assert job.wait(RETRIES, check=False).code != 0, "fio must see an error"
    assert rig.client.devices()[device]["state"] == "failed"
    for name in (device, idle):
        timed_run(rig.b, rig.client.command("unmap", name), QUESTION + SLACK)
    rig.server.export("busy", "8M")
    works(rig, rig.address, "busy")


def test_both_stand_still_in_turn_and_nothing_is_lost(rig):
    """Shorter than the transport's patience: I/O goes on, with the right data."""
    rig.server.export("disk", "8M")
    device = rig.client.map(rig.address, "disk")
    job = busy(rig, device, rw="randwrite", verify="crc32c", verify_backlog=64, runtime=15)
    for node in (rig.a, rig.b, rig.a):
        node.freeze()
        time.sleep(1)
        node.thaw()
        time.sleep(1)
    assert job.wait(60, check=False).code == 0
    assert rig.client.devices()[device]["state"] == "live"
