# SPDX-License-Identifier: GPL-2.0
"""
An export is taken away under full one-sided writes: nothing is written into its pages once they are free.

Free pages hold a pattern, and the kernel looks for it when a page is used again ("pagealloc: memory corruption"). On the
kernel that has KASAN this sees rxe's memcpy() into them, and keeps it from writing. Either is a report that fails the scenario.

    --full          20 rounds instead of 3
"""
import pytest

from rblklab import fio
from rblklab.clock import moments
from rblklab.waits import until

BOOT_OPTIONS = "page_poison=1"
ROUNDS, FULL = 3, 20
SIZE = 64


def use_again(rig):
    """Use nearly all memory of the server once; most of it is in blocks of 2 MiB, as that of an export."""
    rig.a.run("sync; echo 3 > /proc/sys/vm/drop_caches")
    words = {line.split(":")[0]: int(line.split()[1]) >> 10 for line in rig.a.read("/proc/meminfo").splitlines()}
    most = (words["MemAvailable"] - words["MemTotal"] // 32) // 2 * 2
    for size in range(most, most // 2, -32):
        if rig.server("export", "add", "again", "--memory", f"{size}M", check=False, timeout=120).code == 0:
            break
    assert size > most * 3 // 4, f"only {size} MiB of {most}"
    rig.server("export", "remove", "again", timeout=120)
    # What it was cut into meanwhile, in smaller pieces
    rig.a.run(f"head -c {size // 2}M /dev/zero > /dev/shm/again; rm /dev/shm/again", timeout=120)
    assert "pagealloc: " not in rig.a.console.text(rig.marks[rig.a])
    return size


@pytest.mark.parametrize("held", [False, True], ids=["closed", "held"])
def test_pages_that_are_free_stay_as_they_are(rig, request, held):
    """
    The client closes the export when it is told to; or its packets are held, writes among them, until its path
    was cut and the pages are free, and come then.
    """
    assert BOOT_OPTIONS in rig.a.read("/proc/cmdline")
    rig.client.reconnect = True
    rng = moments()
    for number in range(FULL if request.config.getoption("--full") else ROUNDS):
        rig.server.export("disk", f"{SIZE}M")
        device = rig.client.map(rig.address, "disk", "--no-path-timeout", "1")
        job = rig.spawn(rig.b, fio.command(device, rw="randwrite", bs="64k", iodepth=64, size=f"{SIZE}m", time_based=1, runtime=600))
        written = f"read -r a b c d w rest < /sys/block/{device[5:]}/stat; [ $w -gt 200 ]"
        rig.b.run(f"until {written}; do sleep 0.1; done")
        rig.b.run(f"sleep {rng.uniform(0, 0.5):.2f}")
        if held:
            rig.relay.hold(0, rig.b)
            until(lambda: rig.relay.counters()[0, rig.b.index]["holding"] >= 8, 10, "writes on their way", pause=0.02)
        rig.server("export", "remove", "disk", "--force", timeout=60)
        assert not rig.server.json("export", "list")["exports"]
        frames = rig.relay.release(0, rig.b) if held else 0
        assert job.wait(40, check=False).code != 0, "fio must see an error"
        print(f"--- round {number}: {frames} frames came late, {use_again(rig)} MiB used again")
        rig.client.unmap(device)
