# SPDX-License-Identifier: GPL-2.0
"""A peer that breaks the rules, and what the server makes of it."""
import os
import pathlib
import struct
import subprocess

import pytest

from rblklab import fio
from rblklab.rundir import TOP

MAGIC = 0x6b6c6272
# Wire statuses, see include/rblk/status.h
OK, MALFORMED, VERSION, FEATURE = range(4)
NO_SESSION = 11
HELLO, OPEN, EXTENTS = 1, 3, 4
REPLY = 0x8000


@pytest.fixture(scope="session")
def peer_binary():
    # A name of this process: the suites of two kernels may run at once.
    target = TOP / f"build/tests/rblk-peer-{os.getpid()}"
    target.parent.mkdir(parents=True, exist_ok=True)
    source = pathlib.Path(__file__).parent.parent / "peer/rblk-peer.c"
    subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", str(target), str(source), "-lrdmacm", "-libverbs"], check=True)
    yield target
    target.unlink()


@pytest.fixture
def peer(rig, peer_binary):
    """Run the peer on the client's node; the lines it printed. The server must be well afterwards."""
    rig.server.export("disk", "8M")

    def run(*words, check=True):
        return rig.b.run([str(peer_binary), rig.address, "7471", *map(str, words)], timeout=60, check=check).stdout.splitlines()

    yield run
    device = rig.client.map(rig.address, "disk")
    fio.verify(rig.b, device, bs="4k", size="256k", iodepth=8)


def test_the_right_version_is_accepted(peer):
    """The control for the tests below: the peer itself is right."""
    assert peer("connect", 1, hex(MAGIC)) == ["control accepted"]


@pytest.mark.parametrize("version", [0, 2, 0xffff])
def test_wrong_version_is_told(peer, version):
    line, = peer("connect", version, hex(MAGIC))
    assert line == f"control rejected reason 28 magic good version 1 status {VERSION}"


def test_wrong_magic_is_rejected(peer):
    line, = peer("connect", 1, 0x12345678)
    assert line.startswith("control rejected reason 28"), line


def test_an_io_connection_needs_the_token(peer):
    lines = peer("token")
    assert lines[-1] == f"io rejected reason 28 magic good version 1 status {NO_SESSION}", lines


def test_a_write_through_a_read_only_open_is_refused_by_the_hca(peer, rig):
    lines = peer("write-read-only", "disk")
    assert "read: success" in lines, lines
    assert "write: remote access error" in lines, lines
    device = rig.client.map(rig.address, "disk", "--read-only")
    rig.b.run(f"cmp -n 8388608 {device} /dev/zero")
    rig.client.unmap(device)


def header(kind, length, tag=1, status=0, reserved=0):
    return struct.pack("<HHIII", kind, status, length, tag, reserved)


HELLO_BODY = struct.pack("<QQ64sHHI", 0, 0, b"peer", 1, 16, 0)
BAD_MESSAGES = {
    "nothing but zeros": bytes(104),
    "one byte": b"\x01",
    "half a header": header(HELLO, 104)[:9],
    "unknown type": header(77, 16),
    "a reply": header(HELLO | REPLY, 104) + HELLO_BODY,
    "length too large": header(HELLO, 0xffffffff) + HELLO_BODY,
    "length too small": header(HELLO, 15) + HELLO_BODY,
    "truncated": (header(HELLO, 104) + HELLO_BODY)[:60],
    "name not terminated": header(HELLO, 104) + struct.pack("<QQ64sHHI", 0, 0, b"x" * 64, 1, 16, 0),
    "name of junk": header(HELLO, 104) + struct.pack("<QQ64sHHI", 0, 0, b"../etc\n\x1b[31m", 1, 16, 0),
    "no queues": header(HELLO, 104) + struct.pack("<QQ64sHHI", 0, 0, b"peer", 0, 16, 0),
    "not hello": header(OPEN, 88) + struct.pack("<64sII", b"disk", 0, 0),
    "extents before open": header(EXTENTS, 24) + struct.pack("<II", 1, 0),
    "random": bytes((n * 197 + 31) % 256 for n in range(4096)),
}


@pytest.mark.parametrize("message", BAD_MESSAGES.values(), ids=[name.replace(" ", "-") for name in BAD_MESSAGES])
def test_a_bad_first_message_is_not_served(peer, rig, message):
    rig.b.put(message, "/run/message")
    lines = peer("message", "/run/message")
    assert lines[0] == "control accepted"
    assert lines[-1] == "closed" or lines[-1].endswith(tuple(f"status {n}" for n in range(1, 15))), lines


def test_an_unknown_mandatory_feature_is_refused(peer, rig):
    message = header(HELLO, 104) + struct.pack("<QQ64sHHI", 1 << 63, 1 << 63, b"peer", 1, 16, 0)
    rig.b.put(message, "/run/message")
    assert peer("message", "/run/message")[-1].endswith(f"status {FEATURE}")
