# SPDX-License-Identifier: GPL-2.0
"""The wire format as Documentation/protocol.md has it, not shared with the kernel: a slip in either shows.

What goes into a script of the peer is hex text, in which '{name}' stands for bytes that the peer kept.
"""
import struct

MAGIC, VERSION = 0x6b6c6272, 1
CONTROL, IO, DISK = 1, 2, 3
MEMORY_BACKING, DISK_BACKING = 1, 2
HELLO, READY, OPEN, EXTENTS, CLOSE, PING, REVOKE, FENCE, RESIZE, LIMITS = range(1, 11)
REPLY = 0x8000
READ_ONLY, SHARED, STEAL, AGAIN = 1, 2, 4, 8
WRITE_CACHE, HAS_FUA, ROTATIONAL = 1, 2, 4
LIMITS_SIZES = ("physical_block_size io_min io_opt max_io max_discard discard_granularity discard_alignment max_write_zeroes "
                "max_secure_erase").split()
IO_READ, IO_WRITE, IO_FLUSH, IO_DISCARD, IO_WRITE_ZEROES, IO_SECURE_ERASE = range(1, 7)
FUA, NO_UNMAP = 1, 2
IO_STATUSES = "ok error not-supported no-space medium target protection timeout reservation gone".split()
STATUSES = ("ok malformed version feature denied no-export busy read-only limit no-memory shutdown no-session duplicate device "
            "internal written").split()
MSG_SIZE = 4096
EXTENT_SHIFT = 26  # of this server on this lab's devices


def pack(layout: str, *values) -> str:
    """Hex of VALUES; a value that is text already, '{name}' or hex, is taken as it is."""
    out = ""
    for kind, value in zip(layout.split(), values, strict=True):
        out += value if isinstance(value, str) else struct.pack("<" + kind, value).hex()
    return out


def name64(name: str | bytes) -> bytes:
    return (name.encode() if isinstance(name, str) else name).ljust(64, b"\0")


def connect_request(kind=CONTROL, session=b"\x11" * 16, token=0, queue=0, depth=16, path=0, generation=1,
                    version=VERSION, magic=MAGIC, cma=0) -> str:
    """Private data of a connect request. TOKEN may be '{token}'."""
    return pack("H H I B B H H H 16s I I Q", cma, version, magic, kind, 0, queue, depth, path, session, generation, 0, token)


def answer(status=0, depth=16, version=VERSION, magic=MAGIC) -> str:
    """Private data of an accept or a reject."""
    return pack("I H H H 6s", magic, version, status, depth, bytes(6))


def message(kind: int, body: str = "", tag=1, status=0, length=None) -> str:
    """A message with a body of hex; a body with names in it needs LENGTH, of the whole message."""
    if length is None:
        assert "{" not in body, "say how long it is"
        length = 16 + len(body) // 2
    return pack("H H I I I", kind, status, length, tag, 0) + body


def hello(client="peer", queues=1, depth=16, mandatory=0, **header) -> str:
    return message(HELLO, pack("Q Q 64s H H I", mandatory, mandatory, name64(client), queues, depth, 0), **header)


def ready(queues=1, **header) -> str:
    return message(READY, pack("H 6s", queues, bytes(6)), **header)


def open_export(name="disk", flags=0, epoch=0, **header) -> str:
    return message(OPEN, pack("64s I I", name64(name), flags, epoch), **header)


def extents(handle="{handle}", first=0, **header) -> str:
    return message(EXTENTS, pack("I I", handle, first), **{"length": 24, **header})


def close(handle="{handle}", **header) -> str:
    return message(CLOSE, pack("I I", handle, 0), **{"length": 24, **header})


def ping(tag=0, **header) -> str:
    return message(PING, tag=tag, **header)


def revoke(handle, reason=0, **header) -> str:
    return message(REVOKE, pack("I H H", handle, reason, 0), **{"length": 24, "tag": 0, **header})


def fence(path=0, generation=1, **header) -> str:
    return message(FENCE, pack("H H I", path, 0, generation), **header)


def resize(handle="{handle}", size=2 << 20, incarnation=b"\x33" * 16, **header) -> str:
    """From the server with tag 0; from the client, who repeats it, with another. INCARNATION may be '{name}'."""
    return message(RESIZE, pack("I I Q 16s", handle, 0, size, incarnation), **{"length": 48, **header})


def limits(handle="{handle}", **header) -> str:
    return message(LIMITS, pack("I I", handle, 0), **{"length": 24, **header})


def io_request(op=IO_READ, handle="{handle}", offset=0, length=4096, rkey="{key}", address=0, tag=0, turn=1, flags=0) -> str:
    """A request of a disk connection, which has no header; OFFSET and LENGTH of a flush, and RKEY of what moves no data, are 0."""
    return pack("B B H I Q I I Q I I", op, flags, tag, handle, offset, length, rkey, address, turn, 0)


def io_response(tag=0, status=0, turn=1) -> str:
    return pack("H B B I Q", tag, status, 0, turn, 0)


def begins(kind: int) -> str:
    """What a message of KIND begins with, for who does not want to hear of pings."""
    return pack("H", kind)


def hello_reply(queues=1, depth=16, token=77, server=b"\x22" * 16, mandatory=0, **header) -> str:
    body = pack("Q Q 16s Q H H I", 0, mandatory, server, token, queues, depth, 0)
    return message(HELLO | REPLY, body, **{"tag": "{tag}", **header})


def open_reply(handle=1, flags=0, size=2 << 20, incarnation=b"\x33" * 16, block_size=512, extent_shift=21, backing=1,
               extents_nr=1, **header) -> str:
    body = pack("I I Q 16s I B B 2s I I", handle, flags, size, incarnation, block_size, extent_shift, backing, bytes(2),
                extents_nr, 0)
    return message(OPEN | REPLY, body, **{"tag": "{tag}", **header})


def limits_reply(handle=1, flags=0, **but) -> str:
    """BUT has what is other than of a plain disk without discards, and what goes into the header."""
    sizes = {**dict.fromkeys(LIMITS_SIZES, 0), "physical_block_size": 512, "max_io": 1 << 20}
    sizes.update({name: but.pop(name) for name in LIMITS_SIZES if name in but})
    body = pack("I I " + "I " * len(sizes) + "I", handle, flags, *sizes.values(), 0)
    return message(LIMITS | REPLY, body, **{"tag": "{tag}", **but})


def extents_reply(handle=1, first=0, count=1, keys="{key}", nr=1, **header) -> str:
    """COUNT is what it says, NR the keys that are there."""
    body = pack("I I I I", handle, first, count, 0) + keys * nr
    return message(EXTENTS | REPLY, body, **{"tag": "{tag}", "length": 32 + 4 * nr, **header})


def bare_reply(kind: int, status=0, **header) -> str:
    return message(kind | REPLY, status=status, **{"tag": "{tag}", **header})


def limits_of(line: str) -> dict[str, int]:
    """What a reply to LIMITS says, of a line of the peer."""
    data = bytes.fromhex(line.split()[2])
    return dict(zip(["handle", "flags", *LIMITS_SIZES], struct.unpack_from("<11I", data, 16), strict=True))


def io_request_of(data: bytes) -> dict[str, int]:
    names = "op flags tag handle offset length rkey address turn reserved".split()
    return dict(zip(names, struct.unpack("<BBHIQIIQII", data), strict=True))


def io_response_of(data: bytes) -> tuple[int, str, int]:
    """Tag, status and turn."""
    tag, status, _, turn, _ = struct.unpack("<HBBIQ", data)
    return tag, IO_STATUSES[status], turn


def epoch_of(line: str) -> int:
    """The writer epoch in a reply to OPEN, of a line of the peer."""
    return struct.unpack_from("<I", bytes.fromhex(line.split()[2]), 16 + 44)[0]


def explain(line: str) -> str:
    """A line of the peer in words: 'c got HEX' as 'c got hello-reply ok', the rest in short."""
    words = line.split()
    if words[1:2] == ["got"]:
        data = bytes.fromhex(words[2])
        kind, status = struct.unpack_from("<HH", data)
        names = {HELLO: "hello", READY: "ready", OPEN: "open", EXTENTS: "extents", CLOSE: "close", PING: "ping",
                 REVOKE: "revoke", FENCE: "fence", RESIZE: "resize", LIMITS: "limits"}
        reply = "-reply" if kind & REPLY else ""
        if kind == REVOKE:
            status, = struct.unpack_from("<H", data, 20)
        return f"{words[0]} got {names.get(kind & ~REPLY, kind)}{reply} {STATUSES[status]}"
    if words[1:2] == ["rejected"] and len(words) == 4:
        data = bytes.fromhex(words[3][:32]) if words[3] != "-" else b""
        if len(data) < 16:
            return f"{words[0]} rejected by the CM {words[2]}"
        magic, version, status = struct.unpack_from("<IHH", data)
        assert (magic, version, words[2]) == (MAGIC, VERSION, "28"), line
        return f"{words[0]} rejected {STATUSES[status]}"
    if words[1:2] == ["accepted"]:
        magic, version, status, _ = struct.unpack_from("<IHHH", bytes.fromhex(words[2]))
        assert (magic, version, status) == (MAGIC, VERSION, 0), line
        return f"{words[0]} accepted"
    if words[1:3] == ["gone", "after"]:
        return f"{words[0]} gone"
    return line
