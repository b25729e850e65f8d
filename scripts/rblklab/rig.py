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
# Prints how long each took, in centiseconds of the node's clock
UNLOAD = """
for m in rblk_kunit rblk_client rblk_server rblk_core; do
    grep -q "^$m " /proc/modules || continue
    read -r t rest < /proc/uptime; rmmod $m || exit 1; read -r u rest < /proc/uptime
    echo $m $(( $(echo $u | tr -d .) - $(echo $t | tr -d .) ))
done"""
SETTLE_LIMIT = 5.0  # for objects that are freed by work items after the unload
CLIENT_MODULES = ("rblk-core", "rblk-client")
SERVER_MODULES = ("rblk-core", "rblk-server")


class Slot:
    """Nodes that scenarios share; booted again after one has spoilt them. OPTIONS are the lab's."""

    def __init__(self, kind: str, provider: str, run: Run, **options):
        self.kind = kind
        self.provider = provider
        self.run = run
        self.options = options
        self.lab: Lab | None = None

    def get(self) -> Lab:
        if self.lab and not self.lab.responds():
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
    """One scenario on a slot's nodes: A is the server, B the client; all further ones are servers too."""

    def __init__(self, slot: Slot):
        self.slot = slot
        self.lab = slot.get()
        self.kind = slot.kind
        self.a, self.b, *self.further = self.lab.nodes
        self.relay = self.lab.relay
        self.server = Rblk(self.a)
        self.client = Rblk(self.b)
        # What becomes of a path that is lost is seen best where it stays lost. Scenarios of recovery set this
        self.client.reconnect = False
        self.address = self.a.ports[0].ipv4
        self.marks = {node: node.console.mark() for node in self.lab.nodes}
        self.started: list[GuestProcess] = []
        # A scenario that lets allocations or posts fail: that somebody says so in the log is no fault
        self.injects = False
        self.baseline = self._on_all(self._begin)
        self.tables: dict = {}
        # Set it in a scenario that makes a peer without receives, and has the device count that
        self.expect_rnr = False
        self.overflows = self._on_all(lambda node: overflow.parse(node.run(overflow.READ).stdout))
        self.leaks = kmemleak.available(self.a)
        if self.leaks:
            self._on_all(kmemleak.clear)

    @staticmethod
    def _begin(node: Node) -> dict:
        counts = node.rdma_counts()
        if not counts:
            node.rdma_link_add()
            counts = node.rdma_counts()
        return counts

    def load(self) -> None:
        """Load the modules in the documented order."""
        self._on_all(lambda node: self.client.load_client() if node is self.b else Rblk(node).load_server())

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
        # Its devices count from 0, and may have the inodes of those of before
        self.overflows[node] = {}
        if self.leaks:
            kmemleak.clear(node)

    # -- the end of a scenario

    def finish(self) -> list[str]:
        """Put everything back and say what was not as it must be. The nodes go if anything was wrong."""
        problems: list[str] = []
        for node in self.lab.nodes:
            node.thaw()
        for step in (self._heal, self._end_processes, self._unmap, self._unload, self._counts, self._overflows, self._leaks,
                     self._lockdep, self._consoles):
            try:
                problems += step()
            except LabError as err:
                problems.append(f"{step.__name__.strip('_')}: {err}")
        if problems:
            self.slot.discard()
        return problems

    def _heal(self) -> list[str]:
        """The network is whole again, and nothing of this scenario is on its way to the next."""
        if self.relay:
            self.relay.reset()
        return []

    def _end_processes(self) -> list[str]:
        for process in self.started:
            process.kill()
        return []

    def _unmap(self) -> list[str]:
        # One command where there is none to unmap, as after most scenarios that took care of it
        unmap = f"{self.client.command('unmap', 'all')} > /dev/null || exit 1; "
        left = self.b.run(f"if grep -q '^rblk_client ' /proc/modules; then {unmap} fi; ls /sys/block | grep '^rblk' || true",
                          timeout=40).stdout.split()
        return [f"{self.b}: still there after 'unmap all': {' '.join(left)}"] if left else []

    def _unload(self) -> list[str]:
        """The client first: then the server's side of a session ends by itself."""
        problems = []
        if self.leaks:
            self.tables = self._on_all(kmemleak.symbols)
        for node in (self.b, self.a, *self.further):
            # In one command: each costs the emulated node half a second
            unloaded = node.run(UNLOAD, timeout=120).stdout
            for line in unloaded.splitlines():
                name, centiseconds = line.split()
                if int(centiseconds) > UNLOAD_LIMIT * 100:
                    problems.append(f"{node}: {name} took {int(centiseconds) / 100:.1f} s to unload")
            if left := node.loaded():
                problems.append(f"{node}: still loaded: {', '.join(left)}")
        return problems

    def _counts(self) -> list[str]:
        deadline = time.monotonic() + SETTLE_LIMIT
        while True:
            now = self._on_all(lambda node: node.rdma_counts())
            # A device that a scenario deleted on purpose has nothing left to count
            wrong = [f"{node}: {device}: {counts} now, {self.baseline[node].get(device)} before"
                     for node in now for device, counts in now[node].items() if counts != self.baseline[node].get(device)]
            if not wrong or time.monotonic() > deadline:
                return wrong
            time.sleep(0.3)

    def receives_missed(self) -> list[str]:
        """What the devices counted of receives that were not there, since the scenario began."""
        now = self._on_all(lambda node: overflow.parse(node.run(overflow.READ).stdout))
        return [f"{node}: {text}" for node in now for text in overflow.moved(self.overflows[node], now[node])]

    def _overflows(self) -> list[str]:
        found = [f"{node}: {line}" for node in self.lab.nodes if not self.injects
                 for line in overflow.complaints(node.console.text(self.marks[node]))]
        return found if self.expect_rnr else found + self.receives_missed()

    def _leaks(self) -> list[str]:
        if not self.leaks:
            return []
        # What is too young to be found now is found after the next scenario, and test_zz_planted.py ends with a wait
        found = self._on_all(lambda node: kmemleak.scan(node, self.tables.get(node), wait=False))
        return [f"{node}: kmemleak, of this scenario or of the one before:\n{leak}" for node, leaks in found.items() for leak in leaks]

    def _lockdep(self) -> list[str]:
        """Lock checking turns itself off after a report: then silence means nothing."""
        if self.kind != "lockdep":
            return []
        codes = self._on_all(lambda node: node.run("grep -q 'debug_locks: *1' /proc/lockdep_stats", check=False).code)
        return [f"{node}: lock checking is off" for node, code in codes.items() if code]

    def _consoles(self) -> list[str]:
        found = []
        for node in self.lab.nodes:
            reports = splat.find(node.console.text(self.marks[node]))
            if self.injects:
                reports = [report for report in reports if not report.want_of_memory]
            found += [f"{node}: {report}" for report in splat.judge(reports, self.kind, node.kernel.release)]
        return found

    def _on_all(self, work) -> dict:
        with concurrent.futures.ThreadPoolExecutor(len(self.lab.nodes)) as pool:
            return dict(zip(self.lab.nodes, pool.map(work, self.lab.nodes)))
