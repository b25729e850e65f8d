# SPDX-License-Identifier: GPL-2.0
"""A disk over two paths: one is lost, and nothing of it reaches the disk when it is done again."""
import pytest

from _backing import Backing
from _recovery import BACK, both_live, break_next_post, carries, ended, path_of, paths, verifier
from rblklab import fio
from rblklab.waits import timed, took, until

LINKS = 2
DELAY = 10.0  # seconds that the disk takes for a write, or a flush: more than a slow machine needs for three commands
UNMAP = 10.0


@pytest.fixture
def backing(rig):
    made = Backing(rig.a, "null-cache", 16)
    yield made
    rig.client("unmap", "--force", "/dev/rblk0", check=False)
    rig.a.run("rmmod rblk_server")
    rig.a.run("dmsetup remove --retry slow 2>/dev/null || true")
    made.remove()


def slow(rig, backing, target: str) -> str:
    """A device-mapper device over BACKING."""
    sectors = int(rig.a.read(f"/sys/block/{backing.name}/size"))
    rig.a.run(f"modprobe dm-delay && dmsetup create slow --table '0 {sectors} {target.format(backing.path)}' && "
              "dmsetup mknodes")
    return "/dev/mapper/slow"


def export(rig, path):
    rig.server("export", "add", "disk", "--device", path, "--allow", "any")


def in_flight(rig, what="writes") -> int:
    """Writes, or flushes, that the server's device has not done yet."""
    return int(rig.a.run("dmsetup status slow").stdout.split()[{"writes": 4, "flushes": 5}[what]])


@pytest.mark.parametrize("how", ("cut", "post"))
def test_one_path_is_lost(rig, backing, second, how):
    """No I/O fails, the other path notices nothing, and the lost one comes back."""
    rig.injects = how == "post"
    rig.expect_rnr = True
    export(rig, backing.path)
    device = rig.client.map(rig.address, "disk", "--path", second)
    both_live(rig)
    job = verifier(rig, device, 600)
    carries(rig, 0)
    if how == "cut":
        rig.relay.cut(0)
    else:
        break_next_post(rig)
    carries(rig, 1)
    rig.relay.heal(0)
    both_live(rig, BACK + 10)
    ended(rig, job)
    other = paths(rig)[1]
    assert (other["state"], other["generation"], other["reconnects"]) == ("live", 1, 0)
    rig.client.unmap(device)


def test_what_the_disk_still_has_is_waited_for(rig, backing, second):
    """A write is at the disk when its path is lost: it is done again only when the disk has ended it."""
    rig.injects = True
    rig.expect_rnr = True
    export(rig, slow(rig, backing, f"delay {{0}} 0 0 {{0}} 0 {int(DELAY * 1000)}"))
    device = rig.client.map(rig.address, "disk", "--path", second, "--no-path-timeout", "forever")
    both_live(rig)
    job = rig.spawn(rig.b, timed(f"dd if=/dev/urandom of={device} bs=4k count=1 oflag=direct status=none"))
    until(lambda: in_flight(rig) == 1, 15, "the write at the disk", pause=0.1)
    break_next_post(rig)
    rig.b.run(f"dd if={device} of=/dev/null bs=4k count=1 skip=100 iflag=direct status=none", check=False)
    until(lambda: path_of(rig)["state"] != "live" or path_of(rig)["generation"] > 1, 10, lambda: paths(rig))
    seen = []
    until(lambda: seen.append(in_flight(rig)) or job.poll() is not None, 3 * DELAY + 10, "the end of the write", pause=0.2)
    print(f"--- writes in flight at the disk: {seen}")
    assert max(seen) == 1, "it was at the disk twice at the same time"
    assert took(job.wait(5)) > 1.8 * DELAY, "it was done again too early, or not at all"
    rig.client.unmap(device)


@pytest.mark.parametrize("ways", (1, 2))
def test_a_flush_waits_for_a_path(rig, backing, second, ways):
    """It is at the disk when its path is lost, and has no bios that could wait in its place: it is done again, and none fails."""
    rig.injects = True
    rig.client.reconnect = True
    export(rig, slow(rig, backing, f"delay {{0}} 0 0 {{0}} 0 0 {{0}} 0 {int(DELAY * 1000)}"))
    more = ("--path", second) if ways == 2 else ()
    device = rig.client.map(rig.address, "disk", "--no-path-timeout", "forever", *more)
    if ways == 2:
        both_live(rig)
    job = rig.spawn(rig.b, timed(f"dd if=/dev/zero of={device} bs=4k count=1 conv=fsync,notrunc status=none"))
    until(lambda: in_flight(rig, "flushes") == 1, 15, "the flush at the disk", pause=0.1)
    break_next_post(rig)
    rig.b.run(f"dd if={device} of=/dev/null bs=4k count=1 skip=100 iflag=direct status=none", check=False)
    done = job.wait(3 * DELAY + 20)
    assert done.code == 0 and took(done) > 1.8 * DELAY, "it was not done again"
    assert path_of(rig)["losses"] == 1
    rig.client.unmap(device)


def test_a_disk_that_hangs(rig, backing, second):
    """The rest of the session goes on, and its device can be unmapped by force; when it goes on itself, all ends."""
    rig.client.reconnect = True
    export(rig, slow(rig, backing, "linear {0} 0"))
    rig.server.export("memory", "8M")
    disk = rig.client.map(rig.address, "disk", "--path", second)
    memory = rig.client.map(rig.address, "memory", "--path", second)
    both_live(rig)
    rig.a.run("dmsetup suspend slow")
    try:
        job = rig.spawn(rig.b, f"dd if=/dev/zero of={disk} bs=4k count=64 oflag=direct status=none")
        rig.b.run("sleep 1")
        fio.verify(rig.b, memory, bs="4k", size="1m", iodepth=8)
        assert rig.server.json("export", "list")["exports"][0]["writers"] == 1
        assert [path["generation"] for path in paths(rig)] == [1, 1] and job.poll() is None
    finally:
        rig.a.run("dmsetup resume slow")
    assert job.wait(20).code == 0
    rig.client.unmap(memory)
    rig.client.unmap(disk)
