# SPDX-License-Identifier: GPL-2.0
"""Clients that stop half-way, die at each step, or say anything in any order: the server gets rid of them in time."""
import random
import re
import time

import _walk
import _wire as wire
from _peer import bystander, is_set_up, set_up, words
from rblklab.waits import until

REAP = 30  # seconds that the server gives a path to become ready
SLACK = 5  # for the tear-down, and clocks that tick in steps
FLOOD = 100


def session(number):
    return bytes([number]) * 16


def some_of(number, wanted, up):
    """UP of WANTED I/O connections, and no READY."""
    return set_up("c", session(number), wanted)[:4 + up]


STOPS = {
    "control only": [f"connect c {wire.connect_request(session=session(1))}"],
    "hello, nothing more": some_of(2, 4, 0),
    "1 of 4": some_of(3, 4, 1),
    "3 of 4": some_of(4, 4, 3),
    "4 of 4, not ready": some_of(5, 4, 4),
    "takes no reply, and wants to be asked for ever": [
        "receives 0", "rnr 7", "retries 7", f"connect c {wire.connect_request(session=session(8))}", f"send c {wire.hello()}"],
    "its queue pair is gone": [*some_of(7, 2, 0), "hang c"],
    "pings all the time": [*some_of(6, 2, 1), *([f"post c {wire.ping()}", "sleep 1000"] * 20)],
}


def settle(rig, counts, limit):
    """Wait until the server's objects are as many as COUNTS."""
    deadline = time.monotonic() + limit
    while (now := rig.a.rdma_counts()) != counts:
        assert time.monotonic() < deadline, f"{now} now, {counts} before"
        time.sleep(0.5)


def test_half_built_paths_are_reaped(rig, peer):
    """At 30 s, whatever the client got done and whatever it says; connect requests that nobody finishes too.

    Meanwhile another client's I/O goes on, and new clients come in.
    """
    rig.expect_rnr = True
    with bystander(rig):
        before = rig.a.rdma_counts()
        stopped = {name: peer.start(rig, [*script, "gone c 60000"]) for name, script in STOPS.items()}
        flood = [f"start f{n} {wire.connect_request(session=bytes([n]) * 8 + bytes(8))}" for n in range(1, FLOOD + 1)]
        flooding = peer.start(rig, [*flood, "say flooded", f"sleep {(REAP + SLACK) * 1000}"])
        device = rig.client.map(rig.address, "disk", "--client-name", "late")
        rig.client.unmap(device)
        # All of them each time: when one has ended is known from when it was looked at
        until(lambda: all([process.poll() is not None for process in stopped.values()]), REAP + 60, "the end of all clients")
        for name, process in stopped.items():
            result = process.wait(REAP + 60)
            last = result.stdout.splitlines()[-1]
            took = re.fullmatch(r"c gone after (\d+) ms", last)
            assert took, f"{name}: {last}"
            began = 20 if "pings" in name else 0  # the clock of "gone" starts after the pings
            # That clock starts when all is said, the server's when the first request came: between the two is the truth
            assert int(took[1]) / 1000 + began < REAP + SLACK and result.seconds > REAP - 2, f"{name}: {last}, {result}"
        settle(rig, before, SLACK + 10)
        assert flooding.poll() is None, "the connect requests were to stay unfinished all that time"
        assert flooding.wait(60).stdout == "flooded\n"


def test_a_client_that_takes_no_message_is_cut_off(rig, peer):
    """No receive posted when the server answers; and queue pairs that are gone while their connections seem to stand.

    What broke: rxe takes 7 retries, which a client asked for, for endless.
    """
    rig.expect_rnr = True
    with bystander(rig):
        before = rig.a.rdma_counts()
        hung = peer.start(rig, [*set_up("c", session(1), 2, "disk"), "hang c", "hang c0", "gone c 60000", "gone c1 1000"])
        # It wants to be asked for ever; the server does not
        lines = peer.run(["receives 0", "rnr 7", f"connect c {wire.connect_request(session=session(2))}", f"send c {wire.hello()}",
                          "gone c 10000"])
        assert lines == ["c accepted", "c sent", "c gone"]
        lines = hung.wait(60).stdout.splitlines()
        took = re.fullmatch(r"c gone after (\d+) ms", lines[-2])
        assert took and int(took[1]) < 1000 * 15 and lines[-1].startswith("c1 gone"), lines
        settle(rig, before, SLACK + 10)


def test_messages_where_none_belong(rig, peer):
    """A SEND on an I/O connection meets no receive: the sender's own queue pair breaks, and nothing else."""
    rig.expect_rnr = True
    lines = peer.run([*set_up("c", session(1), 2, "disk"), f"send c0 {wire.hello()}", f"send c {wire.extents()}", "recv c 5000",
                      "read c1 {key} 0 4096", "receives 1", f"post c {wire.ping()} 60", "flush c",
                      f"send c {wire.extents()}", "recv c 5000"])
    assert lines[len(is_set_up("c", 2, "disk")):] == [
        "c0 RNR retry counter exceeded", "c sent", "c got extents-reply ok", "c1 read success", "c sent", "c sent",
        "c got extents-reply ok"]


def test_a_client_killed_at_each_step(rig, peer):
    """SIGKILL after each thing that a client does, with reads and a message on their way at the end."""
    steps = [*set_up("c", session(1), 3, "disk"), "read c0 {key} 0 4096", f"post c {wire.extents()} 8", f"post c {wire.close()}"]
    with bystander(rig):
        before = rig.a.rdma_counts()
        paths = " ".join(rig.b.put("".join(line + "\n" for line in [*steps[:n], "die"]).encode()) for n in range(len(steps) + 1))
        run = words(peer.binary, rig.b, rig.address, [])
        codes = rig.b.run(f"for script in {paths}; do {run.split('<')[0]} < $script > /dev/null; echo $?; done", timeout=120).stdout
        assert codes.split() == ["137"] * (len(steps) + 1), codes
        settle(rig, before, SLACK + 10)
        assert len(rig.server.json("session", "list")["server_sessions"]) == 1


def test_a_random_walk_over_the_messages(rig, peer, seed):
    """Each step of hundreds of clients is answered as the protocol says. RBLK_SEED repeats a walk."""
    rig.expect_rnr = True  # a SEND on an I/O connection is one of the steps
    rng = random.Random(seed)
    rig.server.export("other", "2M")
    rig.server("export", "remove", "disk")
    rig.server.export("disk", "8M", ("any",), "--shared")
    walks = [_walk.Walk(rng) for _ in range(300 if rig.kind == "safety" else 100)]
    with bystander(rig):
        before = rig.a.rdma_counts()
        lines = iter(peer.run([line for walk in walks for line in walk.script], timeout=180))
        for number, walk in enumerate(walks):
            said = []
            for allowed in walk.expected:
                said.append(next(lines, "nothing"))
                assert said[-1] in allowed, f"seed {seed}, client {number}:\n" + "\n".join(walk.script) + "\n--\n" + "\n".join(said)
        settle(rig, before, SLACK + 10)
