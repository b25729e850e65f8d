# SPDX-License-Identifier: GPL-2.0
"""What scenarios share that wait for a peer: time as a node sees it, and when something is over."""
import time

from . import fio
from .node import GuestProcess, Node, Result

UPTIME = "cut -d' ' -f1 /proc/uptime"


def timed(command: str) -> str:
    """COMMAND, with the time it took in the last line of its errors; the machines here may be slow to say."""
    return f"begin=$({UPTIME}); {command}; code=$?; echo $begin $({UPTIME}) >&2; exit $code"


def took(result: Result) -> float:
    """How long a timed command took."""
    begin, end = result.stderr.splitlines()[-1].split()
    return float(end) - float(begin)


def until(what, limit: float, describe, pause: float = 0.3, node: Node | None = None) -> float:
    """Wait until WHAT() is true, and fail after LIMIT seconds, of NODE's if it is given; how long it took.

    DESCRIBE is text, or gives it. An emulated machine that gets little time has a slow clock.
    """
    def clock() -> float:
        return float(node.read("/proc/uptime").split()[0]) if node else time.monotonic()

    began = clock()
    while not what():
        now = clock()
        assert now - began < limit, f"{describe() if callable(describe) else describe}: not within {limit:.0f} s"
        time.sleep(pause)
    return clock() - began


def sessions_end(rig, limit: float, keep: tuple[str, ...] = ()) -> float:
    """Wait until the server has sessions of none but the clients to KEEP; how long it took."""
    return until(lambda: set(server_clients(rig)) <= set(keep), limit, lambda: f"sessions of {server_clients(rig)}", node=rig.a)


def server_clients(rig) -> list[str]:
    """The clients that the server has sessions of; '' for one that has not said its name."""
    return sorted(session["client_name"] or "" for session in rig.server.json("session", "list")["server_sessions"])


def counts_return(rig, node: Node, limit: float = 5.0) -> None:
    """RDMA objects of NODE are as many as before the scenario, and a listener's id may be there."""
    ids = len(rig.server.json("listen", "list")["listeners"]) if "rblk_server" in node.loaded() else 0

    def without_listeners() -> bool:
        now = node.rdma_counts()
        spare = sum(kinds["cm_id"] for kinds in now.values()) - sum(kinds["cm_id"] for kinds in rig.baseline[node].values())
        objects = [{**kinds, "cm_id": 0} for kinds in now.values()]
        return objects == [{**kinds, "cm_id": 0} for kinds in rig.baseline[node].values()] and spare == ids

    until(without_listeners, limit, lambda: f"{node}: {node.rdma_counts()}, {rig.baseline[node]} before")


def busy(rig, device: str, **more) -> GuestProcess:
    """I/O on a device that goes on until it fails, timed; it has begun when this returns."""
    words = {"rw": "randrw", "bs": "4k", "iodepth": 8, "size": "4m", "time_based": 1, "runtime": 600, **more}
    job = rig.spawn(rig.b, timed(fio.command(device, **words)))
    rig.wait_for_io(device)
    return job


def works(rig, server: str, export: str) -> None:
    """The whole way once: map, verified I/O, unmap."""
    device = rig.client.map(server, export)
    fio.verify(rig.b, device, bs="4k", size="256k", iodepth=8)
    rig.client.unmap(device)
