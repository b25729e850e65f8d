# SPDX-License-Identifier: GPL-2.0
"""Checks of the kernel code, with the kernel's own means."""
import concurrent.futures
import os
import pathlib
import re
import shutil

from .project import Broken, Kernel, Project, run

JOBS = os.cpu_count() or 1
KERNEL = Kernel()

# Message types that checkpatch must not give, and where. Nothing is ignored anywhere else.
#
# A header of tracepoints is written the way the macros of linux/tracepoint.h
# want it, TP_STRUCT__entry( at the end of a line and what follows indented by
# a tab, as in every such header of the tree; checkpatch does not know that.
TRACE_HEADER = re.compile(r"^#define TRACE_SYSTEM\b", re.M)
TRACE_IGNORED = {"OPEN_ENDED_LINE", "PARENTHESIS_ALIGNMENT"}
# Generated files (netlink_gen.[ch], uapi headers) are not looked at: they are
# as the kernel's generator writes them, which the check 'netlink' sees to.

CHECKPATCH = re.compile(r"^(?P<file>[^:\s]+):(?P<line>\d+): (?:ERROR|WARNING|CHECK):(?P<type>\w+): ")
COMPILER = re.compile(r"^(?P<file>[^:\s]+):\d+(?::\d+)?: (?:fatal )?(?:warning|error): ")
BUILD_TROUBLE = re.compile(r"modpost: |\*\*\* (?!\[)|^(?:ERROR|WARNING): ")


def checkpatch(project: Project) -> list[str]:
    """checkpatch --strict"""
    files = project.module_code()
    command = ["perl", KERNEL.tree / "scripts/checkpatch.pl", "--no-tree", "--strict", "--max-line-length=100", "--terse", "--show-types",
               "--no-summary", "--color=never", "--file"]
    # Dealt out by size, so that the pieces take equally long
    files.sort(key=lambda name: len(project.raw(name)), reverse=True)
    pieces = [piece for piece in (files[start::JOBS] for start in range(JOBS)) if piece]
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        outputs = list(pool.map(lambda piece: run(command + piece, cwd=project.top), pieces))
    found = []
    for done in outputs:
        lines = done.stdout.splitlines()
        if done.returncode and not lines:
            raise Broken(f"checkpatch ended with {done.returncode} and said nothing")
        found += [line for line in lines if line and not tracepoint_style(project, line)]
    return sorted(found)


def tracepoint_style(project: Project, line: str) -> bool:
    match = CHECKPATCH.match(line)
    return bool(match and match["type"] in TRACE_IGNORED and TRACE_HEADER.search(project.text(match["file"])))


def copy(project: Project) -> pathlib.Path:
    """The tracked files of the module part, in a folder of lint's own."""
    target = project.top / "build/lint/modules"
    shutil.rmtree(target, ignore_errors=True)
    for name in project.module_files():
        place = target / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(project.top / name, place)
    return target


def compile_all(project: Project, folder: pathlib.Path, *words: str) -> list[str]:
    """Build all modules; every message about our files, or what stopped the build."""
    done = run([*KERNEL.make(), f"M={folder}", "-k", f"-j{JOBS}", "W=1", *words, "modules"])
    found = []
    for line in done.stdout.splitlines():
        match = COMPILER.match(line)
        # Headers of the kernel may warn at W=1: what is not in our files is not ours
        if match and str(folder) in match["file"] or BUILD_TROUBLE.search(line):
            found.append(line.replace(f"{folder}/", ""))
    if done.returncode and not found:
        raise Broken("the build failed:\n" + "\n".join(done.stdout.splitlines()[-15:]))
    return list(dict.fromkeys(found))


def build(project: Project) -> list[str]:
    """all modules build at W=1 without a warning"""
    return compile_all(project, copy(project))


def sparse(project: Project) -> list[str]:
    """sparse, with endianness"""
    # What 'build' has compiled is up to date, so C=2 runs only sparse
    found = compile_all(project, project.top / "build/lint/modules", "C=2", "CF=-D__CHECK_ENDIAN__")
    return [line for line in found if "[-W" not in line]


def kernel_doc(project: Project) -> list[str]:
    """kernel-doc -Wall"""
    files = project.module_code()
    done = run(["perl", KERNEL.tree / "scripts/kernel-doc", "-none", "-Wall", *files], cwd=project.top)
    # Most files have nothing for kernel-doc, and need not
    found = [line for line in done.stdout.splitlines() if line and "no structured comments found" not in line]
    if done.returncode and not found:
        raise Broken(f"kernel-doc ended with {done.returncode}")
    return found


# A definition begins at the left edge, and its body with a brace of its own line.
FUNCTION = re.compile(r"^(?P<type>[A-Za-z_][\w \t\*\n]*?[\s\*])(?P<name>\w+)\((?P<args>[^;{}]*?)\)[\w\s]*\n\{", re.M)
# Not functions of ours: macros that look like one
NOT_A_TYPE = re.compile(r"\b(static|define|return|else|typedef)\b")
COMMENT = re.compile(r"/\*.*?\*/", re.S)


def blank(match: re.Match) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def function_docs(project: Project) -> list[str]:
    """every function that is not static says its Context: and what it Returns:"""
    found = []
    # What a netlink operation does is said in its spec, from which its prototype is generated
    specified = {name for header in project.module_files() if header.endswith(".h") and project.generated(header)
                 for name in re.findall(r"\b(\w+)\(struct ", project.text(header))}
    for name in project.module_code():
        if not name.endswith(".c"):
            continue
        text = project.text(name)
        code = re.sub(r"^#.*(?:\\\n.*)*", blank, COMMENT.sub(blank, text), flags=re.M)
        for match in FUNCTION.finditer(code):
            if NOT_A_TYPE.search(match["type"]) or match["name"] in specified:
                continue
            place = f"{name}:{code.count(chr(10), 0, match.start('name')) + 1}: {match['name']}()"
            doc = comment_before(text, match.start())
            if not re.search(rf"^ \* {match['name']}(\(\))? - ", doc, re.M):
                found.append(f"{place} has no kernel-doc")
                continue
            if not re.search(r"^ \* Context:", doc, re.M):
                found.append(f"{place}: its kernel-doc has no 'Context:'")
            if not returns_nothing(match["type"]) and not re.search(r"^ \* Return:", doc, re.M):
                found.append(f"{place}: its kernel-doc has no 'Return:'")
    return found


def returns_nothing(words: str) -> bool:
    return "void" in words.split() and "*" not in words


def comment_before(text: str, at: int) -> str:
    """The kernel-doc comment that ends right before AT, or nothing."""
    head = text[:at].rstrip()
    if not head.endswith("*/"):
        return ""
    return head[max(head.rfind("/**"), 0):] if head.rfind("/**") > head.rfind("*/", 0, -2) else ""
