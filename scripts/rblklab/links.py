# SPDX-License-Identifier: GPL-2.0
"""Links: Ethernet segments made of datagram sockets, one frame a datagram."""
import dataclasses
import ipaddress
import socket

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


def pair() -> tuple[socket.socket, socket.socket]:
    """Two ends of a wire."""
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    for end in ends:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BUFFER)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SOCKET_BUFFER)
        end.setblocking(False)
    return ends
