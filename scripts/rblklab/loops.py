# SPDX-License-Identifier: GPL-2.0
"""Commands that run again and again in a node beside a scenario, with a line of log for each."""
import collections
import re

from .node import Node
from .rig import Rig

# How a map may end whose server or device goes away meanwhile: exit code and reason.
MAP_ENDS = "|".join((
    "0",
    "1 the peer closed the connection", "1 the connection was closed", "1 the connection to the server was lost just now",
    "1 the server or the export is shutting down", "1 the server does not know this session or path",
    "6 no RDMA device leads to the address", "6 the RDMA device (went|is going) away", "6 nothing listens there",
    "6 the server did not answer in time", "6 the peer does not answer", "6 the server took too long to give its keys",
))
WAIT = 60  # seconds for the next line


class Loop:
    """SCRIPT again and again until stop(); in it, 'note WORDS' logs a line."""

    def __init__(self, rig: Rig, node: Node, name: str, script: str):
        self.node = node
        self.log = f"/run/loop-{name}"
        self.stop_file = f"{self.log}.stop"
        self.process = rig.spawn(node, f"note() {{ echo \"$@\" >>{self.log}; }}; err={self.log}.err; rm -f {self.stop_file}; "
                                 f"until [ -e {self.stop_file} ]; do {script}; done")
        node.run(f">>{self.log}")

    def wait_for(self, pattern: str) -> None:
        """Return when a line matches that was not there yet."""
        self.node.run(f"n=$(grep -c '{pattern}' {self.log}); for i in $(seq {WAIT * 10}); do "
                      f"[ $(grep -c '{pattern}' {self.log}) -gt $n ] && exit 0; sleep 0.1; done; "
                      f"echo no new line with {pattern} >&2; tail -n 3 {self.log} >&2; exit 1", timeout=WAIT + 30)

    def stop(self) -> collections.Counter:
        """End it; how often it logged which line."""
        self.node.run(f"echo >{self.stop_file}")
        self.process.wait(WAIT)
        lines = collections.Counter(self.node.read(self.log).splitlines())
        self.node.run(f"rm {self.log}*")
        print(f"{self.node}: {self.log}:", *(f"{count:4} x {line}" for line, count in lines.items()), sep="\n")
        return lines


class MapLoop(Loop):
    """A client maps and unmaps: lines 'map CODE REASON' and 'unmap CODE REASON'."""

    def __init__(self, rig: Rig, export: str, client: str, other_ends: str = "(?!)"):
        self.ends = re.compile(f"map ({MAP_ENDS})|{other_ends}")
        tool = rig.b.kernel.tool
        reason = "$(head -n1 $err | sed 's/.*: //')"
        super().__init__(rig, rig.b, client,
                         f"device=$({tool} map {rig.address} {export} --client-name {client} --timeout 2 2>$err); code=$?; "
                         f"note map $code {reason}; [ $code = 0 ] || continue; "
                         f"{tool} unmap $device 2>$err >&2; code=$?; [ $code = 0 ] || note unmap $code {reason}")

    def stop(self) -> collections.Counter:
        """As that of any loop; each map and unmap ended in a documented way."""
        lines = super().stop()
        odd = [line for line in lines if not self.ends.fullmatch(line)]
        assert not odd, f"ways to end that nobody expects: {odd}"
        assert lines["map 0"] > 0
        return lines


def work_and_stop(loops: list[MapLoop]) -> None:
    """Each maps once more, with all that was done to it; then they stop."""
    for loop in loops:
        loop.wait_for("map 0")
    for loop in loops:
        loop.stop()
