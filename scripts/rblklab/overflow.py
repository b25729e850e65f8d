# SPDX-License-Identifier: GPL-2.0
"""Signs that a queue was too short: a receive that was not there, a work request or completion without room.

rxe counts the first, on both sides. What did not fit is in the log: rxe says so
of send and completion queues, and rblk of any post that failed. siw has no
counters, and ends the connection.
"""
import re

COUNTERS = ("rcvd_rnr_err", "send_rnr_err", "retry_rnr_exceeded_err")
FULL = re.compile(r"(?:rxe|siw).*queue full|rblk.*could not be posted")
# A device that is deleted and added again counts from 0. It has the name of the old one, but not its inode.
READ = ("for d in /sys/class/infiniband/*/ports/*/hw_counters; do for c in " + " ".join(COUNTERS) +
        "; do [ -e $d/$c ] && echo $d $(stat -c %i $d) $c $(cat $d/$c); done; done 2>/dev/null; true")

Counts = dict[tuple[str, ...], int]


def parse(text: str) -> Counts:
    """The output of READ: {(device, port, inode, counter): value}."""
    counts = {}
    for line in text.splitlines():
        folder, inode, counter, value = line.split()
        _, _, _, _, device, _, port, _ = folder.split("/")
        counts[device, port, inode, counter] = int(value)
    return counts


def moved(before: Counts, now: Counts) -> list[str]:
    """What has changed, in words; a device that was not there before began with 0."""
    return [f"{device} port {port}: {counter} went from {before.get(key, 0)} to {value}"
            for key, value in now.items() for device, port, _, counter in [key] if value != before.get(key, 0)]


def complaints(console: str) -> list[str]:
    """Lines of a console that say that something did not fit into a queue."""
    return [line.strip() for line in console.splitlines() if FULL.search(line)]
