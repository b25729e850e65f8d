# SPDX-License-Identifier: GPL-2.0
"""Time as a node sees it, and moments that can be had again."""
import os
import random

from .node import Node


def timed(node: Node, command: str, timeout: float = 60) -> float:
    """Run COMMAND, which must not print; the seconds it took by the node's own clock."""
    out = node.run(f"read -r began rest </proc/uptime; {command} || exit; read -r now rest </proc/uptime; echo $began $now",
                   timeout=timeout).stdout
    began, now = map(float, out.split())
    return now - began


def seed() -> int:
    """What chance begins with; RBLK_SEED has the same again."""
    return int(os.environ.get("RBLK_SEED", "0"), 0) or random.SystemRandom().randrange(1, 1 << 32)


def moments() -> random.Random:
    """A source of random moments, which says how to have the same ones again."""
    begin = seed()
    print(f"RBLK_SEED={begin}")
    return random.Random(begin)
