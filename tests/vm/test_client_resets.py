# SPDX-License-Identifier: GPL-2.0
"""A client is reset while it writes, again and again: the server is rid of it each time, and another takes its place.

    --full          20 resets instead of 4
"""
from rblklab import fio, kmemleak
from rblklab.clock import moments
from rblklab.rblk import BUSY, Rblk
from rblklab.waits import counts_return, server_clients, timed, took, until, works

from test_many import growing, sample

NODES = 3
RESETS, FULL = 4, 20
# Documented: a ping every 5 s, and some 4 s until the transport gives up. They work in steps.
PERIOD, GIVES_UP = 5.0, 4.3
SLACK = {"safety": 2.0, "lockdep": 6.0, "stock": 2.0}
# After which the CM sends again a message that is lost, as may be where a flood of writes is still being taken in
SENT_AGAIN = 4.3


def test_reset_under_writes(rig, request):
    """
    Sessions, paths and the right to write are gone in a keepalive period and the time that a loss takes to be
    seen. Until then another client is refused as busy and nothing else; then it maps, writes, and unmaps.
    """
    full = request.config.getoption("--full")
    rng = moments()
    rig.client.reconnect = True
    heir_node, = rig.further
    heir_node.insmod("rblk-client")
    heir = Rblk(heir_node)
    for name in ("disk", "other"):
        rig.server.export(name, "8M")
    samples = []
    for number in range(FULL if full else RESETS):
        devices = [rig.client.map(rig.address, name) for name in ("disk", "other")]
        for device in devices:
            rig.spawn(rig.b, fio.command(device, rw="randrw", rwmixwrite=90, bs="16k", iodepth=64, size="8m", time_based=1, runtime=600))
        for device in devices:
            rig.wait_for_io(device)
        rig.b.run(f"sleep {rng.uniform(0, 2):.2f}")
        rig.b.kill()

        refused = []

        def mapped():
            result = heir_node.run(timed(heir.command("map", rig.address, "disk", "--timeout", "20")), check=False)
            refused.append(result)
            return result.code == 0

        limit = PERIOD + GIVES_UP + SLACK[rig.kind]
        seconds = until(mapped, limit + 2 * SENT_AGAIN, lambda: refused[-1], node=rig.a)
        again = [each for each in map(took, refused) if each >= SENT_AGAIN]
        device = refused.pop().stdout.strip()
        assert refused and {result.code for result in refused} == {BUSY}, refused
        assert len(again) <= 1 and seconds - sum(again) < limit, (seconds, again, refused)
        fio.verify(heir_node, device, bs="4k", size="1m", iodepth=16)
        heir.unmap(device)
        left = until(lambda: not server_clients(rig), 5, lambda: server_clients(rig), node=rig.a)
        print(f"--- reset {number}: another could map after {seconds:.1f} s, refused {len(refused)} times; all gone {left:.1f} s later")
        counts_return(rig, rig.a)
        for export in rig.server.json("export", "list")["exports"]:
            assert (export["readers"], export["writers"]) == (0, 0), export
        samples.append(sample(rig.a))

        rig.restart(rig.b)
        rig.client.load_client()
        works(rig, rig.address, "disk")
    if full:
        assert not growing(samples[len(samples) // 2:], 1)
    if rig.leaks:
        assert not kmemleak.scan(rig.a, kmemleak.symbols(rig.a))
