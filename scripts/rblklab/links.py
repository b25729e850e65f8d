# SPDX-License-Identifier: GPL-2.0
"""Links: Ethernet segments made of datagram sockets, one frame a datagram."""
import dataclasses
import ipaddress
import os
import select
import socket
import threading

MTU = 9000
SOCKET_BUFFER = 4 << 20


@dataclasses.dataclass(frozen=True)
class Port:
    """One node's end of one link."""
    link: int
    node: int  # from 1
    fd: int

    @property
    def mac(self) -> str:
        return f"52:54:00:72:{self.link:02x}:{self.node:02x}"

    @property
    def name(self) -> str:
        return f"net{self.link}"

    @property
    def ipv4(self) -> str:
        return f"10.77.{self.link}.{self.node}"

    @property
    def ipv6(self) -> str:
        return str(ipaddress.IPv6Address(f"fd77:{self.link:x}::{self.node:x}"))

    @property
    def link_local(self) -> str:
        """The address the kernel makes from the MAC, with the scope a node needs."""
        octets = bytes.fromhex(self.mac.replace(":", ""))
        half = bytes([octets[0] ^ 2]) + octets[1:3] + b"\xff\xfe" + octets[3:]
        return f"{ipaddress.IPv6Address(bytes.fromhex('fe80' + '0' * 12) + half)}%{self.name}"


class Drain:
    """Loses the frames for a machine that takes none, as a wire does.

    Without it they fill the socket, and then the sender's interface stands still
    and so do the queue pairs behind it: nothing that happens on a network.
    """

    def __init__(self, ports: list[Port]):
        self._wake, self._stop = os.pipe()
        self._sockets = [socket.socket(fileno=os.dup(port.fd)) for port in ports]
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        poll = select.poll()
        poll.register(self._wake, select.POLLIN)
        for sock in self._sockets:
            poll.register(sock, select.POLLIN)
        ready: dict[int, int] = {}
        while self._wake not in ready:
            ready = dict(poll.poll())
            for sock in self._sockets:
                try:
                    while sock.fileno() in ready:
                        sock.recv(65536)
                except OSError:
                    continue  # empty, or the other end is gone too

    def stop(self) -> None:
        os.close(self._stop)
        self._thread.join()
        os.close(self._wake)
        for sock in self._sockets:
            sock.close()


def pair() -> tuple[socket.socket, socket.socket]:
    """Two ends of a wire."""
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    for end in ends:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BUFFER)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SOCKET_BUFFER)
        end.setblocking(False)
    return ends
