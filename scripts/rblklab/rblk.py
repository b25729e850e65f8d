# SPDX-License-Identifier: GPL-2.0
"""The control tool, run in a node."""
import json
import shlex
from typing import Any

from .errors import LabError
from .node import GuestProcess, Node, Result

PORT = 7471

# Exit codes, as documented for scripts
OK, FAILED, USAGE, NOT_FOUND, DENIED, BUSY, UNREACHABLE, VERSION, NO_MODULE = range(9)


class Rblk:
    """'rblk' in one node."""

    def __init__(self, node: Node):
        self.node = node
        self.reconnect = True

    def __call__(self, *words: str, check: bool = True, timeout: float = 60) -> Result:
        """Run 'rblk WORDS...'."""
        return self.node.run(self.command(*words), timeout=timeout, check=check)

    def command(self, *words: str) -> str:
        if words[0] == "map" and not self.reconnect and "--no-reconnect" not in words:
            words = (*words, "--no-reconnect")
        return shlex.join([str(self.node.kernel.tool), *words])

    def start(self, *words: str) -> GuestProcess:
        return self.node.spawn(self.command(*words))

    def json(self, *words: str) -> dict[str, Any]:
        """The document of 'rblk WORDS... --json'."""
        text = self(*words, "--json").stdout
        try:
            return json.loads(text)
        except ValueError as err:
            raise LabError(f"{self.node}: 'rblk {' '.join(words)} --json' printed no JSON: {text[:500]}") from err

    def _load(self, *names: str) -> None:
        self.node.run(" && ".join(f"insmod {self.node.kernel.rblk}/{name}.ko" for name in names))

    def load_server(self) -> None:
        self._load("rblk-core", "rblk-server")

    def load_client(self) -> None:
        self._load("rblk-core", "rblk-client")

    def export(self, name: str, size: str = "64M", allow: tuple[str, ...] = ("any",), *options: str) -> None:
        words = [word for client in allow for word in ("--allow", client)]
        self("export", "add", name, "--memory", size, *words, *options)

    def listen(self, address: str) -> None:
        self("listen", "add", address)

    def map(self, server: str, export: str, *options: str, timeout: float = 60) -> str:
        """Map an export; the device's path."""
        out = self("map", server, export, *options, timeout=timeout).stdout
        device = out.strip()
        if out != device + "\n" or not device.startswith("/dev/rblk"):
            raise LabError(f"{self.node}: 'rblk map' must print the device alone, it printed {out!r}")
        return device

    def unmap(self, device: str, *options: str, timeout: float = 30) -> None:
        self("unmap", device, *options, timeout=timeout)

    def devices(self) -> dict[str, dict[str, Any]]:
        """The node's devices by path."""
        return {device["device"]: device for device in self.json("device", "list")["devices"]}

    def server_messages(self) -> int:
        """Messages that this server's rblk has handled for its present sessions."""
        sessions = self.json("session", "list")["server_sessions"]
        if not sessions:
            raise LabError(f"{self.node}: no client has a session, so there is no message counter to read")
        counts = [path["messages"] for session in sessions for path in session["paths"]]
        if not counts or None in counts:
            raise LabError(f"{self.node}: a session without a message counter: {sessions}")
        return sum(counts)
