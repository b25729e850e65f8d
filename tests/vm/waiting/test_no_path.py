# SPDX-License-Identifier: GPL-2.0
"""No path for a while: shorter and longer than I/O waits for one, and what an administrator does meanwhile."""
import time

import pytest

from rblklab import fio, rblk
from rblklab.clock import moments
from rblklab.rig import UNLOAD_LIMIT
from rblklab.waits import busy, timed, took, until

NOTICE = 15.0  # documented: about 4 s; the machine may be slow
BACK = 40.0  # the longest pause between attempts is 10 s, and an attempt may take 15
OPERATION = 10.0
SLACK = 2.0
KEY = "/sys/block/{}/rblk/no_path_timeout_ms"


@pytest.fixture(autouse=True)
def reconnect(rig):
    rig.client.reconnect = True


def state_of(rig, device):
    return rig.client.devices()[device]["state"]


def becomes(rig, device, state, limit):
    return until(lambda: state_of(rig, device) == state, limit, lambda: rig.client.devices()[device], node=rig.b)


def lose(rig, device):
    """The server stands still; return when the client has noticed, and the client's time then."""
    rig.a.freeze()
    becomes(rig, device, "recovering", NOTICE)
    return float(rig.b.read("/proc/uptime").split()[0])


def read(rig, device):
    return timed(f"dd if={device} of=/dev/null bs=4k count=1 iflag=direct status=none")


def test_file_system_survives(rig):
    """The server stands still for longer than the client takes to notice; nobody sees more than a pause."""
    rig.server.export("disk", "64M")
    device = rig.client.map(rig.address, "disk")
    rig.b.run(f"mkfs.ext4 -q {device} && mkdir -p /tmp/fs && mount {device} /tmp/fs")
    writer = rig.spawn(rig.b, "n=0; while [ ! -e /run/enough ]; do n=$((n + 1)); echo $n > /tmp/fs/$((n % 50)) && "
                       "sync /tmp/fs/$((n % 50)) || exit 1; echo $n > /run/last; done")
    until(lambda: rig.b.run("[ -e /run/last ]", check=False).code == 0, 10, "the first file")
    for pause in (8, 2, 8):
        rig.a.freeze()
        time.sleep(pause)
        before = rig.b.read("/run/last")
        rig.a.thaw()
        until(lambda: rig.b.read("/run/last") != before, BACK, "the writer does not go on")
        becomes(rig, device, "live", BACK)
    rig.b.run("touch /run/enough")
    assert writer.wait(30, check=False).code == 0
    last = int(rig.b.read("/run/last"))
    assert last > 10
    assert rig.b.run("cat /proc/mounts | grep /tmp/fs").stdout.split()[3].startswith("rw")
    rig.b.run("umount /tmp/fs && mount " + device + " /tmp/fs")
    for n in range(max(1, last - 49), last + 1):
        assert int(rig.b.read(f"/tmp/fs/{n % 50}")) == n
    rig.b.run(f"umount /tmp/fs && fsck.ext4 -f -n {device}")
    rig.client.unmap(device)


@pytest.mark.parametrize("seconds", [5, 0])
def test_too_long(rig, seconds):
    """I/O waits for so long, and no longer; it works again when there is a path again."""
    rig.server.export("disk", "8M")
    device = rig.client.map(rig.address, "disk", "--no-path-timeout", str(seconds))
    fio.verify(rig.b, device, bs="64k", size="4m", iodepth=8)
    rig.b.run(f"printf stays | dd of={device} seek=8191 bs=512 conv=notrunc,sync oflag=direct status=none")
    job = busy(rig, device, size="2m")
    if seconds:
        lost = lose(rig, device)
        came = rig.spawn(rig.b, read(rig, device))
        took_so_long = job.wait(NOTICE + seconds, check=False)
        failed = float(took_so_long.stderr.splitlines()[-1].split()[1])
        print(f"fio failed {failed - lost:.1f} s after the loss was seen")
        assert took_so_long.code != 0 and seconds - NOTICE < failed - lost < seconds + SLACK
        assert came.wait(NOTICE, check=False).code != 0
    else:
        rig.a.freeze()
        assert job.wait(NOTICE + 5, check=False).code != 0
    becomes(rig, device, "failed", SLACK)
    result = rig.b.run(read(rig, device), check=False)
    assert result.code != 0 and took(result) < SLACK
    time.sleep(5)
    rig.a.thaw()
    becomes(rig, device, "live", BACK)
    assert rig.b.run(f"dd if={device} skip=8191 bs=512 count=1 status=none | head -c 5").stdout == "stays"
    fio.verify(rig.b, device, bs="4k", size="1m", iodepth=8)
    rig.client.unmap(device)


def test_for_ever_and_changed(rig):
    """I/O that would wait for ever waits, until it is told otherwise; and the other way round."""
    rig.server.export("disk", "8M")
    rig.server.export("other", "8M")
    device = rig.client.map(rig.address, "disk", "--no-path-timeout", "forever")
    other = rig.client.map(rig.address, "other", "--no-path-timeout", "3")
    key, other_key = (KEY.format(name[5:]) for name in (device, other))
    assert rig.b.read(key).strip() == "4294967295" and rig.b.read(other_key).strip() == "3000"
    for junk in ("", "-1", "86400001", "4294967294", "4294967296", "x", "3s"):
        assert rig.b.run(f"echo '{junk}' > {key}", check=False).code != 0, junk
    lost = rig.spawn(rig.b, f"dd if=/dev/zero of={device} bs=4k count=1 oflag=direct status=none; sleep 1")
    lost.wait(10)
    rig.a.freeze()
    reads = [rig.spawn(rig.b, read(rig, name)) for name in (device, other)]
    becomes(rig, device, "recovering", NOTICE)
    rig.b.run(f"echo 4294967295 > {other_key}")
    time.sleep(8)
    assert [job.poll() for job in reads] == [None, None] and state_of(rig, other) == "recovering"
    rig.b.run(f"echo 1000 > {key}")
    assert reads[0].wait(5, check=False).code != 0
    assert reads[1].poll() is None and state_of(rig, device) == "failed"
    rig.a.thaw()
    assert reads[1].wait(BACK, check=False).code == 0, "it must be answered in the end"
    becomes(rig, device, "live", BACK)
    for name in (device, other):
        rig.client.unmap(name)


def test_a_map_joins_a_session_that_waits(rig):
    """A map waits with the others, for its own time; then it is one of them, on the same path."""
    for name in ("disk", "other", "third"):
        rig.server.export(name, "8M")
    device = rig.client.map(rig.address, "disk")
    job = busy(rig, device)
    lose(rig, device)
    refused = rig.b.run(timed(rig.client.command("map", rig.address, "third", "--timeout", "3")), check=False)
    assert refused.code == rblk.UNREACHABLE and took(refused) < 3 + SLACK, refused
    joining = rig.spawn(rig.b, rig.client.command("map", rig.address, "other", "--timeout", "60"))
    time.sleep(3)
    assert joining.poll() is None
    rig.a.thaw()
    assert joining.wait(60, check=False).code == 0
    assert len(rig.client.json("session", "list")["client_sessions"]) == 1
    job.kill()
    for name in (device, "/dev/rblk1"):
        fio.verify(rig.b, name, bs="4k", size="256k", iodepth=8)
        rig.client.unmap(name)


def test_unmap_at_any_moment(rig):
    """
    Whatever the path is doing: drained, waiting, connecting, coming back. unmap takes its time,
    which is bounded, and nothing is left; with force it takes it from who has the device open.
    """
    rng = moments()
    rounds = 8 if rig.kind == "safety" else 3
    before = [node.rdma_counts() for node in rig.lab.nodes]
    for number in range(rounds):
        rig.server.export("disk", "8M")
        device = rig.client.map(rig.address, "disk", "--no-path-timeout", "forever")
        job = busy(rig, device) if number % 2 else None
        rig.a.freeze()
        time.sleep(rng.uniform(0, 12))
        if rng.randrange(3) == 0:
            rig.a.thaw()
            time.sleep(rng.uniform(0, 1))
        words = ("unmap", device, "--force") if job else ("unmap", device)
        result = rig.b.run(timed(rig.client.command(*words)), timeout=60)
        path = "busy" if job else "idle"
        print(f"{path}: {took(result):.1f} s")
        assert took(result) < OPERATION + SLACK
        if job:
            assert job.wait(NOTICE, check=False).code != 0
        assert not rig.client.devices()
        rig.a.thaw()
        until(lambda: not rig.server.json("session", "list")["server_sessions"], 40, "the server's session", node=rig.a)
        rig.server("export", "remove", "disk")
    until(lambda: [node.rdma_counts() for node in rig.lab.nodes][1] == before[1], 10, "counts")


def test_module_goes_at_any_moment(rig):
    """As above, with the whole module: devices that wait and are not open do not hold it."""
    rng = moments()
    for _ in range(4 if rig.kind == "safety" else 2):
        rig.server.export("disk", "8M")
        device = rig.client.map(rig.address, "disk", "--no-path-timeout", "forever")
        job = busy(rig, device)
        lose(rig, device)
        job.kill()
        rig.client.unmap(device, "--force")
        rig.a.thaw()
        until(lambda: not rig.server.json("session", "list")["server_sessions"], 40, "the server's session", node=rig.a)
        rig.client.map(rig.address, "disk", "--no-path-timeout", "forever")
        rig.a.freeze()
        time.sleep(rng.uniform(0, 8))
        assert rig.b.rmmod("rblk-client") < UNLOAD_LIMIT
        rig.a.thaw()
        rig.b.insmod("rblk-client")
        until(lambda: not rig.server.json("session", "list")["server_sessions"], 40, "the server's session", node=rig.a)
        rig.server("export", "remove", "disk")
