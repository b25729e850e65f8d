# SPDX-License-Identifier: GPL-2.0
"""The kernels that nodes boot, as scripts/build-kernel describes them."""
import dataclasses
import functools
import json
import os
import pathlib
import shutil
import subprocess

from .errors import LabError
from .rundir import TOP, Run

KINDS = ("stock", "lockdep", "safety")


@dataclasses.dataclass(frozen=True)
class Kernel:
    """One kernel: its image, its own modules, and rblk's modules for it."""
    kind: str
    release: str
    image: pathlib.Path
    modules: pathlib.Path
    rblk: pathlib.Path
    tool: pathlib.Path = TOP / "build/tools/rblk"

    @property
    def machine(self) -> str:
        return "uml" if self.kind == "safety" else "qemu"


@functools.cache
def find(kind: str) -> Kernel:
    """The kernel of KIND; an error that says how to get it when it is not there."""
    done = subprocess.run([str(TOP / "scripts/build-kernel"), "info", kind], capture_output=True, text=True, check=False)
    hint = f"run 'scripts/build-kernel {kind}' first"
    if done.returncode:
        raise LabError(f"no {kind} kernel: {done.stderr.strip().splitlines()[-1:] or 'no reason given'}; {hint}")
    parts = json.loads(done.stdout)
    kernel = Kernel(kind, parts["release"], *(pathlib.Path(parts[key]) for key in ("image", "modules", "rblk")))
    for path in (kernel.image, kernel.modules):
        if not path.exists():
            raise LabError(f"no {kind} kernel: {path} is missing; {hint}")
    return kernel


def freeze(kernel: Kernel, run: Run) -> Kernel:
    """KERNEL with the run's own copies of rblk's modules and tool.

    A build that goes on meanwhile must not exchange them in the middle of a
    test. All labs of one run share the copies.
    """
    folder = run.folder / f"rblk-{kernel.kind}"
    if not folder.exists():
        folder.mkdir()
        for module in kernel.rblk.glob("*.ko"):
            shutil.copy2(module, folder)
        if kernel.tool.exists():
            place(kernel.tool, folder / kernel.tool.name)
    return dataclasses.replace(kernel, rblk=folder, tool=folder / kernel.tool.name)


def place(source: pathlib.Path, target: pathlib.Path) -> None:
    """A link if possible: it is large with its debug information, and the linker makes a new file each time."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
