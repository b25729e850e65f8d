# SPDX-License-Identifier: GPL-2.0
"""The list of the checks, and how they are run and reported."""
import concurrent.futures
import dataclasses
import os
import pathlib
import threading
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable

from . import kernel, programs, text
from .project import Broken, Project, Skip

SHOWN = 100  # findings of a check that are printed


@dataclasses.dataclass(frozen=True)
class Check:
    """One check. Its function returns what it found."""
    name: str
    function: Callable[[Project], list[str]]
    after: str = ""

    @property
    def title(self) -> str:
        return (self.function.__doc__ or "").strip()


@dataclasses.dataclass
class Result:
    """How a check ended: what it found, or why it was skipped."""
    name: str
    found: list[str]
    skipped: str = ""
    seconds: float = 0.0

    @property
    def verdict(self) -> str:
        return "FAILED" if self.found else "skipped" if self.skipped else "ok"


# The long ones first: they run side by side
CHECKS = (
    Check("build", kernel.build),
    Check("checkpatch", kernel.checkpatch),
    Check("sparse", kernel.sparse, after="build"),
    Check("kernel-doc", kernel.kernel_doc),
    Check("function-docs", kernel.function_docs),
    Check("shellcheck", programs.shellcheck),
    Check("python", programs.python_syntax),
    Check("pyflakes", programs.pyflakes),
    Check("clang-format", programs.clang_format),
    Check("netlink", programs.netlink),
    Check("spdx", text.spdx),
    Check("licences", text.licences),
    Check("length", text.length),
    Check("whitespace", text.whitespace),
    Check("codespell", text.codespell),
    Check("machine", text.machine),
)


def run_one(check: Check, project: Project) -> Result:
    began = time.monotonic()
    result = Result(check.name, [])
    try:
        result.found = check.function(project)
    except Skip as why:
        result.skipped = str(why)
    except Broken as why:
        result.found = str(why).splitlines()
    except OSError as err:
        result.found = [f"{err}"]
    result.seconds = time.monotonic() - began
    return result


def run_all(project: Project, only: list[str], report: Callable[[Result], None]) -> list[Result]:
    """Run the checks on all CPUs; their results, in the order of the list."""
    wanted = [check for check in CHECKS if not only or check.name in only]
    # What a check stands on runs with it
    wanted = [check for check in CHECKS if check in wanted or check.name in {other.after for other in wanted}]
    finished = {check.name: threading.Event() for check in wanted}
    results: dict[str, Result] = {}

    def work(check: Check) -> None:
        if check.after:
            finished[check.after].wait()
        results[check.name] = run_one(check, project)
        report(results[check.name])
        finished[check.name].set()

    with concurrent.futures.ThreadPoolExecutor(max(2, os.cpu_count() or 1)) as pool:
        for done in concurrent.futures.as_completed([pool.submit(work, check) for check in wanted]):
            done.result()
    return [results[check.name] for check in wanted]


printing = threading.Lock()


def show(result: Result) -> None:
    """One line for a check, and what it found."""
    lines = [f"{result.name:<14} {result.seconds:5.1f} s  {result.verdict}" + (f": {result.skipped}" if result.skipped else "")]
    lines += [f"    {line}" for line in result.found[:SHOWN]]
    if len(result.found) > SHOWN:
        lines.append(f"    and {len(result.found) - SHOWN} more")
    with printing:
        print("\n".join(lines), flush=True)


def conclude(results: list[Result]) -> int:
    """The closing line and the exit code."""
    count = {verdict: sum(result.verdict == verdict for result in results) for verdict in ("ok", "FAILED", "skipped")}
    skipped = f", {count['skipped']} skipped" if count["skipped"] else ""
    print(f"lint: {count['ok']} passed, {count['FAILED']} failed{skipped}")
    return 1 if count["FAILED"] else 0


def write_junit(results: list[Result], path: pathlib.Path) -> None:
    suite = ElementTree.Element("testsuite", name="lint", tests=str(len(results)))
    for result in results:
        case = ElementTree.SubElement(suite, "testcase", classname="lint", name=result.name, time=f"{result.seconds:.2f}")
        if result.found:
            ElementTree.SubElement(case, "failure", message=f"{len(result.found)} findings").text = printable("\n".join(result.found))
        elif result.skipped:
            ElementTree.SubElement(case, "skipped", message=result.skipped)
    path.parent.mkdir(parents=True, exist_ok=True)
    ElementTree.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)


def printable(words: str) -> str:
    """Without control characters, which XML cannot hold."""
    return "".join(char for char in words if char >= " " or char in "\n\t")
