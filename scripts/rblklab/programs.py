# SPDX-License-Identifier: GPL-2.0
"""Programs of tests/ that cmake builds: they run here, or in the nodes, which have this machine's files."""
import fcntl
import pathlib
import subprocess

from .errors import LabError
from .kernels import place
from .rundir import TOP, Run


def build(name: str, target: str, variant: str = "", options: tuple[str, ...] = ()) -> pathlib.Path:
    """TARGET of tests/NAME, built in build/NAME if it is not as its sources are. OPTIONS make a VARIANT, which has its own folder."""
    folder = TOP / "build" / (f"{name}-{variant}" if variant else name)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several runs may begin at once
        if not (folder / "Makefile").exists():
            make(name, ["cmake", "-G", "Unix Makefiles", "-S", str(TOP / "tests" / name), "-B", str(folder), *options])
        make(name, ["cmake", "--build", str(folder)])
    return folder / target


def make(name: str, command: list[str]) -> None:
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    except FileNotFoundError as err:
        raise LabError(f"{command[0]} is not installed; run 'scripts/install-packages'") from err
    if done.returncode:
        raise LabError(f"tests/{name} cannot be built; 'scripts/install-packages' installs what it needs:\n{done.stdout[-4000:]}")


def of_run(run: Run, name: str, target: str) -> pathlib.Path:
    """The program that all labs of one run use, whatever is built meanwhile."""
    program = run.folder / target
    if not program.exists():
        place(build(name, target), program)
    return program
