# SPDX-License-Identifier: GPL-2.0
"""Two paths over two links: one is lost, and I/O goes on over the other."""
import pytest

from _faults import Fault
from _recovery import BACK, both_live, break_next_post, carries, counts, ended, hurry, path_of, paths, verifier
from rblklab import checks, fio
from rblklab.mishaps import down, mute, unmute, up
from rblklab.waits import until

LINKS = 2
NOTICE = 6.0  # what the transport takes to give up, and some more
CM_END = 20.0  # seconds that the fault point cm_end lets an id's end take
FAILOVER = {"safety": 2.0, "lockdep": 6.0, "stock": 2.0}  # from there to the next answer


@pytest.fixture
def disk(rig, second):
    rig.server.export("disk", "8M")
    device = rig.client.map(rig.address, "disk", "--path", second)
    both_live(rig)
    return device


LOSSES = {
    "cut": (lambda rig: rig.relay.cut(0), lambda rig: rig.relay.heal(0)),
    "client link": (lambda rig: down(rig.b, 0), lambda rig: up(rig.b, 0)),
    # Not down: rxe may then answer a READ with its last packet alone, which the client's rxe takes for success
    "server link": (lambda rig: mute(rig.a, 0), lambda rig: unmute(rig.a, 0)),
    "client device": (lambda rig: rig.b.rdma_link_delete(0), lambda rig: rig.b.rdma_link_add(0)),
    "server device": (lambda rig: rig.a.rdma_link_delete(0), lambda rig: rig.a.rdma_link_add(0)),
    "post": (break_next_post, lambda rig: None),
}


@pytest.mark.parametrize("how", LOSSES)
def test_one_path_is_lost(rig, disk, how):
    """No I/O fails, the other path notices nothing, and the lost one comes back and stands by."""
    rig.injects = how == "post"
    rig.expect_rnr = how.startswith("server")  # rxe counts a READ that it cannot answer as that
    lose, mend = LOSSES[how]
    job = verifier(rig, disk, 600)
    carries(rig, 0)
    lose(rig)
    until(lambda: paths(rig)[0]["state"] != "live" or paths(rig)[0]["generation"] > 1, NOTICE + FAILOVER[rig.kind],
          lambda: paths(rig))
    carries(rig, 1)
    assert rig.client.devices()[disk]["state"] == "live"
    mend(rig)
    # Where a link was down, rxe's connection manager may be stuck for good
    if "link" not in how:
        both_live(rig, BACK + 10)
        carries(rig, 1)
    longest = ended(rig, job)
    print(f"--- {how}: longest I/O {longest:.2f} s")
    assert longest < NOTICE + FAILOVER[rig.kind]
    other = paths(rig)[1]
    assert (other["state"], other["generation"], other["reconnects"]) == ("live", 1, 0)
    if "link" in how:
        rig.client.unmap(disk)
        for node in rig.lab.nodes:
            node.rdma_link_delete(0)
            node.rdma_link_add(0)


def test_the_end_of_a_path_takes_long(rig, disk):
    """The connection manager holds on to what it has of a link that is down: what was in flight does not wait for it."""
    rig.injects = True
    job = verifier(rig, disk, 600)
    carries(rig, 0)
    # Its end is confirmed before there is anything to be sent again: nobody else comes to do it
    faults = [Fault(rig.b, point) for point in ("sweep", "cm_end")]
    for fault in faults:
        fault.order(1)
    break_next_post(rig)
    carries(rig, 1)
    assert paths(rig)[0]["state"] in ("failed", "fenced"), "it ended too early to show anything"
    both_live(rig, BACK + 2 * CM_END)
    assert [fault.seen()[1] for fault in faults] == [1, 1]
    longest = ended(rig, job)
    print(f"--- longest I/O {longest:.2f} s")
    assert longest < 1 + NOTICE + FAILOVER[rig.kind]


def test_turn_by_turn(rig, disk):
    """Twenty losses, each of the path that carries the I/O just then."""
    rig.injects = True
    hurry(rig)
    before = counts(rig)
    job = verifier(rig, disk, 600)
    for number in range(20 if rig.kind == "safety" else 6):
        generations = [path["generation"] for path in paths(rig)]
        break_next_post(rig)
        until(lambda: paths(rig)[number % 2]["generation"] > generations[number % 2], BACK, lambda: paths(rig))
        both_live(rig)
        assert paths(rig)[1 - number % 2]["generation"] == generations[1 - number % 2]
    job.kill()
    until(lambda: counts(rig) == before, 5, lambda: (before, counts(rig)))
    fio.verify(rig.b, disk, bs="64k", size="4m", iodepth=8)
    session, = rig.server.json("session", "list")["server_sessions"]
    assert len(session["paths"]) == 2


def test_both_are_lost_and_come_back(rig, disk):
    job = verifier(rig, disk, 600)
    rig.relay.cut()
    until(lambda: rig.client.devices()[disk]["state"] == "recovering", 30, lambda: rig.client.devices()[disk])
    rig.relay.heal()
    both_live(rig, 60)
    assert rig.client.devices()[disk]["state"] == "live"
    print(f"longest I/O {ended(rig, job):.1f} s")


def test_one_that_stands_by_dies(rig, disk):
    """It carries nothing, and is found dead all the same, before it is needed; the active one notices nothing."""
    job = verifier(rig, disk, 600)
    rig.relay.cut(1)
    until(lambda: paths(rig)[1]["state"] != "live", 2 * BACK, lambda: paths(rig))
    assert rig.client.devices()[disk]["state"] == "live"
    rig.relay.heal(1)
    both_live(rig, 40)
    carries(rig, 0)
    ended(rig, job)
    assert (paths(rig)[0]["generation"], paths(rig)[0]["last_error"]) == (1, None)


def test_the_first_path_is_dead_from_the_start(rig, second):
    """The second one makes the device; the first one comes up when it can, and stands by."""
    rig.server.export("disk", "8M")
    rig.relay.cut(0)
    device = rig.client.map(rig.address, "disk", "--path", second, "--timeout", "20")
    job = verifier(rig, device, 600)
    carries(rig, 1)
    assert paths(rig)[0]["state"] != "live"
    rig.relay.heal(0)
    both_live(rig, 40)
    carries(rig, 1)
    job.kill()


def test_a_device_that_is_mapped_later_is_on_both(rig, second, disk):
    rig.injects = True
    rig.server.export("other", "8M")
    rig.server.export("third", "8M")
    other = rig.client.map(rig.address, "other")
    until(lambda: registered(rig) == [2, 2], BACK, lambda: registered(rig))
    assert [export["writers"] for export in rig.server.json("export", "list")["exports"]] == [1, 1, 0], "a session is one writer"
    job = verifier(rig, other, 600)
    break_next_post(rig)
    until(lambda: paths(rig)[0]["generation"] == 2, BACK, lambda: paths(rig))
    both_live(rig)
    carries(rig, 1)
    third = rig.client.map(second, "third")
    until(lambda: registered(rig) == [3, 3], BACK, lambda: registered(rig))
    carries(rig, 1)
    job.kill()
    fio.verify(rig.b, third, bs="4k", size="1m", iodepth=8)
    rig.client.unmap(third)
    rig.client.unmap(other)
    until(lambda: registered(rig) == [1, 1], BACK, lambda: registered(rig))


def registered(rig):
    """Exports that the server has registered with each of its devices; these are of one extent."""
    now = rig.a.rdma_counts()
    return [now[name]["mr"] - rig.baseline[rig.a][name]["mr"] for name in sorted(now)]


def served(rig):
    return [path for session in rig.server.json("session", "list")["server_sessions"] for path in session["paths"]]


def test_both_are_lost_for_longer_than_io_waits(rig, disk):
    """I/O fails then, and goes on when the first of them is back, whichever it is."""
    rig.b.run(f"echo 0 > /sys/block/{disk[5:]}/rblk/no_path_timeout_ms")
    job = rig.spawn(rig.b, f"while dd if=/dev/zero of={disk} bs=4k count=1 oflag=direct; do :; done")
    rig.relay.cut()
    job.wait(60)
    assert rig.client.devices()[disk]["state"] == "failed"
    rig.relay.heal(1)
    until(lambda: rig.client.devices()[disk]["state"] == "live", 60, lambda: (paths(rig), rig.client.devices()[disk]))
    assert paths(rig)[1]["state"] == "live"
    fio.verify(rig.b, disk, bs="4k", size="1m", iodepth=8)


def test_another_client_is_kept_out(rig, disk):
    """As long as one path of the writer stands."""
    refused = rig.client("map", rig.address, "disk", "--client-name", "other", check=False)
    assert "another client has the export open for writing" in refused.stderr
    rig.relay.cut(0)
    until(lambda: len(served(rig)) == 1, 30, lambda: served(rig))
    refused = rig.client("map", rig.a.ports[1].ipv4, "disk", "--client-name", "other", check=False)
    assert "another client has the export open for writing" in refused.stderr


def test_an_export_is_withdrawn(rig, disk):
    """On both paths, which stay."""
    rig.server("export", "remove", "disk", "--force")
    until(lambda: rig.client.devices()[disk]["state"] == "failed", 15, lambda: rig.client.devices()[disk])
    assert rig.client.devices()[disk]["reason"] == "the server withdrew the export"
    assert [(path["state"], path["generation"]) for path in paths(rig)] == [("live", 1)] * 2
    rig.client.unmap(disk)
    checks.server_forgets(rig)


def test_paths_that_are_none(rig, second):
    """Between the same addresses, or to another server: refused with the reason, and the other path serves."""
    rig.server.export("disk", "8M")
    same = rig.client.map(rig.address, "disk", "--path", f"{rig.address}@{rig.b.ports[0].ipv4}")
    until(lambda: paths(rig)[1]["last_error"], BACK, lambda: paths(rig))
    assert paths(rig)[1]["last_error"] == "another path of the session lies between the same addresses"
    fio.verify(rig.b, same, bs="4k", size="1m", iodepth=8)
    rig.client.unmap(same)

    rig.b.insmod("rblk-server")
    rig.client.export("disk", "8M")
    rig.client.listen(rig.b.ports[1].ipv4)
    other = rig.client.map(rig.address, "disk", "--path", rig.b.ports[1].ipv4)
    until(lambda: paths(rig)[1]["last_error"], BACK, lambda: paths(rig))
    assert paths(rig)[1]["last_error"] == "it leads to another server than the other paths of the session"
    fio.verify(rig.b, other, bs="4k", size="1m", iodepth=8)
    # With nobody to contradict it, it must not be taken for the server that has lost its memory
    rig.relay.cut(0)
    read = rig.spawn(rig.b, f"dd if={other} of=/dev/null bs=4k count=1 iflag=direct")
    until(lambda: paths(rig)[0]["state"] != "live", 15, lambda: paths(rig))
    tries = paths(rig)[1]["generation"]
    until(lambda: paths(rig)[1]["generation"] > tries + 1, 40, lambda: paths(rig))
    rig.relay.heal(0)
    assert read.wait(60).code == 0
    assert rig.client.devices()[other]["state"] == "live"
    rig.client.unmap(other)


def late_write(rig, device):
    """A write's packets come after it was done again, and overwritten, over the other path; what is read then."""
    def write(text):
        return f"printf {text} | dd of={device} bs=512 conv=sync,notrunc oflag=direct status=none"

    rig.b.run(write("zero"))
    rig.relay.reorder(1.0, ms=60000, link=0, node=rig.b)
    first = rig.spawn(rig.b, write("late"))
    until(lambda: rig.relay.counters()[0, rig.b.index]["waiting"], 10, "a packet on its way", pause=0.02)
    Fault(rig.b, "post").order(1, 5)
    second = rig.spawn(rig.b, f"dd if={device} skip=1 of=/dev/null bs=4k count=1 iflag=direct status=none")
    until(lambda: paths(rig)[0]["state"] != "live", 10, "the loss", pause=0.02)
    assert [job.wait(20).code for job in (first, second)] == [0, 0], "they are sent again"
    rig.b.run(write("newer"))
    assert rig.relay.counters()[0, rig.b.index]["waiting"]
    rig.relay.heal(link=0, node=rig.b)
    rig.b.run("sleep 1")
    found = rig.b.run(f"dd if={device} bs=8 count=1 iflag=fullblock status=none | tr -d '\\0'").stdout
    assert paths(rig)[1]["generation"] == 1
    both_live(rig, BACK + 10)
    return found


@pytest.mark.parametrize("fence", [True, False], ids=["fenced", "unfenced"])
def test_late_writes_do_not_land(rig, second, fence):
    """With the server's fence; without it they do, which shows that this test would find it."""
    rig.injects = True
    rig.server.export("disk", "8M", ("any",), "--shared")
    disk = rig.client.map(rig.address, "disk", "--path", second)
    both_live(rig)
    rig.a.run(f"echo {'N' if fence else 'Y'} > /sys/kernel/debug/rblk/unfenced")
    found = late_write(rig, disk)
    rig.client.unmap(disk)
    assert found == ("newer" if fence else "late"), found
    # By the fence, and not as the client answered no ping
    log = rig.a.console.text(rig.marks[rig.a])
    assert ("the client goes on without it" in log) == fence and "takes no messages" not in log


def test_swapped_paths_agree(rig, second):
    """Further maps need not name the paths; ones that the session has not are refused."""
    rig.server.export("disk", "8M")
    rig.server.export("other", "8M")
    rig.client.map(rig.address, "disk", "--path", second)
    rig.client.unmap(rig.client.map(second, "other", "--path", rig.address))
    refused = rig.client("map", rig.address, "other", "--path", f"{second}@{rig.b.ports[1].ipv4}", check=False)
    assert "the session with this server has other paths" in refused.stderr
    assert path_of(rig, 1)["server"].startswith(second)
