# SPDX-License-Identifier: GPL-2.0
"""A node's RDMA device goes away, in either way, and comes back under either name."""
import itertools

from .clock import moments, timed
from .node import Node
from .rig import Rig

LIMIT = 10.0  # seconds in which an RDMA device or its driver must be gone, whatever rblk does
OTHER = "rdma_other"
LINK, DRIVER = "rdma link delete", "rmmod of the driver"
WAYS = (LINK, DRIVER)
SIDES = ("client", "server")
CASES = tuple(itertools.product(SIDES, WAYS))


# Each side once and each way once
DIAGONALS = (((SIDES[0], LINK), (SIDES[1], DRIVER)), ((SIDES[0], DRIVER), (SIDES[1], LINK)))


def cases() -> tuple[tuple[str, str], ...]:
    """Which side loses its device in which way: half of them by chance, as each takes long."""
    return moments().choice(DIAGONALS)


class Removal:
    """The RDMA devices on the first link of a scenario's nodes. Each time one comes back it has another name."""

    def __init__(self, rig: Rig):
        self.rig = rig
        self.names = {node: itertools.cycle((OTHER, node.rdma_name())) for node in rig.lab.nodes}

    def node(self, side: str) -> Node:
        return self.rig.b if side == "client" else self.rig.a

    def take(self, node: Node, way: str) -> None:
        """The node's only RDMA device goes, in the time that it has for that."""
        command = "rdma link delete $device" if way == LINK else f"rmmod {self._driver(node)}"
        took = timed(node, f"cd /sys/class/infiniband && device=$(echo *) && {command} && ! ls -d [!.]*")
        print(f"--- {node}: {way}: {took:.2f} s")
        assert took < LIMIT, f"{node}: {way} had to wait {took:.1f} s for rblk"

    def give(self, node: Node) -> str:
        """It comes back; its name."""
        name = next(self.names[node])
        self._add(node, name)
        return name

    def restore(self) -> None:
        """The usual driver and device on both nodes, as the frame's counts want them."""
        for node in self.rig.lab.nodes:
            names = node.run("ls /sys/class/infiniband").stdout.split()
            if names != [node.rdma_name()]:
                for name in names:
                    node.run(["rdma", "link", "delete", name])
                self._add(node, node.rdma_name())

    def _add(self, node: Node, name: str) -> None:
        node.run(f"modprobe {self._driver(node)} && rdma link add {name} type {node.provider} netdev net0")

    @staticmethod
    def _driver(node: Node) -> str:
        return "rdma_rxe" if node.provider == "rxe" else node.provider
