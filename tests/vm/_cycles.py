# SPDX-License-Identifier: GPL-2.0
"""Maps and unmaps in a loop, in a node: workers side by side, each with an export of its own.

    _cycles.py SERVER FIRST CYCLES EXPORT:CLIENT...

It speaks netlink itself, as a start of the tool takes longer than a map. In each
cycle a worker reads what it wrote in the one before. Prints how long it took.
"""
import json
import mmap
import os
import socket
import struct
import sys
import time

PORT = 7471
NETLINK_GENERIC = 16
NLM_F_REQUEST, NLM_F_ACK = 1, 4
NLMSG_ERROR = 2
CTRL_ID, CTRL_CMD_GETFAMILY, CTRL_A_ID, CTRL_A_NAME = 16, 3, 1, 2
# include/uapi/linux/rblk_client.h
MAP, UNMAP = 1, 2
A_INDEX, A_EXPORT, A_SERVER, A_CLIENT_NAME = 1, 3, 4, 5


def attribute(kind, value):
    body = struct.pack("=HH", len(value) + 4, kind) + value
    return body + bytes(-len(body) % 4)


def attributes(data):
    found = {}
    while len(data) >= 4:
        size, kind = struct.unpack_from("=HH", data)
        found[kind & 0x3fff] = data[4:size]
        data = data[(size + 3) & ~3:]
    return found


class Client:
    """The family rblk-client."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
        self.socket.bind((0, 0))
        self.sequence = 0
        reply = self.ask(CTRL_ID, CTRL_CMD_GETFAMILY, attribute(CTRL_A_NAME, b"rblk-client\0"))
        self.family, = struct.unpack("=H", reply[CTRL_A_ID])

    def ask(self, family, command, payload):
        """Send one request; the attributes of the reply, if there is one, when it is acknowledged."""
        self.sequence += 1
        body = struct.pack("=BBH", command, 1, 0) + payload
        self.socket.send(struct.pack("=IHHII", 16 + len(body), family, NLM_F_REQUEST | NLM_F_ACK, self.sequence, 0) + body)
        reply = {}
        while True:
            data = self.socket.recv(65536)
            while data:
                size, kind = struct.unpack_from("=IH", data)
                if kind == NLMSG_ERROR:
                    error, = struct.unpack_from("=i", data, 16)
                    if error:
                        raise OSError(-error, os.strerror(-error))
                    return reply
                reply = attributes(data[20:size])
                data = data[(size + 3) & ~3:]

    def map(self, server, export, client):
        address = struct.pack("=H", socket.AF_INET) + struct.pack("!H4s", PORT, socket.inet_aton(server)) + bytes(20)
        payload = (attribute(A_SERVER, address) + attribute(A_EXPORT, export.encode() + b"\0") +
                   attribute(A_CLIENT_NAME, client.encode() + b"\0"))
        return struct.unpack("=I", self.ask(self.family, MAP, payload)[A_INDEX])[0]

    def unmap(self, index):
        self.ask(self.family, UNMAP, attribute(A_INDEX, struct.pack("=I", index)))


def mark(export, cycle):
    return f"{export} {cycle:08d} ".encode() * 20


def work(server, export, client, first, cycles):
    kernel = Client()
    buffer = mmap.mmap(-1, 4096)
    for cycle in range(first, first + cycles):
        index = kernel.map(server, export, client)
        device = os.open(f"/dev/rblk{index}", os.O_RDWR | os.O_DIRECT)
        os.preadv(device, [buffer], 0)
        wanted = mark(export, cycle - 1) if cycle else bytes(100)
        if buffer[:len(wanted)] != wanted:
            raise ValueError(f"{export}: cycle {cycle} read {buffer[:40]}")
        buffer[:len(mark(export, cycle))] = mark(export, cycle)
        os.pwritev(device, [buffer], 0)
        os.close(device)
        kernel.unmap(index)


def main():
    server, first, cycles, *workers = sys.argv[1:]
    began = time.monotonic()
    children = []
    for worker in workers:
        export, client = worker.split(":")
        child = os.fork()
        if not child:
            try:
                work(server, export, client, int(first), int(cycles))
            except Exception as err:  # pylint: disable=broad-except
                print(f"{worker}: {err!r}", file=sys.stderr)
                os._exit(1)
            os._exit(0)
        children.append(child)
    failed = [child for child in children if os.waitpid(child, 0)[1]]
    print(json.dumps({"seconds": round(time.monotonic() - began, 2)}))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
