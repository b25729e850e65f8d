# SPDX-License-Identifier: GPL-2.0
"""What must hold after one side has lost the other, and when nothing is mapped any more."""
import time

from .rig import Rig

NOTICE = 15.0  # seconds in which a node notices by itself: a ping's period, and what the transport takes to give up
LISTENS_AGAIN = 10.0
ENOLINK = 67  # what a request gets whose path is lost


def until(wanted, what: str, limit: float = NOTICE) -> None:
    """Wait for what must come by itself."""
    deadline = time.monotonic() + limit
    while not wanted():
        assert time.monotonic() < deadline, f"{what} did not come about in {limit:.0f} s"
        time.sleep(0.2)


def server_sessions(rig: Rig) -> list:
    return rig.server.json("session", "list")["server_sessions"]


def server_forgets(rig: Rig) -> None:
    until(lambda: not server_sessions(rig), "the end of the server's sessions")


def listeners(rig: Rig) -> dict[str, str | None]:
    """The RDMA device of each listener that listens, by address."""
    return {item["addr"]: item["rdma_device"] for item in rig.server.json("listen", "list")["listeners"]
            if item["state"] == "listening"}


def listens(rig: Rig, device: str | None = None, count: int = 1) -> None:
    """So many listeners come back by themselves; that of the rig's address on DEVICE, if one is named."""
    until(lambda: len(listeners(rig)) == count and device in (None, listeners(rig)[rig.address]), "a listener", LISTENS_AGAIN)


def failed(rig: Rig, *names: str) -> list[str]:
    """The devices stay listed, say why they serve nothing, and fail I/O; the reasons."""
    found: dict = {}

    def all_failed() -> bool:
        found.update(rig.client.devices())
        return all(found[name]["state"] == "failed" for name in names)

    until(all_failed, "the failure of all devices")
    reads = rig.b.run("".join(f"dd if={name} of=/dev/null bs=4k count=1 iflag=direct; echo $?;" for name in names) + "true")
    assert reads.stdout.split() == ["1"] * len(names) and reads.stderr.count("severed") == len(names), reads
    reasons = [found[name]["reason"] for name in names]
    assert all(reasons), found
    return reasons


def nothing_left(rig: Rig) -> None:
    """The server forgets the client in time; no device, no session and no reference is left on either side."""
    assert rig.client.json("session", "list")["client_sessions"] == []
    left = rig.b.run("cat /sys/module/rblk_client/refcnt; ls /sys/block | grep '^rblk'", check=False).stdout
    assert left == "0\n", f"references to the client's module, and disks: {left}"
    server_forgets(rig)
    for export in rig.server.json("export", "list")["exports"]:
        assert (export["readers"], export["writers"]) == (0, 0), export


def serves(rig: Rig, export: str = "disk") -> None:
    """A new map, what is written through it and read back, and its unmap."""
    device = rig.client.map(rig.address, export)
    rig.b.run("head -c 1048576 /dev/urandom >/run/pattern; "
              f"dd if=/run/pattern of={device} bs=64k oflag=direct status=none && cmp -n 1048576 /run/pattern {device}")
    rig.client.unmap(device)
    nothing_left(rig)
