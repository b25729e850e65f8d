# SPDX-License-Identifier: GPL-2.0
"""The relay between the nodes of a lab: tests/relay, built, started and told what to do."""
import json
import pathlib
import socket
import threading
import time

from . import programs
from .errors import LabError
from .node import Node
from .rundir import Run

PATIENCE = 30.0  # for an answer; it comes at once, but the machine may be busy

Counters = dict[tuple[int, int], dict[str, int]]


def build(check: bool = False) -> pathlib.Path:
    """The program. To CHECK it: with sanitizers, and no warnings."""
    options = ("-DRBLK_RELAY_WERROR=ON", "-DRBLK_RELAY_SANITIZE=ON", "-DCMAKE_BUILD_TYPE=Debug") if check else ()
    return programs.build("relay", "rblk-relay", "check" if check else "", options)


class Relay:
    """A switch for every link of a lab. Rules are for what one node sends on a link, or, without NODE, for all that is sent there.

    A rule stays until heal() or until it is set again, and applies to frames
    that come after it. Chance is a matter of the seed and of how many frames a
    node has sent before: seed() begins anew.
    """

    def __init__(self, run: Run, wires: list[tuple[int, int, socket.socket]], program: pathlib.Path | None = None, seed: int = 1):
        """WIRES are link, node and the end of the wire, which this closes here. Call it as Run.start."""
        self.run = run
        self.log = free_name(run.folder, "relay", ".log")
        self._lock = threading.Lock()
        self._rest = b""
        self._control, theirs = socket.socketpair()
        fds = [theirs.fileno(), *(end.fileno() for _, _, end in wires)]
        words = [f"{link}:{node}:{end.fileno()}" for link, node, end in wires]
        with theirs, open(self.log, "xb") as log:
            self.process = run.start([str(program or programs.of_run(run, "relay", "rblk-relay")), str(seed), str(theirs.fileno()), *words],
                                     pass_fds=fds, stdout=log, stderr=log)
        for _, _, end in wires:
            end.close()

    # -- rules

    def cut(self, link: int | None = None, node: Node | int | None = None) -> None:
        """Lose all frames that come from now on."""
        self._tell("set", link, node, cut=True)

    def loss(self, probability: float, link: int | None = None, node: Node | int | None = None) -> None:
        self._tell("set", link, node, drop=probability)

    def duplicate(self, probability: float, link: int | None = None, node: Node | int | None = None) -> None:
        self._tell("set", link, node, duplicate=probability)

    def delay(self, ms: float, jitter: float = 0, link: int | None = None, node: Node | int | None = None) -> None:
        """Forward each frame MS later, and by chance up to JITTER ms later than that; the order stays."""
        self._tell("set", link, node, delay=ms, jitter=jitter)

    def reorder(self, probability: float, ms: float = 20, link: int | None = None, node: Node | int | None = None) -> None:
        """Keep some frames back for MS, and let those that come after pass them by."""
        self._tell("set", link, node, reorder=probability, reorder_ms=ms)

    def rate(self, rate: int, queue: int = 256 << 10, link: int | None = None, node: Node | int | None = None) -> None:
        """Forward RATE bytes a second; what does not fit into a queue of so many bytes is lost. 0: no such limit."""
        self._tell("set", link, node, rate=rate, queue=queue)

    def hold(self, link: int | None = None, node: Node | int | None = None, limit: int | None = None) -> None:
        """Keep all frames, in order, until release(); those above LIMIT are lost."""
        self._tell("hold", link, node, **({} if limit is None else {"limit": limit}))

    def release(self, link: int | None = None, node: Node | int | None = None) -> int:
        """Forward what hold() kept, and keep no more; how many frames that were."""
        return self._tell("release", link, node)["frames"]

    def heal(self, link: int | None = None, node: Node | int | None = None, discard: bool = False) -> int:
        """End all rules. Frames that are delayed or held go on at once, or are lost; how many that were."""
        return self._tell("heal", link, node, discard=discard)["frames"]

    def reset(self) -> None:
        """As when the lab was booted: no rules, no frames on the way, no captures."""
        self.heal(discard=True)
        self.end_capture()

    def seed(self, seed: int) -> None:
        self.ask(do="seed", seed=seed)

    # -- what can be seen

    def counters(self) -> Counters:
        """What was counted since the boot of what each node sent: {(link, node): {"frames": 7, ...}}.

        Two are of now: 'waiting', frames that are delayed, and 'holding'.
        """
        return {(port.pop("link"), port.pop("node")): port for port in self.ask(do="counters")["ports"]}

    def capture(self, link: int, path: pathlib.Path | str) -> None:
        """Write the frames of LINK to a pcap file at PATH, each once and as it arrives here, whatever becomes of it."""
        self.ask(do="capture", link=link, file=str(pathlib.Path(path).absolute()))

    def end_capture(self, link: int | None = None) -> int:
        """End the capture of LINK, or all; the number of frames in it."""
        return self._tell("capture-end", link, None)["frames"]

    # -- the process

    def _tell(self, what: str, link: int | None, node: Node | int | None, **values) -> dict:
        where = {"link": link, "node": node.index if isinstance(node, Node) else node}
        return self.ask(do=what, **{name: value for name, value in where.items() if value is not None}, **values)

    def ask(self, **order) -> dict:
        """Give an order and return the answer; LabError if it is refused."""
        answer = json.loads(self.exchange(json.dumps(order).encode() + b"\n"))
        if "error" in answer:
            raise LabError(f"the relay refuses {order}: {answer['error']}")
        return answer

    def exchange(self, line: bytes) -> bytes:
        """Send one line, and return the one that comes back."""
        with self._lock:
            try:
                self._control.settimeout(PATIENCE)
                self._control.sendall(line)
                deadline = time.monotonic() + PATIENCE
                while b"\n" not in self._rest:
                    self._control.settimeout(max(0.01, deadline - time.monotonic()))
                    piece = self._control.recv(65536)
                    if not piece:
                        raise ConnectionError("it has ended")
                    self._rest += piece
            except OSError as err:
                # What comes after this would be taken for the answer to something else
                self._control.close()
                raise LabError(f"the relay does not answer: {err}\n{self.log.read_text(errors='replace')[-2000:]}".rstrip()) from err
            answer, _, self._rest = self._rest.partition(b"\n")
            return answer

    def alive(self) -> bool:
        return self.process.poll() is None

    def close(self) -> None:
        self.run.stop(self.process, patience=0)
        self._control.close()


def free_name(folder: pathlib.Path, stem: str, suffix: str) -> pathlib.Path:
    number = 0
    while True:
        path = folder / (stem + (f"-{number}" if number else "") + suffix)
        if not path.exists():
            return path
        number += 1
