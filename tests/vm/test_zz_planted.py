# SPDX-License-Identifier: GPL-2.0
"""The negative control of all scenarios: planted faults are found, each where it should be.

Runs last: it leaves the nodes unfit for anything else.
"""
import re
import shutil
import subprocess

import pytest

from rblklab import kmemleak, splat
from rblklab.kernels import find
from rblklab.rundir import TOP

# fault: what the report's title says, and the kernels that find it
FAULTS = {
    # First: other faults turn lock checking off
    "locks": ("possible circular locking", ("lockdep",)),
    "warn": ("WARNING: CPU", ("lockdep", "safety")),
    "uaf": ("KASAN: slab-use-after-free", ("safety",)),
    "overflow": ("KASAN: slab-out-of-bounds", ("safety",)),
    "timer": ("ODEBUG: free active", ("safety",)),
    "list": ("list_del corruption", ("lockdep", "safety")),
    "sleep": ("BUG: scheduling while atomic|sleeping function called", ("lockdep", "safety")),
}


@pytest.fixture(scope="session")
def build_planted():
    """Build the module for a kernel, out of its tree."""
    def build(kind):
        folder = TOP / "build/planted" / kind
        folder.mkdir(parents=True, exist_ok=True)
        for source in (TOP / "tests/planted").iterdir():
            shutil.copy(source, folder)
        arch = ["ARCH=um", "SUBARCH=x86_64"] if kind == "safety" else []
        tree = find(kind).modules / "build"
        done = subprocess.run(["make", "-s", "-C", str(tree), f"M={folder}", *arch, "modules"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return folder / "planted.ko"
    return build


def test_no_leak_is_left(slot):
    """Each scenario leaves what was too young for kmemleak to the next one; this one waits."""
    lab = slot.get()
    for node in lab.nodes:
        if not kmemleak.available(node):
            assert slot.kind != "safety", "the memory-safety kernel must have kmemleak"
            return
    leaks = {str(node): list(map(str, kmemleak.scan(node))) for node in lab.nodes}
    assert not any(leaks.values()), leaks


@pytest.fixture
def node(slot):
    """A node that is not used again afterwards."""
    yield slot.get().nodes[0]
    slot.discard()


def test_planted_faults_are_found(slot, node, build_planted):
    module = build_planted(slot.kind)
    missed = []
    for fault, (title, kinds) in FAULTS.items():
        if slot.kind not in kinds:
            continue
        mark = node.console.mark()
        node.run(["insmod", str(module), f"fault={fault}"])
        node.run("rmmod planted; sleep 0.5")
        reports = splat.judge(splat.find(node.console.text(mark)), slot.kind, node.kernel.release)
        if not any(re.search(title, report.title) for report in reports):
            missed.append((fault, [report.title for report in reports]))
    assert not missed


def test_a_planted_leak_is_found_and_named(slot, node, build_planted):
    if not kmemleak.available(node):
        assert slot.kind != "safety", "the memory-safety kernel must have kmemleak"
        return
    kmemleak.clear(node)
    node.run(["insmod", str(build_planted(slot.kind)), "fault=leak"])
    node.run("rmmod planted")
    leaks = kmemleak.scan(node)
    assert any("size 1024" in str(leak) or "size 1000" in str(leak) for leak in leaks), leaks


def test_a_dead_node_is_noticed_and_replaced(slot, node):
    node.spawn("echo c > /proc/sysrq-trigger || kill -SEGV 1")
    node.process.kill()
    node.process.wait(10)
    assert not node.responds(timeout=5)
    fresh = slot.get().nodes[0]
    assert fresh is not node and fresh.responds()
