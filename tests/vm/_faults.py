# SPDX-License-Identifier: GPL-2.0
"""Orders for the faults that a test build of rblk takes: see include/rblk/fault.h."""
import errno
import pathlib
import re

GUEST = pathlib.Path(__file__).resolve().parents[1] / "guest"


def allow_failures(node):
    """Let allocations that may wait fail too, where one is ordered to, and print nothing then."""
    node.run("cd /sys/kernel/debug && for each in failslab fail_page_alloc; do "
             "echo 0 > $each/verbose && echo N > $each/ignore-gfp-wait || exit 1; done; "
             "echo N > fail_page_alloc/ignore-gfp-highmem && echo 0 > fail_page_alloc/min-order")


class Fault:
    """One point in a node's rblk-core."""

    def __init__(self, node, point):
        self.node = node
        self.path = f"/sys/kernel/debug/rblk/fault/{point}"

    def order(self, number, value=errno.ENOMEM):
        """Let the NUMBER-th pass from now fail with errno VALUE; of a work, in its VALUE-th allocation."""
        self.node.run(f"echo {number} {value} > {self.path}")

    def seen(self):
        """Passes since the order, and how many of them failed."""
        return tuple(map(int, re.fullmatch(r"passes (\d+) injected (\d+)\n", self.node.read(self.path)).groups()))

    def cancel(self):
        self.order(0)
