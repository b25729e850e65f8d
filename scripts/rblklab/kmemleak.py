# SPDX-License-Identifier: GPL-2.0
"""Memory leaks, as the kernel's kmemleak reports them."""
import bisect
import re
import time

from .errors import LabError
from .node import Node
from .splat import Splat, judge

CONTROL = "/sys/kernel/debug/kmemleak"
# kmemleak takes an object for a leak only when it is older than this, and it
# reports one whose checksum did not change between two scans.
MIN_AGE = 5.5


def available(node: Node) -> bool:
    return node.run(f"test -w {CONTROL}", check=False).code == 0


def clear(node: Node) -> None:
    """Forget what was found so far: it belongs to the boot."""
    node.run(f"echo clear > {CONTROL}")


def symbols(node: Node) -> list[tuple[int, str]]:
    """The addresses of rblk's functions, for naming them after the module has gone."""
    listing = node.run(r"grep '\[rblk' /proc/kallsyms", check=False).stdout
    table = []
    for line in listing.splitlines():
        address, _, name, module = line.split()[:4]
        table.append((int(address, 16), f"{name} {module}"))
    return sorted(table)


def scan(node: Node, table: list[tuple[int, str]] | None = None, wait: bool = True) -> list[Splat]:
    """Leaks that the allow-list does not cover. TABLE comes from symbols().

    Without WAIT what is too young is left for the next scan. A scan misses a pointer that moves
    meanwhile, or is in a register: what is found has to be there after a while too, as a leak is.
    """
    if not available(node):
        raise LabError(f"{node}: the {node.kernel.kind} kernel has no kmemleak")
    for patience in (MIN_AGE if wait else 0, MIN_AGE):
        time.sleep(patience)
        text = node.run(f"echo scan > {CONTROL} && echo scan > {CONTROL} && cat {CONTROL}", timeout=240).stdout
        leaks = judge(parse(text, table or []), node.kernel.kind, node.kernel.release)
        if not leaks:
            break
    return leaks


def parse(text: str, table: list[tuple[int, str]]) -> list[Splat]:
    """One report per unreferenced object; its title ends with who allocated it."""
    leaks = []
    for block in re.split(r"(?m)^(?=unreferenced object )", text):
        lines = block.rstrip().splitlines()
        if lines:
            lines = [name_addresses(line, table) for line in lines]
            frames = [line.strip() for line in lines if re.search(r"\+0x[0-9a-f]+/", line)]
            leaks.append(Splat(" < ".join([lines[0].strip(), *frames[:8]]), lines))
    return leaks


def name_addresses(line: str, table: list[tuple[int, str]]) -> str:
    """Name a raw address in a back trace: the module that owned it was unloaded."""
    match = re.fullmatch(r"\s+(?:\[<[^>]*>\] )?0x([0-9a-f]+)", line)
    if not match or not table:
        return line
    address = int(match[1], 16)
    place = bisect.bisect_right(table, (address, chr(0x10ffff))) - 1
    if place < 0 or address - table[place][0] > 1 << 16:
        return line
    return f"{line} {table[place][1]}"
