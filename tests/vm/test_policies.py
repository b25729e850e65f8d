# SPDX-License-Identifier: GPL-2.0
"""Several paths that carry the I/O of a device together."""
import struct
import time

import pytest

from _faults import Fault
from _recovery import BACK, both_live, carries, counts, ended, paths, sent, verifier
from rblklab import fio, pcap
from rblklab.waits import until

LINKS = 2
SPREAD = ("round-robin", "min-inflight", "min-latency")
ALIAS = "10.77.0.101"  # a further address of the server's first device
READ_REQUEST = 0x0c
WRITES = (0x06, 0x0a)  # the first packet of a WRITE, or the only one
PROBE = 5.0  # seconds between two probes of a path


@pytest.fixture
def disk(rig, second):
    """A device with two paths, which end at two devices of the server."""
    rig.server.export("disk", "8M")
    device = rig.client.map(rig.address, "disk", "--path", second)
    both_live(rig)
    return device


@pytest.fixture
def alike(rig):
    """A device with two paths, which end at one device of the server."""
    rig.client.reconnect = True
    rig.a.run(f"ip addr add {ALIAS}/24 dev net0")
    rig.server.listen(ALIAS)
    rig.server.export("disk", "8M")
    device = rig.client.map(rig.address, "disk", "--path", ALIAS)
    both_live(rig)
    yield device
    rig.client.unmap(device)
    rig.server("listen", "remove", ALIAS)
    rig.a.run(f"ip addr del {ALIAS}/24 dev net0")


def setting(rig, device, name, value=None):
    """Of /sys/block/rblkN/rblk; set it first if a value is given."""
    path = f"/sys/block/{device[5:]}/rblk/{name}"
    if value is not None:
        rig.b.run(f"echo {value} > {path}")
    return rig.b.run(f"cat {path}").stdout.strip()


def active(rig):
    return [path["index"] for path in paths(rig) if path["active"]]


def done(rig):
    """Requests that each path has done."""
    return [path["reads"] + path["writes"] for path in paths(rig)]


def share(rig, seconds=1.0):
    """What part of the requests goes over the second path now."""
    before = done(rig)
    rig.b.run(f"sleep {seconds}")
    first, second = (now - then for now, then in zip(done(rig), before))
    assert first + second > 20, (first, second)
    return second / (first + second)


def together(rig, limit=BACK):
    until(lambda: active(rig) == [0, 1], limit, lambda: paths(rig))


def spread(rig, device, policy):
    setting(rig, device, "policy", policy)
    together(rig)


@pytest.mark.parametrize("policy", SPREAD)
def test_both_carry(rig, disk, policy):
    """Under I/O that is verified; and one alone again, when that is asked for. No path is lost by it."""
    assert active(rig) == [0] and setting(rig, disk, "policy") == "preferred"
    job = verifier(rig, disk, 600, iodepth=32)
    spread(rig, disk, policy)
    # On a machine that is busy with something else one may look slow for a while
    part = share(rig, 3)
    assert 0.02 < part < 0.98, part
    if policy == "round-robin":
        assert 0.4 < part < 0.6, part
    setting(rig, disk, "policy", "preferred")
    assert active(rig) == [0]
    carries(rig, 0)
    ended(rig, job)
    assert [(path["generation"], path["losses"]) for path in paths(rig)] == [(1, 0)] * 2


def test_the_slower_one_gets_less(rig, disk):
    """By latency nearly nothing, by requests in flight the smaller part, in turn the half."""
    rig.relay.delay(20, link=1)
    verifier(rig, disk, 600, iodepth=8)
    spread(rig, disk, "min-latency")
    rig.b.run("sleep 2")  # until it is known how slow it is
    latency = share(rig, 2)
    spread(rig, disk, "min-inflight")
    in_flight = share(rig, 2)
    spread(rig, disk, "round-robin")
    turn = share(rig, 2)
    print(f"of the requests over the slower path: {latency:.3f} by latency, {in_flight:.3f} by requests in flight, {turn:.3f} in turn")
    assert latency < 0.1 and in_flight < 0.4 and 0.4 < turn < 0.6
    # One that has become fast again is found out
    rig.relay.heal(1)
    rig.relay.delay(20, link=0)
    spread(rig, disk, "min-latency")
    until(lambda: share(rig) > 0.5, 20, lambda: paths(rig))


@pytest.mark.parametrize("policy", SPREAD)
def test_one_of_both_is_lost(rig, disk, policy):
    """No I/O fails, the other one goes on as it is, and the lost one joins again when it is back."""
    before = counts(rig)
    job = verifier(rig, disk, 600, iodepth=32)
    spread(rig, disk, policy)
    # It waits for none of its requests in particular, as the other one does to verify
    rig.spawn(rig.b, fio.command(disk, rw="randread", bs="4k", iodepth=16, time_based=1, runtime=600))
    rig.relay.cut(0)
    if policy == "min-inflight":
        # What waits on the dead path keeps others from it, and the rest goes on long before anybody knows
        time.sleep(0.5)
        before_that = sent(rig, 1)
        time.sleep(1)
        assert sent(rig, 1) - before_that > 100_000
    until(lambda: active(rig) == [1], 20, lambda: paths(rig))
    carries(rig, 1)
    rig.relay.heal(0)
    both_live(rig, 40)
    together(rig)
    assert 0.05 < share(rig) < 0.95
    longest = ended(rig, job)  # and the reader with it
    print(f"--- {policy}: longest I/O {longest:.2f} s")
    assert [(path["losses"], path["last_error"] is None) for path in paths(rig)] == [(1, False), (0, True)]
    assert paths(rig)[1]["generation"] == 1
    until(lambda: counts(rig) == before, 5, lambda: (before, counts(rig)))


def test_drain_of_one_of_both(rig, disk):
    """Nothing waits for it: the other one carries on."""
    job = verifier(rig, disk, 600, iodepth=32)
    spread(rig, disk, "round-robin")
    rig.client("path", "drain", disk, "1")
    assert active(rig) == [0]
    carries(rig, 0)
    both_live(rig)
    assert active(rig) == [0]
    rig.client("path", "undrain", disk, "1")
    together(rig)
    assert 0.05 < share(rig) < 0.95
    ended(rig, job)
    assert [path["losses"] for path in paths(rig)] == [0, 1]


def write(device, text):
    return f"printf {text} | dd of={device} bs=512 conv=sync,notrunc oflag=direct status=none"


def stuck_write(rig, device):
    """A write of "late" whose packets are on their way over the first path for a minute."""
    rig.relay.reorder(1.0, ms=60000, link=0, node=rig.b)
    for _ in range(4):  # the first or the second of them goes over the first path
        job = rig.spawn(rig.b, write(device, "late"))
        rig.b.run("sleep 0.3")
        if job.poll() is None:
            assert rig.relay.counters()[0, rig.b.index]["waiting"]
            return job
    raise AssertionError("no write goes over the first path")


def late_write(rig, device):
    """A write's packets come after it was done again, and overwritten, over the other path, which never stopped."""
    rig.b.run(write(device, "zero"))
    first = stuck_write(rig, device)
    rig.client("path", "drain", device, "0")  # which waits in vain, and breaks it
    assert first.wait(20).code == 0, "it is sent again"
    rig.b.run(write(device, "newer"))
    assert rig.relay.counters()[0, rig.b.index]["waiting"]
    rig.relay.heal(link=0, node=rig.b)
    rig.b.run("sleep 1")
    found = rig.b.run(f"dd if={device} bs=8 count=1 iflag=fullblock status=none | tr -d '\\0'").stdout
    assert paths(rig)[1]["generation"] == 1
    return found


@pytest.mark.parametrize("fence", [True, False], ids=["fenced", "unfenced"])
def test_late_writes_do_not_land(rig, second, fence):
    """With the server's fence; without it they do, which shows that this test would find it."""
    rig.injects = True
    rig.server.export("disk", "8M", ("any",), "--shared")
    disk = rig.client.map(rig.address, "disk", "--path", second)
    both_live(rig)
    spread(rig, disk, "round-robin")
    rig.a.run(f"echo {'N' if fence else 'Y'} > /sys/kernel/debug/rblk/unfenced")
    found = late_write(rig, disk)
    rig.client.unmap(disk)
    assert found == ("newer" if fence else "late"), found


def unfenced(rig, device):
    """Lose the first path, and have the server not end it, as often as it is asked to, until what this returns is called."""
    rig.injects = True
    spread(rig, device, "round-robin")
    first = stuck_write(rig, device)
    fault = Fault(rig.a, "fence")
    # It is asked once a second
    rig.spawn(rig.a, f"touch /run/hold; while [ -e /run/hold ]; do echo 1 5 > {fault.path}; sleep 0.2; done")
    until(lambda: rig.a.run("test -e /run/hold", check=False).code == 0, 10, "the fault")
    rig.client("path", "drain", device, "0")
    until(lambda: active(rig) == [1], 10, lambda: paths(rig))
    return first, lambda: rig.a.run("rm /run/hold")


def test_nothing_is_sent_again_before_the_fence(rig, disk):
    """But the other path carries what is new."""
    first, end = unfenced(rig, disk)
    rig.b.run(f"dd if=/dev/zero of={disk} seek=1 bs=4k count=8 conv=notrunc oflag=direct status=none")
    assert active(rig) == [1]
    assert first.poll() is None, "it was sent again before the server had ended what it was sent on"
    end()
    assert first.wait(20).code == 0


def test_a_failure_before_the_fence_stops_all(rig, disk):
    """Whoever learns of it might write something newer, over a path on which it would be overtaken."""
    rig.server.export("other", "8M")
    other = rig.client.map(rig.address, "other")
    until(lambda: rig.client.devices()[other]["state"] == "live", BACK, "the other device")
    first, end = unfenced(rig, disk)
    rig.b.run(write(other, "one"))
    rig.client.unmap(disk, "--force")
    assert first.wait(5, check=False).code != 0
    assert active(rig) == [] and paths(rig)[1]["state"] == "live"
    second = rig.spawn(rig.b, write(other, "two"))
    rig.b.run("sleep 1")
    assert second.poll() is None
    end()
    assert second.wait(20).code == 0
    assert active(rig) == [1] and paths(rig)[1]["losses"] == 0


def opcodes(path):
    """Of the RoCEv2 packets of a capture."""
    codes = []
    for _, frame in pcap.read(path):
        if frame[12:14] == b"\x08\x00" and frame[23] == 17 and struct.unpack("!H", frame[36:38])[0] == 4791:
            codes.append(frame[42])
    return codes


def requests_of(rig, device, folder, name, count=40):
    """READs and WRITEs on the wire while so many blocks are written, and nothing is read."""
    files = [folder / f"{name}-{link}.pcap" for link in range(LINKS)]
    for link, file in enumerate(files):
        rig.relay.capture(link, file)
    rig.b.run(f"dd if=/dev/zero of={device} bs=4k count={count} conv=notrunc oflag=direct status=none")
    codes = []
    for link, file in enumerate(files):
        rig.relay.end_capture(link)
        codes += opcodes(file)
    reads, writes = codes.count(READ_REQUEST), sum(codes.count(code) for code in WRITES)
    print(f"{name}: {reads} READs, {writes} WRITEs for {count} blocks")
    assert writes >= count
    return reads


def test_write_order(rig, disk, tmp_path):
    """With two devices of the server a READ follows each WRITE; not if that is not wanted, or one path carries alone."""
    assert (setting(rig, disk, "write_order"), setting(rig, disk, "strict_writes")) == ("auto", "0")
    assert requests_of(rig, disk, tmp_path, "alone") == 0
    spread(rig, disk, "round-robin")
    assert setting(rig, disk, "strict_writes") == "1"
    assert requests_of(rig, disk, tmp_path, "auto") == 40
    setting(rig, disk, "write_order", "relaxed")
    assert (active(rig), setting(rig, disk, "strict_writes")) == ([0, 1], "0")
    assert requests_of(rig, disk, tmp_path, "relaxed") == 0
    setting(rig, disk, "policy", "preferred")
    setting(rig, disk, "write_order", "strict")
    until(lambda: setting(rig, disk, "strict_writes") == "1", 5, "strict writes")
    assert requests_of(rig, disk, tmp_path, "strict") == 40
    fio.verify(rig.b, disk, bs="64k", size="4m", iodepth=8)


def test_paths_to_one_device(rig, alike, tmp_path):
    """They carry together at once, and no WRITE needs a READ behind it."""
    assert len({path["server_device"] for path in paths(rig)}) == 1
    setting(rig, alike, "policy", "round-robin")
    assert (active(rig), setting(rig, alike, "strict_writes")) == ([0, 1], "0")
    assert requests_of(rig, alike, tmp_path, "alike") == 0
    job = verifier(rig, alike, 600)
    assert 0.4 < share(rig) < 0.6
    ended(rig, job)


def tos_of(path, port=4791):
    """Types of service of the RoCEv2 packets of a capture."""
    return {frame[15] & 0xfc for _, frame in pcap.read(path)
            if frame[12:14] == b"\x08\x00" and frame[23] == 17 and struct.unpack("!H", frame[36:38])[0] == port}


def through_sysfs(rig, device):
    """What the files of the paths say is what the tool says; what is written there holds, if it can."""
    def file(number, name):
        return f"/sys/block/{device[5:]}/rblk-path{number}/{name}"

    def shown(number, name):
        return rig.b.read(file(number, name)).strip()

    def write(number, name, value):
        return rig.b.run(f"echo {value} > {file(number, name)}", check=False).code == 0

    for number, path in enumerate(paths(rig)):
        for name in ("state", "server", "source", "rdma_device", "generation", "losses", "tos", "ack_timeout", "retry_count"):
            assert shown(number, name) == str(path[name]), (number, name)
        for name in ("active", "drained"):
            assert shown(number, name) == str(int(path[name])), (number, name)
        assert shown(number, "last_error") == (path["last_error"] or "")
    assert write(1, "ack_timeout", 15)
    until(lambda: paths(rig)[1]["generation"] == 3, BACK, lambda: paths(rig))
    both_live(rig)
    for name, value in (("tos", 256), ("ack_timeout", 7), ("ack_timeout", 23), ("retry_count", 7)):
        assert not write(1, name, value), (name, value)
    before = [path["losses"] for path in paths(rig)]
    assert write(1, "ack_timeout", 15) and write(1, "tos", 32)
    assert [path["losses"] for path in paths(rig)] == before, "nothing is new"
    # What is written while it connects holds too: it does so once more
    rig.a.run("tc qdisc replace dev net1 root netem delay 300ms")
    assert write(1, "retry_count", 2)
    until(lambda: paths(rig)[1]["state"] == "connecting", BACK, lambda: paths(rig), pause=0.01)
    assert write(1, "retry_count", 1)
    assert paths(rig)[1]["state"] == "connecting", "it was connected already"
    rig.a.run("tc qdisc del dev net1 root")
    until(lambda: paths(rig)[1]["generation"] == 5, BACK, lambda: paths(rig))
    both_live(rig)
    assert (shown(2, "state"), shown(2, "server"), write(2, "tos", 0)) == ("removed", "", False)


def test_parameters_of_a_path(rig, second, tmp_path):
    """Type of service on the wire; how soon a dead path is found out; for one path, and not for the other."""
    rig.server.export("disk", "8M")
    device = rig.client.map(rig.address, "disk", "--tos", "16")
    rig.client("path", "add", device, second, "--tos", "32", "--retry-count", "1")
    assert [(path["tos"], path["ack_timeout"], path["retry_count"]) for path in paths(rig)] == [(16, 17, 6), (32, 17, 1)]
    rig.client("path", "set", device, "1", "--ack-timeout", "14")
    until(lambda: paths(rig)[1]["generation"] == 2, BACK, lambda: paths(rig))
    both_live(rig)
    rig.client("path", "set", device, "0", "--ack-timeout", "18")
    assert [(path["ack_timeout"], path["generation"]) for path in paths(rig)] == [(18, 1), (14, 2)], "what carries I/O stays"
    through_sysfs(rig, device)
    rig.client("device", "set", device, "--policy", "round-robin")
    together(rig)
    for link, tos in enumerate((16, 32)):
        rig.relay.capture(link, tmp_path / f"{link}.pcap")
        fio.verify(rig.b, device, bs="4k", size="256k", iodepth=8)
        rig.relay.end_capture(link)
        assert tos_of(tmp_path / f"{link}.pcap") == {tos}
    job = verifier(rig, device, 600)
    rig.relay.cut(1)
    noticed = until(lambda: active(rig) == [0], 20, lambda: paths(rig), pause=0.02)
    print(f"found out after {noticed:.2f} s, with 134 ms and one retry")
    # 3.8 s without them
    assert noticed < 2.5
    rig.relay.heal(1)
    ended(rig, job)


def test_settings_in_words(rig, disk):
    """What map and device set say holds, for the session; one that contradicts is refused."""
    rig.server.export("other", "8M")
    rig.client("device", "set", disk, "--policy", "min-latency", "--write-order", "relaxed", "--no-path-timeout", "7")
    facts = rig.client.devices()[disk]
    assert (facts["policy"], facts["write_order"], facts["no_path_timeout_ms"]) == ("min-latency", "relaxed", 7000)
    assert [setting(rig, disk, name) for name in ("policy", "write_order", "no_path_timeout_ms")] == ["min-latency", "relaxed", "7000"]
    refused = rig.client("map", rig.address, "other", "--policy", "round-robin", check=False)
    assert "the session with this server has another policy" in refused.stderr
    refused = rig.client("map", rig.address, "other", "--write-order", "strict", check=False)
    assert "the session with this server has another policy, write order" in refused.stderr
    other = rig.client.map(rig.address, "other", "--policy", "min-latency", "--write-order", "relaxed")
    assert setting(rig, other, "no_path_timeout_ms") == "30000"
    rig.client.unmap(other)
    rig.client.unmap(disk)
    alone = rig.client.map(rig.address, "other", "--no-reconnect")
    refused = rig.client("device", "set", alone, "--policy", "round-robin", check=False)
    assert "the session does not reconnect" in refused.stderr
    assert rig.b.run(f"echo round-robin > /sys/block/{alone[5:]}/rblk/policy", check=False).code
    refused = rig.client("map", rig.address, "other", "--no-reconnect", "--policy", "round-robin", check=False)
    assert "not with no-reconnect" in refused.stderr
    rig.client.unmap(alone)
    strict = rig.client.map(rig.address, "other", "--write-order", "strict", "--policy", "round-robin")
    assert setting(rig, strict, "strict_writes") == "1"


def test_what_cannot_be_set(rig, disk):
    for name in ("policy", "write_order"):
        before = setting(rig, disk, name)
        for value in ("", "none", "prefer", "auto,strict", "x" * 5000):
            result = rig.b.run(f"printf '%s' '{value}' > /sys/block/{disk[5:]}/rblk/{name}", check=False)
            assert (result.code != 0) == (value != ""), (name, value)
        assert setting(rig, disk, name) == before
