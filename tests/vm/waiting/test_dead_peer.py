# SPDX-License-Identifier: GPL-2.0
"""A peer loses its power at each step of the set-up, under I/O and while it unmaps; then it is back."""
import random
import time

from rblklab import rblk
from rblklab.rig import UNLOAD_LIMIT
from rblklab.waits import busy, counts_return, server_clients, sessions_end, timed, took, until, works

STEPS = ("requested", "control", "greeted", "queue-0", "queue-1", "ready", "opened", "keys")
HALF_BUILT = {"", "half-greeted", "half-queue-0", "half-queue-1"}
# Documented: a ping every 5 s, and then some 4 s of retries; 30 s for what is not ready. Both work in steps.
READY_LIMIT = 20.0
HALF_BUILT_LIMIT = 35.0
QUESTION = 10.0  # that the server does not answer
TIMEOUT = 10  # of a map
SLACK = 5.0  # for what is to be done on a slow machine when a wait is over
STEP_PORT = 8000
RESETS = 3


def start_halves(rig, node, halves, *words):
    """Start rblk-halves; a function that says which of its lines are there."""
    rig.spawn(node, f"{halves} {' '.join(map(str, words))} > /run/halves 2>&1")
    return lambda: node.run("cat /run/halves 2>/dev/null || true").stdout.splitlines()


def test_client_dies_at_every_step(rig, halves):
    """
    A transport retry count of 7 is 'for ever' to rxe: what a dead client had stayed
    until 8 pings were waiting for it, 40 s instead of ten.
    """
    for export in ("disk", "loop"):
        rig.server.export(export, "8M")
    rig.server.export("half", "8M", ("any",), "--shared")
    busy(rig, rig.client.map(rig.address, "disk"))
    map_it = rig.client.command("map", rig.address, "loop", "--client-name", "loop")
    rig.spawn(rig.b, f"while :; do {rig.client.command('unmap', 'rblk1')}; {map_it}; done >/dev/null 2>&1")
    said = start_halves(rig, rig.b, halves, "client", rig.address, rblk.PORT, "half")
    until(lambda: "all" in said(), 60, lambda: f"not every step was reached: {said()}")
    assert said() == [f"at {step}" for step in STEPS] + ["all"]
    clients = set(server_clients(rig))
    assert clients >= HALF_BUILT - {""} | {"half-ready", "half-opened", "half-keys", rig.b.name}, clients

    rig.b.kill()
    ready = sessions_end(rig, READY_LIMIT, (*HALF_BUILT, "loop"))
    half = ready + sessions_end(rig, HALF_BUILT_LIMIT - ready)
    print(f"gone after {ready:.0f} s if ready, {half:.0f} s if half-built")
    counts_return(rig, rig.a)
    assert not any(export["writers"] or export["readers"] for export in rig.server.json("export", "list")["exports"])

    rig.restart(rig.b)
    rig.client.load_client()
    for export in ("disk", "loop", "half"):
        works(rig, rig.address, export)


def test_server_dies_at_every_step(rig, halves):
    """Where a server stops before it accepts, its client waits for a connection, and after that for a reply."""
    rig.server.export("disk", "8M")
    device = rig.client.map(rig.address, "disk")
    idle = rig.client.map(rig.address, "disk", "--client-name", "idle", "--read-only")
    said = start_halves(rig, rig.a, halves, "server", rig.address, STEP_PORT)
    until(lambda: "listening" in said(), 20, "the servers of the steps do not listen")
    maps = {step: rig.spawn(rig.b, timed(rig.client.command("map", f"{rig.address}:{STEP_PORT + number}", "disk", "--timeout",
                                                            str(TIMEOUT), "--client-name", f"half-{step}")))
            for number, step in enumerate(STEPS[:-1])}
    job = busy(rig, device)
    until(lambda: len(said()) == len(STEPS), TIMEOUT - 1, lambda: f"not every step was reached: {said()}")
    assert sorted(said()[1:]) == sorted(f"at {step}" for step in STEPS[:-1])
    assert not [step for step, process in maps.items() if process.poll()], "a map did not wait"

    rig.a.kill()
    assert took(rig.b.run(timed(rig.client.command("device", "list")))) < SLACK, "a list waits for a map"
    assert job.wait(READY_LIMIT, check=False).code != 0, "fio must see an error"
    for step, process in maps.items():
        result = process.wait(TIMEOUT + QUESTION + SLACK, check=False)
        print(f"{step}: {took(result):.1f} s, {result.stderr.splitlines()[0]}")
        assert result.code == rblk.UNREACHABLE, (step, result)
        assert took(result) < TIMEOUT + QUESTION + SLACK, step
    assert rig.client.devices()[device]["state"] == "failed"
    assert set(rig.client.devices()) == {device, idle}
    limit = QUESTION + SLACK
    for gone in (device, idle):
        assert took(rig.b.run(timed(rig.client.command("unmap", gone)), timeout=2 * limit)) < limit
    assert not rig.client.json("session", "list")["client_sessions"]
    counts_return(rig, rig.b)

    rig.restart(rig.a)
    rig.server.load_server()
    rig.server.listen(rig.address)
    rig.server.export("disk", "8M")
    works(rig, rig.address, "disk")
    assert rig.b.rmmod("rblk-client") < UNLOAD_LIMIT


def test_server_is_reset_at_random_moments(rig):
    """Maps and unmaps go on while the server is reset again and again; none hangs, and nothing of them stays."""
    map_it = timed(rig.client.command("map", rig.address, "disk", "--timeout", str(TIMEOUT)))
    unmap_it = timed(rig.client.command("unmap", "all"))
    loop = rig.spawn(rig.b, f"""
        while [ ! -e /run/enough ]; do
            ({map_it}) 2>/run/said >/dev/null; echo map $? $(tail -1 /run/said) $(head -1 /run/said)
            ({unmap_it}) 2>/run/said >/dev/null; echo unmap $? $(tail -1 /run/said) $(head -1 /run/said)
        done""")
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    moments = random.Random(seed)
    for _ in range(RESETS):
        rig.server.export("disk", "8M")
        until(lambda: server_clients(rig), TIMEOUT + QUESTION + READY_LIMIT, "maps after a reset")
        time.sleep(moments.uniform(0, 1))
        rig.a.kill()
        time.sleep(moments.choice((0, TIMEOUT)))
        rig.restart(rig.a)
        rig.server.load_server()
        rig.server.listen(rig.address)
    rig.server.export("disk", "8M")
    until(lambda: server_clients(rig), TIMEOUT + QUESTION + READY_LIMIT, "maps after the last reset")
    rig.b.run("touch /run/enough")
    for line in loop.wait(TIMEOUT + 2 * QUESTION).stdout.splitlines():
        what, code, begin, end, *words = line.split()
        print(line) if code != "0" else None
        assert float(end) - float(begin) < (TIMEOUT if what == "map" else 0) + QUESTION + SLACK, line
        assert code == "0" or what == "map" and int(code) in (rblk.UNREACHABLE, rblk.NOT_FOUND), line
    rig.b.run("rm /run/enough")
    assert not rig.client.devices() and not rig.client.json("session", "list")["client_sessions"]
    works(rig, rig.address, "disk")
