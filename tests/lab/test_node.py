# SPDX-License-Identifier: GPL-2.0
"""A node that freezes, dies and comes back, on a machine that is a few lines of Python."""
import pathlib
import sys
import time

import pytest

from rblklab.errors import NodeDead
from rblklab.kernels import Kernel
from rblklab.lab import Lab
from rblklab.links import Port, pair
from rblklab.node import AGENT_UP, Node
from rblklab.rundir import Run

# Says that it is up, then answers each frame; and each line of the agent's, with its number.
MACHINE = f"""
import json, select, socket, sys
console, agent, port = open(sys.argv[1], "w"), socket.socket(fileno=int(sys.argv[2])), socket.socket(fileno=int(sys.argv[3]))
print("{AGENT_UP}", file=console, flush=True)
lines = agent.makefile("rwb", buffering=0)
while True:
    for sock in select.select([agent, port], [], [])[0]:
        if sock is port:
            port.send(b"re: " + port.recv(65536))
        else:
            message = json.loads(lines.readline())
            lines.write(json.dumps({{"return": message["arguments"].get("id")}}).encode() + b"\\n")
"""


class Machine(Node):
    def command_line(self, agent_fd):
        return [sys.executable, "-c", MACHINE, str(self.console.path), str(agent_fd), str(self.ports[0].fd)]


@pytest.fixture
def wire():
    ends = pair()
    yield ends
    for end in ends:
        end.close()


@pytest.fixture
def node(tmp_path, wire):
    run = Run(tmp_path)
    machine = Machine(run, Kernel("none", "", *[pathlib.Path()] * 3), 1, [Port(0, 1, wire[0].fileno())], "none", "", 0)
    machine.start()
    machine.wait_ready()
    yield machine
    machine.stop()
    run.close()


def answer(end, text, patience=5.0):
    """What the machine makes of a frame; nothing if nothing comes."""
    end.send(text)
    end.settimeout(patience)
    try:
        return end.recv(65536)
    except TimeoutError:
        return b""
    finally:
        end.setblocking(False)


def flood(end):
    """Send far more than the socket holds: nothing may be in the way."""
    deadline = time.monotonic() + 20
    for _ in range(3000):
        while True:
            try:
                end.send(bytes(9000))
                break
            except BlockingIOError:
                assert time.monotonic() < deadline, "the wire is full"
                time.sleep(0.001)


def test_a_frozen_machine_does_nothing_and_then_goes_on(node, wire):
    assert answer(wire[1], b"one") == b"re: one"
    node.freeze()
    assert answer(wire[1], b"two", patience=0.5) == b""
    flood(wire[1])
    node.thaw()
    assert answer(wire[1], b"three") == b"re: three", "what was sent meanwhile is lost"
    node.thaw()  # of a machine that runs
    assert answer(wire[1], b"four") == b"re: four"


def test_a_killed_machine_comes_back_on_the_same_wire(node, wire):
    node.console.path.write_text("the first boot\n" + node.console.path.read_text())
    mark = node.console.mark()
    node.kill()
    assert not node.alive()
    flood(wire[1])
    node.renew()
    node.start()
    node.wait_ready()
    assert answer(wire[1], b"again") == b"re: again"
    assert node.console.text().startswith("the first boot\n")
    assert node.console.text(mark).count(AGENT_UP) == 1, "a position from before reads what came after"


def test_a_frozen_machine_can_be_killed_and_started_without_thawing(node, wire):
    node.freeze()
    node.renew()
    node.start()
    node.wait_ready()
    assert not node.frozen
    assert answer(wire[1], b"again") == b"re: again"


def test_the_others_see_a_wire_and_no_closed_socket_while_it_is_away(node, wire):
    node.kill()
    time.sleep(0.1)
    wire[1].send(b"frame")  # raises ConnectionRefusedError where nobody has the other end


class Fails(Node):
    """Says SAID and ends, the first time."""
    said = ""

    def command_line(self, agent_fd):
        said = [] if "again" in self.console.text() else [self.said, "again"]
        machine = MACHINE if not said else "import sys; open(sys.argv[1], 'a').write(sys.argv[4])"
        return [sys.executable, "-c", machine.replace('"w")', '"a")'), str(self.console.path), str(agent_fd), str(self.ports[0].fd),
                "\n".join(said) + "\n"]


@pytest.mark.parametrize("said, once_more", (("tsc: Unable to calibrate", True), ("[    1.000000] Kernel panic - not syncing: x", False),
                                            (AGENT_UP, False)))
def test_a_machine_that_never_began_is_booted_once_more(tmp_path, wire, said, once_more):
    run = Run(tmp_path)
    machine = Fails(run, Kernel("none", "", *[pathlib.Path()] * 3), 1, [Port(0, 1, wire[0].fileno())], "none", "", 0)
    machine.said = said
    lab = object.__new__(Lab)
    lab.nodes, lab.count = [machine], 1
    machine.start()
    try:
        if once_more:
            lab._wait_ready()
            assert answer(wire[1], b"x") == b"re: x"
        else:
            with pytest.raises(NodeDead):
                lab._wait_ready()
    finally:
        machine.stop()
        run.close()
