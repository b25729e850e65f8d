# SPDX-License-Identifier: GPL-2.0
"""The frame of a scenario on three nodes, which are a few lines of Python."""
import pathlib
import types

import pytest

from rblklab.kernels import Kernel
from rblklab.node import Result
from rblklab.rig import Rig


class Machine:
    """Has the modules that it was told to load, and says who did what in LOG."""

    def __init__(self, name, log):
        self.name, self.log = name, log
        self.kernel = Kernel("none", "", *[pathlib.Path("/none")] * 3)
        self.ports = [types.SimpleNamespace(ipv4="10.77.0.1")]
        self.console = types.SimpleNamespace(mark=lambda: 0, text=lambda mark: "")
        self.counts = {"rxe0": {"qp": 1, "cm_id": 0}}
        self.modules = set()
        self.missed = 0

    def __str__(self):
        return self.name

    def run(self, command, **_):
        out = ""
        if "insmod" in command:
            self.modules = {word.split("/")[-1][:-3].replace("-", "_") for word in command.split() if word.endswith(".ko")}
            self.log.append(f"{self} loads {' '.join(sorted(self.modules))}")
        elif "rmmod" in command:
            out = "".join(f"{name} 1\n" for name in self.modules)
            self.modules.clear()
            self.log.append(f"{self} unloads")
        elif "hw_counters" in command:
            out = f"/sys/class/infiniband/rxe0/ports/1/hw_counters 100 send_rnr_err {self.missed}\n"
        return Result(1 if "kmemleak" in command else 0, out, "", 0.0)

    def rdma_counts(self):
        return self.counts

    def loaded(self):
        return sorted(self.modules)

    def thaw(self):
        pass


@pytest.fixture
def rig():
    log = []
    lab = types.SimpleNamespace(nodes=[Machine(name, log) for name in ("nodeA", "nodeB", "nodeC")], relay=None,
                                restart=lambda node: setattr(node, "missed", 0))
    slot = types.SimpleNamespace(kind="none", get=lambda: lab, discard=lambda: log.append("discarded"))
    made = Rig(slot)
    made.log = log
    return made


def test_all_but_the_second_are_servers(rig):
    assert [str(node) for node in (rig.a, rig.b, *rig.further)] == ["nodeA", "nodeB", "nodeC"]
    rig.load()
    assert sorted(rig.log) == ["nodeA loads rblk_core rblk_server", "nodeB loads rblk_client rblk_core",
                               "nodeC loads rblk_core rblk_server"]
    rig.log.clear()
    assert rig.finish() == []
    assert rig.log == ["nodeB unloads", "nodeA unloads", "nodeC unloads"], "the client first"


def test_what_a_third_node_keeps_is_found(rig, monkeypatch):
    monkeypatch.setattr("rblklab.rig.SETTLE_LIMIT", 0.0)
    rig.load()
    rig.further[0].counts = {"rxe0": {"qp": 3, "cm_id": 0}}
    problem, = rig.finish()
    assert problem.startswith("nodeC: rxe0: ") and rig.log[-1] == "discarded"


def test_a_node_that_starts_anew_counts_from_nothing(rig):
    for node in rig.lab.nodes:
        node.missed = 23
    again = Rig(rig.slot)
    again.restart(again.b)
    assert again.finish() == []
    again = Rig(rig.slot)
    again.restart(again.b)
    again.b.missed = 2
    assert again.finish() == ["nodeB: rxe0 port 1: send_rnr_err went from 0 to 2"]
