# SPDX-License-Identifier: GPL-2.0
"""tests/sequence in a node: numbers in each block of a device, which must only rise whatever happens to it."""
import json
import pathlib
import random
import shlex
from typing import Any

from . import programs
from .errors import LabError
from .node import GuestProcess, Result
from .waits import until

# The longest READ that is one packet, at the MTU of the lab's links. With more of them rxe may complete it
# without its data, and with success, where frames come twice or out of order: check_ack() finds a
# response in the middle where it wants the first, and ends the request in error without giving it a status.
PACKET = 4096

RIGHT, NOT_TRIED, VIOLATION, ERROR = range(4)  # exit codes


def build(check: bool = False) -> pathlib.Path:
    """The program. To CHECK it: with sanitizers, no warnings, and beside it the tests of its model."""
    options = ("-DRBLK_SEQUENCE_CHECK=ON", "-DCMAKE_BUILD_TYPE=Debug") if check else ()
    return programs.build("sequence", "rblk-sequence", "check" if check else "", options)


def small_reads(rng: random.Random) -> dict[str, int]:
    """Blocks of some size, of which as many are read at once as fit into a packet."""
    size = rng.choice((512, 2048, PACKET))
    return {"block_size": size, "run_of": PACKET // size}


def words(**options: object) -> list[str]:
    """Options of the program; True stands for one without a value, False for none."""
    return [word for key, value in options.items() if value is not False
            for word in (f"--{key.replace('_', '-')}", *([] if value is True else [str(value)]))]


class Sequence:
    """The program at work on a device of the client; it has begun when this is made."""

    def __init__(self, rig, device: str, **options: object):
        self.node = rig.b
        self.out = f"/run/sequence-{device.rpartition('/')[2]}"
        program = programs.of_run(rig.lab.run, "sequence", "rblk-sequence")
        # With several processors the server's rxe may copy a sector for a READ while it copies another WRITE into it
        options.setdefault("racy_sectors", rig.a.cpus > 1)
        command = shlex.join([str(program), device, *words(**options)])
        self.process: GuestProcess = rig.spawn(rig.b, f"exec {command} > {self.out}")
        until(lambda: self.process.poll() or self.lines(), 30, "its first line", node=rig.b)
        if not self.alive():
            raise LabError(f"{rig.b}: the sequence checker did not begin: {self.process.result}")

    def alive(self) -> bool:
        return self.process.poll() is None

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.node.read(self.out).splitlines()]

    def note(self) -> None:
        """Ask for a line of what was done, and go on: a node that is busy takes long to answer. marks() has them all."""
        self.node.spawn(f"kill -USR1 {self.process.pid}")

    def marks(self) -> list[dict[str, Any]]:
        """What was asked for so far."""
        return [line for line in self.lines()[1:] if "whole" not in line]

    def mark(self) -> dict[str, Any]:
        """What was done so far, and the longest request since the last mark, in seconds."""
        done = self.node.run(f"had=$(wc -l < {self.out}); kill -USR1 {self.process.pid} || exit 1; for n in $(seq 300); do "
                             f"[ $(wc -l < {self.out}) -gt $had ] && exec tail -n 1 {self.out}; sleep 0.1; done; exit 2", check=False)
        if done.code:
            raise LabError(f"{self.node}: the sequence checker says nothing ({done.code}): {self.process.poll()} {self.lines()[-1:]}")
        return json.loads(done.stdout)

    def stop(self, limit: float = 60) -> Result:
        """End it; how it ended. result() has what it says."""
        self.node.run(f"kill -TERM {self.process.pid}", check=False)
        return self.process.wait(limit, check=False)

    def result(self) -> dict[str, Any]:
        """Its last line, once it has ended."""
        lines = self.lines()
        if not lines or "whole" not in lines[-1]:
            raise LabError(f"{self.node}: the sequence checker gave no result: {self.process.poll()}")
        return lines[-1]

    def passed(self, limit: float = 60) -> dict[str, Any]:
        """End it; its result, in which there is neither a violation nor an error."""
        assert self.alive(), f"it ended by itself: {self.process.poll()} {self.lines()[-1:]}"
        ended = self.stop(limit)
        result = self.result()
        assert ended.code == RIGHT, (ended, result)
        assert result["whole"] and not any(result[key] for key in ("violations", "write_errors", "read_errors")), result
        assert result["writes"] > 0 and result["reads"] > 0, result
        return result
