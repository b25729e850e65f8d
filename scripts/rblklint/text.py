# SPDX-License-Identifier: GPL-2.0
"""Checks of all files as text: licence, length, spelling, white space, traces of a machine."""
import re

from .project import Project, run

SPDX = re.compile(r"SPDX-License-Identifier:\s*(?P<id>[^*\n]+?)\s*(?:\*/|-->)?\s*$", re.M)
HEAD_LINES = 5  # below a "#!" line, or the title of a document
# Files that cannot carry a licence line, or are one
NO_SPDX = (
    (re.compile(r"^LICENSES/"), "the licences themselves"),
    (re.compile(r"\.json$"), "JSON has no comments"),
    (re.compile(r"^tools/rblk/test/golden/"), "compared byte for byte with what the tool prints"),
)
# Files that nobody formatted by hand
FIXED_TEXT = (
    (re.compile(r"^LICENSES/"), "the licences' own words"),
    (re.compile(r"^tools/rblk/test/golden/"), "what the tool prints"),
)
MAX_LINES = 800
# Words that codespell takes for misspelt ones, each with what it is here
WORDS = {
    "inflight": "of requests, as the kernel spells it",
    "parm": "of MODULE_PARM_DESC",
}
# What betrays the machine that something was built on. Written so as not to match itself.
MACHINE = re.compile(r"(?<![\w.}\])])/(?:work|root)" + r"/|deb\.debian[.]org|registry\.npmjs[.]")


def excepted(name: str, exceptions) -> bool:
    return any(pattern.search(name) for pattern, _ in exceptions)


def spdx(project: Project) -> list[str]:
    """an SPDX line in every file that can hold one"""
    return [f"{name}: no SPDX-License-Identifier in its first {HEAD_LINES} lines" for name in project.text_files()
            if project.raw(name) and not excepted(name, NO_SPDX) and not SPDX.search("\n".join(project.lines(name)[:HEAD_LINES]))]


def licences(project: Project) -> list[str]:
    """LICENSES/ has the text of every licence named, and no other"""
    have = {name.rpartition("/")[2]: name for name in project.files if name.startswith("LICENSES/")}
    used: dict[str, str] = {}
    for name in project.text_files():
        match = SPDX.search("\n".join(project.lines(name)[:HEAD_LINES]))
        if match and not excepted(name, NO_SPDX):
            for word in re.findall(r"[\w.+-]+", match["id"]):
                used.setdefault(word, name)
    for operator in ("AND", "OR", "WITH"):
        used.pop(operator, None)
    return ([f"{used[word]}: LICENSES/ has no text of '{word}'" for word in sorted(used.keys() - have.keys())]
            + [f"{have[word]}: no file is under this licence" for word in sorted(have.keys() - used.keys())])


def length(project: Project) -> list[str]:
    """hand-written files are shorter than 800 lines"""
    found = []
    for name in project.text_files():
        count = project.text(name).count("\n")
        if count >= MAX_LINES and not project.generated(name) and not excepted(name, FIXED_TEXT):
            found.append(f"{name}: {count} lines")
    return found


def whitespace(project: Project) -> list[str]:
    """no trailing white space, one newline at the end, no CR"""
    found = []
    for name in project.text_files():
        if excepted(name, FIXED_TEXT) or not project.raw(name):
            continue
        text = project.text(name)
        found += [f"{name}:{number}: trailing white space" for number, line in enumerate(text.split("\n"), 1) if line != line.rstrip()]
        if not text.endswith("\n") or text.endswith("\n\n"):
            found.append(f"{name}: must end with one newline")
    return found


def codespell(project: Project) -> list[str]:
    """codespell"""
    files = [name for name in project.text_files() if not excepted(name, FIXED_TEXT)]
    done = run(["codespell", "--quiet-level=2", f"--ignore-words-list={','.join(WORDS)}", *files], cwd=project.top)
    return done.stdout.splitlines() if done.returncode else []


def machine(project: Project) -> list[str]:
    """no path of a build machine, no name of a package registry"""
    return [f"{name}:{number}: {line.strip()[:120]}" for name in project.text_files()
            for number, line in enumerate(project.lines(name), 1) if MACHINE.search(line)]
