# SPDX-License-Identifier: GPL-2.0
"""A node's console, kept in a file for each boot."""
import pathlib


class Console:
    """The log that a machine's console is written to; positions are byte offsets.

    A machine that boots again goes on in another file. Positions run on, so that
    what an earlier boot said stays there to be read.
    """

    def __init__(self, path: pathlib.Path):
        self.path = path
        self.before = b""  # what earlier boots said

    def go_on(self, path: pathlib.Path) -> None:
        """The machine has ended, and its next boot writes to PATH."""
        self.before += self._read()
        self.path = path

    def mark(self) -> int:
        """The present end, to read from later."""
        return len(self.before) + (self.path.stat().st_size if self.path.exists() else 0)

    def text(self, since: int = 0) -> str:
        seen = self.before[since:] + self._read(max(0, since - len(self.before)))
        return seen.decode(errors="replace").replace("\r", "")

    def _read(self, since: int = 0) -> bytes:
        if not self.path.exists():
            return b""
        with open(self.path, "rb") as log:
            log.seek(since)
            return log.read()
