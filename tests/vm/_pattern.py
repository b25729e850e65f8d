# SPDX-License-Identifier: GPL-2.0
"""Builds and runs tests/pattern/rblk-pattern.c, which checks each byte of what it writes."""
import contextlib
import os
import subprocess

from rblklab.node import Command, Node, Result
from rblklab.rundir import TOP

MIB = 1 << 20


class Pattern:
    """The program; it is at the same path in each node."""

    def __init__(self, program):
        self.program = program

    def command(self, what: str, *words: object) -> Command:
        return [str(self.program), what, *map(str, words)]

    def __call__(self, node: Node, what: str, *words: object, timeout: float = 240, check: bool = True) -> Result:
        return node.run(self.command(what, *words), timeout=timeout, check=check)

    def fill(self, node: Node, path: str, start: int, size: int, sector: int = 0, gen: int = 1) -> None:
        self(node, "fill", path, start, size, sector, gen)

    def check(self, node: Node, path: str, start: int, size: int, sector: int = 0, gen: int = 1) -> None:
        self(node, "check", path, start, size, sector, gen)


@contextlib.contextmanager
def built():
    """Build it, for as long as it is used."""
    # A name of this process: the suites of two kernels may run at once.
    target = TOP / f"build/tests/rblk-pattern-{os.getpid()}"
    target.parent.mkdir(parents=True, exist_ok=True)
    source = TOP / "tests/pattern/rblk-pattern.c"
    subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", str(target), str(source)], check=True)
    yield Pattern(target)
    target.unlink(missing_ok=True)
