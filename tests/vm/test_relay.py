# SPDX-License-Identifier: GPL-2.0
"""What the relay is told happens between nodes: frames are lost, or late, and counted."""
import pytest

from rblklab import fio, pcap, rblk
from rblklab.waits import timed, took, works

TIMEOUT = 5
SLACK = 5.0
LATE = 1.5  # below the time after which a path is lost
LINK = 0
ROCE = (4791).to_bytes(2, "big")
SIZE = 256 << 10  # what works() writes and reads


def moved(before, now, name):
    """By how much a counter has, of A's frames and of B's."""
    return tuple(now[LINK, node][name] - before[LINK, node][name] for node in (1, 2))


@pytest.mark.parametrize("side", ["link", "server", "client"])
def test_no_map_over_a_link_that_is_cut(rig, side):
    rig.server.export("disk", "8M")
    rig.relay.cut(LINK, {"link": None, "server": rig.a, "client": rig.b}[side])
    before = rig.relay.counters()
    refused = rig.b.run(timed(rig.client.command("map", rig.address, "disk", "--timeout", str(TIMEOUT))), check=False)
    assert refused.code == rblk.UNREACHABLE and took(refused) < TIMEOUT + SLACK, refused
    dropped = dict(zip(("server", "client"), moved(before, rig.relay.counters(), "dropped")))
    assert dropped["server" if side == "server" else "client"] > 0, dropped
    assert side == "link" or 0 in dropped.values(), f"the other direction was cut too: {dropped}"
    rig.relay.heal()
    works(rig, rig.address, "disk")


def test_a_read_whose_answer_is_held_ends_when_it_is_released(rig):
    rig.server.export("disk", "8M")
    device = rig.client.map(rig.address, "disk")
    rig.relay.hold(LINK, rig.a)
    read = rig.spawn(rig.b, timed(f"dd if={device} of=/dev/null bs=4k count=1 iflag=direct status=none"))
    # The server's pings are held too, and the node may be slow to begin
    rig.b.run(f"until read -r reading rest < /sys/block/{device[5:]}/inflight && [ $reading = 1 ]; do sleep 0.1; done; sleep {LATE}")
    assert rig.relay.counters()[LINK, 1]["holding"]
    assert read.poll() is None, "the answer came though it was held"
    assert rig.relay.release(LINK, rig.a) > 0
    assert took(read.wait(20)) > LATE
    fio.verify(rig.b, device, bs="4k", size="256k", iodepth=8)
    rig.client.unmap(device)


def test_frames_are_counted_and_captured(rig, tmp_path):
    rig.server.export("disk", "8M")
    before = rig.relay.counters()
    rig.relay.capture(LINK, tmp_path / "link.pcap")
    works(rig, rig.address, "disk")
    captured = rig.relay.end_capture(LINK)
    now = rig.relay.counters()
    assert min(moved(before, now, "bytes")) > SIZE
    frames = [frame for _, frame in pcap.read(tmp_path / "link.pcap")]
    assert captured == len(frames) <= sum(moved(before, now, "frames"))
    for node in (rig.a, rig.b):
        # From this node, IPv4 and UDP, for RoCE's port
        sent = [frame for frame in frames if frame[6:12] == bytes.fromhex(node.ports[LINK].mac.replace(":", ""))
                and frame[12:14] == b"\x08\x00" and frame[23] == 17 and frame[36:38] == ROCE]
        assert sum(map(len, sent)) > SIZE, f"{node}: {len(sent)} frames of RoCE"
    for name in ("dropped", "duplicated", "delayed", "reordered", "held", "overflowed"):
        assert moved(before, now, name) == (0, 0), name


@pytest.mark.parametrize("turn", ["first", "second"])
def test_what_a_scenario_leaves_is_healed_for_the_next(rig, turn, tmp_path):
    rig.server.export("disk", "8M")
    works(rig, rig.address, "disk")
    rig.client.map(rig.address, "disk")
    rig.relay.capture(LINK, tmp_path / f"{turn}.pcap")
    rig.relay.hold(LINK, rig.b)
    rig.relay.cut(LINK, rig.a)
