# SPDX-License-Identifier: GPL-2.0
"""A lab: nodes of one kernel, joined by links."""
import concurrent.futures
import contextlib
import socket
import sys
import time

from . import kernels
from .errors import LabError
from .links import Port, pair
from .node import Node
from .qemu import QemuNode
from .rundir import TOP, Run
from .uml import UmlNode

MEMORY = {"stock": 1024, "lockdep": 1024, "safety": 1536}
PROVIDERS = ("rxe", "siw", "none")


class Lab:
    """N nodes, all joined by each of LINKS links; booted by 'with' or boot().

    FROZEN nodes keep the modules and the tool as they are now; the others see
    every new build.
    """

    def __init__(self, kernel: str, nodes: int = 2, links: int = 1, provider: str = "rxe",
                 run: Run | None = None, memory: int | None = None,
                 frozen: bool = False):
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
        self._sockets: list[socket.socket] = []
        self._hubs: list = []

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
        began = time.monotonic()
        ports = self._wire()
        hosts = "".join(f"10.77.0.{n} node{chr(64 + n)}\\n" for n in range(1, self.count + 1))
        make = UmlNode if self.kernel.machine == "uml" else QemuNode
        self.nodes = [make(self.run, self.kernel, index, ports[index - 1], self.provider, hosts, self.memory)
                      for index in range(1, self.count + 1)]
        for node in self.nodes:
            node.start()
        with concurrent.futures.ThreadPoolExecutor(self.count) as pool:
            for future in [pool.submit(node.wait_ready) for node in self.nodes]:
                future.result()
        self.boot_seconds = time.monotonic() - began
        return self.nodes

    def restart(self, node: Node) -> None:
        """Boot a node again, on the same links; it ends as in a power failure if it runs still."""
        node.renew()
        node.start()
        node.wait_ready()

    def _wire(self) -> list[list[Port]]:
        """Make the links; the ports of each node."""
        ports: list[list[Port]] = [[] for _ in range(self.count)]
        for link in range(self.links):
            if self.count == 2:
                ends = list(pair())
            else:
                wires = [pair() for _ in range(self.count)]
                ends = [wire[0] for wire in wires]
                self._start_hub([wire[1] for wire in wires])
            self._sockets += ends
            for index, end in enumerate(ends):
                ports[index].append(Port(link, index + 1, end.fileno()))
        return ports

    def _start_hub(self, ends: list[socket.socket]) -> None:
        fds = [end.fileno() for end in ends]
        self._hubs.append(self.run.start([sys.executable, "-m", "rblklab.hub", *map(str, fds)],
                                         pass_fds=fds, cwd=TOP / "scripts"))
        for end in ends:
            end.close()

    def close(self) -> None:
        """End the nodes; and the run, if it is this lab's own."""
        for node in self.nodes:
            with contextlib.suppress(Exception):
                node.stop()
        for sock in self._sockets:  # kept for a node that boots again
            sock.close()
        self._sockets.clear()
        for hub in self._hubs:
            self.run.stop(hub, patience=0)
        self._hubs.clear()
        if self.own_run:
            self.run.close()
