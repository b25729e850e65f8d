# SPDX-License-Identifier: GPL-2.0
"""A mirror of md over two servers: one of them dies under I/O, or is cut off, and comes back.

    --full          4 deaths instead of 1
"""
import pytest

from _recovery import BACK, ended, verifier
from rblklab import fio
from rblklab.rblk import Rblk
from rblklab.waits import until

NODES = 3
SIZE = "16M"
# What a leg's I/O may wait, and what must end with the other leg alone: the transport takes some 4 s to give up
TIMEOUT = 2
NOTICE = {"safety": 7.0, "lockdep": 12.0, "stock": 7.0}
# How a leg is told to fail soon: by the device, or by md for each of its requests
WAYS = {"timeout": (("--no-path-timeout", str(TIMEOUT)), (), TIMEOUT), "failfast": (("--no-path-timeout", "forever"), ("--failfast",), 0)}
MD = "/dev/md0"


class Mirror:
    """Two legs, of which the second is on a server of its own that may die."""

    def __init__(self, rig, how):
        self.rig = rig
        self.node = rig.b
        self.other, = rig.further
        self.options, self.words, self.waits = WAYS[how]
        rig.client.reconnect = True
        rig.server.export("leg", SIZE)
        self.serve()
        self.one = rig.client.map(rig.address, "leg", *self.options)
        self.two = self.map()

    def serve(self):
        server = Rblk(self.other)
        server.export("leg", SIZE)
        server.listen(self.other.ports[0].ipv4)

    def map(self):
        return self.rig.client.map(self.other.ports[0].ipv4, "leg", *self.options)

    def create(self):
        self.node.run("modprobe raid1")
        self.mdadm("--create", MD, "--run", "--level=1", "--raid-devices=2", "--metadata=1.2", "--bitmap=internal", "--bitmap-chunk=64K",
                   "--assume-clean", *self.words, self.one, self.two)

    def mdadm(self, *words, **more):
        return self.node.run(["env", "MDADM_NO_UDEV=1", "mdadm", *words], **more)

    def has(self, state):
        return f"[{state}]" in self.node.read("/proc/mdstat")

    def whole(self, limit):
        until(lambda: self.has("UU"), limit, lambda: self.node.read("/proc/mdstat"))

    def leg_is_out(self, job):
        """I/O goes on with one leg; how long that took."""
        took = until(lambda: self.has("U_"), NOTICE[self.rig.kind] + self.waits + 5, lambda: self.node.read("/proc/mdstat"), node=self.node)
        before = self.written()
        until(lambda: self.written() > before + 100, 20, "I/O with one leg")
        assert job.poll() is None, job.result
        return took

    def written(self):
        return int(self.node.read("/sys/block/md0/stat").split()[4])

    def compare(self):
        """Stop it; both legs are the same from where the data begins."""
        begins = [int(self.node.read(f"/sys/block/md0/md/dev-{leg[5:]}/offset")) for leg in (self.one, self.two)]
        self.mdadm("--stop", MD)
        assert begins[0] == begins[1] > 0
        self.node.run(f"blockdev --flushbufs {self.one} {self.two} && cmp -i {begins[0] * 512} {self.one} {self.two}")


@pytest.fixture
def mirror(rig, request):
    made = Mirror(rig, request.param)
    made.create()
    yield made
    for process in rig.started:
        process.kill()
    rig.b.run(f"[ ! -e /sys/block/md0/md ] || mdadm --stop {MD}; rmmod raid1 md_mod || true", check=False)


def longest(rig, mirror, job):
    """End the I/O; none of it waited for longer than a leg may hold it up."""
    seconds = ended(rig, job)
    print(f"longest I/O {seconds:.1f} s")
    assert seconds < NOTICE[rig.kind] + mirror.waits
    return seconds


@pytest.mark.parametrize("mirror", WAYS, indirect=True)
def test_a_server_dies(rig, mirror, request):
    """
    It comes back with other memory, and so with nothing of the mirror on it: its device says so and fails
    for good, and a new one takes its place and is filled. What was verified all the time is there in the end.
    """
    job = verifier(rig, MD, 600, size="8m")
    for _ in range(4 if request.config.getoption("--full") else 1):
        mirror.other.kill()
        print(f"one leg after {mirror.leg_is_out(job):.1f} s")
        rig.restart(mirror.other)
        Rblk(mirror.other).load_server()
        mirror.serve()
        until(lambda: "content lost" in (rig.client.devices()[mirror.two]["reason"] or ""), BACK + 20, lambda: rig.client.devices())
        mirror.mdadm(MD, "--remove", mirror.two)
        rig.client.unmap(mirror.two)
        mirror.two = mirror.map()
        assert "MD_LEVEL" not in mirror.mdadm("--examine", "--export", mirror.two, check=False).stdout, "no content of the mirror"
        mirror.mdadm(MD, "--add", *mirror.words, mirror.two)
        mirror.whole(60)
    longest(rig, mirror, job)
    fio.verify(rig.b, MD, bs="4k", size="2m", offset="8m", iodepth=16)
    mirror.compare()


@pytest.mark.parametrize("mirror", WAYS, indirect=True)
def test_a_server_is_cut_off(rig, mirror):
    """It has its memory still: the device is back by itself, and md copies what the bitmap says, and no more."""
    job = verifier(rig, MD, 600, size="2m")
    rig.relay.cut(0, mirror.other)
    print(f"one leg after {mirror.leg_is_out(job):.1f} s")
    longest(rig, mirror, job)
    rig.relay.heal(0)
    until(lambda: rig.client.devices()[mirror.two]["state"] == "live", BACK + 20, lambda: rig.client.devices())
    before = read_of(rig, mirror.one)
    mirror.mdadm(MD, "--remove", mirror.two)
    mirror.mdadm(MD, "--re-add", mirror.two)
    mirror.whole(60)
    copied = read_of(rig, mirror.one) - before
    print(f"{copied} bytes copied")
    assert 0 < copied < 6 << 20
    mirror.compare()


def read_of(rig, device):
    """Bytes that were read from a device."""
    return 512 * int(rig.b.read(f"/sys/block/{device[5:]}/stat").split()[2])
