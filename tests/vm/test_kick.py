# SPDX-License-Identifier: GPL-2.0
"""A client loses an export that it is using: to an administrator, or to another client; or it is cut off."""
import shlex
import time

import _wire as wire
from _peer import Peer, is_set_up, set_up
from _recovery import back, hurry, path_of, verified, verifier
from test_errors import refused
from rblklab import fio, rblk
from rblklab.node import parse_json_list
from rblklab.waits import busy, server_clients, sessions_end, timed, took, until, works

LIMIT = 30.0
SESSION, ANOTHER = b"\x11" * 16, b"\x12" * 16
CLOSE_IN = 5.0  # what a client has for it
ROBBED_IN = 3.0  # the same, if another client waits
KICK_LIMIT = {"safety": 5.0, "lockdep": 15.0, "stock": 5.0}  # of a device that works
REACH = ("pd", "cq", "qp", "mr")  # what a client's rights hang on


def sessions(rig):
    return rig.server.json("session", "list")["server_sessions"]


def reach(rig, command):
    """What there is of REACH on the server right after COMMAND. Before any work of the kernel that it may have left behind."""
    both = shlex.quote(f"{command} > /dev/null && rdma -j resource show")
    out = rig.a.run(f"chrt -f 50 sh -c {both}", timeout=60).stdout
    return [{kind: int(device[kind]) for kind in REACH} for device in parse_json_list(out.strip())]


def hear(kind, seconds=20):
    """For the peer: what it is told, but for pings."""
    return f"recv c {seconds * 1000} {wire.begins(kind)}"


def asked(rig, count):
    """The peer has said COUNT messages on each of its paths."""
    until(lambda: {path["messages"] for session in sessions(rig) for path in session["paths"]} == {count}, 20, lambda: sessions(rig))


def test_forced_remove_under_io(rig):
    rig.server.export("disk", "64M")
    device = rig.client.map(rig.address, "disk")
    job = rig.spawn(rig.b, fio.command(device, rw="randrw", bs="4k", iodepth=32, size="32m", time_based=1, runtime=120))
    rig.wait_for_io(device)
    refused = rig.server("export", "remove", "disk", check=False)
    assert refused.code == rblk.BUSY, refused
    assert job.poll() is None, "a refused removal must not disturb the I/O"

    began = time.monotonic()
    rig.server("export", "remove", "disk", "--force", timeout=30)
    assert job.wait(LIMIT, check=False).code != 0, "fio must see an error"
    assert time.monotonic() - began < LIMIT
    assert not rig.server.json("export", "list")["exports"]
    assert rig.client.devices()[device]["state"] != "live"
    assert rig.b.run(f"dd if={device} of=/dev/null bs=4k count=1 iflag=direct", check=False, timeout=60).code != 0
    rig.client.unmap(device, timeout=20)


def test_other_exports_go_on(rig):
    """
    A forced removal asks the clients to close the export, and one that does keeps
    its session: first the whole path was cut, and with it all else it had open.
    """
    rig.server.export("goes", "32M")
    rig.server.export("stays", "32M")
    goes = rig.client.map(rig.address, "goes")
    stays = rig.client.map(rig.address, "stays")
    other = rig.client.map(rig.address, "stays", "--client-name", "other", "--read-only")
    killed = rig.spawn(rig.b, fio.command(goes, rw="randrw", bs="4k", iodepth=32, size="16m", time_based=1, runtime=120))
    rig.wait_for_io(goes)
    job = fio.start(rig.b, stays, rw="randwrite", bs="4k", iodepth=16, size="4m", verify="crc32c", do_verify=1, verify_fatal=1)
    rig.server("export", "remove", "goes", "--force", timeout=30)
    assert killed.wait(LIMIT, check=False).code != 0, "fio must see an error"
    assert fio.parse(job.wait(120).stdout)["error"] == 0
    states = {device: facts["state"] for device, facts in rig.client.devices().items()}
    assert states == {goes: "failed", stays: "live", other: "live"}
    assert "withdrew" in rig.client.devices()[goes]["reason"]
    rig.client.unmap(goes, timeout=20)
    fio.verify(rig.b, stays, bs="4k", size="1m", iodepth=16)


def test_a_kicked_client_comes_back(rig):
    """What it has in flight is cut, it connects anew, and what it wrote is there. Another client notices nothing."""
    rig.client.reconnect = True
    for name in ("disk", "more", "other"):
        rig.server.export(name, "8M")
    disk, more = (rig.client.map(rig.address, name) for name in ("disk", "more"))
    other = rig.client.map(rig.address, "other", "--client-name", "other")
    jobs = [verifier(rig, device, 20) for device in (disk, more, other)]
    for word in (rig.b.name, sessions(rig)[0]["id"]):
        generation = path_of(rig)["generation"]
        said = rig.server("session", "kick", word, timeout=30).stdout
        assert said == f"session {rig.client.json('session', 'list')['client_sessions'][0]['id']} of client {rig.b.name} ended\n"
        back(rig, generation)
    for job in jobs:
        verified(job, 90)
    mine, theirs = rig.client.json("session", "list")["client_sessions"]
    assert mine["paths"][0]["reconnects"] == 2
    assert [theirs["paths"][0][key] for key in ("state", "generation", "reconnects")] == ["live", 1, 0]
    assert {facts["state"] for facts in rig.client.devices().values()} == {"live"}
    text = rig.a.console.text(rig.marks[rig.a])
    assert f"a path of client {rig.b.name} ends: its session was kicked" in text


def test_a_kick_leaves_nothing_of_a_client(rig, peer):
    """No queue pair and no key of any of its paths when it returns, and its writer's place is free."""
    before = reach(rig, "true")
    script = [*set_up("c", SESSION, 8, "disk"), *set_up("d", SESSION, 1, "disk", path=1), "gone c 60000", "gone d 5000", "gone d0 5000",
              "gone c0 5000", "write c0 {key} 0 4096"]
    held = peer.start(rig, script)
    until(lambda: len(sessions(rig)) == 1 and len(sessions(rig)[0]["paths"]) == 2, 20, lambda: sessions(rig))
    asked(rig, 4)
    assert rig.server.json("export", "show", "disk")["exports"][0]["writers"] == 1
    assert reach(rig, "true") != before
    kick = rig.server.command("session", "kick", "peer")
    assert reach(rig, kick) == before
    works(rig, rig.address, "disk")
    lines = [wire.explain(line) for line in held.wait(30).stdout.splitlines()]
    setup = len(is_set_up("c", 8, "disk")) + len(is_set_up("d", 1, "disk"))
    assert lines[setup:-1] == ["c gone", "d gone", "d0 gone", "c0 gone"] and "success" not in lines[-1], lines
    again = rig.server("session", "kick", "peer", check=False)
    assert again.code == rblk.NOT_FOUND and "'peer'" in again.stderr, again


def test_a_client_out_of_reach_is_kicked(rig):
    """Nobody waits for it."""
    rig.client.reconnect = True
    rig.server.export("disk", "8M")
    device = rig.client.map(rig.address, "disk")
    job = verifier(rig, device, 20)
    rig.relay.cut()
    rig.a.run("sleep 0.5")
    generation = path_of(rig)["generation"]
    seconds = took(rig.a.run(timed(rig.server.command("session", "kick", rig.b.name)), timeout=60))
    assert not sessions(rig)
    assert seconds < KICK_LIMIT[rig.kind]
    rig.relay.heal()
    back(rig, generation, 60)
    verified(job, 90)


def test_which_session_is_kicked(rig):
    """One of several only by its id, and none that is not there."""
    rig.server.listen(f"{rig.address}:7472")
    rig.server.export("disk", "8M", ("any",), "--shared")
    one, two = (rig.client.map(rig.address + port, "disk") for port in ("", ":7472"))
    refused = rig.server("session", "kick", rig.b.name, check=False)
    ids = [session["id"] for session in sessions(rig)]
    assert refused.code == rblk.FAILED and all(id in refused.stderr for id in ids), refused
    rig.server("session", "kick", ids[1])
    until(lambda: rig.client.devices()[two]["state"] == "failed", 10, lambda: rig.client.devices())
    assert rig.client.devices()[one]["state"] == "live"
    assert [session["id"] for session in sessions(rig)] == ids[:1]
    for word in ("nobody", ids[1]):
        missing = rig.server("session", "kick", word, check=False)
        assert missing.code == rblk.NOT_FOUND and word in missing.stderr, missing


def test_kicks_in_crowds(rig):
    """Against each other, against a client that comes back at once, and against the unload of the server."""
    rig.client.reconnect = True
    hurry(rig)
    rig.server.export("disk", "8M")
    device = rig.client.map(rig.address, "disk", "--no-path-timeout", "forever")
    job = verifier(rig, device, 600)
    kick = f"{rig.server.command('session', 'kick', rig.b.name)} > /dev/null 2>&1"
    crowd = f"for n in 1 2 3; do ({kick}; echo $?) & done; wait"
    codes = [int(code) for _ in range(4) for code in rig.a.run(crowd, timeout=60).stdout.split()]
    assert 0 in codes and set(codes) <= {rblk.OK, rblk.NOT_FOUND}, codes
    until(lambda: server_clients(rig) == [rig.b.name], 30, lambda: sessions(rig))
    rig.wait_for_io(device)
    assert job.poll() is None, job.result
    rig.a.run(f"(for n in 1 2 3 4 5 6; do {kick}; done) & sleep 0.1; rmmod rblk_server; wait", timeout=60)
    rig.client.unmap(device, "--force", timeout=60)
    assert job.wait(30, check=False).code != 0


def facts(rig, export):
    return rig.server.json("export", "show", export)["exports"][0]


def listed(rig, export):
    return facts(rig, export)["allow"], facts(rig, export)["allow_any"], facts(rig, export)["writers"], facts(rig, export)["readers"]


def test_a_denied_client_loses_the_export_and_nothing_else(rig):
    """Its device says why, what else it has goes on, and so does who is still on the list."""
    rig.server.export("disk", "8M", (rig.b.name, "other"))
    rig.server.export("stays", "8M")
    disk, stays = (rig.client.map(rig.address, name) for name in ("disk", "stays"))
    other = rig.client.map(rig.address, "disk", "--client-name", "other", "--read-only")
    cut = busy(rig, disk)
    job = verifier(rig, stays, 20)
    reading = busy(rig, other, rw="randread")
    rig.server("export", "unallow", "disk", rig.b.name, timeout=30)
    assert listed(rig, "disk") == (["other"], False, 0, 1)
    assert cut.wait(LIMIT, check=False).code != 0, "fio must see an error"
    rig.wait_for_io(other)
    assert reading.poll() is None
    reading.kill()
    verified(job, 90)
    found = rig.client.devices()
    assert {device: about["state"] for device, about in found.items()} == {disk: "failed", stays: "live", other: "live"}
    assert found[disk]["reason"] == "the server's access list does not name this client"
    assert {path["generation"] for session in rig.client.json("session", "list")["client_sessions"] for path in session["paths"]} == {1}
    for device in (disk, stays, other):
        rig.client.unmap(device, timeout=20)
    refused(rig, rblk.DENIED, "map", rig.address, "disk", mentions=["disk", "rblk export allow"])
    rig.server("export", "allow", "disk", rig.b.name)
    works(rig, rig.address, "disk")


def test_an_access_list_changes(rig):
    """What is refused changes nothing; what is not, only for those who are meant."""
    rig.server.export("disk", "8M", ("one",))
    device = rig.client.map(rig.address, "disk", "--client-name", "one")
    job = busy(rig, device)
    rig.server("export", "allow", "disk", "two", "any", "two")
    for words, code, said in ((("nobody",), rblk.NOT_FOUND, "attribute 'allow'"), (("nobody", "two"), rblk.NOT_FOUND, "does not name"),
                              (("one",), rblk.FAILED, "every client may open it")):
        result = rig.server("export", "unallow", "disk", *words, check=False)
        assert result.code == code and said in result.stderr, result
        assert listed(rig, "disk") == (["one", "two"], True, 1, 0)
    crowd = [f"c{n}" for n in range(63)]
    assert "more clients" in rig.server("export", "allow", "disk", *crowd, check=False).stderr
    assert rig.server("export", "allow", "nothing", "one", check=False).code == rblk.NOT_FOUND
    rig.server("export", "unallow", "disk", "any")
    assert rig.server("export", "unallow", "disk", "any", check=False).code == rblk.NOT_FOUND
    rig.server("export", "unallow", "disk", "two")
    assert listed(rig, "disk") == (["one"], False, 1, 0)
    assert job.poll() is None and rig.client.devices()[device]["state"] == "live", job.result
    rig.server("export", "unallow", "disk", "one")
    assert listed(rig, "disk") == ([], False, 0, 0)
    assert job.wait(LIMIT, check=False).code != 0


def test_keys_of_a_denied_client_are_dead(rig, peer):
    """Of one that closes the export and goes on; and of one that does not, which loses its path for it."""
    before = reach(rig, "true")
    unallow = rig.server.command("export", "unallow", "disk", "any")
    setup = len(is_set_up("c", 1, "disk"))
    honest = peer.start(rig, [*set_up("c", SESSION, 1, "disk"), hear(wire.REVOKE, 60), f"send c {wire.close()}", hear(wire.CLOSE | wire.REPLY),
                              f"send c {wire.open_export('disk')}", hear(wire.OPEN | wire.REPLY), "write c0 {key} 0 4096"])
    asked(rig, 4)
    rig.a.run(unallow, timeout=60)
    lines = [wire.explain(line) for line in honest.wait(30).stdout.splitlines()]
    assert lines[setup:] == ["c got revoke denied", "c sent", "c got close-reply ok", "c sent", "c got open-reply denied",
                             "c0 write remote access error"]

    rig.server("export", "allow", "disk", "any")
    sessions_end(rig, 10)
    stubborn = peer.start(rig, [*set_up("c", ANOTHER, 1, "disk"), hear(wire.REVOKE, 60), "gone c 20000", "gone c0 5000", "write c0 {key} 0 4096"])
    asked(rig, 4)
    began = time.monotonic()
    assert reach(rig, unallow) == before
    assert CLOSE_IN - 1 < time.monotonic() - began < CLOSE_IN + KICK_LIMIT[rig.kind]
    lines = [wire.explain(line) for line in stubborn.wait(30).stdout.splitlines()]
    assert lines[setup:-1] == ["c got revoke denied", "c gone", "c0 gone"] and "success" not in lines[-1], lines
    rig.server("export", "allow", "disk", "any")


def io_fails(rig, device):
    """Neither a read nor a write comes through, and neither waits."""
    for way in (f"if={device} of=/dev/null iflag=direct", f"if=/dev/zero of={device} oflag=direct"):
        assert rig.b.run(f"dd {way} bs=4k count=1", check=False, timeout=20).code != 0, way


def test_a_writer_is_robbed(rig):
    """Its device fails for good and says why; who reads stays, and so does what else the writer has."""
    for name in ("disk", "stays"):
        rig.server.export(name, "8M")
    victim, stays = (rig.client.map(rig.address, name) for name in ("disk", "stays"))
    reader = rig.client.map(rig.address, "disk", "--client-name", "reader", "--read-only")
    cut = busy(rig, victim)
    job = verifier(rig, stays, 20)
    words = "map", rig.address, "disk", "--client-name", "thief"
    without = rig.client(*words, check=False)
    assert without.code == rblk.BUSY and "--steal" in without.stderr, without
    assert cut.poll() is None
    thief = rig.client.map(*words[1:], "--steal")
    assert cut.wait(LIMIT, check=False).code != 0, "fio must see an error"
    assert listed(rig, "disk")[2:] == (1, 1)
    fio.verify(rig.b, thief, bs="4k", size="256k", iodepth=8)
    rig.b.run(f"cmp -n 262144 {thief} {reader}")
    io_fails(rig, victim)
    found = rig.client.devices()
    assert {device: about["state"] for device, about in found.items()} == {victim: "failed", stays: "live", reader: "live", thief: "live"}
    assert found[victim]["reason"] == "another client took the export over"
    verified(job, 90)
    # Nor when the place is free again
    rig.client.unmap(thief)
    io_fails(rig, victim)
    rig.client.unmap(victim, timeout=20)
    works(rig, rig.address, "disk")


def test_a_robbed_writer_comes_too_late(rig, peer):
    """With a key that it has given up; and with one that it has not, on queue pairs that are gone by then."""
    setup = len(is_set_up("c", 1, "disk"))
    late = "write c0 {key} 0 4096"
    honest = peer.start(rig, [*set_up("c", SESSION, 1, "disk"), hear(wire.REVOKE, 60), f"send c {wire.close()}", hear(wire.CLOSE | wire.REPLY), "sleep 1500", late])
    asked(rig, 4)
    thief = rig.client.map(rig.address, "disk", "--steal")
    lines = [wire.explain(line) for line in honest.wait(30).stdout.splitlines()]
    assert lines[setup:] == ["c got revoke busy", "c sent", "c got close-reply ok", "c0 write remote access error"]
    rig.b.run(f"cmp -n 8388608 {thief} /dev/zero")
    rig.client.unmap(thief)

    sessions_end(rig, 10)
    stubborn = peer.start(rig, [*set_up("c", ANOTHER, 1, "disk"), hear(wire.REVOKE, 60), "sleep 10000", late, "gone c 5000", "gone c0 5000"])
    asked(rig, 4)
    began = time.monotonic()
    thief = rig.client.map(rig.address, "disk", "--steal")
    assert ROBBED_IN - 1 < time.monotonic() - began < ROBBED_IN + KICK_LIMIT[rig.kind]
    lines = [wire.explain(line) for line in stubborn.wait(40).stdout.splitlines()]
    assert lines[setup:] == ["c got revoke busy", lines[setup + 1], "c gone", "c0 gone"] and "success" not in lines[setup + 1], lines
    rig.b.run(f"cmp -n 8388608 {thief} /dev/zero")
    rig.client.unmap(thief)


def test_a_robbed_writer_that_lost_its_path_stays_robbed(rig, peer, peer_binary):
    """
    It hears of it only when it is back, and is lost then. It does not come in behind the other one, who
    would be lost for it: that one finds its content after a loss of its own path.
    """
    rig.client.reconnect = True
    victim = rig.client.map(rig.address, "disk", "--no-path-timeout", "forever")
    job = rig.spawn(rig.b, fio.command(victim, rw="randrw", bs="4k", size="1m", time_based=1, runtime=600))
    rig.wait_for_io(victim)
    rig.relay.cut()
    # From the server's own node, as the link is cut
    thief = Peer(peer_binary, rig.a, rig.address)
    stolen = thief.start(rig, [*set_up("c", SESSION), f"send c {wire.open_export('disk', wire.STEAL)}",
                               hear(wire.OPEN | wire.REPLY), "gone c 90000"])
    until(lambda: [(session["client_name"], session["exports"]) for session in sessions(rig)] == [("peer", ["disk"])],
          ROBBED_IN + KICK_LIMIT[rig.kind] + 5, lambda: sessions(rig))
    rig.server("session", "kick", "peer")
    reply = stolen.wait(20).stdout.splitlines()[-2]
    assert wire.explain(reply) == "c got open-reply ok"
    epoch = wire.epoch_of(reply)
    assert facts(rig, "disk")["writers"] == 0
    rig.relay.heal()
    until(lambda: rig.client.devices()[victim]["state"] == "failed", 60, lambda: rig.client.devices())
    assert rig.client.devices()[victim]["reason"] == "content lost: another client had the export open for writing meanwhile"
    assert job.wait(LIMIT, check=False).code != 0
    io_fails(rig, victim)
    before = (epoch - 1) % (1 << 32)  # that of the one who was robbed
    for session, generation, number, said in ((b"\x33" * 16, 1, before, "written"), (SESSION, 2, epoch, "ok")):
        back = thief.start(rig, [*set_up("c", session, generation=generation),
                                 f"send c {wire.open_export('disk', wire.AGAIN, number)}", hear(wire.OPEN | wire.REPLY)])
        lines = [wire.explain(line) for line in back.wait(20).stdout.splitlines()]
        assert lines[-2:] == ["c sent", f"c got open-reply {said}"], lines
    rig.client.unmap(victim, timeout=20)


def test_who_may_not_rob(rig):
    """Whom the access list does not name; anybody, where the export is for reading only or shared. The writer notices nothing."""
    rig.server.export("disk", "8M", (rig.b.name,))
    rig.server.export("shared", "8M", ("any",), "--shared")
    device, shared = (rig.client.map(rig.address, name) for name in ("disk", "shared"))
    jobs = [busy(rig, one) for one in (device, shared)]
    for export, code, said in (("disk", rblk.DENIED, "access list"), ("shared", rblk.FAILED, "none can be robbed")):
        result = rig.client("map", rig.address, export, "--steal", "--client-name", "thief", check=False)
        assert result.code == code and said in result.stderr, result
    assert [job.poll() for job in jobs] == [None, None]
    assert {about["state"] for about in rig.client.devices().values()} == {"live"}
    # Without another writer it is a map like any other
    for job, one in zip(jobs, (device, shared)):
        job.kill()
        rig.client.unmap(one)
    rig.client.unmap(rig.client.map(rig.address, "disk", "--steal"))


def test_clients_that_rob_each_other(rig):
    """At the same moment, in both directions and many of one: nobody hangs, and one at the most has it."""
    for name in ("left", "right"):
        rig.server.export(name, "8M")
    for name in ("left", "right"):
        rig.client.map(rig.address, name, "--client-name", f"of-{name}")
    jobs = [rig.client.start("map", rig.address, export, "--steal", "--client-name", f"of-{client}")
            for export, client in (("left", "right"), ("right", "left"))]
    jobs += [rig.client.start("map", rig.address, "left", "--steal", "--client-name", f"many-{n}") for n in range(3)]
    for job in jobs:
        assert job.wait(60, check=False).code in (rblk.OK, rblk.FAILED, rblk.BUSY), job.result
    assert facts(rig, "left")["writers"] <= 1 and facts(rig, "right")["writers"] <= 1
    rig.client("unmap", "all", "--force", timeout=60)
    sessions_end(rig, 20)
    for name in ("left", "right"):
        works(rig, rig.address, name)
