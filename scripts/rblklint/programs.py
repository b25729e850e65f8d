# SPDX-License-Identifier: GPL-2.0
"""Checks of what runs in user space, and of generated code."""
import re
import shutil

from .project import Broken, Project, Skip, run

PYTHON = "/usr/bin/python3"
# clang-format's output differs from one release to the next: only the one that
# the tool's sources were formatted with can say that they are.
CLANG_FORMAT = "14"


def shellcheck(project: Project) -> list[str]:
    """shellcheck"""
    files = project.scripts(".sh", "sh", "bash", "dash")
    return output_of(["shellcheck", "--format=gcc", *files], project) if files else []


def python_syntax(project: Project) -> list[str]:
    """Python compiles"""
    found = []
    for name in python_files(project):
        try:
            compile(project.raw(name), name, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as err:
            found.append(f"{name}:{getattr(err, 'lineno', 0)}: {err}")
    return found


def pyflakes(project: Project) -> list[str]:
    """pyflakes"""
    files = python_files(project)
    if not files:
        return []
    found = output_of([PYTHON, "-m", "pyflakes", *files], project)
    if any("No module named pyflakes" in line for line in found):
        raise Broken("pyflakes is not installed; run 'scripts/install-packages'")
    return found


def python_files(project: Project) -> list[str]:
    return project.scripts(".py", "python3", "python")


def clang_format(project: Project) -> list[str]:
    """clang-format of the tool's C++"""
    program = shutil.which(f"clang-format-{CLANG_FORMAT}") or "clang-format"
    version = re.search(r"version (\d+)", run([program, "--version"]).stdout)
    if not version or version[1] != CLANG_FORMAT:
        raise Skip(f"the sources are formatted with clang-format {CLANG_FORMAT}, here is {version[1] if version else 'another'}")
    files = [name for name in project.files if name.endswith((".cpp", ".hpp"))]
    found = output_of([program, "--dry-run", "--Werror", *files], project) if files else []
    # The lines between show the source
    return [line for line in found if ": error: " in line] or found


def netlink(project: Project) -> list[str]:
    """the netlink code is what the specs give"""
    return output_of([project.top / "scripts/regen-netlink", "--check"], project)


def output_of(command: list, project: Project) -> list[str]:
    """What COMMAND says when it fails."""
    done = run(command, cwd=project.top)
    if not done.returncode:
        return []
    return [line for line in done.stdout.splitlines() if line.strip()] or [f"{command[0]} ended with {done.returncode}"]
