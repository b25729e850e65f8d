# SPDX-License-Identifier: GPL-2.0
"""Two paths, to which something happens all the time: no number in any block ever goes back."""
import contextlib
import itertools
import random

import pytest

from _recovery import BACK, both_live, break_next_post, hurry, paths
from rblklab import sequence
from rblklab.mishaps import Mishaps
from rblklab.sequence import Sequence
from rblklab.waits import until

LINKS = 2
COUNT = {"safety": 50, "lockdep": 10, "stock": 10}
FULL_COUNT = 500
STALL = 60.0  # seconds that a request may take at the most, with all that happens and on a slow machine


def test_numbers_only_rise(rig, second, seed, request):
    rig.injects = True
    rig.expect_rnr = True  # rxe counts a READ that it cannot answer as that
    hurry(rig)
    rig.server.export("disk", "8M")
    disk = rig.client.map(rig.address, "disk", "--path", second, "--no-path-timeout", "forever")
    both_live(rig)
    mishaps = Mishaps(rig, random.Random(seed))
    count = FULL_COUNT if request.config.getoption("--full") else COUNT[rig.kind]
    size = sequence.small_reads(mishaps.rng)
    # A node whose only processor has nothing but this to do would take seconds for each command
    running = Sequence(rig, disk, seed=seed, rate=300, **size)
    told = []
    try:
        for kind in mishaps.some(count):
            told.append(mishaps.happen(kind))
            # What happens next may find one path, or both
            if mishaps.rng.randrange(3):
                mishaps.settle()
            running.note()
            assert running.alive(), running.process.result
        mishaps.settle()
        result = running.passed()
    finally:
        for number, (what, mark) in enumerate(itertools.zip_longest(told, running.marks(), fillvalue={}), 1):
            print(f"{number:3}: {what}; longest write {mark.get('write_stall')} s, read {mark.get('read_stall')} s")
    print(f"{size}: {result}")
    assert max(result["write_stall"], result["read_stall"]) < STALL, result
    rig.client.unmap(disk)


def late_writes(rig, device, running, link):
    """Writes are on their way on LINK while they are done again over the other one, and newer ones after them; then they arrive."""
    rig.relay.reorder(1.0, ms=60000, link=link, node=rig.b)
    until(lambda: rig.relay.counters()[link, rig.b.index]["waiting"] >= 4, 10, "some packets on their way", pause=0.02)
    # All requests of the checker may be under way, so somebody else has to post one
    break_next_post(rig)
    other = rig.spawn(rig.b, f"dd if={device} of=/dev/null skip=1000 bs=4k count=1 iflag=direct status=none")
    until(lambda: paths(rig)[link]["state"] != "live", 10, "the loss", pause=0.02)
    assert other.wait(20).code == 0
    before = running.mark()["writes"]
    until(lambda: running.mark()["writes"] > before + 100, 30, "newer writes", pause=0.1)
    assert rig.relay.heal(link=link, node=rig.b) >= 4


@pytest.mark.parametrize("fence", [True, False], ids=["fenced", "unfenced"])
def test_late_writes_are_found(rig, second, fence):
    """
    Without the server's fence numbers do go back: it is the fence that keeps them from it, and the checker
    that sees it. On a slow machine the server may have missed a ping and ended the path by itself.
    """
    rig.injects = True
    rig.server.export("disk", "8M", ("any",), "--shared")
    disk = rig.client.map(rig.address, "disk", "--path", second)
    both_live(rig)
    rig.a.run(f"echo {'N' if fence else 'Y'} > /sys/kernel/debug/rblk/unfenced")
    # Few blocks, which are soon written again, but not before somebody has read them
    running = Sequence(rig, disk, blocks=32, run_of=1, depth=8, rate=100)
    for number in range(2 if fence else 6):
        late_writes(rig, disk, running, number % 2)
        with contextlib.suppress(AssertionError):
            until(lambda: not running.alive(), 3, "")
            break
        both_live(rig, BACK + 10)
    if fence:
        print(running.passed())
    else:
        assert not running.alive(), "no late write was found"
        result = running.result()
        print(result)
        assert running.process.result.code == sequence.VIOLATION, result
        assert "stale: number " in result["first_violation"] and result["write_errors"] == 0, result
        both_live(rig, BACK + 10)
    rig.client.unmap(disk)
