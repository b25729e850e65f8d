# SPDX-License-Identifier: GPL-2.0
"""The files that lint looks at, told apart by what they are, and the kernel it checks them with."""
import functools
import json
import os
import pathlib
import subprocess

SCRIPTS = pathlib.Path(__file__).resolve().parents[1]
# What goes into a kernel tree; see MODULE_PARTS in scripts/build-kernel
MODULE_PARTS = ("Kbuild", "Kconfig", "include/", "ulp/", "tests/kunit/")
GENERATED = "auto-generated"  # in the head of what ynl-gen-c.py writes


class Skip(Exception):
    """A check cannot run here; the text says why."""


class Broken(Exception):
    """A check did not come to a verdict; the text says why."""


def run(command: list, **kwargs) -> subprocess.CompletedProcess:
    """Run COMMAND with its two outputs in one text."""
    env = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES")}
    env["LC_ALL"] = "C.UTF-8"
    try:
        return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", env=env, check=False, timeout=kwargs.pop("timeout", 600), **kwargs)
    except FileNotFoundError as err:
        raise Broken(f"{command[0]} is not installed; run 'scripts/install-packages'") from err
    except subprocess.TimeoutExpired as err:
        raise Broken(f"{command[0]} took longer than {err.timeout:.0f} s") from err


class Project:
    """A checkout. Only tracked files count: what is not committed is nobody's yet."""

    def __init__(self, top: pathlib.Path):
        self.top = top
        out = run(["git", "-C", top, "ls-files", "-z"]).stdout
        self.files = [name for name in out.split("\0") if name and (top / name).is_file() and not (top / name).is_symlink()]
        if not self.files:
            raise Broken(f"{top} has no tracked files: lint needs a git checkout")

    @functools.cache
    def raw(self, name: str) -> bytes:
        return (self.top / name).read_bytes()

    def text(self, name: str) -> str:
        return self.raw(name).decode("utf-8", "replace")

    def lines(self, name: str) -> list[str]:
        return self.text(name).split("\n")

    def is_text(self, name: str) -> bool:
        return b"\0" not in self.raw(name)

    def generated(self, name: str) -> bool:
        return GENERATED in self.text(name)[:400]

    def text_files(self) -> list[str]:
        return [name for name in self.files if self.is_text(name)]

    def module_files(self) -> list[str]:
        """Everything that goes into a kernel tree."""
        return [name for name in self.files if name.startswith(MODULE_PARTS)]

    def module_code(self) -> list[str]:
        """The hand-written C of the module part."""
        return [name for name in self.module_files() if name.endswith((".c", ".h")) and not self.generated(name)]

    def shebang(self, name: str) -> str:
        line = self.text(name).split("\n", 1)[0]
        return line if line.startswith("#!") else ""

    def scripts(self, suffix: str, *shells: str) -> list[str]:
        """Files in a script language, by name or by first line."""
        def last_word(name: str) -> str:
            return pathlib.PurePath((self.shebang(name).split() or [""])[-1]).name

        return [name for name in self.text_files() if name.endswith(suffix) or last_word(name).lstrip("#!") in shells]


class Kernel:
    """The kernel source and a built kernel that scripts/build-kernel keeps."""

    @functools.cached_property
    def tree(self) -> pathlib.Path:
        return pathlib.Path(self._ask("source").splitlines()[-1])

    @functools.cached_property
    def built(self) -> dict[str, str]:
        """A kernel with KUnit. Lockdep's comes first: SMP, and no instrumentation that slows the compiler."""
        for kind in ("lockdep", "safety"):
            try:
                parts = json.loads(self._ask("info", kind))
            except Broken:
                continue
            if (pathlib.Path(parts["build"]) / ".complete").exists():
                return parts
        return json.loads(self._ask("safety"))

    def make(self) -> list:
        """The beginning of a make command line for modules of the built kernel."""
        arch = ["ARCH=um", "SUBARCH=x86_64"] if self.built["kind"] == "safety" else []
        return ["make", "-C", self.built["build"], *arch]

    @staticmethod
    def _ask(*words: str) -> str:
        done = subprocess.run([str(SCRIPTS / "build-kernel"), *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Broken(f"scripts/build-kernel {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout
