# SPDX-License-Identifier: GPL-2.0
"""A server that lies, is silent, or goes away at each step: map fails in its time, with a reason, and leaves nothing.

What broke: a map waited 10 s for each reply, whatever its --timeout was; it took an accept that says "refused" for an accept.
"""
import time

import _wire as wire
from _peer import words
from rblklab import clock, rblk

PORT = "7480"
LIMIT = {"safety": 4, "lockdep": 8, "stock": 4}  # seconds given to map
PART = {"safety": 3, "lockdep": 6, "stock": 1}  # one of so many cases, and all silent ones
SLACK = {"safety": 4, "lockdep": 8, "stock": 4}  # for the tear-down of a path and the start of the tool

STEPS = {
    "control": ["request c 60000 8 01", f"accept c {wire.answer()}"],
    "hello": ["recv c 20000", "take tag 8 4", f"send c {wire.hello_reply()}"],
    "io": ["request q 20000 8 02", f"accept q {wire.answer()}"],
    "ready": ["recv c 20000", "take tag 8 4", f"send c {wire.bare_reply(wire.READY)}"],
    "open": ["recv c 20000", "take tag 8 4", "expose q key 2097152", f"send c {wire.open_reply()}"],
    "extents": ["recv c 20000", "take tag 8 4", f"send c {wire.extents_reply()}"],
}
HEARD = ["recv c 20000", "take tag 8 4"]
# Reasons as map gives them, with the exit code of Documentation/tool.md
NOT_RBLK = (rblk.FAILED, "what listens there is not an rblk server")
ACCEPT = (rblk.FAILED, "the server's accept makes no sense")
MESSAGE = (rblk.FAILED, "a message of the server makes no sense")
REPLY = (rblk.FAILED, "the server's reply makes no sense")
TO_NOTHING = (rblk.FAILED, "the server sent a reply to nothing")
NO_REASON = (rblk.UNREACHABLE, "refused without a reason")
CLOSED = (rblk.FAILED, "the peer closed the connection")
SILENT = (rblk.UNREACHABLE, "the server does not reply")
NO_SENSE = "the size that the server gives an export makes no sense"
KEYS = (rblk.FAILED, "the server's keys are not those that were asked for")


def says(text):
    """Answer with TEXT instead of what is right."""
    return [*HEARD, f"send c {text}"]


def accepts(text, request="c"):
    return [f"request {request} 60000 8 {'01' if request == 'c' else '02'}", f"start-accept {request} {text}"]


def rejects(text, request="c"):
    return [f"request {request} 60000 8 {'01' if request == 'c' else '02'}", f"reject {request} {text}"]


def opens(**change):
    return says(wire.open_reply(**change))


def keys(**change):
    return says(wire.extents_reply(keys="00000000", **change))


SLOW = opens(size=64 << 20, extents_nr=32)
for index in range(max(LIMIT.values()) * 3):
    # Not slow to nobody: the next client would find the server still at it
    SLOW += [*HEARD, "gone c 400", f"post c {wire.extents_reply(first=index, keys='00000000')}"]

# What it does from the step on that is named first, instead of what is right; then what map must say
CASES = {
    "control: silent": (["request c 60000 8 01"], (rblk.UNREACHABLE, "the server did not answer in time")),
    "control: rejects with junk": (rejects("deadbeef" * 8), NOT_RBLK),
    "control: rejects with nothing": (rejects("-"), NO_REASON),
    "control: rejects with ok": (rejects(wire.answer()), NOT_RBLK),
    "control: rejects for no reason there is": (rejects(wire.answer(99, 0)), NOT_RBLK),
    "control: rejects, of another version": (rejects(wire.answer(2, 0, version=9)),
                                             (rblk.VERSION, "the server speaks another version of the protocol")),
    "control: rejects, busy": (rejects(wire.answer(6, 0)), (rblk.BUSY, "another client has the export open for writing")),
    "control: accepts with junk": (accepts("ff" * 16), ACCEPT),
    "control: accepts with nothing": (accepts("-"), ACCEPT),
    "control: accepts, magic swapped": (accepts(wire.answer(magic=0x72626c6b)), ACCEPT),
    "control: accepts, of another version": (accepts(wire.answer(version=2)), (rblk.VERSION, ACCEPT[1])),
    "control: accepts without depth": (accepts(wire.answer(depth=0)), ACCEPT),
    "control: accepts with a huge depth": (accepts(wire.answer(depth=0xffff)), ACCEPT),
    "control: accepts, denied": (accepts(wire.answer(4, 0)), ACCEPT),
    "hello: silent": (HEARD, SILENT),
    "hello: closes": ([*HEARD, "disconnect c"], CLOSED),
    "hello: junk": (says("ab" * 64), MESSAGE),
    "hello: nothing at all": (says("-"), MESSAGE),
    "hello: another tag": (says(wire.hello_reply(tag=0x1234567)), TO_NOTHING),
    "hello: another type": (says(wire.bare_reply(wire.READY)), REPLY),
    "hello: a question": (says(wire.hello(tag="{tag}", length=104)), REPLY),
    "hello: its length too large": (says(wire.hello_reply(length=65)), MESSAGE),
    "hello: truncated": (says(wire.message(wire.HELLO | wire.REPLY, "00" * 40, tag="{tag}", length=56)), MESSAGE),
    "hello: no status there is": (says(wire.bare_reply(wire.HELLO, 16)), MESSAGE),
    "hello: ok, and no body": (says(wire.bare_reply(wire.HELLO)), MESSAGE),
    "hello: malformed": (says(wire.bare_reply(wire.HELLO, 1)), (rblk.FAILED, "a message made no sense to the server")),
    "hello: limit": (says(wire.bare_reply(wire.HELLO, 8)), (rblk.FAILED, "a limit of the server is reached")),
    "hello: no queues": (says(wire.hello_reply(queues=0)), MESSAGE),
    "hello: huge queues": (says(wire.hello_reply(queues=0xffff)), MESSAGE),
    "hello: no depth": (says(wire.hello_reply(depth=0)), MESSAGE),
    "hello: huge depth": (says(wire.hello_reply(depth=0xffff)), MESSAGE),
    "hello: no token": (says(wire.hello_reply(token=0)), MESSAGE),
    "hello: no server": (says(wire.hello_reply(server=bytes(16))), MESSAGE),
    "hello: a feature": (says(wire.hello_reply(mandatory=1 << 40)),
                         (rblk.FAILED, "the server wants a feature that this client does not know")),
    # The I/O connection's request is not looked at before the client has ended all
    "hello: twice": ([*HEARD, f"post c {wire.hello_reply()} 2", "gone c 3000"], TO_NOTHING),
    "io: silent": (["request q 20000 8 02"], (rblk.UNREACHABLE, "the server did not answer in time")),
    "io: rejects, no session": (rejects(wire.answer(11, 0), "q"),
                                (rblk.FAILED, "the server does not know this session or path")),
    "io: accepts with junk": (accepts("ff" * 16, "q"), ACCEPT),
    "io: accepts with less depth": (accepts(wire.answer(depth=15), "q"),
                                    (rblk.FAILED, "the server allows less depth on a queue than it said")),
    "io: accepts, denied": (accepts(wire.answer(4, 0), "q"), ACCEPT),
    "io: closes the control connection": (["request q 20000 8 02", "disconnect c"], CLOSED),
    "ready: silent": (HEARD, SILENT),
    "ready: another tag": (says(wire.bare_reply(wire.READY, tag=0)), TO_NOTHING),
    "ready: with a body": (says(wire.message(wire.READY | wire.REPLY, "00", tag="{tag}", length=17)), MESSAGE),
    "ready: closes": ([*HEARD, "disconnect c"], CLOSED),
    "open: silent": (HEARD, SILENT),
    "open: closes": ([*HEARD, "disconnect c"], CLOSED),
    "open: no such export": (says(wire.bare_reply(wire.OPEN, 5)), (rblk.NOT_FOUND, "the server exports nothing under that name")),
    "open: size 0": (opens(size=0), MESSAGE),
    "open: size 0, no extents": (opens(size=0, extents_nr=0), MESSAGE),
    "open: odd size": (opens(size=(2 << 20) - 1), MESSAGE),
    "open: huge size": (opens(size=1 << 62, extent_shift=30, extents_nr=0xffffffff), MESSAGE),
    "open: shift 63": (opens(extent_shift=63), MESSAGE),
    "open: shift 255": (opens(extent_shift=255), MESSAGE),
    "open: shift 20": (opens(extent_shift=20, extents_nr=2), MESSAGE),
    "open: shift 31": (opens(extent_shift=31), MESSAGE),
    "open: no extents": (opens(extents_nr=0), MESSAGE),
    "open: an extent too many": (opens(extents_nr=2), MESSAGE),
    "open: blocks of 0": (opens(block_size=0), MESSAGE),
    "open: blocks of 256": (opens(block_size=256), MESSAGE),
    "open: blocks of 3000": (opens(block_size=3000), MESSAGE),
    "open: blocks of 131072": (opens(block_size=131072), MESSAGE),
    "open: blocks of 8192": (opens(block_size=8192), (rblk.FAILED, "the export's blocks are larger than a page here")),
    "open: backing 0": (opens(backing=0), MESSAGE),
    "open: unknown flag": (opens(flags=4), MESSAGE),
    "open: no incarnation": (opens(incarnation=bytes(16)), MESSAGE),
    "open: read-only": (opens(flags=wire.READ_ONLY), (rblk.DENIED, "the server exports it for reading only")),
    "extents: silent": (HEARD, SILENT),
    "extents: closes": ([*HEARD, "disconnect c"], CLOSED),
    "open: gives one key at a time, slowly": (SLOW, SILENT),
    "extents: none": (keys(count=0, nr=0), MESSAGE),
    "extents: more than a message holds": (keys(count=1017, nr=1016), MESSAGE),
    "extents: fewer than it says": (keys(count=2, nr=1), MESSAGE),
    "extents: more than it says": (keys(count=1, nr=2), MESSAGE),
    "extents: more than there are": (keys(count=2, nr=2), KEYS),
    "extents: of another handle": (keys(handle=2), KEYS),
    "extents: of another place": (keys(first=1), KEYS),
    "extents: of no place": (keys(first=0xffffffff), MESSAGE),
}


def script(step, instead):
    return [line for name, lines in STEPS.items() if list(STEPS).index(name) < list(STEPS).index(step) for line in lines] + instead


def serve(rig, binary, lines):
    """The peer as a server on A; returns when it listens."""
    process = rig.spawn(rig.a, words(binary, rig.a, rig.address, ["listen", *lines], PORT))
    rig.a.run(f"for i in $(seq 200); do rdma resource show cm_id | grep -q 'LISTEN.*:{PORT}' && exit 0; sleep 0.05; done; exit 1")
    return process


def map_words(rig, timeout):
    return "map", f"{rig.address}:{PORT}", "disk", "--queues", "1", "--depth", "16", "--timeout", str(timeout)


def test_a_server_that_breaks_the_rules(rig, peer_binary):
    """Whatever it does instead of an answer, the map fails in its time and says why."""
    before = rig.b.rdma_counts()
    rng = clock.moments()
    cases = {name: CASES[name] for name in CASES if "silent" in name or not rng.randrange(PART[rig.kind])}
    # What a case leaves behind is dropped when the next one's connect request is there
    lines = [line for name, (instead, _) in cases.items() for line in script(name.split(":")[0], instead)]
    process = serve(rig, peer_binary, [*lines, "request c 60000"])
    one = f"{rig.client.command(*map_words(rig, LIMIT[rig.kind]))} 2>&1 | head -n 1; ls /sys/block | grep rblk"
    said = rig.b.run(f"for i in $(seq {len(cases)}); do a=$(date +%s%N); text=$({one}); b=$(date +%s%N); "
                     'echo $(((b - a) / 1000000)) "$text"; done', timeout=240).stdout.splitlines()
    print("\n".join(f"{line} <- {name}" for name, line in zip(cases, said)))
    assert process.poll() is None, (process.result.stdout.splitlines()[-6:], process.result.stderr)
    assert len(said) == len(cases), said
    reasons = {name: line.rpartition(": ")[2] for name, line in zip(cases, said)}
    assert reasons == {name: reason for name, (_, (_, reason)) in cases.items()}
    late = {name: line for name, line in zip(cases, said) if int(line.split()[0]) > 1000 * (LIMIT[rig.kind] + SLACK[rig.kind])}
    assert not late
    process.kill()
    assert not rig.client.devices() and not rig.client.json("session", "list")["client_sessions"]
    assert rig.b.rdma_counts() == before


def mapped(rig, binary, *more):
    """A device of the peer's, which then goes on with MORE."""
    process = serve(rig, binary, [*script("extents", STEPS["extents"]), *more, "gone c 60000"])
    result = rig.client(*map_words(rig, 20), check=False)
    assert result.code == 0, (result, process.poll())
    return process, result.stdout.strip()


def test_a_server_that_keeps_the_rules_is_used(rig, peer_binary):
    """The control for the others: the peer itself is right. PING and REVOKE of nothing in between change nothing."""
    rig.expect_rnr = True  # a flood meets queues that are full
    idle = [f"post c {wire.ping()} 60", "flush c", f"post c {wire.revoke(0x1234567)} 60", "flush c"]
    steps = [line for lines in STEPS.values() for line in lines]
    at = steps.index(f"send c {wire.hello_reply()}")
    busy = [*steps[:at], *idle * 5, *steps[at:], *idle * 30, "recv c 60000", "take tag 8 4", f"send c {wire.bare_reply(wire.CLOSE)}"]
    process = serve(rig, peer_binary, [*busy, "gone c 60000"])
    result = rig.client(*map_words(rig, 20), check=False)
    assert result.code == 0, (result, process.poll())
    device = result.stdout.strip()
    rig.b.run(f"yes rblk | head -c 65536 | dd of={device} bs=64k iflag=fullblock oflag=direct")
    rig.b.run(f"yes rblk | head -c 65536 | cmp -n 65536 - {device}")
    assert rig.client.devices()[device]["state"] == "live"
    rig.client.unmap(device)
    assert process.wait(30).stdout.splitlines()[-1].startswith("c gone")


def test_a_device_of_a_server_that_turns_bad(rig, peer_binary):
    """Its device fails with the reason, is listed, and goes; a key that is none costs the I/O and the path."""
    endings = {
        "a reply to nothing": ([f"send c {wire.bare_reply(wire.READY, tag=1)}"], "the server sent a reply to nothing"),
        "junk": (["send c abcdef"], "a message of the server makes no sense"),
        "a disconnect": (["disconnect c"], "the peer closed the connection"),
        "a disconnect of a queue": (["disconnect q"], "the peer closed the connection"),
        "its death": (["die"], "the peer closed the connection"),
        "a withdrawal": ([f"send c {wire.revoke(1)}", *HEARD, f"send c {wire.bare_reply(wire.CLOSE)}"], "the server withdrew the export"),
        "a denial": ([f"send c {wire.revoke(1, 4)}", *HEARD, f"send c {wire.bare_reply(wire.CLOSE)}"],
                     "the server's access list does not name this client"),
        "a withdrawal for no reason": ([f"send c {wire.revoke(1, 16)}"], "a message of the server makes no sense"),
        "a withdrawal, and no reply": ([f"send c {wire.revoke(1)}"], "the server withdrew the export"),
        "less of the same": ([f"send c {wire.resize(1, 1 << 20, tag=0)}"], NO_SENSE),
        # It may have missed what was in between, so that this is no nonsense yet
        "more of something else": ([f"send c {wire.resize(1, 4 << 20, bytes([1] * 16), tag=0)}", *HEARD,
                                    f"send c {wire.extents_reply(first=0, keys='00000000')}"], KEYS[1]),
        "more than there can be": ([f"send c {wire.resize(1, 1 << 50, tag=0)}"], NO_SENSE),
        "a size of nothing": ([f"send c {wire.resize(1, 0, tag=0)}"], "a message of the server makes no sense"),
        "more, with keys to something else": ([f"send c {wire.resize(1, 4 << 20, tag=0)}", *HEARD,
                                               f"send c {wire.extents_reply(first=0, keys='00000000')}"], KEYS[1]),
    }
    seen = {}
    for name, (lines, _) in endings.items():
        process, device = mapped(rig, peer_binary, "sleep 500", *lines)
        for _ in range(100):
            facts = rig.client.devices()[device]
            if facts["state"] != "live":
                break
            time.sleep(0.1)
        seen[name] = facts["state"], facts["reason"]
        read = rig.b.run(f"dd if={device} bs=4k count=1 iflag=direct of=/dev/null", check=False)
        assert read.code != 0, name
        rig.client.unmap(device, timeout=20)
        process.kill()
    assert seen == {name: ("failed", reason) for name, (_, reason) in endings.items()}
    process = serve(rig, peer_binary, [*script("extents", keys()), "gone c 60000"])
    result = rig.client(*map_words(rig, 20), check=False)
    device = result.stdout.strip()
    assert result.code == 0 and rig.b.run(f"dd if={device} bs=4k count=1 iflag=direct of=/dev/null", check=False).code != 0
    assert rig.client.devices()[device]["state"] == "failed"
    rig.client.unmap(device, timeout=20)
    process.kill()
