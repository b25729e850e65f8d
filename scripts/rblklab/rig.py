# SPDX-License-Identifier: GPL-2.0
"""The frame of a scenario: modules loaded fresh, and what must hold when it is over."""
import concurrent.futures
import time

from . import kmemleak, overflow, splat
from .errors import LabError
from .lab import Lab
from .node import Command, GuestProcess, Node
from .rblk import Rblk
from .rundir import Run

UNLOAD_LIMIT = 10.0  # seconds in which each module must unload, in every state
SETTLE_LIMIT = 5.0  # for objects that are freed by work items after the unload
CLIENT_MODULES = ("rblk-core", "rblk-client")
SERVER_MODULES = ("rblk-core", "rblk-server")


class Slot:
    """A pair of nodes that scenarios share; booted again after one has spoilt it. OPTIONS are the lab's."""

    def __init__(self, kind: str, provider: str, run: Run, **options):
        self.kind = kind
        self.provider = provider
        self.run = run
        self.options = options
        self.lab: Lab | None = None

    def get(self) -> Lab:
        if self.lab and not all(node.responds() for node in self.lab.nodes):
            self.discard()
        if not self.lab:
            lab = Lab(self.kind, provider=self.provider, run=self.run, frozen=True, **self.options)
            try:
                lab.boot()
            except BaseException:
                lab.close()
                raise
            self.lab = lab
        return self.lab

    def discard(self) -> None:
        if self.lab:
            self.lab.close()
            self.lab = None


class Rig:
    """One scenario on a slot's nodes: A is the server, B the client."""

    def __init__(self, slot: Slot):
        self.slot = slot
        self.lab = slot.get()
        self.kind = slot.kind
        self.a, self.b = self.lab.nodes
        self.server = Rblk(self.a)
        self.client = Rblk(self.b)
        self.address = self.a.ports[0].ipv4
        self.marks = {node: node.console.mark() for node in self.lab.nodes}
        self.started: list[GuestProcess] = []
        # A scenario that lets allocations fail: where somebody says so with a stack trace is no fault
        self.injects = False
        for node in self.lab.nodes:
            if not node.rdma_counts():
                node.rdma_link_add()
        self.baseline = {node: node.rdma_counts() for node in self.lab.nodes}
        self.tables: dict = {}
        # Set it in a scenario that makes a peer without receives, and has the device count that
        self.expect_rnr = False
        self.overflows = self._on_both(lambda node: overflow.parse(node.run(overflow.READ).stdout))
        self.leaks = kmemleak.available(self.a)
        if self.leaks:
            self._on_both(kmemleak.clear)

    def load(self) -> None:
        """Load the modules in the documented order."""
        self.server.load_server()
        self.client.load_client()

    def spawn(self, node: Node, command: Command) -> GuestProcess:
        """Start a command that ends with the scenario at the latest."""
        process = node.spawn(command)
        self.started.append(process)
        return process

    def wait_for_io(self, device: str) -> None:
        """Return when the client's device has completed some reads since it was made."""
        self.b.run(f"for i in $(seq 300); do read -r reads rest < /sys/block/{device[5:]}/stat; "
                   "[ $reads -gt 50 ] && exit 0; sleep 0.1; done; echo no read completed >&2; exit 1")

    def restart(self, node: Node) -> None:
        """Reset a node: what ran there is gone, and what must hold afterwards starts afresh."""
        self.started = [process for process in self.started if process.node is not node]
        self.lab.restart(node)
        self.baseline[node] = node.rdma_counts()
        if self.leaks:
            kmemleak.clear(node)

    # -- the end of a scenario

    def finish(self) -> list[str]:
        """Put everything back and say what was not as it must be. The nodes go if anything was wrong."""
        problems: list[str] = []
        for node in self.lab.nodes:
            node.thaw()
        for step in (self._end_processes, self._unmap, self._unload, self._counts, self._overflows, self._leaks, self._lockdep,
                     self._consoles):
            try:
                problems += step()
            except LabError as err:
                problems.append(f"{step.__name__.strip('_')}: {err}")
        if problems:
            self.slot.discard()
        return problems

    def _end_processes(self) -> list[str]:
        for process in self.started:
            process.kill()
        return []

    def _unmap(self) -> list[str]:
        if "rblk_client" in self.b.loaded():
            self.client("unmap", "all", timeout=30)
            left = self.b.run("ls /sys/block | grep '^rblk' || true").stdout.split()
            if left:
                return [f"{self.b}: still there after 'unmap all': {' '.join(left)}"]
        return []

    def _unload(self) -> list[str]:
        """The client first: then the server's side of a session ends by itself."""
        problems = []
        if self.leaks:
            self.tables = self._on_both(kmemleak.symbols)
        for node in (self.b, self.a):
            loaded = node.loaded()
            order = [name for name in ("rblk_kunit", "rblk_client", "rblk_server", "rblk_core") if name in loaded]
            for name in order:
                took = node.rmmod(name, timeout=60)
                if took > UNLOAD_LIMIT:
                    problems.append(f"{node}: {name} took {took:.1f} s to unload")
            if left := node.loaded():
                problems.append(f"{node}: still loaded: {', '.join(left)}")
        return problems

    def _counts(self) -> list[str]:
        deadline = time.monotonic() + SETTLE_LIMIT
        while True:
            now = {node: node.rdma_counts() for node in self.lab.nodes}
            # A device that a scenario deleted on purpose has nothing left to count
            wrong = [f"{node}: {device}: {counts} now, {self.baseline[node].get(device)} before"
                     for node in now for device, counts in now[node].items() if counts != self.baseline[node].get(device)]
            if not wrong or time.monotonic() > deadline:
                return wrong
            time.sleep(0.3)

    def receives_missed(self) -> list[str]:
        """What the devices counted of receives that were not there, since the scenario began."""
        now = self._on_both(lambda node: overflow.parse(node.run(overflow.READ).stdout))
        return [f"{node}: {text}" for node in now for text in overflow.moved(self.overflows[node], now[node])]

    def _overflows(self) -> list[str]:
        found = [f"{node}: {line}" for node in self.lab.nodes
                 for line in overflow.complaints(node.console.text(self.marks[node]))]
        return found if self.expect_rnr else found + self.receives_missed()

    def _leaks(self) -> list[str]:
        if not self.leaks:
            return []
        found = self._on_both(lambda node: kmemleak.scan(node, self.tables.get(node)))
        return [f"{node}: kmemleak:\n{leak}" for node, leaks in found.items() for leak in leaks]

    def _lockdep(self) -> list[str]:
        """Lock checking turns itself off after a report: then silence means nothing."""
        if self.kind != "lockdep":
            return []
        return [f"{node}: lock checking is off" for node in self.lab.nodes
                if node.run("grep -q 'debug_locks: *1' /proc/lockdep_stats", check=False).code]

    def _consoles(self) -> list[str]:
        found = []
        for node in self.lab.nodes:
            reports = splat.find(node.console.text(self.marks[node]))
            if self.injects:
                reports = [report for report in reports if not report.want_of_memory]
            found += [f"{node}: {report}" for report in splat.judge(reports, self.kind, node.kernel.release)]
        return found

    def _on_both(self, work) -> dict:
        with concurrent.futures.ThreadPoolExecutor(len(self.lab.nodes)) as pool:
            return dict(zip(self.lab.nodes, pool.map(work, self.lab.nodes)))
