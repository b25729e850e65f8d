# SPDX-License-Identifier: GPL-2.0
"""Raw generic netlink, and the policy that a kernel makes of a YAML spec. Runs in a node."""
import collections
import os
import socket
import struct

REQUEST, MULTI, ACK, DUMP = 1, 2, 4, 0x300
DUMP_INTR, CAPPED, ACK_TLVS = 0x10, 0x100, 0x200
ERROR, DONE = 2, 3
NETLINK_GENERIC, SOL_NETLINK, ADD_MEMBERSHIP, CAP_ACK, EXT_ACK = 16, 270, 1, 10, 11
CONTROL, GET_FAMILY = 0x10, 3
NESTED = 0x8000
RECEIVE_BUFFER_FORCE = 33  # above the limit that is set for everybody

Answer = collections.namedtuple("Answer", "error text messages interrupted")


def attribute(kind: int, data: bytes = b"", length: int | None = None) -> bytes:
    """An attribute; LENGTH is what it says it is, if not the truth."""
    return struct.pack("=HH", 4 + len(data) if length is None else length, kind) + data + bytes(-len(data) % 4)


def attributes(data: bytes) -> list[tuple[int, bytes]]:
    found = []
    while len(data) >= 4:
        size, kind = struct.unpack_from("=HH", data)
        if size < 4 or size > len(data):
            raise ValueError("the kernel's attributes are cut off")
        found.append((kind & 0x3fff, data[4:size]))
        data = data[(size + 3) & ~3:]
    return found


class Socket:
    def __init__(self, receive_buffer: int = 0):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
        self.sock.bind((0, 0))
        if receive_buffer:
            self.sock.setsockopt(socket.SOL_SOCKET, RECEIVE_BUFFER_FORCE, receive_buffer)
        self.sock.setsockopt(SOL_NETLINK, EXT_ACK, 1)
        self.sock.setsockopt(SOL_NETLINK, CAP_ACK, 1)
        self.sock.settimeout(60)
        self.sequence = 0

    def __enter__(self) -> "Socket":
        return self

    def __exit__(self, *_) -> None:
        self.sock.close()

    def send(self, family: int, payload: bytes, flags: int = REQUEST | ACK) -> None:
        self.sequence += 1
        self.sock.send(struct.pack("=IHHII", 16 + len(payload), family, flags, self.sequence, 0) + payload)

    def parts(self, size: int = 1 << 17) -> list[tuple[int, int, int, bytes]]:
        """Type, flags, sequence and payload of each message of one datagram."""
        data, found = self.sock.recv(size), []
        while len(data) >= 16:
            length, kind, flags, sequence, _ = struct.unpack_from("=IHHII", data)
            found.append((kind, flags, sequence, data[16:length]))
            data = data[(length + 3) & ~3:]
        return found

    def answer(self) -> Answer:
        """All up to the acknowledgement or the end of the dump. ERROR is a positive errno."""
        messages, interrupted = [], False
        while True:
            for kind, flags, sequence, payload in self.parts():
                if sequence != self.sequence:
                    continue
                interrupted |= bool(flags & DUMP_INTR)
                if kind not in (ERROR, DONE):
                    messages.append(payload)
                    continue
                error = -struct.unpack_from("=i", payload)[0]
                rest = payload[4 if kind == DONE else 20:] if flags & ACK_TLVS else b""
                text = b"".join(data for number, data in attributes(rest) if number == 1).rstrip(b"\0").decode()
                return Answer(error, text, messages, interrupted)

    def ask(self, family: int, command: int, data: bytes = b"", flags: int = REQUEST | ACK) -> Answer:
        self.send(family, struct.pack("=BBH", command, 1, 0) + data, flags)
        return self.answer()


class Field:
    """An attribute of a spec as the kernel's policy has it."""

    def __init__(self, spec: dict, number: int, constants: dict):
        self.name, self.kind, self.number = spec["name"], spec["type"], number
        checks = {name: constants.get(value, value) for name, value in spec.get("checks", {}).items()}
        unknown = set(checks) - {"max-len", "exact-len", "min", "max"}
        if unknown or self.kind not in ("u32", "s32", "uint", "string", "flag", "binary", "nest"):
            raise ValueError(f"teach this program about {self.name}: {self.kind} {unknown}")
        self.max_len, self.exact, self.min = checks.get("max-len"), checks.get("exact-len"), checks.get("min", 0)
        # The generator makes the last entry of an enum the limit
        self.max = checks.get("max", constants.get(spec.get("enum")))
        # The generator makes strings of several a plain string
        self.terminated = self.kind == "string" and not spec.get("multi-attr")

    def attribute(self, data: bytes) -> bytes:
        return attribute(self.number | (NESTED if self.kind == "nest" else 0), data)

    def good(self, rng) -> bytes:
        """Something that the policy takes; whether it makes sense is another matter."""
        if self.kind in ("u32", "s32"):
            return struct.pack("=I", rng.randrange(self.min, (self.max or (1 << 32) - 1) + 1))
        if self.kind == "uint":
            return struct.pack("=Q", rng.randrange(1 << 64)) if rng.random() < 0.5 else struct.pack("=I", rng.randrange(1 << 32))
        if self.kind == "string":
            return rng.randbytes(rng.randrange(1, self.max_len)).replace(b"\0", b"\xff") + b"\0"
        if self.kind in ("flag", "nest"):
            return b""
        return rng.randbytes(self.exact)

    def bad(self, rng) -> list[tuple[str, bytes, str]]:
        """What the policy does not take: why, the bytes, and the name of the errno."""
        if self.kind in ("u32", "s32", "uint"):
            sizes = {0, 1, 2, 3, 5, 7, 9, 16, 4096} | (set() if self.kind == "uint" else {8})
            wrong = [(f"{size} bytes", rng.randbytes(size), "EINVAL") for size in sorted(sizes)]
            wrong += [(f"{value:#x}", struct.pack("=I", value), "ERANGE") for value in {0, self.min - 1} if 0 <= value < self.min]
            if self.max is not None:
                wrong += [(f"{value:#x}", struct.pack("=I", value), "ERANGE")
                          for value in (self.max + 1, 1 << 31, (1 << 32) - 1, int.from_bytes(struct.pack(">I", self.max or 1), "little"))
                          if value > self.max]
            return wrong
        if self.kind == "flag":
            return [(f"a flag of {size} bytes", rng.randbytes(size), "ERANGE") for size in (1, 4, 4096)]
        if self.kind == "string":
            ended = "EINVAL" if self.terminated else "ERANGE"
            return [("an empty string", b"", ended), ("a string too long", b"x" * (self.max_len + 1) + b"\0", ended),
                    ("not terminated, too long", b"x" * (self.max_len + 1), ended), ("60 KiB", b"y" * 60000, ended),
                    ("junk behind the end", b"disk\0" + rng.randbytes(self.max_len).replace(b"\0", b"z"), "ERANGE"),
                    *([("not terminated", b"disk", "EINVAL")] if self.terminated else [])]
        if self.kind == "nest":
            # Addresses are all that is within one
            return [("an address too short", attribute(1, rng.randbytes(27)), "ERANGE"),
                    ("an attribute there is not", attribute(77, rng.randbytes(4)), "EINVAL"),
                    ("less than an attribute", rng.randbytes(3), "ERANGE")]
        return [(f"{size} bytes", rng.randbytes(size), "ERANGE") for size in (0, 1, self.exact - 1, self.exact + 1, 4096, 60000)]


class Family:
    """A family of the running kernel, with what its spec says."""

    def __init__(self, spec: dict):
        self.name = spec["name"]
        constants = {one["name"]: one["value"] if one["type"] == "const" else len(one["entries"]) - 1 for one in spec["definitions"]}
        self.sets = {one["name"]: {field["name"]: Field(field, number, constants) for number, field in enumerate(one["attributes"], 1)}
                     for one in spec["attribute-sets"]}
        self.operations = {one["name"]: (number, one) for number, one in enumerate(spec["operations"]["list"], 1)}
        with Socket() as sock:
            reply = sock.ask(CONTROL, GET_FAMILY, attribute(2, self.name.encode() + b"\0"))
        if reply.error:
            raise OSError(reply.error, f"{self.name}: {os.strerror(reply.error)}")
        facts = dict(attributes(reply.messages[0][4:]))
        self.number = struct.unpack("=H", facts[1])[0]
        self.groups = {}
        for _, group in attributes(facts.get(7, b"")):
            group = dict(attributes(group))
            self.groups[group[1].rstrip(b"\0").decode()] = struct.unpack("=I", group[2])[0]

    def command(self, name: str) -> int:
        return self.operations[name][0]

    def fields(self, name: str) -> dict[str, Field]:
        """What a request of the command may have."""
        spec = self.operations[name][1]
        known = self.sets[spec["attribute-set"]]
        return {field: known[field] for field in spec["do"].get("request", {}).get("attributes", [])}

    def doing(self) -> list[str]:
        return [name for name, (_, spec) in self.operations.items() if "do" in spec]

    def dumping(self) -> list[str]:
        return [name for name, (_, spec) in self.operations.items() if "dump" in spec]

    def is_admin(self, name: str) -> bool:
        return "admin-perm" in self.operations[name][1].get("flags", [])
