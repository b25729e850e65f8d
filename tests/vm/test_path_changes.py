# SPDX-License-Identifier: GPL-2.0
"""An administrator adds, removes and drains paths of a session that is in use."""
import pytest

from _faults import Fault
from _recovery import BACK, break_next_post, carries, counts, ended, hurry, paths, verifier
from rblklab import fio, rblk
from rblklab.waits import timed, took, until

LINKS = 2
# The number-th pass of a fault point: of the control connection, and of an I/O connection
STEPS = [(point, number) for point in ("cm_id", "addr", "route", "cq", "qp", "connect") for number in (1, 2)] + [("pd", 1)]
SWITCH = {"safety": 1.5, "lockdep": 4.0, "stock": 1.5}  # longest I/O when the path is drained


@pytest.fixture
def single(rig, second):
    """A device with one path."""
    rig.server.export("disk", "8M")
    return rig.client.map(rig.address, "disk")


@pytest.fixture
def double(rig, single, second):
    """A device with two."""
    rig.client("path", "add", single, second)
    return single


def state(rig, number):
    """Of the path of a number; None if there is none."""
    return next((path for path in paths(rig) if path["index"] == number), None)


def live(rig, number, limit=BACK):
    until(lambda: state(rig, number)["state"] == "live", limit, lambda: paths(rig))


def active(rig):
    return [path["index"] for path in paths(rig) if path["active"]]


def refused(rig, *words):
    result = rig.client(*words, check=False)
    assert result.code, words
    return result.code, result.stderr


def test_drain_and_undrain(rig, double):
    """The I/O goes over to the other path at once, and stays there; no request fails or is sent twice."""
    job = verifier(rig, double, 600, iodepth=64)
    carries(rig, 0)
    assert active(rig) == [0]
    rig.client("path", "drain", double, "0")
    assert active(rig) == [1]
    carries(rig, 1)
    live(rig, 0)
    assert state(rig, 0)["drained"] and not state(rig, 1)["drained"]
    assert (state(rig, 0)["losses"], state(rig, 0)["in_flight"]) == (1, 0)
    assert (state(rig, 1)["losses"], state(rig, 1)["generation"]) == (0, 1)
    rig.client("path", "drain", double, "0")  # it is

    code, why = refused(rig, "path", "drain", double, "1")
    assert code == rblk.BUSY and "no other path could carry the I/O now" in why
    carries(rig, 1)
    rig.client("path", "undrain", double, "0")
    carries(rig, 1)
    rig.client("path", "drain", double, "1")
    carries(rig, 0)
    longest = ended(rig, job)
    print(f"longest I/O {longest:.2f} s")
    assert longest < SWITCH[rig.kind]


def test_io_stays_off_a_drained_path(rig, double):
    """Also when it is the only one left: then I/O waits for the other."""
    rig.injects = True
    rig.client("path", "drain", double, "0")
    live(rig, 0)
    job = verifier(rig, double, 600)
    rig.relay.cut(1)
    until(lambda: rig.client.devices()[double]["state"] == "recovering", 30, lambda: paths(rig))
    assert (active(rig), state(rig, 0)["state"]) == ([], "live")
    rig.client("path", "undrain", double, "0")
    carries(rig, 0)
    rig.client("path", "drain", double, "0", "--force")
    until(lambda: state(rig, 0)["state"] == "live", BACK, lambda: paths(rig))
    assert active(rig) == []
    assert rig.client.devices()[double]["state"] == "recovering"
    assert rig.client.devices()[double]["reason"]
    rig.relay.heal(1)
    live(rig, 1, 40)
    carries(rig, 1)
    ended(rig, job)


def test_add_and_remove(rig, single, second):
    """Round and round under I/O; the numbers of those that were removed are used again."""
    hurry(rig)
    before = counts(rig)
    job = verifier(rig, single, 600)
    carries(rig, 0)
    for _ in range(6 if rig.kind == "safety" else 2):
        added = rig.client.json("path", "add", single, second)
        assert added["path"] == 1
        rig.client("path", "remove", single, "0")
        assert [path["index"] for path in paths(rig)] == [1]
        carries(rig, 1)
        assert rig.client.devices()[single]["server"].startswith(second)
        assert rig.client.json("path", "add", single, rig.address)["path"] == 0
        rig.client("path", "remove", single, "1")
        carries(rig, 0)
    code, why = refused(rig, "path", "remove", single, "0", "--force")
    assert code and "it is the last path of the session" in why
    assert ended(rig, job) < SWITCH[rig.kind]
    until(lambda: counts(rig) == before, 5, lambda: (before, counts(rig)))
    session, = rig.server.json("session", "list")["server_sessions"]
    assert len(session["paths"]) == 1


def test_an_added_path_is_for_failover(rig, single, second):
    rig.injects = True
    rig.server.export("other", "8M")
    other = rig.client.map(rig.address, "other")
    rig.client("path", "add", other, second)
    job = verifier(rig, single, 600)
    break_next_post(rig)
    until(lambda: active(rig) == [1], BACK, lambda: paths(rig))
    carries(rig, 1)
    live(rig, 0)
    assert ended(rig, job) < SWITCH[rig.kind]
    fio.verify(rig.b, other, bs="4k", size="1m", iodepth=8)


def test_what_cannot_be_added(rig, single, second):
    """It leaves nothing behind, and the session goes on."""
    job = verifier(rig, single, 600)
    code, why = refused(rig, "path", "add", single, rig.address)
    assert code == rblk.BUSY and "the session has this path already" in why
    _, why = refused(rig, "path", "add", single, f"{rig.address}@{rig.b.ports[0].ipv4}")
    assert "another path of the session lies between the same addresses" in why
    code, why = refused(rig, "path", "add", single, f"{second}:7", "--timeout", "5")
    assert code == rblk.UNREACHABLE, why
    code, why = refused(rig, "path", "add", "rblk7", second)
    assert code == rblk.NOT_FOUND and "no such device" in why
    for word in ("drain", "undrain", "remove"):
        code, why = refused(rig, "path", word, single, "1")
        assert code == rblk.NOT_FOUND and "no path of this number" in why

    rig.b.insmod("rblk-server")
    rig.client.export("disk", "8M")
    rig.client.listen(rig.b.ports[1].ipv4)
    _, why = refused(rig, "path", "add", single, rig.b.ports[1].ipv4)
    assert "it leads to another server than the other paths of the session" in why
    assert [path["index"] for path in paths(rig)] == [0]
    assert active(rig) == [0]
    ended(rig, job)
    rig.client.unmap(single)

    rig.client.reconnect = False
    alone = rig.client.map(rig.address, "disk")
    for words in (("add", alone, second), ("drain", alone, "0", "--force"), ("remove", alone, "0", "--force")):
        _, why = refused(rig, "path", *words)
        assert "the session does not reconnect" in why or "it is the last path" in why
    fio.verify(rig.b, alone, bs="4k", size="256k", iodepth=8)


@pytest.fixture
def further(rig):
    """Seven more subnets on the first link; the server's addresses in them."""
    def each(order):
        rig.a.run("; ".join(f"ip addr {order} 10.78.{number}.1/24 dev net0" for number in range(1, 8)))
        rig.b.run("; ".join(f"ip addr {order} 10.78.{number}.2/24 dev net0" for number in range(1, 8)))

    each("add")
    yield [f"10.78.{number}.1" for number in range(1, 8)]
    each("del")


def test_eight_and_no_more(rig, single, further):
    for number, address in enumerate(further, 1):
        rig.server.listen(address)
        assert rig.client.json("path", "add", single, address)["path"] == number
    rig.server.listen(rig.a.ports[0].ipv6)
    code, why = refused(rig, "path", "add", single, rig.a.ports[0].ipv6)
    assert code and "as many paths as it can have" in why
    fio.verify(rig.b, single, bs="4k", size="1m", iodepth=8)
    for number in range(7):
        rig.client("path", "remove", single, str(number))
        fio.verify(rig.b, single, bs="4k", size="256k", iodepth=8)
    assert active(rig) == [7]
    rig.client.unmap(single)
    for address in further:
        rig.server("listen", "remove", address)


@pytest.mark.parametrize("word", ["drain", "remove"])
def test_a_path_that_is_dead_and_nobody_knows(rig, double, word):
    """Its requests do not end by themselves: they are done on the other one, and the command returns."""
    job = verifier(rig, double, 600)
    carries(rig, 0)
    rig.relay.cut(0)
    asked = rig.b.run(timed(rig.client.command("path", word, double, "0")))
    assert took(asked) < 12
    carries(rig, 1)
    assert active(rig) == [1]
    rig.relay.heal(0)
    if word == "drain":
        live(rig, 0, 40)
    assert ended(rig, job) < 8
    assert state(rig, 1)["generation"] == 1


@pytest.mark.parametrize("word", ["drain", "remove"])
def test_the_other_path_is_dead_and_nobody_knows(rig, double, word):
    """It is probed first, and does not answer: then all stays as it was."""
    job = verifier(rig, double, 600)
    carries(rig, 0)
    rig.relay.cut(1)
    code, why = refused(rig, "path", word, double, "0")
    assert code == rblk.BUSY and "no other path could carry the I/O now" in why
    carries(rig, 0)
    assert not state(rig, 0)["drained"]
    rig.relay.heal(1)
    live(rig, 1, 40)
    assert ended(rig, job) < SWITCH[rig.kind]
    assert state(rig, 0)["generation"] == 1


def test_a_map_that_waits_is_in_nobodys_way(rig, single):
    """It waits for a path to carry I/O; whoever lets one do that must not have to wait for it."""
    rig.server.export("other", "8M")
    rig.client("path", "drain", single, "0", "--force")
    mapping = rig.spawn(rig.b, rig.client.command("map", rig.address, "other", "--timeout", "60"))
    rig.b.run("sleep 1")
    assert mapping.poll() is None
    assert rig.client.devices()[single]["reason"] in ("what is connected is drained", "it was drained")
    assert took(rig.b.run(timed(rig.client.command("path", "undrain", single, "0")))) < 5
    fio.verify(rig.b, mapping.wait(10).stdout.strip(), bs="4k", size="256k", iodepth=8)


def test_an_idle_path_is_found_dead(rig, double):
    """By the client itself, before anybody needs it: nobody reads or writes."""
    rig.relay.cut(0)
    until(lambda: state(rig, 0)["state"] != "live", 20, lambda: paths(rig))
    assert state(rig, 0)["last_error"] == "transport retry counter exceeded"
    until(lambda: active(rig) == [1], BACK, lambda: paths(rig))
    rig.relay.heal()
    live(rig, 0, 40)
    fio.verify(rig.b, double, bs="4k", size="256k", iodepth=8)


@pytest.mark.parametrize("fence", [True, False], ids=["fenced", "unfenced"])
def test_late_writes_of_a_drained_path_do_not_land(rig, double, fence):
    """
    A write that was on its way when the time for the drain was over was done again on the
    other path. Without the server's fence it lands, which shows that this test would find it.
    """
    rig.a.run(f"echo {'N' if fence else 'Y'} > /sys/kernel/debug/rblk/unfenced")

    def write(text):
        return f"printf {text} | dd of={double} bs=512 conv=sync,notrunc oflag=direct status=none"

    rig.b.run(write("zero"))
    rig.relay.reorder(1.0, ms=60000, link=0, node=rig.b)
    late = rig.spawn(rig.b, write("late"))
    until(lambda: rig.relay.counters()[0, rig.b.index]["waiting"], 10, "a packet on its way", pause=0.02)
    rig.client("path", "drain", double, "0")
    assert late.wait(20).code == 0, "it is sent again"
    rig.b.run(write("newer"))
    assert rig.relay.counters()[0, rig.b.index]["waiting"]
    rig.relay.heal(link=0, node=rig.b)
    rig.b.run("sleep 1")
    found = rig.b.run(f"dd if={double} bs=8 count=1 iflag=fullblock status=none | tr -d '\\0'").stdout
    assert found == ("newer" if fence else "late"), found
    live(rig, 0, BACK + 10)


def test_unload_while_a_path_is_drained(rig, double):
    """The module goes although the requests of the path that is drained hang."""
    job = verifier(rig, double, 600)
    rig.relay.cut()
    drain = rig.spawn(rig.b, rig.client.command("path", "drain", double, "0"))
    rig.b.run("sleep 0.5")
    job.kill()
    rig.client("unmap", double, "--force", timeout=30)
    assert rig.b.rmmod("rblk-client", timeout=60) < 10
    drain.wait(30, check=False)
    rig.relay.heal()


def test_a_fault_while_it_is_added(rig, single, second):
    """At any of the steps of bringing it up: nothing is left, and the session goes on."""
    rig.injects = True
    job = verifier(rig, single, 600)
    before = counts(rig)
    for point, number in STEPS:
        fault = Fault(rig.b, point)
        fault.order(number)
        result = rig.client("path", "add", single, second, check=False)
        _, injected = fault.seen()
        fault.cancel()
        assert (result.code != 0, injected) == (True, 1), (point, number, result)
        until(lambda: counts(rig) == before, 5, lambda: (point, number, before, counts(rig)))
    rig.client("path", "add", single, second)
    assert [path["state"] for path in paths(rig)] == ["live", "live"]
    ended(rig, job)
