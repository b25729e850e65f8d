# SPDX-License-Identifier: GPL-2.0
"""A link of more than two nodes: every frame goes to all the others.

Run as a process of its own: python3 -m rblklab.hub FD FD ...
A port whose reader is slow loses frames, as on a real wire.
"""
import select
import socket
import sys


def main() -> None:
    ports = [socket.socket(fileno=int(fd)) for fd in sys.argv[1:]]
    poll = select.poll()
    by_fd = {port.fileno(): port for port in ports}
    for port in ports:
        port.setblocking(False)
        poll.register(port, select.POLLIN)
    while True:
        for fd, _ in poll.poll():
            try:
                frame = by_fd[fd].recv(65536)
            except BlockingIOError:
                continue
            for port in ports:
                if port.fileno() != fd:
                    try:
                        port.send(frame)
                    except OSError:
                        pass


if __name__ == "__main__":
    main()
