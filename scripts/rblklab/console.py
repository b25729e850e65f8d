# SPDX-License-Identifier: GPL-2.0
"""A node's console, kept in a file."""
import pathlib


class Console:
    """The log that a machine's console is written to; positions are byte offsets."""

    def __init__(self, path: pathlib.Path):
        self.path = path

    def mark(self) -> int:
        """The present end, to read from later."""
        return self.path.stat().st_size if self.path.exists() else 0

    def text(self, since: int = 0) -> str:
        if not self.path.exists():
            return ""
        with open(self.path, "rb") as log:
            log.seek(since)
            return log.read().decode(errors="replace").replace("\r", "")
