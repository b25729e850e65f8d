# SPDX-License-Identifier: GPL-2.0
"""Thirty-two sessions lose their server in one moment, and must not all be back in one.

    --full          100 sessions
"""
import bisect

import pytest

from _recovery import hurry
from rblklab import fio
from rblklab.waits import sessions_end, until

SESSIONS, FULL = 32, 100
AWAY = 6.0  # seconds; the pauses between attempts are 2 to 6 s by then
MOMENT = 0.5  # so fast do these machines serve half of them
BUSY = 2.0  # and so fast when they have something else to do
# A pause of 10 s at most, an attempt that had just begun, and the work of all of them
BACK = {"safety": 30.0, "lockdep": 90.0, "stock": 30.0}
ARRIVALS = "/run/arrivals"


def export(rig, names):
    rig.a.run(" && ".join(rig.server.command("export", "add", name, "--memory", "2M", "--allow", "any") for name in names), timeout=240)


def serve(rig, names):
    """As at first; and what comes to the listener is noted."""
    export(rig, names)
    note(rig)
    rig.server.listen(rig.address)


def note(rig):
    """Write a line for each event of the server, with the time."""
    rig.spawn(rig.a, f"{rig.server.command('monitor', '--json')} | while read -r line; do read -r now rest < /proc/uptime; "
              f"echo $now $line; done > {ARRIVALS}")
    rig.a.run("sleep 1")


def cut(rig, names):
    rig.relay.cut(0)
    # Until the server has none of them any more: one that is back with its old session is not heard of
    sessions_end(rig, 30)
    note(rig)
    rig.relay.heal(0)


def reload_server(rig, names):
    rig.a.rmmod("rblk-server")
    rig.b.run(f"sleep {AWAY}")
    rig.a.insmod("rblk-server")
    serve(rig, names)


def reset_server(rig, names):
    rig.a.kill()
    rig.b.run(f"sleep {AWAY}")
    rig.restart(rig.a)
    rig.server.load_server()
    serve(rig, names)


LOSSES = {"cut": cut, "module": reload_server, "reset": reset_server}


def arrivals(rig):
    """When each session began, in seconds since the first."""
    times = [float(line.split()[0]) for line in rig.a.read(ARRIVALS).splitlines() if "server_session_add" in line]
    return [moment - min(times) for moment in times]


def crowd(times, width=MOMENT):
    """The most that came within one moment."""
    return max(bisect.bisect(times, begin + width) - place for place, begin in enumerate(times))


@pytest.fixture
def sessions(rig, request):
    """Names of exports and their devices; each has a session of its own."""
    rig.client.reconnect = True
    names = [f"disk-{number}" for number in range(FULL if request.config.getoption("--full") else SESSIONS)]
    export(rig, names)
    maps = [rig.client.command("map", rig.address, name, "--client-name", name, "--queues", "1", "--depth", "16",
                               "--no-path-timeout", "forever") for name in names]
    devices = rig.b.run(" && ".join(maps), timeout=600).stdout.split()
    return names, devices


@pytest.mark.parametrize("how, pauses", [("cut", True), ("module", True), ("reset", True), ("module", False)],
                         ids=["cut", "module", "reset", "no-pauses"])
def test_many_return(rig, sessions, how, pauses):
    """
    None is lost. Where the server has its memory I/O goes on, and is verified; each device says what it lost
    otherwise. Without the pauses that are partly chance all come in one moment: it is seen if they do.

    With a server that was silent the pauses have no part: the first attempt of each is under way still, and
    the connection manager repeats its request, for all of them in one rhythm. So no spread is asked for after a cut,
    nor after a reset.
    """
    names, devices = sessions
    if not pauses:
        hurry(rig)
    words = {"rw": "randwrite", "bs": "4k", "iodepth": 64, "size": f"{len(devices)}m", "time_based": 1, "runtime": 600,
             "verify": "crc32c", "verify_fatal": 1, "verify_backlog": 64}
    job = rig.spawn(rig.b, fio.command(":".join(devices), **words))
    rig.wait_for_io(devices[-1])
    LOSSES[how](rig, names)
    wanted, lost = ("live", None) if how == "cut" else ("failed", "content lost: the export was made anew")

    def back():
        now = [facts for facts in rig.client.devices().values()
               if facts["state"] == wanted and (lost is None or lost in (facts["reason"] or ""))]
        return len(now) == len(devices)

    took = until(back, BACK[rig.kind], lambda: rig.client.devices(), node=rig.b)
    times = arrivals(rig)
    most = crowd(times)
    print(f"--- {how}, {pauses}: {len(times)} sessions within {times[-1]:.1f} s, at most {most} within {MOMENT} s, "
          f"all were back {took:.1f} s after the server: {times}")
    # An event may be lost; that no session is, comes below
    assert len(times) > len(devices) * 3 / 4
    if how == "module" and pauses:
        assert most <= len(times) / 2 and times[-1] > 4 * MOMENT, times
    elif how == "module":
        assert crowd(times, BUSY) > len(times) / 2, times
    clients = sorted(session["client_name"] for session in rig.server.json("session", "list")["server_sessions"])
    assert clients == sorted(names)
    if how == "cut":
        assert job.poll() is None, job.result
        rig.b.run("pkill -INT fio")
        result = fio.parse(job.wait(60, check=False).stdout)
        assert result["error"] == 0 and result["read"]["io_bytes"] > 0, result
    else:
        assert job.wait(20, check=False).code != 0
        rig.client("unmap", "all", timeout=300)
        device = rig.client.map(rig.address, names[0])
        fio.verify(rig.b, device, bs="4k", size="256k", iodepth=8)
