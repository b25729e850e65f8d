# SPDX-License-Identifier: GPL-2.0
"""The server's rblk has no part in I/O: that is what a memory export is for."""
from rblklab import fio


def test_no_message_during_io(rig):
    rig.server.export("disk", "64M")
    device = rig.client.map(rig.address, "disk")
    before = rig.server.server_messages()
    job = fio.verify(rig.b, device, bs="64k", size="16m", iodepth=16)
    after = rig.server.server_messages()
    assert job["write"]["total_ios"] >= 256
    assert before > 0, "connecting takes messages; a counter that stays at zero counts nothing"
    assert after == before


def test_the_counter_counts(rig):
    """The negative control: a second map is seen by the counter."""
    rig.server.export("disk", "8M")
    rig.server.export("other", "8M")
    rig.client.map(rig.address, "disk")
    before = rig.server.server_messages()
    rig.client.map(rig.address, "other")
    assert rig.server.server_messages() > before
