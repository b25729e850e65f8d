# SPDX-License-Identifier: GPL-2.0
"""Links that come and go by turns, and links that lose packets and change their order, for minutes.

    --full          5 minutes each instead of 30 s
"""
import time

import pytest

from _recovery import both_live, break_next_post, paths
from rblklab import sequence
from rblklab.clock import moments
from rblklab.mishaps import Mishaps
from rblklab.sequence import Sequence

LINKS = 2
SECONDS, FULL = 30, 300
FLAP = 2.0  # from one link's loss to that of the other
DEPTH = 64
STALL = {"safety": 15.0, "lockdep": 30.0, "stock": 15.0}  # of a request; no path is lost for so long


@pytest.fixture
def seconds(request):
    return FULL if request.config.getoption("--full") else SECONDS


@pytest.fixture
def disk(rig):
    rig.injects = True
    rig.expect_rnr = True  # rxe counts a READ that it cannot answer as that
    rig.client.reconnect = True
    address = rig.a.ports[1].ipv4
    rig.server.listen(address)
    rig.server.export("disk", "8M")
    device = rig.client.map(rig.address, "disk", "--path", address)
    both_live(rig)
    return device


def whole_again(rig, running, rng):
    """No request failed or waited for long, no number went back, no path is stuck, and each of them carries I/O."""
    rig.relay.heal()
    Mishaps(rig, rng).settle()
    result = running.passed()
    print(result, paths(rig))
    assert max(result["write_stall"], result["read_stall"]) < STALL[rig.kind], result
    return result


@pytest.mark.parametrize("lost", [False, True], ids=["in-time", "lost"])
def test_links_flap_by_turns(rig, disk, seed, seconds, lost):
    """
    Every 2 s one of the links is gone, for most of that time; the transport sends again what was lost with it.
    Or the path that carries the I/O is lost with its link each time, and has to come back over it.
    """
    rng = moments()
    running = Sequence(rig, disk, seed=seed, depth=DEPTH, blocks=512, rate=300, run_of=1)
    flaps = 0
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        link = flaps % 2
        rig.relay.cut(link)
        if lost:
            break_next_post(rig)
        time.sleep(rng.uniform(0.5, 0.95) * FLAP)
        rig.relay.heal(link)
        assert running.alive(), running.process.result
        flaps += 1
        time.sleep(max(0.0, ends - seconds + flaps * FLAP - time.monotonic()))
    losses = [path["losses"] for path in paths(rig)]
    print(f"--- {flaps} flaps, paths lost {losses} times")
    assert flaps > seconds / FLAP / 2
    # A post that is to fail finds one path only, and not the one that is just being made
    assert not lost or sum(losses) >= flaps / 3, losses
    whole_again(rig, running, rng)


def test_loss_and_another_order(rig, disk, seed, seconds):
    """
    Of a hundred packets three are lost, and some are passed by others, on both links. What this does to a READ of several
    packets is a matter of rxe (see Documentation/testing.md), so none is larger than a packet.
    """
    rng = moments()
    rig.relay.loss(0.03)
    rig.relay.reorder(0.03, ms=5)
    running = Sequence(rig, disk, seed=seed, depth=DEPTH, blocks=512, rate=300, block_size=sequence.PACKET, run_of=1)
    before = rig.relay.counters()
    for _ in range(seconds // 10):
        time.sleep(10)
        assert running.alive(), running.process.result
    after = rig.relay.counters()
    moved = {what: sum(port[what] - before[where][what] for where, port in after.items()) for what in ("frames", "dropped", "reordered")}
    print(f"--- {moved}, paths lost {[path['losses'] for path in paths(rig)]} times")
    assert moved["dropped"] > moved["frames"] / 100 and moved["reordered"] > moved["frames"] / 100, moved
    whole_again(rig, running, rng)
