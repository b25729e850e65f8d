# SPDX-License-Identifier: GPL-2.0
"""Devices that can do less than the ones here: full depth without one failed post, or a refusal with the reason.

A parameter of a test build's rblk-core clamps what a device says (see include/rblk/fault.h). Queue pairs are
made for the clamped numbers, and the provider holds rblk to them: one work request or one SGE too many fails. Each run takes a random half
of the cases, the lockdep kernel, which is slow under emulation, a third.
"""
import errno

import pytest

from rblklab import clock, fio, rblk

from _faults import GUEST

# Soft-RoCE repeats registrations after a loss, so rblk does without them there unless told that it does not
WITH_MRS = "mr_replays=0"
ONE_SEGMENT = "max_fr_pages=1,max_send_sge=1"
# Limits of the client's device, and what its queues come to: depth, largest request in KiB
CLIENT = {
    "max_qp_wr=62": (20, 1024), "max_cqe=64": (20, 1024), "max_mr=8": ({"safety": 8, "lockdep": 4}, 1024),
    "max_send_sge=1": (128, 1024), "max_send_sge=2": (128, 1024), "max_send_sge=3": (128, 1024), "max_send_sge=4": (128, 1024),
    "max_sge_rd=1": (128, 1024), "max_fr_pages=16,max_send_sge=1": (128, 60), "max_fr_pages=2,max_send_sge=1": (128, 4),
    "max_fr_pages=1,max_send_sge=4": (128, 1024), ONE_SEGMENT: (128, 1024), "max_init_rd=1": (128, 1024),
}
# Limits of the server's device, and the extents of an export of 8 MiB
SERVER = {"max_qp_wr=17": 1, "max_cqe=27": 1, "max_fr_pages=2": 2, "max_fr_pages=1": 4, "max_resp_rd=1": 1, "max_send_sge=1": 1}
REFUSED = {
    "client": {"max_qp_wr=16": "receive queue of the device is too small", "max_cqe=26": "completion queue of the device is too small",
               "max_init_rd=0": "cannot send RDMA READs", "max_send_sge=0": "no scatter-gather entry",
               "max_resp_rd=0": "cannot answer RDMA READs"},
    "server": {"max_qp_wr=16": "device", "max_cqe=26": "device", "max_fr_pages=0": "device", "max_mr=0": "device",
               "max_resp_rd=0": "device"},
}
PART = {"safety": 2, "lockdep": 3, "stock": 1}
READS = 16  # in flight that rblk asks for


def some(nodes, cases):
    rng = clock.moments()
    return {case: value for case, value in cases.items() if case == ONE_SEGMENT or not rng.randrange(PART[nodes.kind])}


def load(nodes, client="", server=""):
    for node, role, limits in ((nodes.a, "server", server), (nodes.b, "client", client)):
        node.run(f"insmod {node.kernel.rblk}/rblk-core.ko limits={limits} && insmod {node.kernel.rblk}/rblk-{role}.ko")
    nodes.server.listen(nodes.address)
    nodes.server.export("disk", "8M")


def unload(nodes):
    nodes.b.rmmod("rblk-client", "rblk-core")
    nodes.a.rmmod("rblk-server", "rblk-core")


def use(nodes, device, depth):
    """All queues full of requests: of one segment each, and of as many as there are pages."""
    for size, amount in (("4k", "512k"), ("64k", "2m")):
        fio.verify(nodes.b, device, bs=size, size=amount, iodepth=depth, numjobs=2, offset_increment="4m")
    nodes.b.run(["/usr/bin/python3", str(GUEST / "scattered.py"), device, "64", "8"])
    assert nodes.client.devices()[device]["state"] == "live"


def odd_read(nodes, device):
    """Whether the device takes a buffer that begins in the middle of a block; its data is compared."""
    script = ("import mmap, os, sys\n"
              "b = mmap.mmap(-1, 1 << 20); v = memoryview(b)\n"
              f"fd = os.open('{device}', os.O_RDONLY | os.O_DIRECT)\n"
              "try: n = os.preadv(fd, [v[256:256 + 65536]], 4096)\n"
              "except OSError as err: sys.exit(err.errno)\n"
              f"plain = os.open('{device}', os.O_RDONLY)\n"
              "sys.exit(0 if n == 65536 and bytes(v[256:256 + n]) == os.pread(plain, n, 4096) else 1)\n")
    return nodes.b.run(["/usr/bin/python3", "-c", script], check=False).code


def test_limits_of_the_clients_device(nodes):
    """With one segment a request, a buffer across a page border made the block layer overrun the request:
    such buffers are refused now. And READs took more SGEs than a queue pair has."""
    for limits, (depth, largest) in some(nodes, CLIENT).items():
        print(limits)
        load(nodes, client=f"{limits},{WITH_MRS}")
        device = nodes.client.map(nodes.address, "disk")
        facts = nodes.client.devices()[device]
        depth = depth[nodes.kind] if isinstance(depth, dict) else depth
        assert (facts["depth"], facts["max_io"]) == (depth, largest << 10), limits
        use(nodes, device, depth)
        assert odd_read(nodes, device) == (errno.EINVAL if limits == ONE_SEGMENT else 0), limits
        nodes.client.unmap(device)
        unload(nodes)


def test_limits_of_the_servers_device(nodes):
    for limits, extents in some(nodes, SERVER).items():
        print(limits)
        load(nodes, server=limits)
        device = nodes.client.map(nodes.address, "disk")
        assert nodes.client.devices()[device]["extents"] == extents, limits
        use(nodes, device, 128)
        nodes.client.unmap(device)
        unload(nodes)


def test_too_little_is_refused_with_the_reason(nodes):
    for side, cases in REFUSED.items():
        for limits, reason in some(nodes, cases).items():
            load(nodes, **{side: limits})
            result = nodes.client("map", nodes.address, "disk", check=False)
            assert result.code not in (rblk.OK, rblk.USAGE), (side, limits, result)
            assert reason in result.stderr, (side, limits, result)
            assert not nodes.client.devices()
            unload(nodes)


@pytest.mark.parametrize("server", [1, 2, 128])
def test_read_depth(nodes, server):
    """Both queue pairs get what the server can answer, READS at the most; 128 reads of 1 MiB then wait in line."""
    load(nodes, server=f"max_resp_rd={server}")
    nodes.server("export", "add", "large", "--memory", "64M", "--allow", "any")
    device = nodes.client.map(nodes.address, "large")
    agreed = min(server, READS)
    assert int(nodes.b.read("/sys/kernel/debug/rblk/reads"), 16) >> 8 == agreed
    assert int(nodes.a.read("/sys/kernel/debug/rblk/reads"), 16) & 0xff == agreed
    fio.run(nodes.b, device, rw="read", bs="1m", iodepth=128, size="64m", loops=2)
    assert nodes.client.devices()[device]["state"] == "live"
