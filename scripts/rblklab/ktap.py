# SPDX-License-Identifier: GPL-2.0
"""KUnit's results, in KTAP."""
import dataclasses
import re

RESULT = re.compile(r"^(\s*)(ok|not ok) \d+(?: - | )?(.*)$")


@dataclasses.dataclass
class Counts:
    """Cases without parts of their own, by how they ended."""
    passed: list[str] = dataclasses.field(default_factory=list)
    failed: list[str] = dataclasses.field(default_factory=list)
    skipped: list[str] = dataclasses.field(default_factory=list)

    @property
    def total(self) -> int:
        return len(self.passed) + len(self.failed) + len(self.skipped)

    def add(self, other: "Counts") -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped


def parse(text: str) -> Counts:
    """Count the leaves: a result after deeper ones sums those up and is not a case.

    A summary that failed while all of its parts passed counts as failed: the
    failure would be lost otherwise.
    """
    counts = Counts()
    pending: list[tuple[int, bool]] = []  # (depth, failed) of results not yet summed up
    for line in text.splitlines():
        match = RESULT.match(re.sub(r"^\[[^\]]*\] ", "", line))
        if not match:
            continue
        depth, ok, name = len(match[1].expandtabs(4)), match[2] == "ok", match[3].strip()
        parts = [failed for deep, failed in pending if deep > depth]
        pending = [item for item in pending if item[0] <= depth]
        pending.append((depth, not ok))
        if parts and (ok or any(parts)):
            continue
        if not ok:
            counts.failed.append(name)
        elif re.search(r"# SKIP\b", name, re.I):
            counts.skipped.append(name)
        else:
            counts.passed.append(name)
    return counts
