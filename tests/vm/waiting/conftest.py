# SPDX-License-Identifier: GPL-2.0
"""Scenarios that mostly wait, on nodes of their own: they run at the same time as the others."""
import os
import pathlib
import subprocess

import pytest

from rblklab.rundir import TOP

# They run beside the nodes of the other scenarios
MEMORY = {"lockdep": 768, "safety": 1024, "stock": 768}


@pytest.fixture
def slot(kernel, slots):
    """Two nodes and two links."""
    return slots(links=2, memory=MEMORY[kernel])


@pytest.fixture(scope="session")
def halves():
    """The program of tests/peer/rblk-halves.c."""
    target = TOP / f"build/tests/rblk-halves-{os.getpid()}"
    target.parent.mkdir(parents=True, exist_ok=True)
    source = pathlib.Path(__file__).parents[2] / "peer/rblk-halves.c"
    subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", str(target), str(source), "-lrdmacm", "-libverbs"], check=True)
    yield target
    target.unlink()
