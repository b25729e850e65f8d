# SPDX-License-Identifier: GPL-2.0
"""A node: commands in it, its console, its RDMA devices. The machine kinds derive from it."""
import base64
import dataclasses
import itertools
import json
import pathlib
import re
import shlex
import signal
import socket
import subprocess
import time

from . import splat
from .agent import Agent
from .console import Console
from .errors import CommandError, LabError, NodeDead
from .kernels import Kernel
from .links import Drain, Port
from .rundir import TOP, Run

Command = str | list[str]
AGENT_UP = "rblk-lab: agent starts"


@dataclasses.dataclass(frozen=True)
class Result:
    """How a command in a node ended. CODE is -N for signal N."""
    code: int
    stdout: str
    stderr: str
    seconds: float


class Node:
    """One machine. Made by Lab; start() begins the boot, wait_ready() ends it."""
    boot_limit = 60.0
    first_poll = 0.005
    slowest_poll = 0.1
    chunk = 2048  # bytes of one message to the agent, before base64 and JSON
    agent_port = ""
    cpus = 1

    def __init__(self, run: Run, kernel: Kernel, index: int, ports: list[Port], provider: str, hosts: str, memory: int,
                 boot_options: list[str] | None = None):
        self.run_state = run
        self.kernel = kernel
        self.index = index
        self.name = f"node{chr(ord('A') + index - 1)}"
        self.ports = ports
        self.provider = provider
        self.hosts = hosts
        self.memory = memory
        self.boot_options = boot_options or []
        self.folder = self._new_folder()
        self.console = Console(self.folder / "console.log")
        self.process: subprocess.Popen | None = None
        self.agent: Agent | None = None
        self.boot_seconds = 0.0
        self.frozen = False
        self.machine_fds: list[int] = []  # for the machine, besides the agent's and the ports'
        self._drain: Drain | None = None
        self._started = 0.0
        self._booting = 0  # where the console of this boot begins
        self._numbers = itertools.count(1)

    def __str__(self) -> str:
        return self.name

    def _new_folder(self) -> pathlib.Path:
        number = 0
        while True:
            folder = self.run_state.folder / (self.name + (f"-{number}" if number else ""))
            try:
                folder.mkdir()
                return folder
            except FileExistsError:
                number += 1

    # -- the machine

    def command_line(self, agent_fd: int) -> list[str]:
        """How to start the machine; its agent talks on AGENT_FD."""
        raise NotImplementedError

    def extra_environment(self) -> dict[str, str]:
        return {}

    def init_script(self) -> pathlib.Path:
        """The node's first process: who it is, then the common part."""
        values = {
            "RBLK_NAME": self.name, "RBLK_TOP": str(TOP), "RBLK_DIR": str(self.folder),
            "RBLK_MODULES": str(self.kernel.modules), "RBLK_HOSTS": self.hosts, "RBLK_AGENT": self.agent_port,
            "RBLK_PROVIDER": "rdma_rxe" if self.provider == "rxe" else self.provider,
            "RBLK_LINKS": " ".join(f"{port.mac},{port.ipv4},{port.ipv6}" for port in self.ports),
            **self.extra_environment(),
        }
        script = self.folder / "init"
        lines = [f"export {name}={shlex.quote(value)}" for name, value in values.items()]
        script.write_text("#!/bin/sh\n" + "\n".join(lines) + f"\nexec {shlex.quote(str(TOP))}/scripts/rblklab/guest-init\n")
        script.chmod(0o755)
        return script

    def start(self) -> None:
        """Begin to boot. Call it from the main thread: see Run.start."""
        ours, theirs = socket.socketpair()
        self._started = time.monotonic()
        with theirs, open(self.folder / "machine.log", "wb") as log:
            self.process = self.run_state.start(
                self.command_line(theirs.fileno()), stdout=log, stderr=log, cwd=self.folder,
                pass_fds=[theirs.fileno(), *self.machine_fds, *(port.fd for port in self.ports)])
        self.agent = Agent(ours, self.check_alive)

    def wait_ready(self) -> None:
        """Return when commands can run; NodeDead with the console's end if the boot fails."""
        deadline = self._started + self.boot_limit
        try:
            while AGENT_UP not in self.console.text(self._booting):
                self.check_alive()
                if time.monotonic() > deadline:
                    raise NodeDead(f"{self}: not up after {self.boot_limit:.0f} s")
                time.sleep(0.02)
            self.agent.sync(max(5.0, deadline - time.monotonic()))
        except NodeDead as err:
            raise NodeDead(f"{err}\n--- the end of {self.name}'s console ({self.console.path}):\n{self.tail()}") from err
        self.boot_seconds = time.monotonic() - self._started
        problems = [line for line in self.console.text(self._booting).splitlines() if line.startswith("rblk-lab: ") and AGENT_UP not in line]
        if problems:
            raise LabError(f"{self}: {'; '.join(problems)}")

    def tail(self, lines: int = 40) -> str:
        machine = (self.folder / "machine.log").read_text(errors="replace").strip()
        end = self.console.text().splitlines()[-lines:]
        return "\n".join(end + ([f"machine: {machine[-2000:]}"] if machine else []))

    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def check_alive(self) -> None:
        if not self.alive():
            raise NodeDead(f"{self}: the machine has ended\n{self.tail()}")

    def ended_early(self) -> bool:
        """Whether it has ended before anything ran in it, and no kernel says why."""
        said = self.console.text(self._booting)
        return not self.alive() and AGENT_UP not in said and not splat.find(said)

    def responds(self, timeout: float = 20) -> bool:
        """Whether a command still runs in the node."""
        try:
            return self.alive() and self.run("true", timeout=timeout, check=False).code == 0
        except LabError:
            return False

    def stop(self) -> None:
        if self.process:
            self.run_state.stop(self.process, patience=0)
        if self.agent:
            self.agent.sock.close()
        self._take_frames()

    # -- a machine that hangs, or dies

    def freeze(self) -> None:
        """Stop the machine between two instructions; frames for it are lost. thaw() lets it go on."""
        self._halt()
        self.frozen = True
        self._lose_frames()

    def thaw(self) -> None:
        """Let a frozen machine go on; without effect on any other."""
        if self.frozen:
            self._take_frames()
            self.frozen = False
            self._go_on()

    def kill(self) -> None:
        """End the machine as when its power fails; nobody hears of it. Lab.restart() boots it again."""
        self.stop()
        self.frozen = False
        self._lose_frames()

    def renew(self) -> None:
        """Make a machine that has ended ready for start()."""
        self.stop()
        self.frozen = False
        self.folder = self._new_folder()
        self._booting = self.console.mark()
        self.console.go_on(self.folder / "console.log")

    def _halt(self) -> None:
        """Return when the machine executes nothing any more."""
        # The first process alone: it traces the others, and is told of signals to them
        self.process.send_signal(signal.SIGSTOP)
        deadline = time.monotonic() + 5
        while pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[0] != "T":
            if time.monotonic() > deadline:
                raise LabError(f"{self}: the machine does not stop")
            time.sleep(0.005)

    def _go_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def _lose_frames(self) -> None:
        if not self._drain:
            self._drain = Drain(self.ports)

    def _take_frames(self) -> None:
        if self._drain:
            self._drain.stop()
            self._drain = None

    # -- commands

    def run(self, command: Command, timeout: float = 60, check: bool = True, stdin: str | None = None) -> Result:
        """Run COMMAND (a string goes to sh) to its end.

        After TIMEOUT seconds the command and its children are killed and
        LabError is raised. CHECK turns an exit code other than 0 into
        CommandError.
        """
        return self.spawn(command, stdin).wait(timeout, check)

    def spawn(self, command: Command, stdin: str | None = None) -> "GuestProcess":
        """Start COMMAND and go on."""
        text = command if isinstance(command, str) else shlex.join(command)
        began = time.monotonic()
        script = text
        if stdin is not None:
            script = f"{{ {text}\n}} < {self.put(stdin.encode())}"
        if len(script) > self.chunk:
            script = f". {self.put(script.encode())}"
        arguments = {"path": "/bin/sh", "arg": ["-c", script], "capture-output": True}
        pid = self.agent.call("guest-exec", **arguments)["pid"]
        return GuestProcess(self, text, pid, began)

    def put(self, data: bytes, path: str | None = None) -> str:
        """Write a file in the node; its path. In pieces: a terminal takes no line over 4 KiB."""
        path = path or f"/run/lab/file-{next(self._numbers)}"
        handle = self.agent.call("guest-file-open", path=path, mode="w")
        try:
            for begin in range(0, len(data), self.chunk):
                piece = base64.b64encode(data[begin:begin + self.chunk]).decode()
                self.agent.call("guest-file-write", handle=handle, **{"buf-b64": piece})
        finally:
            self.agent.call("guest-file-close", handle=handle)
        return path

    def read(self, path: str) -> str:
        return self.run(["cat", path]).stdout

    # -- RDMA

    def rdma_counts(self) -> dict[str, dict[str, int]]:
        """The objects of each RDMA device, by kind: {'rxe0': {'pd': 1, 'cq': 1, ...}}."""
        out = self.run("rdma -j resource show").stdout.strip()
        counts = {}
        for device in parse_json_list(out):
            name = device.get("ifname") or device.get("dev")
            counts[name] = {key: int(device[key]) for key in ("pd", "cq", "qp", "cm_id", "mr") if key in device}
        return counts

    def rdma_name(self, link: int = 0) -> str:
        return f"{self.provider}{link}"

    def rdma_link_add(self, link: int = 0) -> None:
        self.run(f"rdma link add {self.rdma_name(link)} type {self.provider} netdev net{link}")

    def rdma_link_delete(self, link: int = 0, timeout: float = 30) -> None:
        self.run(f"rdma link delete {self.rdma_name(link)}", timeout=timeout)

    # -- modules

    def insmod(self, *names: str) -> None:
        """Load modules of this checkout, by file name without '.ko'."""
        for name in names:
            self.run(["insmod", f"{self.kernel.rblk}/{name}.ko"])

    def rmmod(self, *names: str, timeout: float = 60) -> float:
        """Unload modules; how long it took."""
        return sum(self.run(["rmmod", name.replace("-", "_")], timeout=timeout).seconds for name in names)

    def loaded(self, prefix: str = "rblk") -> list[str]:
        """Loaded modules whose name begins with PREFIX, the newest first."""
        names = (line.split()[0] for line in self.read("/proc/modules").splitlines())
        return [name for name in names if re.match(prefix, name)]


def parse_json_list(text: str) -> list[dict]:
    """iproute2's rdma prints its list with a trailing comma in some versions."""
    try:
        return json.loads(text or "[]")
    except ValueError:
        return json.loads(re.sub(r",\s*([\]}])", r"\1", text))


class GuestProcess:
    """A command that runs in a node."""

    def __init__(self, node: Node, command: str, pid: int, began: float):
        self.node = node
        self.command = command
        self.pid = pid
        self.began = began
        self.result: Result | None = None

    def poll(self) -> Result | None:
        """The result, if the command has ended."""
        if self.result is None:
            status = self.node.agent.call("guest-exec-status", pid=self.pid)
            if status["exited"]:
                out, err = (base64.b64decode(status.get(key, "")).decode(errors="replace") for key in ("out-data", "err-data"))
                if status.get("out-truncated") or status.get("err-truncated"):
                    raise LabError(f"{self.node}: '{self.command}' printed more than the agent keeps (16 MiB); write it to a file")
                code = status["exitcode"] if "exitcode" in status else -int(status.get("signal", 1))
                self.result = Result(code, out, err, time.monotonic() - self.began)
        return self.result

    def wait(self, timeout: float = 60, check: bool = True) -> Result:
        deadline = time.monotonic() + timeout
        pause = self.node.first_poll
        while self.poll() is None:
            if time.monotonic() > deadline:
                stacks = self.where()
                self.kill()
                raise LabError(f"{self.node}: '{self.command}' did not end within {timeout:.0f} s{stacks}")
            time.sleep(pause)
            pause = min(pause * 1.5, self.node.slowest_poll)
        if check and self.result.code:
            raise CommandError(self.node, self.command, self.result)
        return self.result

    def family(self) -> list[int]:
        """The command's process and all below it."""
        listing = self.node.run("ps -eo pid=,ppid=", check=False, timeout=30).stdout
        pairs = [tuple(map(int, line.split())) for line in listing.splitlines()]
        family = [self.pid]
        for member in family:
            family += [pid for pid, parent in pairs if parent == member and pid not in family]
        return family

    def where(self) -> str:
        """Kernel stacks of the command's processes, to see what it waits for."""
        try:
            text = "".join(f'echo "pid {pid} $(cat /proc/{pid}/comm)"; cat /proc/{pid}/stack;' for pid in self.family())
            return "\n" + self.node.run(text, check=False, timeout=30).stdout.rstrip()
        except LabError:
            return ""

    def kill(self) -> None:
        """Kill the command and its children; bounded even if they do not die."""
        if self.poll() is not None:
            return
        pids = " ".join(map(str, self.family()))
        # What it had open is closed when it is gone, or a zombie; one that waits for I/O may stay. A process for each
        # look would take an emulated node too long
        alive = (f"for pid in {pids}; do {{ read -r stat </proc/$pid/stat; }} 2>/dev/null || continue; "
                 'case "${stat##*) }" in [ZX]*) ;; *) return 0;; esac; done; return 1')
        self.node.run(f"alive() {{ {alive}; }}; kill -KILL {pids}; for i in 1 2 3 4 5 6 7 8 9 10; do alive || exit 0; sleep 0.2; done",
                      check=False, timeout=30)
