# SPDX-License-Identifier: GPL-2.0
"""A client that breaks the rules, one thing at a time, and what the server makes of it."""
import _wire as wire
from _peer import bystander, is_set_up, set_up

SESSION = b"\x11" * 16
SWAPPED_MAGIC = 0x72626c6b


def numbered(count):
    return [bytes([0x40 + n]) * 16 for n in range(count)]


def test_a_peer_that_keeps_the_rules_is_served(peer):
    """The control for all others: the peer itself is right."""
    lines = peer.run([*set_up("c", SESSION, 2, "disk"), "write c0 {key} 0 4096", "read c1 {key} 4096 4096",
                      f"send c {wire.close()}", "recv c 5000"])
    assert lines == [*is_set_up("c", 2, "disk"), "c0 write success", "c1 read success", "c sent", "c got close-reply ok"]


def test_connect_requests_that_make_no_sense(peer):
    """Each is refused with a reason; one of another version is told the server's."""
    good = wire.connect_request
    wrong = {
        "nothing": ("-", "malformed"),
        "too short": (good()[:12], "malformed"),
        "all ones": ("ff" * 56, "malformed"),
        "magic": (good(magic=0x12345678), "malformed"),
        "magic swapped": (good(magic=SWAPPED_MAGIC), "malformed"),
        "version 0": (good(version=0), "version"),
        "version 2": (good(version=2), "version"),
        "version swapped": (good(version=0x100), "version"),
        "no kind": (good(kind=0), "malformed"),
        "kind 3": (good(kind=3), "malformed"),
        "no session": (good(session=bytes(16)), "malformed"),
        "no depth": (good(depth=0), "malformed"),
        "depth too large": (good(depth=1025), "malformed"),
        "depth swapped": (good(depth=0x1000), "malformed"),
        "path out of range": (good(path=64), "malformed"),
        "control with a queue": (good(queue=1), "malformed"),
        "control with a token": (good(token=1), "malformed"),
        "io without a token": (good(kind=wire.IO), "malformed"),
        "io of no session": (good(kind=wire.IO, token=1), "no-session"),
        "io out of range": (good(kind=wire.IO, token=1, queue=128), "malformed"),
        "control on another path of no session": (good(path=63), None),
    }
    lines = peer.run([f"connect c {data}" for data, _ in wrong.values()])
    assert peer.run(["reads 0", f"connect c {good()}"]) == ["c rejected malformed"], "no RDMA READ in flight"
    assert dict(zip(wrong, lines, strict=True)) == {
        name: f"c rejected {status}" if status else "c accepted" for name, (_, status) in wrong.items()}


def test_io_connections_that_do_not_belong(peer):
    """Token, queue, generation, path and session are looked at; what is refused costs the path nothing."""
    def io(**change):
        return "connect x " + wire.connect_request(**{"kind": wire.IO, "session": SESSION, "token": "{token}", "generation": 5,
                                                      **change})

    wrong = {
        "token": (io(token=1), "no-session"),
        "queue": (io(queue=2), "limit"),
        "generation lower": (io(generation=4), "no-session"),
        "generation higher": (io(generation=6), "no-session"),
        "path": (io(path=1), "no-session"),
        "session": (io(session=b"\x12" * 16), "no-session"),
        "doubled": (io(queue=0), "duplicate"),
    }
    start = [f"connect c {wire.connect_request(session=SESSION, generation=5)}", io(token=1),
             f"send c {wire.hello(queues=2)}", "recv c 5000", "take token 48 8", io(queue=0).replace("x", "c0")]
    end = [io(queue=1).replace("x", "c1"), f"send c {wire.ready(2)}", "recv c 5000", io(queue=1), f"send c {wire.ping()}", "gone c 200"]
    lines = peer.run([*start, *(line for line, _ in wrong.values()), *end])
    began = len(start) - 1  # "take" says nothing
    assert lines[:began] == ["c accepted", "x rejected no-session", "c sent", "c got hello-reply ok", "c0 accepted"]
    assert dict(zip(wrong, lines[began:-6], strict=True)) == {name: f"x rejected {status}" for name, (_, status) in wrong.items()}
    assert lines[-6:] == ["c1 accepted", "c sent", "c got ready-reply ok", "x rejected no-session", "c sent", "c still there"]


def test_a_session_is_taken_over_by_a_greater_generation_only(peer):
    """And a second client cannot join the session under another name."""
    def control(**change):
        return wire.connect_request(session=SESSION, **change)

    lines = peer.run([
        *set_up("c", SESSION, 1, "disk", generation=5),
        f"connect x {control(generation=5)}", f"connect x {control(generation=4)}", f"connect x {control(generation=0)}",
        f"connect y {control(path=1)}", f"send y {wire.hello('somebody-else')}", "recv y 5000", f"send y {wire.hello('peer')}",
        "recv y 5000", f"connect z {control(generation=0xffffffff)}", "gone c 5000", "gone c0 5000", "gone y 100",
        f"connect x {control(generation=5)}"])
    assert lines[len(is_set_up("c", 1, "disk")):] == [
        *["x rejected duplicate"] * 3, "y accepted", "y sent", "y got hello-reply denied", "y sent", "y got hello-reply ok",
        "z accepted", "c gone", "c0 gone", "y still there", "x rejected duplicate"]


def test_a_path_ends_another_one_of_its_session(peer):
    """Up to the generation that it says, for good; what is newer stays, and so do paths of other sessions."""
    other, = numbered(1)
    lines = peer.run([
        *set_up("o", other), *set_up("d", SESSION, 1, "disk", path=1), *set_up("c", SESSION, 1, "disk", generation=5),
        f"send d {wire.fence(0, 4)}", "recv d 8000", "write c0 {key} 0 4096",
        f"send d {wire.fence(0, 5)}", "recv d 8000", "gone c 100", "gone c0 100",
        f"send d {wire.fence(0, 5)}", "recv d 8000", f"send d {wire.fence(7, 1)}", "recv d 8000",
        f"connect x {wire.connect_request(session=SESSION, generation=5)}",
        f"connect x {wire.connect_request(session=SESSION, generation=6)}",
        f"send d {wire.extents()}", "recv d 5000", "gone o 100"])
    fenced = ["d sent", "d got fence-reply ok"]
    assert lines[len([*is_set_up("o"), *is_set_up("d", 1, "disk"), *is_set_up("c", 1, "disk")]):] == [
        *fenced, "c0 write success", *fenced, "c gone", "c0 gone", *fenced, *fenced, "x rejected no-session", "x accepted",
        "d sent", "d got extents-reply ok", "o still there"]


def header(kind, length, tag=1):
    return wire.message(kind, tag=tag, length=length)


# Not to be decoded: each ends the path without a reply
UNDECODABLE = {
    "zeros": "00" * 104,
    "one byte": "01",
    "half a header": header(wire.HELLO, 104)[:18],
    "unknown type": header(77, 16),
    "type 0": header(0, 16),
    "length too large": header(wire.HELLO, 0xffffffff) + wire.hello()[32:],
    "length too small": header(wire.HELLO, 15) + wire.hello()[32:],
    "truncated": wire.hello()[:120],
    "a byte more": wire.hello(length=105) + "00",
    "swapped": "".join(wire.hello()[at:at + 8][::-1] for at in range(0, 32, 8)),
    "a status in a request": wire.hello(status=1),
    "an unknown status": wire.bare_reply(wire.HELLO, 99, tag=1),
    "name not terminated": wire.hello(b"x" * 64),
    "name of junk": wire.hello(b"../etc\n\x1b[31m"),
    "name with a tail": wire.hello(b"peer\0hidden"),
    "no name": wire.hello(""),
    "no queues": wire.hello(queues=0),
    "too many queues": wire.hello(queues=129),
    "no depth": wire.hello(depth=0),
    "too deep": wire.hello(depth=1025),
    "ready without queues": wire.ready(0),
    "open with unknown flags": wire.open_export(flags=0x80000000),
    "open without a name": wire.open_export(""),
    "extents past the end": wire.extents(1, 1 << 24),
    "fence of no path": wire.fence(path=64),
    "resize to nothing": wire.resize(1, 0, tag=1),
    "resize to no sectors": wire.resize(1, 513, tag=1),
    "resize to more than there can be": wire.resize(1, (1 << 50) + 512, tag=1),
    "resize of no content": wire.resize(1, incarnation=bytes(16), tag=1),
    "fence of no generation": wire.fence(path=1, generation=0),
    "random": bytes((n * 197 + 31) % 256 for n in range(4096)).hex(),
    "a reply that cannot be": wire.hello_reply(queues=0, tag=1),
}
# Understood, but not due
NOT_DUE = {
    "hello twice": (wire.hello(), "hello"),
    "ready twice": (wire.ready(), "ready"),
    "a handle that is not open": (wire.extents(77), "extents"),
    "handle 0": (wire.extents(0), "extents"),
    "past the extents": (wire.extents(first=1), "extents"),
    "close of nothing": (wire.close(77), "close"),
    "close of 0": (wire.close(0), "close"),
    "fence of its own path": (wire.fence(), "fence"),
    "resize of nothing": (wire.resize(77, tag=1), "resize"),
    "resize of 0": (wire.resize(0, tag=1), "resize"),
    "a reply": (wire.hello_reply(tag=1), "hello"),
    "a bare reply": (wire.bare_reply(wire.CLOSE, tag=1), "close"),
}


def cases(known, setup):
    """A script with a path for each of the messages, and the lines that come before its answer."""
    script = []
    for session, text in zip(numbered(len(known)), known):
        script += [*setup(session), f"send c {text}", "recv c 5000", "gone c 5000", "reset"]
    return script


def parts(lines, first):
    """Those lines, without the first ones of each case and what 'send' said."""
    size = first + 3
    assert len(lines) % size == 0, lines
    return [lines[at + first + 1:at + size] for at in range(0, len(lines), size)]


def test_what_cannot_be_decoded_ends_the_path_at_once(peer, rig):
    """As the first message, and on a path that is ready with an export open: no answer, the path is gone."""
    with bystander(rig):
        for setup, before in ((lambda session: [f"connect c {wire.connect_request(session=session)}"], 1),
                              (lambda session: set_up("c", session, 1, "disk"), len(is_set_up("c", 1, "disk")))):
            lines = peer.run(cases(UNDECODABLE.values(), setup))
            assert dict(zip(UNDECODABLE, parts(lines, before), strict=True)) == {
                name: ["c closed", "c gone"] for name in UNDECODABLE}
            sessions = rig.server.json("session", "list")["server_sessions"]
            assert [session["client_name"] for session in sessions] == [rig.b.name], sessions


def test_what_is_not_due_ends_the_path(peer, rig):
    """The answer says malformed, if it gets out before the queue pair goes; the path goes in any case."""
    with bystander(rig):
        lines = peer.run(cases([text for text, _ in NOT_DUE.values()], lambda session: set_up("c", session, 1, "disk")))
        for (name, (_, kind)), said in zip(NOT_DUE.items(), parts(lines, len(is_set_up("c", 1, "disk"))), strict=True):
            assert said in (["c closed", "c gone"], [f"c got {kind}-reply malformed", "c gone"]), name
        early = [wire.ready(), wire.open_export(), wire.extents(1), wire.close(1), wire.revoke(1)]
        lines = peer.run(cases(early, lambda session: [f"connect c {wire.connect_request(session=session)}"]))
        for said in parts(lines, 1):
            assert said[0] == "c closed" or said[0].endswith("reply malformed"), said
            assert said[1] == "c gone"


def test_refusals_leave_the_path_as_it_was(peer):
    first, = numbered(1)
    lines = peer.run([f"connect c {wire.connect_request(session=first)}", f"send c {wire.hello(mandatory=1 << 63)}", "recv c 5000", "reset",
                      *set_up("c", SESSION, 1), f"send c {wire.open_export('nothing')}", "recv c 5000",
                      f"send c {wire.open_export('disk')}", "recv c 20000", "take handle 16 4",
                      f"send c {wire.open_export('disk')}", "recv c 5000", f"send c {wire.ping()}",
                      f"send c {wire.extents()}", "recv c 5000"])
    assert lines == ["c accepted", "c sent", "c got hello-reply feature", *is_set_up("c"), "c sent", "c got open-reply no-export",
                     "c sent", "c got open-reply ok", "c sent", "c got open-reply duplicate", "c sent", "c sent",
                     "c got extents-reply ok"]


def test_keys_are_good_for_what_they_were_given_for_only(peer, rig):
    """Not beyond the extent, not after CLOSE, not with another key, not for writing through a read-only open."""
    # A session for each: of a path that was closed a moment ago the server need not know yet
    one, two, three, four, five = ([*set_up("c", session, 1, "disk")] for session in numbered(5))
    read_only = [line if wire.open_export("disk") not in line else f"send c {wire.open_export('disk', wire.READ_ONLY)}"
                 for line in five]
    # Nor of its writer's place, for which the next one waits
    away = ["reset", "sleep 1000"]
    lines = peer.run([
        *one, "read c0 {key} 8388608 4096", *away, *two, "read c0 {key} 8384513 4096", *away,
        *three, "read c0 00000000 0 4096", *away, *four, f"send c {wire.close()}", "recv c 5000", "write c0 {key} 0 4096", *away,
        *read_only, "read c0 {key} 0 4096", "write c0 {key} 0 4096"])
    assert [line for line in lines if line.startswith("c0 ") and line != "c0 accepted"] == [
        *["c0 read remote access error"] * 3, "c0 write remote access error", "c0 read success", "c0 write remote access error"]
    device = rig.client.map(rig.address, "disk", "--read-only")
    rig.b.run(f"cmp -n 8388608 {device} /dev/zero")
    rig.client.unmap(device)
