# SPDX-License-Identifier: GPL-2.0
"""Find kernel reports (warnings, oopses, sanitizer and lock reports) in a console log."""
import dataclasses
import functools
import pathlib
import re

import yaml

from .errors import LabError

ALLOWLIST = pathlib.Path(__file__).parent / "allowlist.yaml"

# Every kernel line carries a time stamp; what programs print on the console does not.
STAMP = re.compile(r"\[\s*(\d+\.\d{6})\](?:\[\s*[TC]\d+\])? ?")
TITLE = re.compile("|".join((
    r"\bWARNING: ", r"\bBUG: ", r"\bBUG at ", r"\bOops\b", r"\bKASAN\b", r"\bKFENCE\b", r"\bKCSAN\b", r"\bUBSAN\b",
    r"possible circular locking", r"inconsistent lock state", r"possible recursive locking", r"suspicious RCU usage",
    r"sleeping function called", r"blocked for more than", r"unreferenced object",
    r"general protection fault", r"refcount_t", r"list_(?:add|del) corruption", r"\bODEBUG\b",
    r"soft lockup", r"hard LOCKUP", r"rcu.*(?:detected stall|self-detected stall|stalls on CPUs)",
    r"workqueue lockup", r"Kernel panic", r"Call Trace:", r"\bslab-\w+ in\b", r"unregister_netdevice: waiting",
    r"Unable to handle kernel", r"page allocation failure", r"DEBUG_LOCKS_WARN_ON", r"irq \d+: nobody cared",
    r"Segfault with no mm", r"swiotlb buffer is full", r"Bad page state", r"pagealloc: ",
)))
# Lines that match TITLE but open no report: lines about the checkers themselves
HARMLESS = re.compile("|".join((
    r"KernelAddressSanitizer initialized", r"kasan: ", r"^kmemleak: ", r"KFENCE: initialized", r"kfence: initialized",
    r"UBSAN: (?:enabled|disabled)", r"^Kernel command line:", r"^Command line:", r"# .*(?:ok|not ok)",
)))
END_TRACE = re.compile(r"---\[ end (?:trace|Kernel panic)")
CUT_HERE = "[ cut here ]"
RULER = re.compile(r"^={20,}$")  # above and below a KASAN report, only above a lock report
HEAD = 12  # lines in which a report may name itself again
MAX_LINES = 250
MAX_GAP = 2.0  # seconds between two lines of one report, generous for a slow console


@dataclasses.dataclass
class Splat:
    """One report: the line that names it, and all its lines without time stamps."""
    title: str
    lines: list[str]
    allowed_by: str = ""

    @property
    def ours(self) -> bool:
        """Whether rblk occurs in the report, other than as a loaded module or in its own messages."""
        return any("rblk" in line and not line.startswith("Modules linked in:") and not re.match(r"rblk[\w-]*: ", line)
                   for line in self.lines)

    @property
    def want_of_memory(self) -> bool:
        """Whether the page allocator or vmalloc says that it has none, and nothing more."""
        return ("page allocation failure" in self.title or self.title.startswith("Call Trace:")) and any(
            re.search(r"\bwarn_alloc\b", line) for line in self.lines)

    def __str__(self) -> str:
        return "\n".join(self.lines)


def find(text: str) -> list[Splat]:
    """All reports in a console log, in order."""
    found: list[Splat] = []
    current: Splat | None = None
    last = 0.0
    traced = False  # the current report has shown its Call Trace
    for raw in text.splitlines():
        match = STAMP.search(raw)
        if not match:
            continue
        stamp, line = float(match[1]), raw[match.end():].rstrip()
        if current and (stamp - last > MAX_GAP or len(current.lines) >= MAX_LINES or CUT_HERE in line):
            current = None
        last = stamp
        if TITLE.search(line) and not HARMLESS.search(line) and starts_new(current, line, traced):
            current = Splat(line.strip(), [line])
            traced = "Call Trace:" in line
            found.append(current)
        elif current:
            if len(current.lines) == 1 and current.title.startswith("WARNING: CPU: ") and not line.startswith("Modules linked"):
                current.title += f": {line.strip()}"  # WARN's own text
            current.lines.append(line)
            traced = traced or "Call Trace:" in line
            if END_TRACE.search(line) or RULER.match(line) and len(current.lines) > HEAD:
                current = None
    return found


def starts_new(current: Splat | None, line: str, traced: bool) -> bool:
    """Whether a title line opens a report, or belongs to the one that is being read.

    A report names itself more than once in its head ("BUG: KASAN: ...",
    "WARNING: possible ..." followed by "Call Trace:"), but after its trace a
    new title is a new report.
    """
    if not current:
        return True
    if "Call Trace:" in line:
        return False
    return traced or len(current.lines) > HEAD


@dataclasses.dataclass(frozen=True)
class Allowed:
    """One entry of the allow-list: a known report that is not rblk's."""
    pattern: re.Pattern
    kernel: re.Pattern
    reason: str

    def matches(self, splat: Splat, kind: str, release: str) -> bool:
        return bool(not splat.ours and self.kernel.fullmatch(f"{kind} {release}") and self.pattern.search(splat.title))


@functools.cache
def load_allowlist(path: pathlib.Path = ALLOWLIST) -> tuple[Allowed, ...]:
    entries = []
    for number, entry in enumerate(yaml.safe_load(path.read_text()) or [], 1):
        if not isinstance(entry, dict) or set(entry) != {"title", "kernel", "reason"} or not str(entry["reason"]).strip():
            raise LabError(f"{path}: entry {number} needs exactly 'title', 'kernel' and 'reason'")
        entries.append(Allowed(re.compile(entry["title"]), re.compile(entry["kernel"]), entry["reason"]))
    return tuple(entries)


def judge(splats: list[Splat], kind: str, release: str, allowlist: tuple[Allowed, ...] | None = None) -> list[Splat]:
    """The reports that no entry of the allow-list covers; the others get 'allowed_by'."""
    allowlist = load_allowlist() if allowlist is None else allowlist
    for splat in splats:
        for entry in allowlist:
            if entry.matches(splat, kind, release):
                splat.allowed_by = entry.reason
                break
    return [splat for splat in splats if not splat.allowed_by]
