# SPDX-License-Identifier: GPL-2.0
"""Many maps after one another, and many devices at a time, leave nothing behind.

    --full          2000 cycles instead of a few hundred; half an hour on the lockdep kernel
"""
import time

import _cycles
from _pattern import MIB

# Four workers share a session, which hardly ever ends; each of the others makes and ends one in every cycle.
SHARED, OWN = 4, 4
WORKERS = [f"x{number}:{'together' if number < SHARED else f'own-{number}'}" for number in range(SHARED + OWN)]
SAMPLES = 10
# Cycles of all workers. Leaks show with these, and slower ones with 2000.
CYCLES = {"lockdep": 80, "safety": 240, "stock": 240}
FULL = 2000
SETTLE = 10.0
# Of an object that is lost every few cycles
LOST = 0.25
# What lies in caches is given back, also to KASAN's quarantine; then what is counted is in use
READ = ("sync; echo 3 > /proc/sys/vm/drop_caches; for f in /sys/kernel/slab/*/shrink; do echo 1 > $f; done; "
        "cat /proc/slabinfo; awk '/^MemFree/ {print \"pages\", $2 / 4}' /proc/meminfo; "
        "echo vmalloc $(grep -vc unpurged /proc/vmallocinfo)")
# vmalloc keeps what was freed for long, and says so in /proc/vmallocinfo, which is counted instead; and kmemleak notes on it
KEPT = ("vmap_area", "kmemleak_object", "kmemleak_scan_area")


def sample(node):
    """Objects in use by cache, and pages in use (counted down, as nobody knows from where)."""
    used = {}
    for line in node.run(READ).stdout.splitlines():
        words = line.split()
        if words[0] == "pages":
            used["pages"] = -float(words[1])
        elif words[0] not in ("slabinfo", "#", *KEPT):
            used[words[0]] = int(words[1])
    return used


def growing(samples, cycles):
    """What became more from each sample to the next, by at least LOST for each of the cycles between; with the numbers."""
    found = []
    for name in samples[-1]:
        numbers = [one.get(name, 0) for one in samples]
        if all(after - before >= LOST * cycles for before, after in zip(numbers, numbers[1:])):
            found.append(f"{name}: {numbers}")
    return found


def test_growth_is_seen():
    """The control for the test below."""
    assert growing([{"a": 10, "b": 5}, {"a": 15, "b": 90}, {"a": 20, "b": 80}], 20) == ["a: [10, 15, 20]"]


def counts(rig):
    return {node: node.rdma_counts() for node in rig.lab.nodes}


def wait_for_counts(rig, wanted):
    deadline = time.monotonic() + SETTLE
    while (now := counts(rig)) != wanted:
        assert time.monotonic() < deadline, f"RDMA objects: {now}, but {wanted} before"
        time.sleep(0.2)


def test_map_cycles(rig, request):
    """QPs, CQs, MRs, PDs and CM ids are as many after each round; slabs and free pages do not move on and on."""
    total = FULL if request.config.getoption("--full") else CYCLES[rig.kind]
    each = total // SAMPLES // len(WORKERS)
    for worker in WORKERS:
        rig.server.export(worker.split(":")[0], "2M")
    before = counts(rig)
    samples = {node: [] for node in rig.lab.nodes}
    for number in range(SAMPLES):
        rig.b.run(["/usr/bin/python3", _cycles.__file__, rig.address, str(number * each), str(each), *WORKERS], timeout=60 + each * 20)
        wait_for_counts(rig, before)
        if number >= SAMPLES // 2:
            for node in rig.lab.nodes:
                samples[node].append(sample(node))
    assert not rig.client.devices()
    assert not rig.server.json("session", "list")["server_sessions"]
    found = [f"{node}: {text}" for node in samples for text in growing(samples[node], each * len(WORKERS))]
    assert not found, "\n".join(found)


def test_sixteen_devices_of_sixty_four_exports(rig, pattern):
    """Each device has its own content while all of them work."""
    before = counts(rig)
    tool = rig.server.command("export", "add")
    rig.a.run(f"for i in $(seq 64); do {tool} e$i --memory 2M --allow any || exit 1; done")
    exports = [f"e{4 * number + 1}" for number in range(16)]
    devices = {export: rig.client.map(rig.address, export) for export in exports}
    assert len(set(devices.values())) == 16
    assert len(rig.client.json("session", "list")["client_sessions"]) == 1
    fill = [" ".join(pattern.command("fill", device, 0, 2 * MIB, 10000 * number, number + 1))
            for number, device in enumerate(devices.values())]
    check = [text.replace(" fill ", " check ") for text in fill]
    for texts in (fill, check):
        rig.b.run("pids=''; " + "".join(f"{text} & pids=\"$pids $!\"; " for text in texts) + "for p in $pids; do wait $p || exit 1; done",
                  timeout=120)
    listed = {export["name"]: export["writers"] for export in rig.server.json("export", "list")["exports"]}
    assert listed == {f"e{number}": int(f"e{number}" in exports) for number in range(1, 65)}
    rig.client("unmap", "all")
    wait_for_counts(rig, before)
    rig.a.run(f"for i in $(seq 64); do {rig.server.command('export', 'remove')} e$i || exit 1; done")
    assert not rig.server.json("export", "list")["exports"]
