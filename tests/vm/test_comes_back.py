# SPDX-License-Identifier: GPL-2.0
"""An RDMA device goes and comes back under another name, or an address goes and comes back, under I/O that is verified.

    --full          20 rounds on each side instead of 3
"""
import pytest

from _recovery import BACK, path_of
from rblklab import checks
from rblklab.clock import moments
from rblklab.removal import LINK, SIDES, Removal
from rblklab.sequence import Sequence
from rblklab.waits import counts_return, until

ROUNDS, FULL = 3, 20
NOTICE = 15.0  # an address that is gone is noticed by what is not answered any more


@pytest.fixture
def removal(rig):
    gone = Removal(rig)
    yield gone
    gone.restore()


@pytest.fixture
def disk(rig, removal):
    rig.client.reconnect = True
    rig.server.export("disk", "8M")
    return rig.client.map(rig.address, "disk", "--no-path-timeout", "forever")


def works_again(rig, running, generation):
    """The path is back, and what waited goes on."""
    until(lambda: path_of(rig)["state"] == "live" and path_of(rig)["generation"] > generation, BACK + 15, lambda: path_of(rig))
    before = running.mark()["writes"]
    until(lambda: running.mark()["writes"] > before + 50, 20, "writes", node=rig.b)


def rounds(request):
    return FULL if request.config.getoption("--full") else ROUNDS


@pytest.mark.parametrize("side", SIDES)
def test_device_under_another_name(rig, removal, disk, side, request):
    rng = moments()
    node = removal.node(side)
    running = Sequence(rig, disk, rate=200, depth=16, run_of=1)  # a READ is one packet, see sequence.small_reads()
    for number in range(rounds(request)):
        generation = path_of(rig)["generation"]
        removal.take(node, LINK)
        node.run(f"sleep {rng.choice((0, 0.3, 2))}")
        name = removal.give(node)
        works_again(rig, running, generation)
        if side == "server":
            checks.listens(rig, name)
    print(f"--- {side}: {running.passed()}, {path_of(rig)}")
    assert path_of(rig)["losses"] == rounds(request)
    rig.client.unmap(disk)
    nothing_is_kept(rig)


def nothing_is_kept(rig):
    """Both ends have let go of everything; the device of one has another name than at the beginning."""
    checks.nothing_left(rig)
    before = rig.baseline
    try:
        for node in rig.lab.nodes:
            rig.baseline = {**before, node: dict(zip(node.rdma_counts(), before[node].values()))}
            counts_return(rig, node)
    finally:
        rig.baseline = before


@pytest.mark.parametrize("side", SIDES)
def test_addresses_are_flushed(rig, removal, disk, side, request):
    """All addresses of the interface go, and come back after a while that is long enough to notice or is not."""
    rng = moments()
    rig.expect_rnr = True  # rxe counts a READ that it cannot answer as that
    node = removal.node(side)
    port = node.ports[0]
    add = f"ip addr add {port.ipv4}/24 dev net0; ip addr add {port.ipv6}/64 dev net0 nodad"
    running = Sequence(rig, disk, rate=200, depth=16, run_of=1)  # a READ is one packet, see sequence.small_reads()
    for number in range(rounds(request)):
        generation = path_of(rig)["generation"]
        node.run("ip addr flush dev net0")
        short = number % 3 == 2
        if short:
            node.run(f"sleep {rng.uniform(0, 1):.2f}")
        else:
            until(lambda: path_of(rig)["state"] != "live", NOTICE, lambda: path_of(rig), node=rig.b)
        node.run(add)
        works_again(rig, running, generation if not short else 0)
        until(lambda: rig.address in checks.listeners(rig), 20, "the listener")
    print(f"--- {side}: {running.passed()}, {path_of(rig)}")
    rig.client.unmap(disk)
    checks.nothing_left(rig)
