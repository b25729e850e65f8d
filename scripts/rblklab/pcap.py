# SPDX-License-Identifier: GPL-2.0
"""Reads captures in the classic pcap format, as the relay writes them."""
import pathlib
import struct

ETHERNET = 1
HEAD = struct.Struct("=IHHiIII")
RECORD = struct.Struct("=IIII")
MAGIC = 0xa1b2c3d4


def read(path: pathlib.Path) -> list[tuple[float, bytes]]:
    """The frames of a capture, each with the time at which it arrived."""
    data = path.read_bytes()
    magic, major, minor, _, _, _, network = HEAD.unpack_from(data)
    if (magic, major, minor, network) != (MAGIC, 2, 4, ETHERNET):
        raise ValueError(f"{path} is no capture of Ethernet frames made here")
    frames, at = [], HEAD.size
    while at < len(data):
        seconds, micros, kept, length = RECORD.unpack_from(data, at)
        at += RECORD.size
        frame = data[at:at + kept]
        if len(frame) != length:
            raise ValueError(f"{path} ends in the middle of a frame")
        frames.append((seconds + micros / 1e6, frame))
        at += kept
    return frames
