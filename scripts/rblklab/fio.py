# SPDX-License-Identifier: GPL-2.0
"""fio in a node."""
import json
import shlex
from typing import Any

from .errors import LabError
from .node import GuestProcess, Node

DEFAULTS = {"name": "job", "ioengine": "io_uring", "direct": "1", "thread": "1", "group_reporting": "1",
            "randrepeat": "1", "output-format": "json"}


def command(device: str, **options: object) -> str:
    """A fio command line; underscores stay, as fio spells its options with them."""
    words = {**DEFAULTS, "filename": device, **{key: str(value) for key, value in options.items()}}
    return shlex.join(["fio", *(f"--{key}={value}" for key, value in words.items())])


def start(node: Node, device: str, **options: object) -> GuestProcess:
    return node.spawn(command(device, **options))


def run(node: Node, device: str, timeout: float = 120, **options: object) -> dict[str, Any]:
    """Run fio to its end; the first job's results. An I/O or verify error is an exception."""
    result = node.run(command(device, **options), timeout=timeout)
    job = parse(result.stdout)
    if job["error"]:
        raise LabError(f"{node}: fio: error {job['error']}: {result.stdout[-2000:]}{result.stderr[-2000:]}")
    return job


def parse(text: str) -> dict[str, Any]:
    """The (grouped) job of fio's JSON; fio may print notes around it."""
    begin, end = text.find("{"), text.rfind("}")
    if begin < 0 or end < 0:
        raise LabError(f"fio printed no JSON: {text[-1000:]}")
    return json.loads(text[begin:end + 1])["jobs"][0]


def verify(node: Node, device: str, timeout: float = 120, **options: object) -> dict[str, Any]:
    """Write with checksums, read back, compare. Stops at the first difference."""
    job = run(node, device, timeout, **{"rw": "randwrite", "verify": "crc32c", "verify_fatal": 1, "do_verify": 1,
                                        "verify_backlog": 0, **options})
    written, read = job["write"]["io_bytes"], job["read"]["io_bytes"]
    if not written or read < written:
        raise LabError(f"{node}: fio wrote {written} bytes but verified {read}")
    return job
