#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Read every attribute of rblk's devices and modules, over and over, or write junk into each that takes it.

Reading goes on until the file STOP appears; STOP.begun says that it goes on.

    sysfs_churn.py read STOP     prints the attributes that were read once at least
    sysfs_churn.py write DEVICE  prints what each attribute said to each junk
"""
import collections
import errno
import glob
import os
import stat
import sys

PLACES = ("/sys/block/rblk*", "/sys/module/rblk_*", "/sys/kernel/debug/block/rblk*")
# A device that goes while it is read says one of these
GONE = {errno.ENOENT, errno.ENODEV, errno.ENXIO, errno.EINVAL, errno.EIO, errno.EOPNOTSUPP, errno.EBUSY, errno.EACCES, errno.EPERM}
JUNK = {"nothing": b"", "a newline": b"\n", "negative": b"-1\n", "huge": b"99999999999999999999999999\n", "1 MiB": b"1" * (1 << 20),
        "NUL": b"\0\0\0\0", "no UTF-8": b"\xff\xfe\x80junk", "words": b"rblk %s%n\n", "signs": b"+0x-1\n"}


def files(places):
    for place in places:
        for top in glob.glob(place):
            for folder, _, names in os.walk(top):
                for name in names:
                    yield os.path.join(folder, name)


def read(stop: str) -> int:
    seen, errors = collections.Counter(), collections.Counter()
    with open(f"{stop}.begun", "w", encoding="ascii"):
        pass
    while not os.path.exists(stop):
        for path in files(PLACES):
            try:
                with open(path, "rb") as file:
                    file.read(1 << 16)
                seen[path] += 1
            except OSError as err:
                if err.errno not in GONE:
                    errors[f"{path}: {err.strerror}"] += 1
    for path in sorted(seen):
        print(path, seen[path])
    for error in errors:
        print("wrong:", error, file=sys.stderr)
    return bool(errors)


def write(device: str) -> int:
    for path in sorted(files([f"/sys/block/{device}"])):
        if not stat.S_IMODE(os.lstat(path).st_mode) & 0o200 or os.path.islink(path):
            continue
        try:
            with open(path, "rb") as file:
                before = file.read()
        except OSError:
            before = None
        for name, junk in JUNK.items():
            said = "taken"
            try:
                with open(path, "wb", buffering=0) as file:
                    file.write(junk)
            except OSError as err:
                said = errno.errorcode[err.errno]
            print(path.removeprefix(f"/sys/block/{device}/"), name.replace(" ", "-"), said)
        if before is not None:
            try:
                with open(path, "wb", buffering=0) as file:
                    file.write(before)
            except OSError:
                pass
    return 0


if __name__ == "__main__":
    sys.exit({"read": read, "write": write}[sys.argv[1]](sys.argv[2]))
