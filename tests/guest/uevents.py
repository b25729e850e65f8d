# SPDX-License-Identifier: GPL-2.0
"""Writes a line to FILE for each event of the kernel that a disk has another size: uptime, name, bytes by then.

    uevents.py FILE
"""
import pathlib
import socket
import sys

KOBJECT_UEVENT = 15

sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, KOBJECT_UEVENT)
sock.bind((0, 1))
with open(sys.argv[1], "w", buffering=1, encoding="ascii") as out:
    print("ready", file=out)
    while True:
        words = sock.recv(65536).decode(errors="replace").split("\0")
        facts = dict(word.split("=", 1) for word in words if "=" in word)
        if facts.get("RESIZE") == "1":
            name = facts["DEVNAME"]
            size = int(pathlib.Path(f"/sys/block/{name}/size").read_text(encoding="ascii")) * 512
            print(pathlib.Path("/proc/uptime").read_text(encoding="ascii").split()[0], name, size, file=out)
