# SPDX-License-Identifier: GPL-2.0
"""An export gets another size while clients have it open.

An extent has 64 MiB here: the sizes are chosen so that the end lies within one, moves to another, and lies between two.
"""
import shlex

import pytest

import _wire as wire
from _faults import Fault
from _peer import is_set_up, set_up
from _recovery import BACK, back, both_live, break_next_post, carries, ended, hurry, path_of, paths, sent, verifier
from rblklab import fio, rblk
from rblklab.mishaps import POST_FAULT
from rblklab.rundir import TOP
from rblklab.waits import UPTIME, sessions_end, timed, took, until, works

LINKS = 2
MIB = 1 << 20
SESSION, ANOTHER = b"\x11" * 16, b"\x12" * 16
SEEN_IN = {"safety": 1.0, "lockdep": 4.0, "stock": 1.0}  # from the command to the event, with the start of the tool
BUSY = 3  # times that, where I/O takes all of one CPU
GIVEN_UP_IN = 5.0  # what a client has to give up what is cut off
SLACK = {"safety": 5.0, "lockdep": 15.0, "stock": 5.0}
PROBED = 5.0  # how often the client looks after its paths
LATE = {"safety": 300, "lockdep": 800, "stock": 300}  # ms that messages take; with the keys that is twice
EVENTS = "/run/uevents"
RESIZE_FS = 0x40086610  # EXT4_IOC_RESIZE_FS


def size_of(rig, device):
    return int(rig.b.run(["blockdev", "--getsize64", device]).stdout)


def listed(rig, export="disk"):
    return rig.server.json("export", "show", export)["exports"][0]


def resize(rig, size, *words, export="disk", **more):
    return rig.server("export", "resize", export, size, *words, **more)


@pytest.fixture
def events(rig):
    """Listens for events of the client's disks; gives what came since it was asked last."""
    rig.b.run(f": > {EVENTS}")
    rig.spawn(rig.b, ["/usr/bin/python3", str(TOP / "tests/guest/uevents.py"), EVENTS])
    until(lambda: rig.b.read(EVENTS).startswith("ready"), 20, "the listener for events")
    seen = 1

    def since():
        nonlocal seen
        lines = [line.split() for line in rig.b.read(EVENTS).splitlines()[seen:]]
        seen += len(lines)
        return [(float(when), f"/dev/{name}", int(size)) for when, name, size in lines]

    return since


def resized(rig, events, device, size, *words, load=1):
    """Give it another size, in MiB; the device has it in time, and an event has said so."""
    began = float(rig.b.run(UPTIME).stdout)
    assert resize(rig, f"{size}M", *words).stdout == f"export disk has {size} MiB\n"
    assert listed(rig)["size"] == size * MIB
    # Nothing that says so is ahead of the disk
    until(lambda: size_of(rig, device) == size * MIB, 20, lambda: f"{device} has {size_of(rig, device)} bytes", pause=0.05)
    (when, name, there), = events()
    assert (name, there) == (device, size * MIB)
    print(f"--- {size} MiB: event after {when - began:.2f} s")
    assert when - began < SEEN_IN[rig.kind] * load
    assert rig.client.devices()[device]["size"] == size * MIB


def is_zero(rig, device, start, size):
    rig.b.run(f"cmp -n {size * MIB} -i {start * MIB}:0 {device} /dev/zero", timeout=120)


def fails_beyond(rig, device, at):
    """Reads and writes at AT MiB fail, and cost no path."""
    for way in (f"of=/dev/null if={device} skip={at} iflag=direct", f"if=/dev/zero of={device} seek={at} oflag=direct conv=notrunc"):
        result = rig.b.run(f"dd {way} bs=1M count=1", check=False)
        assert result.code != 0 or "0+0 records out" in result.stderr, result


def test_grow_under_io(rig, events, pattern):
    """Within an extent, to the end of one, from there, and across several. What was there stays, what is new is zeroes."""
    rig.server.export("disk", "32M")
    device = rig.client.map(rig.address, "disk")
    pattern.fill(rig.b, device, 4 * MIB, 28 * MIB)
    job = verifier(rig, device, 600)
    had = 32
    for size in (40, 64, 66, 140):
        resized(rig, events, device, size, load=BUSY)
        extents = rig.b.read(f"/sys/block/{device.removeprefix('/dev/')}/rblk/extents")
        assert int(extents) == -(-size // 64)
        is_zero(rig, device, had, size - had)
        pattern.fill(rig.b, device, had * MIB, (size - had) * MIB, had * 2048)
        had = size
    fails_beyond(rig, device, 140)
    assert job.poll() is None, job.result
    ended(rig, job)
    rig.b.run("echo 1 > /proc/sys/vm/drop_caches")
    pattern.check(rig.b, device, 4 * MIB, 28 * MIB)
    pattern.check(rig.b, device, 32 * MIB, 108 * MIB, 32 * 2048)
    assert (path_of(rig)["generation"], path_of(rig)["losses"]) == (1, 0)
    assert not events()


def test_what_is_refused(rig):
    """With a reason and the attribute, and nothing is changed. The same size is no change."""
    rig.server.export("disk", "32M")
    device = rig.client.map(rig.address, "disk")
    before = listed(rig)
    for words, code, said in ((("16M",), rblk.FAILED, "what is beyond would be lost (attribute 'size')"),
                              (("1T",), rblk.FAILED, "not enough free memory in blocks of 2 MiB (attribute 'size')"),
                              (("1T", "--force"), rblk.FAILED, "not enough free memory")):
        result = resize(rig, *words, check=False)
        assert result.code == code and said in result.stderr, result
    assert "--force" in resize(rig, "16M", check=False).stderr
    missing = resize(rig, "64M", export="nothing", check=False)
    assert missing.code == rblk.NOT_FOUND and "there is no export of this name (attribute 'name')" in missing.stderr, missing
    assert resize(rig, "32M").stdout == "export disk has 32 MiB\n"
    resize(rig, "32M", "--force")
    assert listed(rig) == before
    assert size_of(rig, device) == 32 * MIB and path_of(rig)["generation"] == 1
    fio.verify(rig.b, device, bs="64k", size="32m", iodepth=8)


def free(node):
    """MiB that are free, once what is being freed is."""
    node.run("echo 3 > /proc/sys/vm/drop_caches; sleep 0.2")
    lines = dict(line.split(":") for line in node.read("/proc/meminfo").splitlines())
    return int(lines["MemFree"].split()[0]) // 1024


def test_shrink_under_io(rig, events, pattern):
    """What is below stays and its I/O goes on, the path too; what is beyond is gone, and the memory is back."""
    rig.server.export("disk", "140M")
    device = rig.client.map(rig.address, "disk")
    pattern.fill(rig.b, device, 4 * MIB, 136 * MIB)
    job = verifier(rig, device, 600)
    had, gone = 140, free(rig.a)
    for size in (132, 100, 64, 40):
        # Right up to the end, so that some of it is on its way to what goes
        over = rig.spawn(rig.b, fio.command(device, rw="randwrite", bs="4k", iodepth=48, offset=f"{size - 8}m", size="16m",
                                            time_based=1, runtime=60))
        # More than the other job has
        rig.b.run(f"until awk '{{ exit $1 + $2 < 24 }}' /sys/block/{device[5:]}/inflight; do :; done", timeout=20)
        content = listed(rig)["incarnation"]
        resized(rig, events, device, size, "--force", load=BUSY)
        assert listed(rig)["incarnation"] != content
        assert over.wait(30, check=False).code != 0, "fio must see the end"
        fails_beyond(rig, device, size)
        assert rig.client.devices()[device]["incarnation"] == listed(rig)["incarnation"]
        assert free(rig.a) - gone > (had - size) / 2
        had, gone = size, free(rig.a)
        assert job.poll() is None, job.result
    ended(rig, job)
    rig.b.run("echo 1 > /proc/sys/vm/drop_caches")
    pattern.check(rig.b, device, 4 * MIB, 28 * MIB)
    assert (path_of(rig)["generation"], path_of(rig)["losses"]) == (1, 0)
    # What the page cache had of it must not be seen again
    resized(rig, events, device, 140)
    is_zero(rig, device, 40, 100)
    fio.verify(rig.b, device, bs="64k", size="140m", iodepth=16)


def test_what_was_cut_off_is_not_in_the_page_cache(rig, events):
    """Not of the disk, nor of a partition, while both are open."""
    rig.server.export("disk", "24M")
    device = rig.client.map(rig.address, "disk")
    part = f"{device}p1"
    rig.b.run(f"yes old | head -c {24 * MIB} | dd of={device} bs=1M iflag=fullblock oflag=direct")
    rig.b.run(f"addpart {device} 1 2048 {22 * 2048}")
    holders = [rig.spawn(rig.b, f"exec sleep 600 < {name}") for name in (device, part)]
    rig.b.run("sleep 0.3")
    rig.b.run(f"cat {device} {part} > /dev/null")
    cached = int(rig.b.run("awk '/^Buffers/ { print $2 }' /proc/meminfo").stdout)
    assert cached > 40 << 10, "the control: it is in the page cache"
    resized(rig, events, device, 8, "--force")
    resized(rig, events, device, 24)
    is_zero(rig, device, 8, 16)
    rig.b.run(f"cmp -n {15 * MIB} -i {7 * MIB}:0 {part} /dev/zero")
    rig.b.run(f"yes old | cmp -n {7 * MIB} - {part}")
    for holder in holders:
        holder.kill()


def test_what_was_cut_off_was_not_written_yet(rig, events):
    """Who asks learns that it is lost; what is below is written, and nothing of it is seen again."""
    rig.server.export("disk", "24M")
    device = rig.client.map(rig.address, "disk")
    part = f"{device}p1"
    rig.b.run(f"addpart {device} 1 2048 {22 * 2048}; echo 0 > /proc/sys/vm/dirty_writeback_centisecs")
    try:
        # The size of the disk is looked at when each is opened, and what is cached is written when it is closed
        code = ("import os, sys, time\n"
                f"holes = [(os.open('{device}', os.O_RDWR), 4, 1), (os.open('{device}', os.O_RDWR), 12, 4), (os.open('{part}', os.O_RDWR), 17, 4)]\n"
                "for fd, start, size in holes: os.pwrite(fd, b'dirty' * (size << 20), start << 20)\n"
                "print('ready', flush=True)\n"
                "sys.stdin.readline()\n"
                "for fd, _, _ in holes:\n"
                "    try: os.fsync(fd); print('kept')\n"
                "    except OSError as error: print(os.strerror(error.errno))\n")
        writer = rig.spawn(rig.b, f"rm -f /run/go /run/said; mkfifo /run/go; /usr/bin/python3 -c {shlex.quote(code)} < /run/go > /run/said & "
                                  "exec 3> /run/go; until [ -s /run/said ]; do sleep 0.1; done; until [ -e /run/cut ]; do sleep 0.1; done; "
                                  "echo >&3; wait; cat /run/said")
        until(lambda: "ready" in rig.b.run("cat /run/said", check=False).stdout, 20, "what is written")
        dirty = int(rig.b.run("awk '/^Dirty/ { print $2 }' /proc/meminfo").stdout)
        assert dirty > 8 << 10, "the control: it is not written yet"
        resized(rig, events, device, 8, "--force")
        resized(rig, events, device, 24)
        is_zero(rig, device, 8, 16)
        rig.b.run("echo > /run/cut")
        said = writer.wait(30).stdout.split("\n")
        assert said[1] == said[2] == said[3] == "Input/output error", said
    finally:
        rig.b.run("rm -f /run/cut; echo 500 > /proc/sys/vm/dirty_writeback_centisecs")
    rig.b.run(f"yes dirty | tr -d '\\n' | head -c {MIB} | cmp -n {MIB} -i {4 * MIB}:0 {device} -")
    is_zero(rig, device, 8, 16)
    rig.b.run(f"cmp -n {15 * MIB} -i {7 * MIB}:0 {part} /dev/zero")


def test_what_is_written_at_that_moment(rig, events):
    """By the page cache, without an end: it is in the way of nothing, and not seen again."""
    rig.server.export("disk", "24M")
    device = rig.client.map(rig.address, "disk")
    code = ("import os, random\n"
            f"fd = os.open('{device}', os.O_RDWR)\n"
            "while True:\n"
            "    try: os.pwrite(fd, b'late' * 2048, random.randrange(9 << 20, 23 << 20))\n"
            "    except OSError: pass\n")
    for _ in range(3):
        writer = rig.spawn(rig.b, ["/usr/bin/python3", "-c", code])
        until(lambda: int(rig.b.run("awk '/^Buffers/ { print $2 }' /proc/meminfo").stdout) > 4 << 10, 20, "what it writes")
        resized(rig, events, device, 8, "--force")
        # It has the disk open still, so that what is cached stays
        rig.b.run("pkill -STOP -f lat[e]")
        resized(rig, events, device, 24)
        is_zero(rig, device, 9, 14)
        rig.b.run("pkill -KILL -f lat[e]")
        writer.wait(20, check=False)


def test_keys_of_what_was_cut_off_are_dead(rig, peer):
    """Of a client that gives it up and goes on; and of one that does not, which loses its path for it."""
    setup = len(is_set_up("c", 1, "disk"))
    first, beyond, cut = (f"write c0 {{{key}}} {at * MIB} 4096" for key, at in (("key", 0), ("second", 64), ("key", 48)))
    heard = f"recv c 60000 {wire.begins(wire.RESIZE)}"
    answer = [heard, "take inc 32 16", f"send c {wire.resize(size=32 * MIB, incarnation='{inc}')}",
              f"recv c 20000 {wire.begins(wire.RESIZE | wire.REPLY)}"]
    fresh = [f"send c {wire.extents()}", f"recv c 5000 {wire.begins(wire.EXTENTS | wire.REPLY)}", "take fresh 32 4",
             "write c0 {fresh} 0 4096", f"write c0 {{fresh}} {48 * MIB} 4096"]
    rig.server("export", "remove", "disk")
    for late, said in ((beyond, "c0 write remote access error"), (cut, "c0 write remote access error"),
                       (first, "c0 write remote access error")):
        rig.server.export("disk", "128M")
        before = [*set_up("c", SESSION, 1, "disk"), "take second 36 4"]
        honest = peer.start(rig, [*before, first, beyond, cut, *answer, *([] if late != first else fresh[:4]), late])
        until(lambda: [path["messages"] for session in rig.server.json("session", "list")["server_sessions"]
                       for path in session["paths"]] == [4], 20, "the peer")
        rig.a.run("sleep 0.5")
        assert resize(rig, "32M", "--force", timeout=30).code == 0
        lines = [wire.explain(line) for line in honest.wait(40).stdout.splitlines()]
        more = [] if late != first else ["c sent", "c got extents-reply ok", "c0 write success"]
        assert lines[setup:] == [*["c0 write success"] * 3, "c got resize ok", "c sent", "c got resize-reply ok", *more, said], lines
        sessions_end(rig, 20)
        rig.server("export", "remove", "disk")

    rig.server.export("disk", "128M")
    stubborn = peer.start(rig, [*set_up("c", ANOTHER, 1, "disk"), "take second 36 4", heard, "sleep 10000", beyond, "gone c 5000"])
    until(lambda: [path["messages"] for session in rig.server.json("session", "list")["server_sessions"]
                   for path in session["paths"]] == [4], 20, "the peer")
    seconds = took(rig.a.run(timed(rig.server.command("export", "resize", "disk", "32M", "--force")), timeout=60))
    assert GIVEN_UP_IN - 1 < seconds < GIVEN_UP_IN + SLACK[rig.kind]
    lines = [wire.explain(line) for line in stubborn.wait(40).stdout.splitlines()]
    assert lines[setup] == "c got resize ok" and "success" not in lines[setup + 1] and lines[setup + 2:] == ["c gone"], lines
    works(rig, rig.address, "disk")


def test_who_never_takes_over_what_is_new(rig, peer):
    """It holds up nobody, and keeps what it has."""
    rig.server("export", "remove", "disk")
    rig.server.export("disk", "32M", ("any",), "--shared")
    lazy = peer.start(rig, [*set_up("c", SESSION, 1, "disk"), f"recv c 60000 {wire.begins(wire.RESIZE)}", "sleep 7000", "write c0 {key} 0 4096"])
    until(lambda: listed(rig)["writers"] == 1, 20, "the peer")
    device = rig.client.map(rig.address, "disk")
    command = rig.spawn(rig.a, rig.server.command("export", "resize", "disk", "96M"))
    until(lambda: size_of(rig, device) == 96 * MIB, SLACK[rig.kind], lambda: size_of(rig, device), pause=0.1)
    assert "somebody else resizes it just now" in resize(rig, "128M", check=False).stderr
    assert command.wait(30).code == 0
    assert wire.explain(lazy.wait(40).stdout.splitlines()[-1]) == "c0 write success"
    fio.verify(rig.b, device, bs="64k", size="96m", iodepth=8)
    rig.client.unmap(device)


@pytest.fixture
def disk(rig):
    """A device over both links, of 32 MiB."""
    rig.client.reconnect = True
    second = rig.a.ports[1].ipv4
    rig.server.listen(second)
    rig.server.export("disk", "32M")
    device = rig.client.map(rig.address, "disk", "--path", second, "--no-path-timeout", "forever")
    both_live(rig)
    return device


def test_two_paths(rig, disk, events):
    """Larger and smaller; then the one that stood by carries the I/O, with keys to all of it and to no more."""
    job = verifier(rig, disk, 600)
    resized(rig, events, disk, 100, load=BUSY)
    fio.verify(rig.b, disk, bs="64k", offset="32m", size="68m", iodepth=8)
    resized(rig, events, disk, 80, "--force", load=BUSY)
    assert [path["generation"] for path in paths(rig)] == [1, 1]
    rig.relay.cut(0)
    carries(rig, 1)
    fio.verify(rig.b, disk, bs="64k", offset="32m", size="48m", iodepth=8)
    fails_beyond(rig, disk, 80)
    assert paths(rig)[1]["generation"] == 1
    rig.relay.heal(0)
    both_live(rig, 60)
    ended(rig, job)


def test_a_path_is_away(rig, disk, events):
    """Before it is known to be, and after; it has the keys when it is back and its turn comes."""
    job = verifier(rig, disk, 600)
    carries(rig, 0)
    rig.relay.cut(1)
    resized(rig, events, disk, 100, load=BUSY)
    until(lambda: paths(rig)[1]["state"] != "live", 30, lambda: paths(rig))
    resized(rig, events, disk, 130, load=BUSY)
    rig.relay.heal(1)
    both_live(rig, 60)
    rig.relay.cut(0)
    carries(rig, 1)
    fio.verify(rig.b, disk, bs="64k", offset="64m", size="66m", iodepth=8)
    # The active one is dead, and nobody knows: the other has the size by then
    rig.relay.heal(0)
    both_live(rig, 60)
    rig.relay.cut(1)
    resize(rig, "140M", timeout=60)
    until(lambda: size_of(rig, disk) == 140 * MIB, 30, lambda: size_of(rig, disk))
    carries(rig, 0)
    fio.verify(rig.b, disk, bs="64k", offset="124m", size="16m", iodepth=8)
    rig.relay.heal(1)
    both_live(rig, 60)
    ended(rig, job)


def test_the_other_path_is_late(rig, disk):
    """The active one is lost when it has the new keys and the other one has not: what is new waits for them, and fails not."""
    rig.injects = True
    rig.a.run("tc qdisc replace dev net1 root netem delay 300ms")
    new = f"bs=1M count=4 oflag=direct conv=notrunc seek=90 of={disk}"
    rig.b.run("head -c 4194304 /dev/urandom > /run/new")
    job = rig.spawn(rig.b, f"while [ $(blockdev --getsize64 {disk}) = {32 * MIB} ]; do :; done; "
                           f"echo 1 5 > {POST_FAULT}; dd if=/run/new {new} && "
                           f"dd if={disk} bs=1M skip=90 count=4 iflag=direct | cmp - /run/new")
    resize(rig, "96M")
    assert job.wait(30).code == 0
    rig.a.run("tc qdisc del dev net1 root")
    until(lambda: path_of(rig)["generation"] == 2, BACK, lambda: paths(rig))
    both_live(rig)
    assert paths(rig)[1]["generation"] == 1 and rig.client.devices()[disk]["state"] == "live"


def test_one_of_two_active_paths_is_late(rig, disk):
    """Until it has the keys, the other one carries all."""
    rig.client("device", "set", disk, "--policy", "round-robin")
    rig.a.run(f"tc qdisc replace dev net1 root netem delay {LATE[rig.kind]}ms")
    seen = f"while [ $(blockdev --getsize64 {disk}) = {32 * MIB} ]; do :; done"
    write = f"dd if=/dev/zero of={disk} bs=4k count=20 seek={60 * 256} oflag=direct conv=notrunc"
    before = sent(rig, 1)
    job = rig.spawn(rig.b, f"{seen}; {write}")
    resize(rig, "64M")
    assert job.wait(30).code == 0
    # The control: it has the keys only now
    assert sent(rig, 1) - before < 40 << 10
    rig.a.run("tc qdisc del dev net1 root")
    before = sent(rig, 1)
    until(lambda: rig.b.run(write) and sent(rig, 1) - before > 40 << 10, 20, "writes on it")
    assert [path["generation"] for path in paths(rig)] == [1, 1]


def test_smaller_while_a_path_is_dead(rig, disk, events):
    """The path that is alive has heard of it, so the device goes on; the other one is ended for it, and comes back."""
    job = verifier(rig, disk, 600)
    carries(rig, 0)
    rig.relay.cut(1)
    began = float(rig.b.run(UPTIME).stdout)
    result = rig.a.run(timed(rig.server.command("export", "resize", "disk", "16M", "--force")), timeout=60)
    assert took(result) < GIVEN_UP_IN + SLACK[rig.kind]
    (when, _, size), = events()
    assert size == 16 * MIB and when - began < SEEN_IN[rig.kind] * BUSY
    rig.relay.heal(1)
    both_live(rig, 60)
    assert rig.client.devices()[disk]["state"] == "live"
    rig.relay.cut(0)
    carries(rig, 1)
    rig.relay.heal(0)
    both_live(rig, 60)
    ended(rig, job)


@pytest.mark.parametrize("size", (48, 40, 32), ids=["tried again", "smaller before that", "as before"])
def test_memory_is_short_for_one_path(rig, disk, size):
    """The server cannot register what is new there at once: it has it later, and a smaller one nevertheless."""
    rig.injects = True
    fault = Fault(rig.a, "mr")
    fault.order(1)
    resize(rig, "48M", timeout=60)
    assert fault.seen()[1] == 1
    if size < 48:
        resize(rig, f"{size}M", "--force", timeout=60)
    until(lambda: size_of(rig, disk) == size * MIB, 20, lambda: size_of(rig, disk))
    assert [path["generation"] for path in paths(rig)] == [1, 1]
    job = verifier(rig, disk, 600, offset=f"{size - 4}m")
    for link in (0, 1):
        rig.relay.cut(link)
        carries(rig, 1 - link)
        rig.relay.heal(link)
        both_live(rig, 60)
    assert rig.client.devices()[disk]["state"] == "live"
    assert rig.client.devices()[disk]["incarnation"] == listed(rig)["incarnation"]
    ended(rig, job)


def test_a_path_without_memory_is_relieved(rig, disk):
    """It became the active one when the other was lost. When that is back, the device does not wait for the server's next try."""
    rig.injects = True
    fault = Fault(rig.a, "mr")
    # It tries again less and less often: after 5 s, 10 s, 20 s
    fault.order(1)
    command = rig.spawn(rig.a, rig.server.command("export", "resize", "disk", "48M"))
    for _ in range(2):
        until(lambda: fault.seen()[1] == 1, 30, "a try")
        fault.order(1)
    until(lambda: fault.seen()[1] == 1, 30, "a try")
    command.wait(10)
    assert size_of(rig, disk) == 48 * MIB
    job = verifier(rig, disk, 600, offset="44m")
    break_next_post(rig)
    until(lambda: paths(rig)[1]["generation"] == 2, 2 * PROBED + SLACK[rig.kind], lambda: paths(rig))
    assert paths(rig)[1]["last_error"] == "another path serves more devices"
    carries(rig, 0)
    longest = ended(rig, job)
    print(f"longest I/O {longest:.1f} s")
    # The control: it did wait
    assert 1 < longest < 2 * PROBED + SLACK[rig.kind]
    both_live(rig, 60)


@pytest.mark.parametrize("then", ("smaller", "smaller and as before", "larger"))
def test_a_client_is_away(rig, then):
    """It takes over what is more. What was cut off it does not miss: its device is lost, also if the size is the same again."""
    rig.client.reconnect = True
    rig.server.export("disk", "32M")
    device = rig.client.map(rig.address, "disk", "--no-path-timeout", "forever")
    job = verifier(rig, device, 600)
    rig.relay.cut()
    until(lambda: path_of(rig)["state"] != "live", 30, lambda: path_of(rig))
    if then == "larger":
        resize(rig, "96M", timeout=60)
    else:
        resize(rig, "16M", "--force", timeout=60)
    if then == "smaller and as before":
        resize(rig, "32M")
    rig.relay.heal()
    if then == "larger":
        until(lambda: size_of(rig, device) == 96 * MIB, 60, lambda: size_of(rig, device))
        fio.verify(rig.b, device, bs="64k", offset="32m", size="64m", iodepth=8)
        ended(rig, job)
        return
    until(lambda: rig.client.devices()[device]["state"] == "failed", 60, lambda: rig.client.devices())
    assert "content lost" in rig.client.devices()[device]["reason"]
    assert job.wait(30, check=False).code != 0
    rig.client.unmap(device)
    works(rig, rig.address, "disk")


def test_file_system_grows(rig, events):
    """ext4, mounted and written to meanwhile."""
    rig.server.export("disk", "64M")
    device = rig.client.map(rig.address, "disk")
    rig.b.run(f"mkfs.ext4 -q -b 4096 {device} && mkdir -p /mnt/disk && mount {device} /mnt/disk", timeout=120)
    rig.b.run("head -c 20000000 /dev/urandom > /mnt/disk/one && md5sum /mnt/disk/one > /run/sums")
    resized(rig, events, device, 140)
    # As resize2fs does; that one does not find the mount in a node whose root is another's
    code = f"import fcntl, os, struct; fcntl.ioctl(os.open('/mnt/disk', os.O_RDONLY), {RESIZE_FS}, struct.pack('Q', {140 * MIB // 4096}))"
    rig.b.run(["/usr/bin/python3", "-c", code], timeout=120)
    room = int(rig.b.run("df --output=size -m /mnt/disk | tail -1").stdout)
    assert room > 110
    rig.b.run("head -c 80000000 /dev/urandom > /mnt/disk/two && md5sum /mnt/disk/two >> /run/sums && sync", timeout=120)
    rig.b.run(f"umount /mnt/disk && fsck.ext4 -f -n {device} && mount -o ro {device} /mnt/disk", timeout=120)
    rig.b.run("md5sum -c /run/sums && umount /mnt/disk", timeout=120)


def test_who_listens_hears_of_it(rig):
    rig.server.export("disk", "32M")
    device = rig.client.map(rig.address, "disk")
    monitors = [rig.spawn(node, f"exec timeout -s INT 15 {tool.command('monitor', '--json')}")
                for node, tool in ((rig.a, rig.server), (rig.b, rig.client))]
    rig.b.run("sleep 1")
    resize(rig, "64M")
    until(lambda: size_of(rig, device) == 64 * MIB, 10, lambda: size_of(rig, device))
    server, client = (monitor.wait(30, check=False).stdout for monitor in monitors)
    assert any("export" in line and str(64 * MIB) in line for line in server.splitlines()), server
    assert any("device" in line and str(64 * MIB) in line for line in client.splitlines()), client


def test_at_the_same_time(rig, disk):
    """Two resize at once, paths are lost, devices come and go, clients are kicked: all that matters is right in the end."""
    rig.injects = True
    hurry(rig)
    job = verifier(rig, disk, 600)
    words = [rig.server.command("export", "resize", "disk", f"{size}M") for size in (34, 96, 130)]
    crowd = " ".join(f"(for n in 1 2 3; do {word} > /dev/null 2>&1; echo $?; done) &" for word in words)
    other = rig.client.command("map", rig.address, "disk", "--client-name", "other", "--read-only")
    come = f"for n in 1 2 3 4 5 6; do d=$({other}) && {rig.client.node.kernel.tool} unmap $d; done"
    for _ in range(4):
        going = rig.spawn(rig.b, come)
        racing = rig.spawn(rig.a, f"{crowd} wait")
        for _ in range(3):
            break_next_post(rig)
            rig.b.run("sleep 0.2")
        codes = {int(code) for code in racing.wait(60).stdout.split()}
        assert codes <= {rblk.OK, rblk.BUSY, rblk.FAILED}, codes
        going.wait(120)
        both_live(rig, BACK)
        resize(rig, "130M", timeout=60)
        until(lambda: size_of(rig, disk) == 130 * MIB, 20, lambda: (size_of(rig, disk), listed(rig)))
        fio.verify(rig.b, disk, bs="64k", offset="32m", size="98m", iodepth=8)
        resize(rig, "32M", "--force", timeout=60)
        # A path that was ended for it comes back; what heard of it nowhere would be lost
        both_live(rig, BACK)
        assert (rig.client.devices()[disk]["state"], size_of(rig, disk)) == ("live", 32 * MIB)
        assert job.poll() is None, job.result
    generation = path_of(rig)["generation"]
    kick = shlex.quote(rig.server.command("session", "kick", rig.b.name))
    rig.a.run(f"(sh -c {kick} &) ; {words[1]}", timeout=60)
    back(rig, generation)
    until(lambda: size_of(rig, disk) == 96 * MIB, 20, lambda: size_of(rig, disk))
    ended(rig, job)
