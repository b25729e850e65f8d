# SPDX-License-Identifier: GPL-2.0
"""A lab: nodes of one kernel, joined by links."""
import concurrent.futures
import contextlib
import socket
import time

from . import kernels
from .errors import LabError, NodeDead
from .links import Port, pair
from .node import Node
from .qemu import QemuNode
from .relay import Relay
from .rundir import Run
from .uml import UmlNode

MEMORY = {"stock": 1024, "lockdep": 1024, "safety": 1536}
PROVIDERS = ("rxe", "siw", "none")


class Lab:
    """N nodes, all joined by each of LINKS links; booted by 'with' or boot().

    FROZEN nodes keep the modules and the tool as they are now; the others see
    every new build. BOOT_OPTIONS are words for the kernel's command line.

    Between the nodes is a relay, which loses, delays and keeps frames on order.
    Two nodes can do without: then their sockets are the ends of one wire.
    """

    def __init__(self, kernel: str, nodes: int = 2, links: int = 1, provider: str = "rxe",
                 run: Run | None = None, memory: int | None = None,
                 frozen: bool = False, relay: bool = True, boot_options: str = ""):
        if nodes != 2 and not relay:
            raise LabError(f"{nodes} nodes need a relay")
        if provider not in PROVIDERS:
            raise LabError(f"no provider '{provider}'; there are {', '.join(PROVIDERS)}")
        self.kernel = kernels.find(kernel)
        self.run = run or Run()
        if frozen:
            self.kernel = kernels.freeze(self.kernel, self.run)
        self.own_run = run is None
        self.count = nodes
        self.links = links
        self.provider = provider
        self.memory = memory or MEMORY[kernel]
        self.nodes: list[Node] = []
        self.boot_seconds = 0.0
        self.relayed = relay
        self.boot_options = boot_options.split()
        self.relay: Relay | None = None
        self._sockets: list[socket.socket] = []

    def __enter__(self) -> "Lab":
        try:
            self.boot()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def boot(self) -> list[Node]:
        """Boot all nodes at once."""
        ports = self._wire()  # which may have to build the relay
        began = time.monotonic()
        hosts = "".join(f"10.77.0.{n} node{chr(64 + n)}\\n" for n in range(1, self.count + 1))
        make = UmlNode if self.kernel.machine == "uml" else QemuNode
        self.nodes = [make(self.run, self.kernel, index, ports[index - 1], self.provider, hosts, self.memory, self.boot_options)
                      for index in range(1, self.count + 1)]
        for node in self.nodes:
            node.start()
        self._wait_ready()
        self.boot_seconds = time.monotonic() - began
        return self.nodes

    def _wait_ready(self) -> None:
        """Return when all are up. One that has ended before it did anything is booted once more.

        On a host that is busy an emulated machine may find its clocks to be nonsense, and end without a word.
        """
        again = []
        with concurrent.futures.ThreadPoolExecutor(self.count) as pool:
            waits = [(node, pool.submit(node.wait_ready)) for node in self.nodes]
            for node, wait in waits:
                try:
                    wait.result()
                except NodeDead:
                    if not node.ended_early():
                        raise
                    again.append(node)
        for node in again:
            print(f"{node}: ended in its first moments, and is booted once more")
            self.restart(node)

    def responds(self) -> bool:
        """Whether all of it still runs."""
        return (not self.relay or self.relay.alive()) and all(node.responds() for node in self.nodes)

    def restart(self, node: Node) -> None:
        """Boot a node again, on the same links; it ends as in a power failure if it runs still."""
        node.renew()
        node.start()
        node.wait_ready()

    def _wire(self) -> list[list[Port]]:
        """Make the links; the ports of each node."""
        ports: list[list[Port]] = [[] for _ in range(self.count)]
        far_ends = []
        for link in range(self.links):
            if self.relayed:
                wires = [pair() for _ in range(self.count)]
                ends = [wire[0] for wire in wires]
                far_ends += [(link, index, wire[1]) for index, wire in enumerate(wires, 1)]
            else:
                ends = list(pair())
            self._sockets += ends
            for index, end in enumerate(ends):
                ports[index].append(Port(link, index + 1, end.fileno()))
        if far_ends:
            self.relay = Relay(self.run, far_ends)
        return ports

    def close(self) -> None:
        """End the nodes; and the run, if it is this lab's own."""
        for node in self.nodes:
            with contextlib.suppress(Exception):
                node.stop()
        for sock in self._sockets:  # kept for a node that boots again
            sock.close()
        self._sockets.clear()
        if self.relay:
            self.relay.close()
            self.relay = None
        if self.own_run:
            self.run.close()
