# SPDX-License-Identifier: GPL-2.0
"""The kernels that nodes boot, as scripts/build-kernel describes them."""
import dataclasses
import functools
import json
import pathlib
import subprocess

from .errors import LabError
from .rundir import TOP

KINDS = ("stock", "lockdep", "safety")


@dataclasses.dataclass(frozen=True)
class Kernel:
    """One kernel: its image, its own modules, and rblk's modules for it."""
    kind: str
    release: str
    image: pathlib.Path
    modules: pathlib.Path
    rblk: pathlib.Path

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
