# SPDX-License-Identifier: GPL-2.0
"""Swap on a device, and more memory in use than there is: the path is lost in the middle of it, and the node lives on.

    --full          10 rounds instead of 2
"""
import time

from _pattern import MIB
from _recovery import BACK, path_of
from rblklab.waits import until

from test_stacked import vm_counter

ROUNDS, FULL = 2, 10
LOST = {"safety": 5.0, "lockdep": 10.0, "stock": 5.0}  # seconds; an emulated node has a slow clock
LEFT, WANTED = 96, 128  # MiB that are left of the client's memory, and that a program wants
# When the path is lost, by turns: the program has all it wants and sends it out, or reads it back. While it still took
# more the kernel would kill it: it waits for a swap that stands still for a few seconds only, whatever that is
MOMENTS = [("pswpout", WANTED * 3 // 4), ("pswpin", 8)]  # MiB
# KiB that only those may take who cannot wait. rxe breaks a queue pair for which it gets no memory for a packet:
# with what the kernel keeps by itself it does so all the time under pressure, some MiB are on their way at once
KEPT = 48 << 10


def take_memory(node):
    """Leave as much as LEFT of the memory: what is in a ramfs cannot be swapped out."""
    node.run("mkdir -p /mnt/ram && mount -t ramfs ram /mnt/ram && sync && echo 3 > /proc/sys/vm/drop_caches && "
             "left=$(awk '/^MemAvailable/ {print int($2 / 1024)}' /proc/meminfo); "
             f"head -c $((left - {LEFT}))M /dev/zero > /mnt/ram/taken", timeout=240)


def test_path_is_lost_under_pressure(rig, pattern, request):
    """
    Each round checks all of what it swapped out and in again; the path is lost for 5 s meanwhile. What
    brings it back must not need memory that only its return would free.
    """
    rig.client.reconnect = True
    rig.expect_rnr = True
    rig.server.export("swap", "512M")
    device = rig.client.map(rig.address, "swap", "--no-path-timeout", "forever", "--queues", "1", "--depth", "16")
    node = rig.b
    rounds = FULL if request.config.getoption("--full") else ROUNDS
    kept = node.read("/proc/sys/vm/min_free_kbytes").strip()
    node.run(f"mkswap -q {device} && swapon {device} && echo {KEPT} > /proc/sys/vm/min_free_kbytes")
    try:
        take_memory(node)
        for number in range(rounds):
            before = {counter: vm_counter(node, counter) for counter in ("pswpout", "pswpin")}

            def moved(counter):
                return (vm_counter(node, counter) - before[counter]) * 4096 // MIB

            counter, amount = MOMENTS[number % len(MOMENTS)]
            generation = path_of(rig)["generation"]
            job = rig.spawn(node, pattern.command("memory", WANTED * MIB, 1))
            until(lambda: moved(counter) > amount, 120, lambda: f"{moved(counter)} MiB of {counter}")
            assert job.poll() is None, job.result
            rig.relay.cut(0)
            # Nothing is asked of the node meanwhile: what answers may have been swapped out
            time.sleep(LOST[rig.kind])
            rig.relay.heal(0)
            until(lambda: path_of(rig)["state"] == "live", BACK + 30, lambda: path_of(rig))
            job.wait(400)
            both = moved("pswpout"), moved("pswpin")
            print(f"--- round {number}: {both} MiB out and in, generation {generation} -> {path_of(rig)['generation']}")
            assert min(both) > WANTED - LEFT
        assert path_of(rig)["losses"] > 0
    finally:
        node.run(f"rm -f /mnt/ram/taken; umount /mnt/ram; swapoff {device}; echo {kept} > /proc/sys/vm/min_free_kbytes", timeout=240)
    assert rig.client.devices()[device]["state"] == "live"
    assert "Out of memory" not in node.console.text(rig.marks[node])
