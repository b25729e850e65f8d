# SPDX-License-Identifier: GPL-2.0
"""Disks behind exports: what is written is what the server's device has, and what is read."""
import pytest

from _backing import Backing
from _recovery import break_next_post, ended, path_of, verifier
from rblklab import fio
from rblklab.rblk import Rblk
from rblklab.waits import busy, until

MIB = 1 << 20
ID = "6a2f41a3-c54c-4f3b-8dfb-2f0d3c6a2f41"
KINDS = ("brd", "null", "null-4k", "null-cache", "loop")


@pytest.fixture
def backings(rig):
    """Makes a backing; they are removed when the exports are gone."""
    made = []

    def make(kind, node=None, mib=64):
        made.append(Backing(node or rig.a, kind, mib))
        return made[-1]

    yield make
    rig.client("unmap", "--force", "/dev/rblk0", check=False)
    for node in rig.lab.nodes:
        if "rblk_server" in node.loaded():
            node.run("rmmod rblk_server")
    for backing in made:
        backing.remove()


def export(rig, backing, *options, allow="any"):
    rig.server("export", "add", "disk", "--device", backing.path, "--allow", allow, *options)


def me(rig) -> str:
    """How the client calls itself."""
    return rig.b.run("uname -n").stdout.strip()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_is_there(rig, backings, kind):
    backing = backings(kind)
    export(rig, backing)
    device = rig.client.map(rig.address, "disk")
    assert int(rig.b.run(["blockdev", "--getsize64", device]).stdout) == 64 * MIB
    for size, amount in (("4k", "2m"), ("64k", "4m"), ("1m", "8m")):
        fio.verify(rig.b, device, bs=size, size=amount, iodepth=32)
    if "4k" not in kind:
        fio.verify(rig.b, device, rw="write", bssplit="512/20:3k/20:4k/20:52k/20:340k/20", bs_unaligned=1, offset="20m",
                   size="4m", iodepth=32)
    rig.b.run(f"dd if=/dev/urandom of={device} bs=1M count=8 oflag=direct status=none")
    mine = rig.b.run(f"dd if={device} bs=1M count=8 iflag=direct status=none | sha256sum").stdout.split()[0]
    assert backing.sha(0, 8 * MIB) == mine
    rig.client.unmap(device)


def test_limits_are_those_of_the_disk(rig, backings):
    backing = backings("null-cache")
    export(rig, backing)
    device = rig.client.map(rig.address, "disk")
    mine = device.removeprefix("/dev/")
    for name in ("logical_block_size", "physical_block_size", "minimum_io_size", "optimal_io_size", "write_cache", "fua",
                 "discard_granularity", "discard_max_hw_bytes", "write_zeroes_max_bytes", "rotational"):
        assert rig.b.read(f"/sys/block/{mine}/queue/{name}").strip() == backing.limit(name), name
    assert backing.limit("write_cache") == "write back"


def test_flushes_reach_the_disk(rig, backings):
    backing = backings("null-cache")
    export(rig, backing)
    device = rig.client.map(rig.address, "disk")
    before = backing.flushes()
    rig.b.run(f"for i in 1 2 3 4 5; do dd if=/dev/zero of={device} bs=4k count=1 seek=$i conv=fsync,notrunc status=none; done")
    assert backing.flushes() - before >= 5
    before = backing.flushes()
    rig.b.run(f"dd if=/dev/zero of={device} bs=4k count=8 oflag=direct,dsync status=none")
    fua = backing.limit("fua") == "1"
    assert fua or backing.flushes() - before >= 8
    rig.client.unmap(device)


def test_discard_and_zeroes(rig, backings):
    backing = backings("null")
    export(rig, backing)
    device = rig.client.map(rig.address, "disk")
    zeroes = rig.a.run("head -c 1048576 /dev/zero | sha256sum").stdout.split()[0]
    rig.b.run(f"dd if=/dev/urandom of={device} bs=1M count=4 oflag=direct status=none")
    was = [backing.sha(number * MIB, MIB) for number in range(4)]
    rig.b.run(f"blkdiscard -o {MIB} -l {MIB} {device}")
    rig.b.run(f"blkdiscard -z -o {3 * MIB} -l {MIB} {device}")
    assert [backing.sha(number * MIB, MIB) for number in range(4)] == [was[0], zeroes, was[2], zeroes]


def test_beside_memory(rig, backings):
    """In one session: the memory stays one-sided, and what happens to the disk is none of its business."""
    backing = backings("null")
    export(rig, backing)
    rig.server.export("memory", "16M")
    disk, memory = (rig.client.map(rig.address, name) for name in ("disk", "memory"))
    assert len(rig.client.json("session", "list")["client_sessions"]) == 1
    job = busy(rig, memory)
    fio.verify(rig.b, disk, bs="4k", size="2m", iodepth=16)
    backing.vanish()
    assert rig.b.run(f"dd if=/dev/zero of={disk} bs=4k count=1 oflag=direct", check=False).code != 0
    assert job.poll() is None and path_of(rig)["generation"] == 1
    rig.client.unmap(disk)
    rig.client.unmap(memory, "--force")


def lose(rig, how, backing):
    """Break the only path, and see that it can be mended."""
    if how == "cut":
        rig.relay.cut(0)
        until(lambda: path_of(rig)["state"] != "live", 10, lambda: path_of(rig))
        rig.relay.heal(0)
    elif how == "post":
        break_next_post(rig)
    elif how == "server again":
        rig.a.run("rmmod rblk_server")
        rig.a.insmod("rblk-server")
        export(rig, backing, "--id", ID, allow=me(rig))
        rig.server.listen(rig.address)
    else:
        node = rig.a if how == "server device" else rig.b
        node.rdma_link_delete(0)
        node.rdma_link_add(0)


@pytest.mark.parametrize("how", ("cut", "post", "server device", "client device", "server again"))
def test_a_path_comes_back(rig, backings, how):
    """One path, under I/O that checks what it reads; the server's module may go with it, as its disk stays."""
    rig.injects = how == "post"
    rig.expect_rnr = True
    rig.client.reconnect = True
    backing = backings("null-cache")
    export(rig, backing, "--id", ID, allow=me(rig))
    device = rig.client.map(rig.address, "disk", "--no-path-timeout", "forever")
    job = verifier(rig, device, 600, fsync=16)
    for _ in range(2):
        generation = path_of(rig)["generation"]
        lose(rig, how, backing)
        until(lambda: path_of(rig)["state"] == "live" and path_of(rig)["generation"] > generation, 30, lambda: path_of(rig))
        rig.wait_for_io(device)
    ended(rig, job)
    rig.client.unmap(device)


def test_another_disk_is_not_gone_on_with(rig, backings):
    """The server's module comes again, and under the name is a disk of another identity."""
    rig.client.reconnect = True
    backing = backings("null")
    export(rig, backing, "--id", ID)
    device = rig.client.map(rig.address, "disk", "--no-path-timeout", "forever")
    rig.a.run("rmmod rblk_server")
    rig.a.insmod("rblk-server")
    export(rig, backing, "--id", ID.replace("6a", "6b"), allow=me(rig))
    rig.server.listen(rig.address)
    until(lambda: rig.client.devices()[device]["state"] == "failed", 30, lambda: rig.client.devices())
    assert rig.client.devices()[device]["reason"] == "the export is another disk now"


@pytest.mark.parametrize("when", ("before", "after"))
def test_somebody_wrote_meanwhile(rig, backings, when):
    """This client has lost its path, another one writes, the server's module comes again, before that or after, and so does this one."""
    rig.client.reconnect = True
    backing = backings("null")
    export(rig, backing, "--id", ID)
    device = rig.client.map(rig.address, "disk", "--no-path-timeout", "forever")
    rig.relay.cut(0)
    until(lambda: path_of(rig)["state"] != "live", 15, lambda: path_of(rig))
    rig.a.insmod("rblk-client")
    other = Rblk(rig.a)

    def write():
        mine = other.map(rig.address, "disk", "--client-name", "another", "--steal")
        rig.a.run(f"dd if=/dev/zero of={mine} bs=4k count=1 oflag=direct status=none")
        other.unmap(mine)

    if when == "before":
        write()
    rig.a.run("rmmod rblk_server")
    rig.a.insmod("rblk-server")
    export(rig, backing, "--id", ID)
    rig.server.listen(rig.address)
    if when == "after":
        write()
    rig.a.run("rmmod rblk_client")
    rig.relay.heal(0)
    until(lambda: rig.client.devices()[device]["state"] == "failed", 40, lambda: rig.client.devices())
    assert "another client had the export open for writing" in rig.client.devices()[device]["reason"]


def test_read_only(rig, backings):
    backing = backings("brd")
    export(rig, backing, "--read-only")
    assert rig.client("map", rig.address, "disk", check=False).code != 0
    device = rig.client.map(rig.address, "disk", "--read-only")
    assert rig.b.run(f"dd if=/dev/zero of={device} bs=4k count=1 oflag=direct", check=False).code != 0
    rig.b.run(f"dd if={device} of=/dev/null bs=1M count=4 iflag=direct status=none")


def test_a_disk_that_is_gone(rig, backings):
    """What is under way ends, with an error; the path stays; the server says so."""
    backing = backings("null")
    export(rig, backing)
    device = rig.client.map(rig.address, "disk")
    job = busy(rig, device)
    backing.vanish()
    assert job.wait(20, check=False).code != 0
    assert path_of(rig)["state"] == "live" and path_of(rig)["generation"] == 1
    assert rig.server.json("export", "list")["exports"][0]["failed"] is True
    assert "(gone)" in rig.server("export", "list").stdout
    rig.client.unmap(device)
    rig.server("export", "remove", "disk")


def test_removed_by_force(rig, backings):
    """Under I/O: the client closes it, and the device is free for others when the command returns."""
    backing = backings("brd")
    export(rig, backing)
    device = rig.client.map(rig.address, "disk")
    job = busy(rig, device)
    assert rig.server("export", "remove", "disk", check=False).code != 0
    assert rig.a.run(f"mkfs.ext4 -q {backing.path}", check=False).code != 0, "it is not exported exclusively"
    rig.server("export", "remove", "disk", "--force")
    rig.a.run(f"mkfs.ext4 -q {backing.path}")
    assert job.wait(20, check=False).code != 0
    assert path_of(rig)["generation"] == 1
    rig.client.unmap(device)


def test_refusals(rig, backings):
    def refused(*words):
        result = rig.server("export", "add", "x", *words, check=False)
        assert result.code != 0
        return result.stderr

    backing = backings("null")
    assert "there is no such device node" in refused("--device", "/dev/nothing")
    assert "no block device" in refused("--device", "/dev/null")
    export(rig, backing)
    assert "in use" in refused("--device", backing.path)
    rig.server("export", "remove", "disk")
    rig.a.run(f"blockdev --setro {backing.path}")
    assert "for reading only: so has the export to be" in refused("--device", backing.path)
    export(rig, backing, "--read-only")
    assert "has its own size" in rig.server("export", "resize", "disk", "2M", check=False).stderr
    rig.server("export", "remove", "disk")
    rig.a.run(f"blockdev --setrw {backing.path}")
    export(rig, backing, "--id", ID)
    listed = rig.server.json("export", "list")["exports"][0]
    assert (listed["backing"], listed["device"], listed["incarnation"], listed["failed"]) == ("disk", backing.path, ID, False)


def test_a_loop_device_is_itself_again(rig, backings):
    backing = backings("loop")
    seen = set()
    for _ in range(2):
        export(rig, backing)
        seen.add(rig.server.json("export", "list")["exports"][0]["incarnation"])
        rig.server("export", "remove", "disk")
    assert len(seen) == 1
