# SPDX-License-Identifier: GPL-2.0
"""The rblk lab: nodes made of QEMU or User Mode Linux, joined by RDMA links.

    from rblklab import Lab

    with Lab("lockdep", nodes=2) as lab:
        a, b = lab.nodes
        print(a.run("uname -r").stdout)
"""
from .errors import CommandError, LabError, NodeDead
from .lab import Lab
from .node import Node, Result

__all__ = ["CommandError", "Lab", "LabError", "Node", "NodeDead", "Result"]
