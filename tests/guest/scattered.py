#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Runs in a node: write and read back requests whose pages lie in reverse order, so that none can be merged.

    scattered.py DEVICE PAGES ROUNDS [PART PARTS]    in the PART-th of PARTS parts of the device, from 0

Exit code: 0 all is as written, 1 something else was read; of an I/O error, its errno.
"""
import mmap
import os
import random
import sys

PAGE = 4096


def main() -> int:
    device, pages, rounds, part, parts = sys.argv[1], *map(int, [*sys.argv[2:], 0, 1][:4])
    fd = os.open(device, os.O_RDWR | os.O_DIRECT)
    size = os.lseek(fd, 0, os.SEEK_END) // parts // PAGE * PAGE
    out, back = mmap.mmap(-1, pages * PAGE), mmap.mmap(-1, pages * PAGE)

    def vector(buffer: mmap.mmap) -> list[memoryview]:
        view = memoryview(buffer)
        return [view[page * PAGE:(page + 1) * PAGE] for page in reversed(range(pages))]

    for number in range(rounds):
        out[:] = random.randbytes(pages * PAGE)
        back[:] = bytes(pages * PAGE)
        offset = part * size + random.randrange(size // PAGE - pages + 1) * PAGE
        if os.pwritev(fd, vector(out), offset) != pages * PAGE or os.preadv(fd, vector(back), offset) != pages * PAGE:
            print(f"round {number}: short", file=sys.stderr)
            return 1
        if back[:] != out[:]:
            print(f"round {number}: at {offset} was read what was not written", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except OSError as err:
        sys.exit(err.errno)
