# SPDX-License-Identifier: GPL-2.0
"""A link is down for minutes with I/O in flight: at the client of one link, at the server of the other."""
import time

from rblklab import fio, rblk
from rblklab.mishaps import repair
from rblklab.rig import UNLOAD_LIMIT
from rblklab.waits import busy, counts_return, sessions_end, timed, took, until, works

DOWN = 240.0
HUNG = 30  # seconds after which the kernel reports a task that hangs
RETRIES = 20.0  # documented: about 4 s, 30 s if the block layer had to do it; and the machine may be slow
QUESTION = 10.0
TIMEOUT = 5
SLACK = 5.0


def down_and_up(rig, full):
    """How an interface is taken away and given back.

    UML's vector device closes its descriptor when it goes down (vector_net_close()), and
    so has none when it comes up. There whatever it sends is lost, as with a broken wire; and
    elsewhere too unless --full is given.
    """
    if rig.kind == "safety" or not full:
        return "tc qdisc replace dev {0} root netem loss 100%", "tc qdisc del dev {0} root"
    return "ip link set {0} down", "ip link set {0} up; ip addr add {1}/64 dev {0} nodad"


def fails_soon(rig, device):
    """I/O on a failed device is an error at once."""
    result = rig.b.run(timed(f"dd if={device} of=/dev/null bs=4k count=1 iflag=direct"), check=False)
    assert result.code != 0 and took(result) < SLACK, result


def test_links_down_for_minutes(rig, request):
    rig.expect_rnr = True  # rxe refuses reads so whose answer it cannot send (read_reply())
    for node in rig.lab.nodes:
        node.run(f"echo {HUNG} > /proc/sys/kernel/hung_task_timeout_secs")
    addresses = [port.ipv4 for port in rig.a.ports]
    rig.server.listen(addresses[1])
    for export in ("busy-0", "busy-1", "idle-0", "idle-1"):
        rig.server.export(export, "8M")
    devices = [rig.client.map(address, f"busy-{link}") for link, address in enumerate(addresses)]
    idle = [rig.client.map(address, f"idle-{link}", "--client-name", "idle") for link, address in enumerate(addresses)]
    jobs = [busy(rig, device) for device in devices]
    waiting = rig.spawn(rig.b, f"sleep 100; dd if={idle[0]} of=/dev/null bs=4k count=1 iflag=direct")

    down = time.monotonic()
    ends = [(rig.b, "net0"), (rig.a, "net1")]
    take, give = down_and_up(rig, request.config.getoption("--full"))
    for node, interface in ends:
        node.run(take.format(interface))
    for job in jobs:
        result = job.wait(RETRIES, check=False)
        assert result.code != 0, "fio must see an error"
    for device in devices:
        facts = rig.client.devices()[device]
        assert facts["state"] == "failed", facts
        print(f"{device}: {facts['reason']}")
        fails_soon(rig, device)
    # The server loses what it serves by its own pings, the client by its next request
    print(f"server's sessions gone after {sessions_end(rig, RETRIES):.0f} s")
    counts_return(rig, rig.a)
    for address in addresses:
        refused = rig.b.run(timed(rig.client.command("map", address, "busy-0", "--timeout", str(TIMEOUT))), check=False)
        assert refused.code == rblk.UNREACHABLE and took(refused) < TIMEOUT + SLACK, refused
        print(refused.stderr)
    limit = QUESTION + SLACK
    assert took(rig.b.run(timed(rig.client.command("unmap", devices[0])))) < limit
    assert took(rig.b.run(timed(rig.client.command("unmap", idle[1])))) < limit

    # In the middle of it: the first request of a device that was idle, and the modules go and come
    assert waiting.wait(100 + RETRIES + SLACK, check=False).code != 0
    fails_soon(rig, devices[1])
    assert rig.b.rmmod("rblk-client") < UNLOAD_LIMIT
    assert rig.a.rmmod("rblk-server") < UNLOAD_LIMIT
    for node in rig.lab.nodes:
        counts_return(rig, node)
    rig.a.insmod("rblk-server")
    rig.b.insmod("rblk-client")
    for address in addresses:
        rig.server.listen(address)
    rig.server.export("busy-0", "8M")
    time.sleep(max(0.0, down + DOWN - time.monotonic()))

    for node, interface in ends:
        node.run(give.format(interface, node.ports[int(interface[3:])].ipv6))
    for node in rig.lab.nodes:
        repair(node)
    until(lambda: all(item["state"] == "listening" for item in rig.server.json("listen", "list")["listeners"]), 15, "listeners")
    for address in addresses:
        works(rig, address, "busy-0")
    device = rig.client.map(rig.address, "busy-0")
    fio.verify(rig.b, device, bs="4k", size="256k", iodepth=8)
