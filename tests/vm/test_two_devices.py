# SPDX-License-Identifier: GPL-2.0
"""Several exports and devices at once do not get in each other's way."""
from rblklab import fio


def test_two_exports_two_devices(rig):
    rig.server.export("one", "64M")
    rig.server.export("two", "96M")
    one = rig.client.map(rig.address, "one")
    two = rig.client.map(rig.address, "two")
    assert one != two
    devices = rig.client.devices()
    assert (devices[one]["export"], devices[two]["export"]) == ("one", "two")
    assert (devices[one]["size"], devices[two]["size"]) == (64 << 20, 96 << 20)

    options = {"rw": "randwrite", "bs": "16k", "iodepth": 32, "size": "16m", "verify": "crc32c", "do_verify": 1, "verify_fatal": 1}
    jobs = [fio.start(rig.b, device, randseed=seed, **options) for seed, device in enumerate((one, two), 1)]
    for job in jobs:
        assert fio.parse(job.wait(120).stdout)["error"] == 0

    # One goes while the other works
    job = fio.start(rig.b, two, randseed=3, **options)
    rig.client.unmap(one)
    assert fio.parse(job.wait(120).stdout)["error"] == 0
    assert list(rig.client.devices()) == [two]
    again = rig.client.map(rig.address, "one")
    fio.verify(rig.b, again, bs="4k", size="1m", iodepth=8)


def test_exports_are_separate_memory(rig):
    rig.server.export("one", "8M")
    rig.server.export("two", "8M")
    one, two = (rig.client.map(rig.address, name) for name in ("one", "two"))
    rig.b.run(f"yes one | head -c 8388608 | dd of={one} bs=1M iflag=fullblock oflag=direct")
    rig.b.run(f"cmp -n 8388608 {two} /dev/zero")


def test_the_client_of_one_node_is_the_server_of_another(rig):
    """Each node is a server and a client at once."""
    rig.a.insmod("rblk-client")
    rig.b.insmod("rblk-server")
    rig.server.export("of-a", "16M")
    rig.client.export("of-b", "16M")
    rig.client.listen(rig.b.ports[0].ipv4)
    on_b = rig.client.map(rig.address, "of-a")
    on_a = rig.server.map(rig.b.ports[0].ipv4, "of-b")
    fio.verify(rig.b, on_b, bs="4k", size="1m", iodepth=16)
    fio.verify(rig.a, on_a, bs="4k", size="1m", iodepth=16)
    rig.server.unmap(on_a)
