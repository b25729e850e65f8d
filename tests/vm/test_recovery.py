# SPDX-License-Identifier: GPL-2.0
"""A path is lost and comes back at once: no I/O fails, none is lost, and nothing is left behind."""
import time

import pytest

from _faults import Fault, allow_failures
from _recovery import BACK, back, counts, hurry, lose, path_of, verified, verifier
from rblklab import fio, rblk
from rblklab.clock import moments
from rblklab.waits import timed, took, until

STEPS = ("cm_id", "addr", "route", "dev", "pd", "cq", "qp", "recv", "send", "connect")


@pytest.fixture(autouse=True)
def reconnect(rig):
    rig.client.reconnect = True


@pytest.fixture
def disk(rig):
    rig.injects = True  # it says that a request could not be posted
    rig.server.export("disk", "8M")
    return rig.client.map(rig.address, "disk")


def test_again_and_again(rig, disk):
    """Some twenty losses under I/O; what a path has is the same after each."""
    hurry(rig)
    before = counts(rig)
    rounds = 20 if rig.kind == "safety" else 8
    job = verifier(rig, disk, 600)
    for _ in range(rounds):
        back(rig, lose(rig))
    job.kill()
    until(lambda: counts(rig) == before, 5, lambda: (before, counts(rig)))
    assert rig.client.devices()[disk]["state"] == "live"
    assert path_of(rig)["generation"] == rounds + 1
    fio.verify(rig.b, disk, bs="64k", size="8m", iodepth=8)
    assert len(rig.server.json("session", "list")["server_sessions"]) == 1


def test_what_was_written_stays(rig, disk):
    """Requests in flight are sent again, and in the end each block is what was written last."""
    job = verifier(rig, disk, 12 if rig.kind == "safety" else 60, iodepth=64)
    for _ in range(4):
        back(rig, lose(rig))
    assert job.poll() is None, "it ended before the last loss"
    print(f"longest I/O {verified(job, 120):.1f} s")


@pytest.mark.parametrize("how", ["client", "server"])
def test_device_is_removed_and_added(rig, disk, how):
    """The RDMA device goes under I/O and comes back; I/O waits for it."""
    node = rig.b if how == "client" else rig.a
    job = verifier(rig, disk, 15)
    generation = path_of(rig)["generation"]
    node.rdma_link_delete()
    time.sleep(1)
    assert rig.client.devices()[disk]["state"] == "recovering"
    node.rdma_link_add()
    back(rig, generation, 30)
    print(f"longest I/O {verified(job, 60):.1f} s")


@pytest.mark.parametrize("step", STEPS)
def test_a_step_of_the_reconnect_fails(rig, disk, step):
    """The attempt is undone, and the next one is whole."""
    before = counts(rig)
    job = verifier(rig, disk, 600)
    fault = Fault(rig.b, step)
    # A receive is posted for the next ping of the server too, which may come before the loss
    for _ in range(5 if step == "recv" else 1):
        fault.order(1, 12)
        back(rig, lose(rig))
        assert fault.seen()[1] == 1, f"{step} was not passed"
        path = path_of(rig)
        failed = path["generation"] - 1 - path["reconnects"]
        if failed:
            break
    assert failed, path
    job.kill()
    until(lambda: counts(rig) == before, 5, lambda: (before, counts(rig)))
    fio.verify(rig.b, disk, bs="64k", size="1m", iodepth=8)


def test_an_allocation_of_the_reconnect_fails(rig, disk):
    """Each allocation of an attempt that may fail; some by chance. Every attempt is undone or whole."""
    rng = moments()
    hurry(rig)
    allow_failures(rig.b)
    before = counts(rig)
    fault = Fault(rig.b, "work_connect")
    job = verifier(rig, disk, 600)
    number = failed = 0
    while True:
        number += 1 + rng.randrange(25)
        fault.order(1, number)
        back(rig, lose(rig), 30)
        if not fault.seen()[1]:
            break
        failed += 1
    back(rig, path_of(rig)["generation"] - 1)
    print(f"{failed} of about {number} allocations failed")
    assert failed
    job.kill()
    until(lambda: counts(rig) == before, 5, lambda: (before, counts(rig)))


def test_all_devices_of_a_session_come_back(rig):
    """Sixteen disks on one path, of which one is unmapped while it is away."""
    rig.injects = True
    devices = []
    for number in range(16):
        rig.server.export(f"disk-{number}", "2M")
        devices.append(rig.client.map(rig.address, f"disk-{number}"))
    for number, device in enumerate(devices):
        rig.b.run(f"printf %04d {number} | dd of={device} conv=notrunc oflag=sync status=none")
    job = verifier(rig, devices[0], 600, size="1m", offset="1m")
    generation = lose(rig)
    rig.client.unmap(devices[3])
    back(rig, generation)
    job.kill()
    for number, device in enumerate(devices):
        if number != 3:
            assert rig.b.run(f"dd if={device} bs=4 count=1 status=none iflag=fullblock").stdout == f"{number:04}"
    until(lambda: [export["writers"] for export in rig.server.json("export", "list")["exports"]].count(1) == 15, 5, "opens")


def test_without_reconnect(rig):
    """A path that is not to come back stays lost, and I/O fails at once."""
    rig.injects = True
    rig.server.export("disk", "8M")
    device = rig.client.map(rig.address, "disk", "--no-reconnect")
    lose(rig)
    assert rig.b.run(f"dd if={device} of=/dev/null bs=4k count=1 iflag=direct", check=False).code
    until(lambda: path_of(rig)["state"] == "failed", 10, "state")
    time.sleep(3)
    assert path_of(rig)["generation"] == 1 and rig.client.devices()[device]["state"] == "failed"


def test_content_is_lost(rig, disk):
    """
    The server's module goes and comes with an export of the same name and size: never the
    disk's content. It says so, its I/O fails, a new map works.
    """
    rig.b.run(f"printf before | dd of={disk} conv=notrunc oflag=sync status=none")
    waiting = rig.spawn(rig.b, f"sleep 2; dd if={disk} of=/dev/null bs=4k count=1 iflag=direct")
    rig.a.rmmod("rblk-server")
    time.sleep(3)
    assert waiting.poll() is None, "a read must wait"
    rig.a.insmod("rblk-server")
    rig.server.export("disk", "8M")
    rig.server.listen(rig.address)
    until(lambda: rig.client.devices()[disk]["state"] == "failed", 30, lambda: rig.client.devices()[disk])
    assert rig.client.devices()[disk]["reason"] == "content lost: the export was made anew or smaller, or its server started anew"
    assert waiting.wait(10, check=False).code != 0, "it must not read another content"
    assert rig.b.run(f"dd if={disk} of=/dev/null bs=4k count=1 iflag=direct", check=False).code != 0
    # The path is there again, and the server holds nothing for a device that is lost
    assert path_of(rig)["state"] == "live"
    until(lambda: rig.server.json("export", "list")["exports"][0]["writers"] == 0, 10, "the open of a lost device")
    refused = rig.client("map", rig.address, "disk", check=False)
    assert refused.code == rblk.BUSY, refused
    rig.client.unmap(disk)
    device = rig.client.map(rig.address, "disk")
    assert "before" not in rig.b.run(f"dd if={device} bs=6 count=1 status=none").stdout


def test_export_is_gone(rig, disk):
    """The server came back without the export."""
    rig.a.rmmod("rblk-server")
    rig.a.insmod("rblk-server")
    rig.server.listen(rig.address)
    until(lambda: rig.client.devices()[disk]["state"] == "failed", 30, lambda: rig.client.devices()[disk])
    assert "exports nothing under that name" in rig.client.devices()[disk]["reason"]
    rig.client.unmap(disk)


def away(rig):
    """Lose the path so often that the next pause is seconds long."""
    for _ in range(7):
        back(rig, lose(rig))
    lose(rig)


def test_another_client_wrote_meanwhile(rig, disk):
    """
    While the path was away the export was free for others. What this client has in its
    cache, or in flight, must not go over what they wrote.
    """
    rig.b.run(f"printf before | dd of={disk} conv=notrunc oflag=sync status=none")
    job = verifier(rig, disk, 600, offset="4m", size="4m")
    away(rig)
    until(lambda: not rig.server.json("session", "list")["server_sessions"], 5, "the server's end", pause=0.05)
    other = rig.client.map(rig.address, "disk", "--client-name", "other")
    rig.b.run(f"printf theirs | dd of={other} conv=notrunc oflag=sync status=none")
    # Also while they have it still: it must not come in behind them and cost them theirs
    until(lambda: rig.client.devices()[disk]["state"] == "failed", 30, lambda: rig.client.devices()[disk])
    assert "another client had the export open" in rig.client.devices()[disk]["reason"]
    assert job.wait(10, check=False).code != 0
    fio.verify(rig.b, other, bs="4k", size="256k", iodepth=8, offset="4m")
    rig.client.unmap(other)
    rig.client.unmap(disk)
    device = rig.client.map(rig.address, "disk", "--client-name", "third")
    assert rig.b.run(f"dd if={device} bs=6 count=1 status=none").stdout == "theirs"


def test_one_that_is_refused_holds_up_no_other(rig, disk):
    """The server lets one disk of the session not have its export for a while: the others go on."""
    rig.server.export("other", "8M")
    other = rig.client.map(rig.address, "other")
    rig.b.run(f"printf stays | dd of={disk} conv=notrunc oflag=sync status=none")
    fault = Fault(rig.a, "mr")
    job = verifier(rig, other, 600)
    fault.order(1, 5)
    generation = lose(rig)
    back(rig, generation)
    # An emulated node may be too slow to see it before it is tried again; that the path stays says it too
    assert fault.seen()[1] == 1
    reasons = [facts["reason"] for facts in rig.client.devices().values() if facts["state"] == "recovering"]
    assert len(reasons) <= 1 and all("RDMA device cannot do it" in reason for reason in reasons), reasons
    until(lambda: all(facts["state"] == "live" for facts in rig.client.devices().values()), 10, lambda: rig.client.devices())
    assert path_of(rig)["generation"] == generation + 1
    assert rig.b.run(f"dd if={disk} bs=5 count=1 status=none").stdout == "stays"
    fio.verify(rig.b, disk, bs="64k", size="1m", iodepth=8)
    job.kill()


READ_AHEAD = "import os; os.posix_fadvise(os.open('{device}', os.O_RDONLY), 1 << 20, 16 << 10, os.POSIX_FADV_WILLNEED)"


def test_a_read_behind_one_that_is_read_ahead(rig, disk):
    """The block layer merges both, and marks the first as one that is to fail soon: the second waits for the path all the same."""
    rig.injects = True
    merges = f"/sys/block/{disk[5:]}/stat"
    before = int(rig.b.read(merges).split()[1])
    rig.relay.cut()
    first = rig.spawn(rig.b, f"dd if={disk} of=/dev/null bs=4k count=1 iflag=direct")
    until(lambda: path_of(rig)["state"] != "live", 15, lambda: path_of(rig))
    # Both wait, each for itself. They are merged when they are sent again, and then the path is lost once more
    rig.b.run(["/usr/bin/python3", "-c", READ_AHEAD.format(device=disk)])
    second = rig.spawn(rig.b, f"dd if={disk} of=/dev/null bs=4k skip=260 count=1 iflag=direct")
    rig.b.run("sleep 0.5")
    fault = Fault(rig.b, "post")
    fault.order(2, 5)
    rig.relay.heal()
    assert [job.wait(BACK + 20).code for job in (first, second)] == [0, 0]
    assert fault.seen()[1] == 1 and int(rig.b.read(merges).split()[1]) > before


def test_a_path_that_serves_nothing(rig, disk):
    """
    It comes back each time, and breaks at the first request each time. That is no path, and
    I/O fails when its time is over. It began anew with each return.
    """
    rig.b.run(f"echo 5000 > /sys/block/{disk[5:]}/rblk/no_path_timeout_ms")
    Fault(rig.b, "post").order(1, 5)
    breaker = rig.spawn(rig.b, "while [ ! -e /run/enough ]; do echo 1 5 > /sys/kernel/debug/rblk/fault/post; sleep 0.02; done")
    read = rig.b.run(timed(f"dd if={disk} of=/dev/null bs=4k count=1 iflag=direct status=none"), check=False)
    assert read.code != 0 and 4 < took(read) < 5 + BACK, read
    assert path_of(rig)["generation"] > 3
    rig.b.run("touch /run/enough")
    breaker.wait(10)
    Fault(rig.b, "post").cancel()
    until(lambda: rig.client.devices()[disk]["state"] == "live", BACK, lambda: rig.client.devices()[disk])
    fio.verify(rig.b, disk, bs="64k", size="1m", iodepth=8)


def late_write(rig, device, fence):
    """
    A write's packets come after a newer write was acknowledged on a new generation. What
    is read then; None if the server had ended the old generation by itself, since it
    asked the client in between.
    """
    def write(text):
        return f"printf {text} | dd of={device} bs=512 conv=sync,notrunc oflag=direct status=none"

    rig.b.run(write("zero"))
    generation = path_of(rig)["generation"]
    rig.relay.reorder(1.0, ms=60000, link=0, node=rig.b)
    first = rig.spawn(rig.b, write("late"))
    until(lambda: rig.relay.counters()[0, rig.b.index]["waiting"], 10, "a packet on its way", pause=0.02)
    Fault(rig.b, "post").order(1, 5)
    second = rig.spawn(rig.b, f"dd if={device} skip=1 of=/dev/null bs=4k count=1 iflag=direct status=none")
    until(lambda: path_of(rig)["state"] != "live", 10, "the loss", pause=0.02)
    held = rig.relay.counters()[0, rig.b.index]["waiting"]
    assert held > 0 and first.poll() is None
    rig.relay.reorder(0, link=0, node=rig.b)
    back(rig, generation)
    assert [job.wait(20).code for job in (first, second)] == [0, 0], "they are sent again"
    rig.b.run(write("newer"))
    paths = [path for session in rig.server.json("session", "list")["server_sessions"] for path in session["paths"]]
    assert rig.relay.heal(link=0, node=rig.b) >= held
    time.sleep(1)
    found = rig.b.run(f"dd if={device} bs=8 count=1 iflag=fullblock status=none | tr -d '\\0'").stdout
    if fence:
        assert len(paths) == 1, paths
    return found if fence or len(paths) == 2 else None


@pytest.mark.parametrize("fence", [True, False], ids=["fenced", "unfenced"])
def test_late_writes_do_not_land(rig, fence):
    """
    Packets of a write are on their way for longer than it takes to lose the path, to come
    back and to write something newer. Without the fence they land on that: if they did
    not, this test would find nothing. It does not wait until the client notices by itself,
    since the server would notice too, and end the old queue pairs.
    """
    rig.injects = True
    hurry(rig)
    rig.server.export("disk", "8M", ("any",), "--shared")
    device = rig.client.map(rig.address, "disk")
    rig.a.run(f"echo {'N' if fence else 'Y'} > /sys/kernel/debug/rblk/unfenced")
    for _ in range(1 if fence else 6):
        found = late_write(rig, device, fence)
        if found == ("newer" if fence else "late"):
            break
    assert found == ("newer" if fence else "late"), found
    rig.client.unmap(device)
