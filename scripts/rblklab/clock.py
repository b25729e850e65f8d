# SPDX-License-Identifier: GPL-2.0
"""Time as a node sees it, and moments that can be had again."""
import functools
import os
import pathlib
import random
import subprocess

from .node import Node


def timed(node: Node, command: str, timeout: float = 60) -> float:
    """Run COMMAND, which must not print; the seconds it took by the node's own clock."""
    out = node.run(f"read -r began rest </proc/uptime; {command} || exit; read -r now rest </proc/uptime; echo $began $now",
                   timeout=timeout).stdout
    began, now = map(float, out.split())
    return now - began


@functools.lru_cache
def checkout() -> str:
    """The files of the commit that is checked out, as git names them; nothing where there is none."""
    done = subprocess.run(["git", "rev-parse", "HEAD^{tree}"], cwd=pathlib.Path(__file__).parent, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def seed() -> int:
    """What chance begins with; RBLK_SEED has the same again.

    In continuous integration (CI is set) it comes from the files: there what passed once passes again, and each
    commit has other cases.
    """
    if "RBLK_SEED" in os.environ:
        return int(os.environ["RBLK_SEED"], 0)
    if os.environ.get("CI") and checkout():
        return int(checkout()[:8], 16) or 1
    return random.SystemRandom().randrange(1, 1 << 32)


def moments() -> random.Random:
    """A source of random moments, which says how to have the same ones again."""
    begin = seed()
    print(f"RBLK_SEED={begin}")
    return random.Random(begin)
