# SPDX-License-Identifier: GPL-2.0
"""Counting tests, from the JUnit XML that pytest, ctest and lint write."""
import dataclasses
import pathlib
import re
import xml.etree.ElementTree as ElementTree

# What tests/vm/test_kunit.py prints: the cases that ran inside a kernel
KUNIT = re.compile(r"^KUnit on (\w+): (\d+) passed, (\d+) failed, (\d+) skipped", re.M)
REASON = 240  # characters of a reason that the summary shows; all of it is in the part's log


@dataclasses.dataclass
class Tests:
    """How many tests ended how, and which ones failed."""
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: list[str] = dataclasses.field(default_factory=list)

    @property
    def total(self) -> int:
        return self.passed + self.failed + self.skipped

    def add(self, other: "Tests") -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.failures += other.failures

    def fail(self, name: str) -> None:
        self.failed += 1
        self.failures.append(name)

    def text(self) -> str:
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


def read(path: pathlib.Path) -> Tests:
    """The tests in a JUnit file; none if there is no such file or it is cut off."""
    tests = Tests()
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError):
        return tests
    for case in root.iter("testcase"):
        # ctest gives the same name twice
        name = "::".join(dict.fromkeys(part for part in (case.get("classname"), case.get("name")) if part))
        bad = next(iter(case.findall("failure") + case.findall("error")), None)
        if bad is not None:
            tests.fail(": ".join(filter(None, (name, reason(bad)))))
        elif case.find("skipped") is not None:
            tests.skipped += 1
        else:
            tests.passed += 1
        for out in case.iter("system-out"):
            tests.add(kunit(out.text or ""))
    return tests


def reason(element: ElementTree.Element) -> str:
    """Why a test failed, on one line and short enough for a summary."""
    words = " ".join((element.get("message") or "").split())
    return words if len(words) <= REASON else words[:REASON] + " ..."


def kunit(text: str) -> Tests:
    """The KUnit cases that a test's output tells of."""
    tests = Tests()
    for kernel, passed, failed, skipped in KUNIT.findall(text):
        tests.passed += int(passed)
        tests.skipped += int(skipped)
        for _ in range(int(failed)):
            tests.fail(f"a KUnit case on {kernel}")
    return tests
