#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Every command of a netlink family with attributes that are wrong in every way, and dumps that nobody reads to the end.

    netlink_junk.py SPEC.json SEED ROUNDS

What each message must be answered with is computed from the spec. Prints what was answered otherwise, then how many messages
there were. Exit code 1 if anything was wrong.
"""
import errno
import json
import os
import random
import socket
import struct
import sys

from genl import ACK, DUMP, NESTED, REQUEST, Family, Socket, attribute

NOBODY = 65534
ATTR_TYPES = 0x3fff


def ipv4(address: bytes = bytes([10, 77, 0, 1]), port: int = 7999, family: int = socket.AF_INET, pad: bytes = bytes(20)) -> bytes:
    return struct.pack("=HH4s", family, socket.htons(port), address) + pad


def text(value: str) -> bytes:
    return value.encode() + b"\0"


def number(value: int) -> bytes:
    return struct.pack("=q", value)


ADDRESSES = [ipv4(family=0), ipv4(family=1), ipv4(family=0xffff), ipv4(port=0), ipv4(pad=b"\1" * 20), ipv4(bytes([224, 0, 0, 1])),
             ipv4(bytes([255] * 4)), ipv4(b"\xff\x02" + bytes(2), family=socket.AF_INET6), b"\xff" * 28]
NAMES = [text(name) for name in ("..", ".", "a/b", "a b", "\x7f", "\xe4", "%s%n", "\n")]
# What each command needs, as it would be served, and values of which the policy knows nothing that are not
NEEDED = {
    "map": {"server": ipv4(), "export": text("disk"), "client-name": text("me")},
    "unmap": {"index": struct.pack("=I", 77777)},
    "device-get": {"index": struct.pack("=I", 77777)},
    "path-add": {"index": struct.pack("=I", 77777), "server": ipv4()},
    "path-remove": {"index": struct.pack("=I", 77777), "path": struct.pack("=I", 0)},
    "path-drain": {"index": struct.pack("=I", 77777), "path": struct.pack("=I", 0)},
    "path-set": {"index": struct.pack("=I", 77777), "path": struct.pack("=I", 0), "tos": struct.pack("=I", 0)},
    "device-set": {"index": struct.pack("=I", 77777), "policy": struct.pack("=I", 0)},
    "path-undrain": {"index": struct.pack("=I", 77777), "path": struct.pack("=I", 0)},
    "export-add": {"name": text("junk"), "size": number(1 << 21)},
    "export-remove": {"name": text("junk")},
    "export-get": {"name": text("junk")},
    "export-allow": {"name": text("junk"), "allow": text("somebody")},
    "export-unallow": {"name": text("junk"), "allow": text("somebody")},
    "export-resize": {"name": text("junk"), "size": number(1 << 21)},
    "session-kick": {"id": bytes(range(16))},
    "listen-add": {"addr": ipv4()},
    "listen-remove": {"addr": ipv4()},
}
SIZES = [number(size) for size in (0, 1, 512, (1 << 21) - 1, (1 << 50) + (1 << 21), -1, -1 << 63)]
SENSELESS = {
    "map": {"server": [*ADDRESSES, ipv4(bytes(4))], "export": NAMES, "client-name": NAMES},
    "path-add": {"server": [*ADDRESSES, ipv4(bytes(4))]},
    "export-add": {"name": NAMES, "size": SIZES,
                   "numa-node": [struct.pack("=i", node) for node in (-1, -2, 1 << 30, -1 << 31, 4096)],
                   "allow": NAMES, "incarnation": [bytes(16), bytes(range(16))], "device": [text(""), text("/dev/null")]},
    "export-remove": {"name": NAMES},
    "export-get": {"name": NAMES},
    "export-allow": {"name": NAMES, "allow": NAMES},
    "export-unallow": {"name": NAMES, "allow": NAMES},
    "export-resize": {"name": NAMES, "size": SIZES},
    "listen-add": {"addr": ADDRESSES},
    "listen-remove": {"addr": ADDRESSES},
}


class Junk:
    def __init__(self, family: Family, seed: int):
        self.family, self.rng = family, random.Random(seed)
        self.count, self.wrong = 0, []

    def expect(self, what: str, answer, wanted: str, text: bool = True) -> None:
        self.count += 1
        # One number, two names
        got = {0: "OK", errno.EOPNOTSUPP: "EOPNOTSUPP"}.get(answer.error) or errno.errorcode.get(answer.error, str(answer.error))
        if got != wanted:
            self.wrong.append(f"{self.family.name} {what}: {got} '{answer.text}', not {wanted}")
        elif text and wanted != "OK" and not answer.text:
            self.wrong.append(f"{self.family.name} {what}: {got} without a text")

    def ask(self, what: str, command: int, data: bytes, wanted: str, flags: int = REQUEST | ACK, text: bool = True) -> None:
        with Socket() as sock:
            self.expect(what, sock.ask(self.family.number, command, data, flags), wanted, text)

    def attributes_of(self, name: str) -> None:
        """One attribute at a time, each wrong in each way, alone and behind good ones."""
        command, fields = self.family.command(name), self.family.fields(name)
        good = b"".join(field.attribute(field.good(self.rng)) for field in fields.values())
        for field in fields.values():
            for why, data, wanted in field.bad(self.rng):
                for before in (b"", good):
                    self.ask(f"{name} {field.name} {why}", command, before + field.attribute(data), wanted)
            other = attribute(field.number | (0 if field.kind == "nest" else NESTED), field.good(self.rng))
            self.ask(f"{name} {field.name} nested, or not", command, other, "EINVAL")
            one = field.attribute(field.good(self.rng))
            for length in (0, 1, 3, len(one) + 4, 0xffff):
                cut = struct.pack("=H", length) + one[2:]
                self.ask(f"{name} {field.name} says it has {length} bytes", command, cut, "EINVAL")
            self.ask(f"{name} {field.name} cut off", command, good + one[:3], "EINVAL")
        last = max(field.number for field in fields.values())
        numbers = {field.number for field in fields.values()}
        for number in [number for number in range(last + 40) if number not in numbers] + [ATTR_TYPES]:
            self.ask(f"{name} attribute {number}", command, good + attribute(number, self.rng.randbytes(4)), "EINVAL")
        self.ask(f"{name} without any attribute", command, b"", "EINVAL")

    def sense_of(self, name: str) -> None:
        """What is needed left out, one at a time; then each value that makes no sense, alone and before a second that does."""
        command, fields, needed = self.family.command(name), self.family.fields(name), NEEDED[name]

        def message(values: dict[str, bytes]) -> bytes:
            return b"".join(attribute(fields[field].number, data) for field, data in values.items())

        for left_out in needed:
            rest = {field: data for field, data in needed.items() if field != left_out}
            self.ask(f"{name} without {left_out}", command, message(rest), "EINVAL")
            # A second one of another makes up for nothing
            self.ask(f"{name} without {left_out}, the others twice", command, message(rest) * 2, "EINVAL")
        for field, values in SENSELESS.get(name, {}).items():
            for value in values:
                self.ask(f"{name} {field} {value.hex()}", command, message({**needed, field: value}), "EINVAL")
                # The last one counts, but for those of which there may be several
                self.ask(f"{name} {field} {value.hex()} after a good one", command, message(needed) + message({field: value}), "EINVAL")
        if "allow" in fields:
            many = message(needed) + message({"allow": text("somebody")}) * 65
            self.ask(f"{name} with 65 clients", command, many, "EINVAL")

    def headers_of(self, name: str) -> None:
        command = self.family.command(name)
        with Socket() as sock:
            for size in range(4):
                sock.send(self.family.number, struct.pack("=BBH", command, 1, 0)[:size])
                self.expect(f"{name} with a header of {size} bytes", sock.answer(), "EINVAL", text=False)
            sock.send(self.family.number, struct.pack("=BBH", command, 1, 0x55aa))
            self.expect(f"{name} with a reserved field", sock.answer(), "EINVAL")
        for flag in (0x100, 0x200, 0x400, 0x800, 0x2000):
            self.ask(f"{name} with flag {flag:#x}", command, b"", "EINVAL", REQUEST | ACK | flag)

    def walk(self, rounds: int) -> None:
        """Messages of many attributes in any order, doubled, of which at least one is wrong: the first such decides."""
        for _ in range(rounds):
            name = self.rng.choice(self.family.doing())
            fields = list(self.family.fields(name).values())
            data, wanted, told = b"", "", []
            for _ in range(self.rng.randrange(1, 12)):
                field = self.rng.choice(fields)
                if self.rng.random() < 0.5:
                    data += field.attribute(field.good(self.rng))
                    told.append(field.name)
                else:
                    why, junk, verdict = self.rng.choice(field.bad(self.rng))
                    data += field.attribute(junk)
                    told.append(f"{field.name} {why}")
                    wanted = wanted or verdict
            if not wanted:
                data += attribute(ATTR_TYPES, b"")
            if len(data) < 60000:
                self.ask(f"{name} with {', '.join(told)}", self.family.command(name), data, wanted or "EINVAL")

    def others(self) -> None:
        """Commands there are not, and those that do not do what is asked of them."""
        doing, dumping = self.family.doing(), self.family.dumping()
        last = len(self.family.operations)
        for command in [0, *range(last + 1, last + 20), 255]:
            for flags in (REQUEST | ACK, REQUEST | ACK | DUMP):
                self.ask(f"command {command}", command, b"", "EOPNOTSUPP", flags, text=False)
        for name, (command, _) in self.family.operations.items():
            if name not in doing:
                self.ask(f"do of {name}", command, b"", "EOPNOTSUPP", text=False)
            if name not in dumping:
                self.ask(f"dump of {name}", command, b"", "EOPNOTSUPP", REQUEST | DUMP, text=False)

    def dumps(self, interrupted: int = 200) -> None:
        for name in self.family.dumping():
            command = self.family.command(name)
            self.ask(f"dump of {name}", command, b"", "OK", REQUEST | DUMP)
            for number in (0, 1, 2, 77):
                # The spec gives a dump none, so generic netlink does not look at any
                self.ask(f"dump of {name} with attribute {number}", command, attribute(number, b"abcd"), "OK", REQUEST | DUMP)
            for _ in range(interrupted // len(self.family.dumping()) + 1):
                with Socket() as sock:
                    sock.send(self.family.number, struct.pack("=BBH", command, 1, 0), REQUEST | DUMP)
                    if self.rng.random() < 0.5:
                        sock.parts(4096)
                self.count += 1

    def as_nobody(self) -> None:
        """What changes something is refused whatever it says; what shows something is not."""
        for name in self.family.doing():
            command, fields = self.family.command(name), self.family.fields(name)
            good = b"".join(field.attribute(field.good(self.rng)) for field in fields.values())
            if self.family.is_admin(name):
                for data in (b"", good, self.rng.randbytes(64)):
                    self.ask(f"{name} as nobody", command, data, "EPERM", text=False)
            else:
                self.attributes_of(name)
        for name in self.family.dumping():
            self.ask(f"dump of {name} as nobody", self.family.command(name), b"", "OK", REQUEST | DUMP)


def main() -> int:
    spec, seed, rounds = sys.argv[1:]
    with open(spec, encoding="utf-8") as file:
        junk = Junk(Family(json.load(file)), int(seed))
    for name in junk.family.doing():
        junk.attributes_of(name)
        junk.sense_of(name)
        junk.headers_of(name)
    junk.walk(int(rounds))
    junk.others()
    junk.dumps()
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    junk.as_nobody()
    print("\n".join(junk.wrong))
    print(f"{junk.count} messages")
    return bool(junk.wrong)


if __name__ == "__main__":
    sys.exit(main())
