# SPDX-License-Identifier: GPL-2.0
"""The network below changes: addresses and routes go and come, neighbours are forgotten."""
import contextlib

import pytest

from rblklab import fio, rblk
from rblklab.waits import busy, counts_return, sessions_end, timed, took, until, works

RETRIES = 20.0  # documented: about 4 s, 30 s if the block layer had to do it; and the machine may be slow
QUESTION = 10.0
TIMEOUT = 5
SLACK = 5.0
MAPS = 20


@contextlib.contextmanager
def changed(node, change, back):
    """The network of NODE is changed meanwhile, and as it was for the next scenario however this one ends."""
    node.run(change)
    try:
        yield
    finally:
        node.run(back)


def no_map(rig):
    """A map that needs new connections is refused in its own time."""
    words = ("map", rig.address, "other", "--client-name", "other", "--timeout", str(TIMEOUT))
    refused = rig.b.run(timed(rig.client.command(*words)), check=False)
    assert refused.code == rblk.UNREACHABLE and took(refused) < TIMEOUT + SLACK, refused
    print(refused.stderr)


def listening(rig):
    return all(item["state"] == "listening" for item in rig.server.json("listen", "list")["listeners"])


@pytest.mark.parametrize("side", ["client", "server"])
def test_address_removed(rig, side):
    """
    RoCE names a port by its addresses, and drops what comes for one it does not have.
    Over rxe, which takes a retry count of 7 as 'for ever', I/O failed after 30 s and
    the server's end of a dead client stayed for 40. The first reads that a server without
    its address cannot answer rxe refuses as if a receive were missing (read_reply()).
    """
    rig.expect_rnr = side == "server"
    for name in ("disk", "other"):
        rig.server.export(name, "8M")
    device = rig.client.map(rig.address, "disk")
    job = busy(rig, device)
    node = rig.b if side == "client" else rig.a
    address = f"{node.ports[0].ipv4}/24 dev net0"
    with changed(node, f"ip addr del {address}", f"ip addr add {address}"):
        assert job.wait(RETRIES, check=False).code != 0, "fio must see an error"
        assert rig.client.devices()[device]["state"] == "failed"
        no_map(rig)
        assert took(rig.b.run(timed(rig.client.command("unmap", device)))) < QUESTION + SLACK
        counts_return(rig, rig.b)
        print(f"server's sessions gone after {sessions_end(rig, RETRIES):.0f} s")
    until(lambda: listening(rig), 15, "the listener")
    works(rig, rig.address, "other")


@pytest.mark.parametrize("side", ["client", "server"])
def test_route_removed(rig, side):
    """
    A connection keeps the way that it found; none is made without a route, on either
    side of it. A server without one was 'not an rblk server': its CM refuses with zeroes.
    """
    for name in ("disk", "other"):
        rig.server.export(name, "8M")
    device = rig.client.map(rig.address, "disk")
    job = busy(rig, device)
    node = rig.b if side == "client" else rig.a
    route = "10.77.0.0/24 dev net0"
    with changed(node, f"ip route del {route}", f"ip route add {route} proto kernel scope link src {node.ports[0].ipv4}"):
        no_map(rig)
        assert job.poll() is None, "I/O stopped with the route"
        assert rig.client.devices()[device]["state"] == "live"
        assert took(rig.b.run(timed(rig.client.command("unmap", device, "--force")))) < QUESTION + SLACK
        assert job.wait(RETRIES, check=False).code != 0, "fio must see an error"
        sessions_end(rig, RETRIES)
        counts_return(rig, rig.a)
    works(rig, rig.address, "other")


@pytest.mark.parametrize("side", ["client", "server"])
def test_neighbour_moves(rig, side):
    """
    The RDMA CM reports a connection as unreachable when its neighbour gets another
    hardware address. That ended a path for good that the transport would have kept.
    """
    rig.server.export("disk", "8M")
    device = rig.client.map(rig.address, "disk")
    job = busy(rig, device)
    node, other = (rig.b, rig.a) if side == "client" else (rig.a, rig.b)
    peer = f"{other.ports[0].ipv4} dev net0"
    for _ in range(3):
        node.run(f"ip neigh replace {peer} lladdr 02:00:00:00:00:99 nud reachable; sleep 0.3; "
                 f"ip neigh replace {peer} lladdr {other.ports[0].mac} nud reachable; sleep 0.3")
    node.run(f"ip neigh del {peer}")
    rig.b.run(f"dd if={device} of=/dev/null bs=4k count=16 iflag=direct")
    assert job.poll() is None and rig.client.devices()[device]["state"] == "live"
    job.kill()
    rig.client.unmap(device)
    works(rig, rig.address, "disk")


def test_neighbours_churn_while_connecting(rig):
    """
    Maps while both nodes forget each other again and again. Each map is whole or refused,
    and when it is over they work. Another hardware address is another matter: at that the
    RDMA CM reports each connection to the neighbour as unreachable (cma_netevent_callback()).
    """
    rig.server.export("disk", "8M")
    churn = []
    for node, other in ((rig.a, rig.b), (rig.b, rig.a)):
        peer = f"{other.ports[0].ipv4} dev net0"
        churn.append(rig.spawn(node, f"""
            for i in $(seq 100000); do
                [ -e /run/enough ] && exit 0
                ip neigh flush dev net0
                ip neigh replace {peer} lladdr {other.ports[0].mac} nud stale; sleep 0.0$((i % 10))
                ip neigh del {peer}; sleep 0.$((i % 4))
            done"""))
    loop = f"""
        for i in $(seq {MAPS}); do
            ({timed(rig.client.command('map', rig.address, 'disk', '--timeout', str(TIMEOUT)))}) 2>/run/said >/run/device
            code=$?
            echo $code $(tail -1 /run/said) $(head -1 /run/said)
            [ $code = 0 ] || continue
            dd if=$(cat /run/device) of=/dev/null bs=64k count=4 iflag=direct 2>/dev/null || echo read failed
            {rig.client.command('unmap', 'all')} >/dev/null || exit 1
        done"""
    lines = rig.b.run(loop, timeout=MAPS * (TIMEOUT + 2 * QUESTION)).stdout.splitlines()
    codes = []
    for line in lines:
        if line == "read failed":
            continue
        code, begin, end, *words = line.split()
        codes.append(int(code))
        print(line) if codes[-1] else None
        assert float(end) - float(begin) < TIMEOUT + QUESTION + SLACK, line
        assert codes[-1] in (0, rblk.UNREACHABLE, rblk.BUSY), line
    assert len(codes) == MAPS and codes.count(0) > MAPS / 4, codes
    for node, process in zip((rig.a, rig.b), churn):
        node.run("touch /run/enough")
        assert process.wait(30).code == 0
        node.run("rm /run/enough")
        other = rig.b if node is rig.a else rig.a
        node.run(f"ip neigh del {other.ports[0].ipv4} dev net0", check=False)
    assert not rig.client.devices() and not rig.client.json("session", "list")["client_sessions"]
    sessions_end(rig, 35)
    device = rig.client.map(rig.address, "disk")
    fio.verify(rig.b, device, bs="4k", size="256k", iodepth=8)
