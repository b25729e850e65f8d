#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Exports and listeners that come and go while others read the lists and the events.

    netlink_change.py SPEC.json ROUNDS

An export that is there from before to after is in every list that was not interrupted, and once. Each export that came and went
is an event, in this order. Exit code 1 if anything was wrong.
"""
import collections
import json
import multiprocessing
import socket
import struct
import sys
import time

from genl import ADD_MEMBERSHIP, DUMP, REQUEST, SOL_NETLINK, Family, Socket, attribute, attributes

STAY = 24  # that stay, so that a list takes several parts
NAME_MAX = 63


def name_of(messages: list[bytes]) -> list[str]:
    return [dict(attributes(message[4:]))[1].rstrip(b"\0").decode() for message in messages]


def add(family: Family, sock: Socket, name: str) -> None:
    fields = family.fields("export-add")
    # Names that are long, so that a list takes several parts
    allowed = b"".join(attribute(fields["allow"].number, f"{n:0{NAME_MAX}}".encode() + b"\0") for n in range(40))
    reply = sock.ask(family.number, family.command("export-add"), attribute(fields["name"].number, name.encode() + b"\0") +
                     attribute(fields["size"].number, struct.pack("=Q", 1 << 21)) + allowed)
    assert not reply.error, reply


def remove(family: Family, sock: Socket, name: str) -> None:
    field = family.fields("export-remove")["name"]
    reply = sock.ask(family.number, family.command("export-remove"), attribute(field.number, name.encode() + b"\0"))
    assert not reply.error, reply


def change(family: Family, rounds: int, prefix: str, done) -> None:
    """Come and go, always at the beginning of the list."""
    fields = family.fields("listen-add")
    address = struct.pack("=HH4s20s", socket.AF_INET, socket.htons(7000 + ord(prefix)), bytes([10, 77, 9, 9]), bytes(20))
    with Socket() as sock:
        for n in range(rounds):
            add(family, sock, f"{prefix}{n}")
            for command in ("listen-add", "listen-remove"):
                reply = sock.ask(family.number, family.command(command), attribute(fields["addr"].number, address))
                assert not reply.error, reply
            remove(family, sock, f"{prefix}{n}")
    done.value += 1


def main() -> int:
    with open(sys.argv[1], encoding="utf-8") as file:
        family = Family(json.load(file))
    rounds, wrong, read, interrupted = int(sys.argv[2]), [], 0, 0
    setup = Socket()
    # Some that go early in the list: what is counted and not named moves all behind it
    early = [f"early{n}" for n in range(8)]
    for name in early + [f"stay{n}" for n in range(STAY)]:
        add(family, setup, name)
    stay = {f"stay{n}" for n in range(STAY)}

    events = Socket(1 << 22)
    events.sock.setsockopt(SOL_NETLINK, ADD_MEMBERSHIP, family.groups["events"])
    done = multiprocessing.Value("i", 0)
    workers = [multiprocessing.Process(target=change, args=(family, rounds, prefix, done)) for prefix in "xy"]
    for worker in workers:
        worker.start()

    def dump(command: str) -> tuple[list[bytes], bool]:
        with Socket() as sock:
            sock.send(family.number, struct.pack("=BBH", family.command(command), 1, 0), REQUEST | DUMP)
            answer = sock.answer()
            assert not answer.error, answer
            return answer.messages, answer.interrupted

    while done.value < len(workers) and any(worker.is_alive() for worker in workers):
        for command in family.dumping():
            messages, broken = dump(command)
            read += 1
            interrupted += broken
            if command == "export-get" and not broken:
                names = collections.Counter(name_of(messages))
                if bad := [name for name in stay if names[name] != 1]:
                    wrong.append(f"an uninterrupted list has {[(name, names[name]) for name in sorted(bad)][:3]}")
        # Dumps left after the first part, by a socket that goes
        with Socket() as sock:
            sock.send(family.number, struct.pack("=BBH", family.command("export-get"), 1, 0), REQUEST | DUMP)
            sock.parts(8192)
    for worker in workers:
        worker.join()
        wrong += [f"a worker ended with {worker.exitcode}"] if worker.exitcode else []

    # One change between two parts, made for sure: what stays must be there, or the list say that it was interrupted
    for name in early:
        with Socket() as sock:
            sock.send(family.number, struct.pack("=BBH", family.command("export-get"), 1, 0), REQUEST | DUMP)
            first = sock.parts(8192)
            remove(family, setup, name)
            rest = sock.answer()
        names = set(name_of([payload for kind, _, _, payload in first if kind > 3] + rest.messages))
        if not stay <= names and not rest.interrupted:
            wrong.append(f"{len(stay - names)} exports are missing in a list that does not say it was interrupted")

    time.sleep(0.5)
    events.sock.settimeout(0.5)
    seen = collections.defaultdict(list)
    try:
        while True:
            for _, _, _, payload in events.parts():
                command = next(name for name, (number, _) in family.operations.items() if number == payload[0])
                if command.startswith("export"):
                    seen[name_of([payload])[0]].append(command)
    except (TimeoutError, BlockingIOError):
        pass
    for prefix in "xy":
        for n in range(rounds):
            if seen[f"{prefix}{n}"] != ["export-add-ntf", "export-remove-ntf"]:
                wrong.append(f"events of {prefix}{n}: {seen[f'{prefix}{n}']}")
    for n in range(STAY):
        remove(family, setup, f"stay{n}")
    print("\n".join(wrong[:20]))
    print(f"{read} lists, {interrupted} interrupted, {sum(map(len, seen.values()))} events")
    return bool(wrong) or not read


if __name__ == "__main__":
    sys.exit(main())
