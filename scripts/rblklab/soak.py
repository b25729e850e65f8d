# SPDX-License-Identifier: GPL-2.0
"""Everything that can happen to a client and its server, one after the other by chance, under I/O that is checked."""
import collections
import random
import time
from typing import Callable

from . import fio, rblk
from .mishaps import Mishaps
from .rig import UNLOAD_LIMIT, Rig
from .sequence import ERROR, Sequence, small_reads
from .waits import until

SIZE = "8M"
EXPORTS = ("sequence", "fio", "cycles")
LIMIT = 60.0  # seconds for what must come about by itself; the machine may be slow
FIO = {"rw": "randwrite", "bs": "4k", "iodepth": 8, "size": "4m", "time_based": 1, "runtime": 1 << 20, "verify": "crc32c",
       "verify_fatal": 1, "verify_backlog": 64, "rate_iops": 200}


class Soak:
    """On a rig with two links, whose modules are not loaded yet.

    One session with two paths has two devices, on which run the checker of
    sequences and fio with checksums. They end, with nothing wrong, before the
    client's module is unloaded; and with errors, but no wrong data, when the
    server has lost what was in its memory.
    """

    def __init__(self, rig: Rig, seed: int, say: Callable[[str], None] = print):
        self.rig, self.seed, self.say = rig, seed, say
        self.rng = random.Random(seed)
        self.began = time.monotonic()
        rig.injects = rig.expect_rnr = True
        rig.client.reconnect = True
        self.second = rig.a.ports[1].ipv4
        self.devices: dict[str, str] = {}
        self.sequence: Sequence | None = None
        self.fio = None
        self.noted: list[str] = []  # kinds of what happened since the checker began
        self.count: collections.Counter[str] = collections.Counter()
        self.stall: dict[str, float] = collections.defaultdict(float)
        self.done: collections.Counter[str] = collections.Counter()
        self.violations: list[str] = []

    def run(self, seconds: float) -> None:
        """For so long, and at least until each kind of step has been done. Raises at the first thing that is wrong."""
        self.set_up()
        deck: list[str] = []
        while time.monotonic() - self.began < seconds or deck or not self.count:
            if not deck:
                deck = list(self.kinds)
                self.rng.shuffle(deck)
            self.step(deck.pop())
        self.end_io()

    def summary(self) -> str:
        lines = [f"RBLK_SEED={self.seed}: {sum(self.count.values())} steps in {time.monotonic() - self.began:.0f} s",
                 f"  {'step':20}  count  longest request"]
        lines += [f"  {kind:20}  {self.count[kind]:5}  " + (f"{self.stall[kind]:.1f} s" if kind in self.stall else "-")
                  for kind in sorted(self.count)]
        lines += [f"  {self.done['writes']} writes and {self.done['reads']} reads of the sequence checker, "
                  f"{self.done['fio'] >> 20} MiB read and compared by fio",
                  f"  violations: {len(self.violations)}", *(f"    {text}" for text in self.violations)]
        return "\n".join(lines)

    # -- steps

    def step(self, kind: str) -> None:
        # Noted first, so that it is in the summary if it fails
        self.count[kind] += 1
        self.noted.append(kind)
        told = self.kinds[kind]()
        if self.rng.randrange(3):
            self.mishaps.settle()
        self.say(f"[{time.monotonic() - self.began:7.1f} s] {told}")
        if self.noted:
            self.sequence.note()
        self.check_alive()

    def check_alive(self) -> None:
        if not self.sequence.alive():
            self.collect()
            raise AssertionError(f"the sequence checker has ended: {self.sequence.process.result}")
        assert self.fio.poll() is None, f"fio has ended: {self.fio.result}"

    def frozen(self) -> str:
        """The server stands still: for a moment, or for longer than its client waits."""
        seconds = self.rng.choice((self.rng.uniform(0.2, 2), 6.0))
        self.rig.a.freeze()
        time.sleep(seconds)
        self.rig.a.thaw()
        return f"server stands still, {seconds:.1f} s"

    def map_cycle(self) -> str:
        """A third export is mapped, used and unmapped, in the session or in one of its own; perhaps while something happens."""
        rig = self.rig
        words = [rig.address, "cycles", "--timeout", "10"]
        if self.rng.randrange(2):
            words += ["--client-name", "another"]
        map_it, unmap = rig.client.command("map", *words), f"{rig.b.kernel.tool} unmap $device"
        # The server may not have noticed yet how an earlier cycle ended
        job = rig.spawn(rig.b, f"until device=$({map_it}); do code=$?; [ $code = {rblk.BUSY} ] || exit $code; sleep 0.5; done; "
                               f"dd if=/dev/urandom of=$device bs=64k count=4 oflag=direct status=none; code=$?; {unmap} && exit $code")
        happened = self.mishaps.happen(self.rng.choice(list(self.mishaps.kinds))) if self.rng.randrange(2) else ""
        ended = job.wait(LIMIT, check=False)
        assert ended.code in ((rblk.OK, rblk.FAILED, rblk.UNREACHABLE) if happened else (rblk.OK,)), (happened, ended)
        left = [device for device, facts in rig.client.devices().items() if facts["export"] == "cycles"]
        assert not left, f"it is still mapped: {left}"
        return f"{' '.join(words)} mapped, used and unmapped ({ended.code})" + (f" while: {happened}" if happened else "")

    def reload_client(self) -> str:
        """The module goes, with devices that nobody has open or after they were unmapped, and comes back."""
        self.mishaps.settle()
        self.end_io()
        mapped = self.rng.randrange(2)
        if not mapped:
            for device in self.devices.values():
                self.rig.client.unmap(device)
        took = self.rig.b.rmmod("rblk-client")
        assert took < UNLOAD_LIMIT, f"the client's module took {took:.1f} s to unload"
        self.rig.b.insmod("rblk-client")
        self.start_io()
        return f"client's module loaded again, {'with' if mapped else 'without'} devices"

    def reset_server(self) -> str:
        """What the server had in memory is gone: the devices say so, and nobody reads anything else."""
        self.mishaps.settle()
        way = self.rng.choice(("module", "power"))
        if way == "module":
            self.rig.a.rmmod("rblk-server")
            time.sleep(self.rng.uniform(0, 1))
            self.rig.a.insmod("rblk-server")
        else:
            self.rig.a.kill()
            time.sleep(self.rng.uniform(0, 1))
            self.rig.restart(self.rig.a)
            self.rig.server.load_server()
        self.serve()
        until(self.all_failed, LIMIT, lambda: f"devices after the server was reset: {self.rig.client.devices()}")
        reasons = [self.rig.client.devices()[device]["reason"] for device in self.devices.values()]
        assert all("content lost" in reason for reason in reasons), reasons
        ended = self.sequence.stop(LIMIT)
        result = self.collect()
        assert ended.code == ERROR and not result["violations"], (ended, result)
        assert self.fio.wait(LIMIT, check=False).code != 0, "fio did not fail"
        assert "verify" not in self.fio.result.stderr, f"fio read another content: {self.fio.result.stderr}"
        for device in self.devices.values():
            self.rig.client.unmap(device)
        self.start_io()
        return f"server reset ({way}), content lost"

    def all_failed(self) -> bool:
        now = self.rig.client.devices()
        return all(now[device]["state"] == "failed" for device in self.devices.values())

    # -- the setting

    def set_up(self) -> None:
        self.rig.load()
        self.serve()
        self.mishaps = Mishaps(self.rig, self.rng)
        if self.mishaps.orders:
            self.rig.b.run("echo 1 > /sys/kernel/debug/rblk/hurry")
        self.kinds: dict[str, Callable[[], str]] = {
            **{kind: lambda kind=kind: self.mishaps.happen(kind) for kind in self.mishaps.kinds},
            "server stands still": self.frozen,
            "map and unmap": self.map_cycle,
            "client reload": self.reload_client,
            "server reset": self.reset_server,
        }
        self.start_io()

    def serve(self) -> None:
        for name in EXPORTS:
            self.rig.server.export(name, SIZE)
        for port in self.rig.a.ports:
            self.rig.server.listen(port.ipv4)

    def start_io(self) -> None:
        forever = ("--path", self.second, "--no-path-timeout", "forever", "--timeout", "30")
        self.devices = {name: self.rig.client.map(self.rig.address, name, *forever) for name in EXPORTS[:2]}
        self.mishaps.settle()
        self.sequence = Sequence(self.rig, self.devices["sequence"], seed=self.rng.randrange(1 << 32), rate=200, **small_reads(self.rng))
        self.noted = []
        self.fio = self.rig.spawn(self.rig.b, fio.command(self.devices["fio"], randseed=self.rng.randrange(1 << 32), **FIO))
        self.rig.wait_for_io(self.devices["fio"])

    def end_io(self) -> None:
        """Both end, with nothing wrong."""
        self.check_alive()
        try:
            self.sequence.passed(LIMIT)
        finally:
            self.collect()
        self.rig.b.run("pkill -INT -x fio")
        ended = self.fio.wait(LIMIT, check=False)
        result = fio.parse(ended.stdout)
        assert result["error"] == 0 and result["read"]["io_bytes"] > 0, ended
        self.done["fio"] += result["read"]["io_bytes"]

    def collect(self) -> dict:
        """What the checker has said, for the summary; its result."""
        for kind, mark in zip(self.noted, self.sequence.marks()):
            self.stall[kind] = max(self.stall[kind], mark["write_stall"], mark["read_stall"])
        self.noted = []
        result = self.sequence.result()
        for key in ("writes", "reads"):
            self.done[key] += result[key]
        if result["violations"]:
            self.violations.append(f"{result['violations']}, the first: {result['first_violation']}")
        return result
