# SPDX-License-Identifier: GPL-2.0
"""The control channel: qemu-guest-agent's protocol over a socket."""
import json
import random
import socket
import threading
import time
from typing import Any, Callable

from .errors import LabError, NodeDead


class AgentTimeout(NodeDead):
    """The agent did not answer in time."""


class Agent:
    """Requests to one node's agent, one at a time, from any thread."""

    def __init__(self, sock: socket.socket, check_alive: Callable[[], None]):
        self.sock = sock
        self.check_alive = check_alive  # raises NodeDead when the machine has ended
        self.lock = threading.Lock()
        self.buffer = bytearray()
        self.in_step = False

    def call(self, command: str, timeout: float = 30, **arguments) -> Any:
        """Send one request; its 'return' value."""
        deadline = time.monotonic() + timeout
        with self.lock:
            if not self.in_step:
                self._sync(deadline)
            self.in_step = False  # until the answer is there: a late one must not be taken for the next
            self._send({"execute": command, "arguments": arguments}, deadline)
            answer = self._receive(deadline)
            self.in_step = True
        if "error" in answer:
            raise LabError(f"agent: {command}: {answer['error'].get('desc', answer['error'])}")
        return answer.get("return")

    def sync(self, timeout: float) -> None:
        """Wait until the agent answers at all."""
        with self.lock:
            self._sync(time.monotonic() + timeout)

    def _sync(self, deadline: float) -> None:
        """Send numbered pings until one comes back; drop everything before it."""
        wait = 0.2
        while True:
            number = random.randrange(1, 1 << 31)
            self._send({"execute": "guest-sync", "arguments": {"id": number}}, deadline)
            until = min(deadline, time.monotonic() + wait)
            try:
                while self._receive(until).get("return") != number:
                    pass
                self.in_step = True
                return
            except AgentTimeout:
                if time.monotonic() >= deadline:
                    raise
                wait = min(wait * 2, 5)

    def _send(self, message: dict, deadline: float) -> None:
        data = memoryview(json.dumps(message).encode() + b"\n")
        while data:
            wait = self._slice(deadline)
            try:
                self.sock.settimeout(wait)
                data = data[self.sock.send(data):]
            except TimeoutError:
                self.check_alive()
            except OSError as err:
                self.check_alive()
                raise NodeDead(f"agent: the channel is gone: {err}") from err

    def _receive(self, deadline: float) -> dict:
        """The next line that is a JSON object; other lines are not the agent's."""
        searched = 0
        while True:
            end = self.buffer.find(b"\n", searched)
            if end >= 0:
                line = bytes(self.buffer[:end]).strip(b"\xff \r\n")
                del self.buffer[:end + 1]
                searched = 0
                try:
                    message = json.loads(line)
                except ValueError:
                    continue
                if isinstance(message, dict) and ("return" in message or "error" in message):
                    return message
                continue
            searched = len(self.buffer)
            wait = self._slice(deadline)
            try:
                self.sock.settimeout(wait)
                data = self.sock.recv(1 << 20)
            except TimeoutError:
                self.check_alive()
                continue
            except OSError as err:
                self.check_alive()
                raise NodeDead(f"agent: the channel is gone: {err}") from err
            if not data:
                self.check_alive()
                raise NodeDead("agent: the channel was closed")
            self.buffer += data

    @staticmethod
    def _slice(deadline: float) -> float:
        """How long to wait now: short enough to notice a dead machine soon."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise AgentTimeout("the node's agent does not answer")
        return min(left, 1)
