# SPDX-License-Identifier: GPL-2.0
"""Modules unload in every state, quickly, and can be loaded again."""
import re

from rblklab import checks, fio
from rblklab.clock import moments, timed
from rblklab.loops import Loop, MapLoop, work_and_stop
from rblklab.rig import UNLOAD_LIMIT

SESSIONS = 16
DISKS = [f"/dev/rblk{number}" for number in range(SESSIONS)]


def unloads(node, module):
    """Without a word, in time by the node's own clock."""
    took = timed(node, f"rmmod {module}")
    print(f"--- {node}: {module}: {took:.2f} s")
    assert took < UNLOAD_LIMIT, f"{node}: {module} took {took:.1f} s to unload"


def start_server(rig, *exports, options=()):
    """The exports come first: who can connect finds them."""
    rig.a.insmod("rblk-server")
    for export in exports:
        rig.server.export(export, "2M", ("any",), *options)
    rig.server.listen(rig.address)


def test_idle_modules_unload_and_load_again(nodes):
    for _ in range(3):
        nodes.load()
        for node, modules in ((nodes.b, ("rblk_client", "rblk_core")), (nodes.a, ("rblk_server", "rblk_core"))):
            for module in modules:
                unloads(node, module)


def test_client_module_in_use_is_refused_then_unloads(rig):
    """A module with a device that nobody has open unloads; an open device holds it."""
    rig.server.export("disk", "8M")
    device = rig.client.map(rig.address, "disk")
    holder = rig.spawn(rig.b, f"exec 3<{device}; echo open; sleep 600")
    rig.b.run(f"for i in $(seq 100); do ls -l /proc/[0-9]*/fd 2>/dev/null | grep -q {device} && exit 0; sleep 0.1; done; exit 1")
    assert rig.b.run("rmmod rblk_client", check=False).code != 0
    holder.kill()
    holder.wait(10, check=False)
    unloads(rig.b, "rblk_client")
    assert not rig.b.run("ls /sys/block | grep '^rblk' || true").stdout
    checks.server_forgets(rig)


def test_server_module_goes_under_io(rig):
    rig.server.export("disk", "64M")
    device = rig.client.map(rig.address, "disk")
    job = rig.spawn(rig.b, fio.command(device, rw="randrw", bs="4k", iodepth=64, size="32m", time_based=1, runtime=120))
    rig.wait_for_io(device)
    unloads(rig.a, "rblk_server")
    ended = job.wait(60, check=False)
    assert ended.code != 0 and fio.parse(ended.stdout)["error"] == checks.ENOLINK, ended
    checks.failed(rig, device)
    rig.client.unmap(device)
    start_server(rig, "disk")
    checks.nothing_left(rig)
    checks.serves(rig)


def test_modules_go_with_many_sessions(rig):
    """The client's with all devices unused; the server's with all mapped and I/O on some."""
    rig.server.export("disk", "2M", ("any",), "--shared")
    maps = f"for n in $(seq {SESSIONS}); do {rig.client.command('map', rig.address, 'disk')} --client-name client$n || exit; done"
    assert rig.b.run(maps, timeout=120).stdout.split() == DISKS
    assert len(checks.server_sessions(rig)) == SESSIONS
    unloads(rig.b, "rblk_client")
    assert not rig.b.run("ls /sys/block | grep '^rblk' || true").stdout
    checks.server_forgets(rig)

    rig.b.insmod("rblk-client")
    assert rig.b.run(maps, timeout=120).stdout.split() == DISKS
    job = rig.spawn(rig.b, fio.command(":".join(DISKS[:4]), rw="randrw", bs="4k", iodepth=64, size="2m", time_based=1, runtime=120))
    rig.wait_for_io(DISKS[3])
    unloads(rig.a, "rblk_server")
    ended = job.wait(60, check=False)
    assert ended.code != 0 and fio.parse(ended.stdout)["error"] == checks.ENOLINK, ended
    checks.failed(rig, *DISKS)
    rig.client("unmap", "all")
    start_server(rig, "disk")
    checks.nothing_left(rig)
    checks.serves(rig)


def test_server_module_goes_while_clients_connect(rig):
    """At random moments, and comes back each time."""
    moment = moments()
    rig.a.rmmod("rblk-server")
    exports = ("disk", "other")
    start_server(rig, *exports)
    loops = [MapLoop(rig, export, f"client-{export}") for export in exports]
    for loop in loops:
        loop.wait_for("map 0")
    for _ in range(5):
        rig.a.run(f"sleep {moment.uniform(0, 2):.3f}")
        unloads(rig.a, "rblk_server")
        rig.a.run(f"sleep {moment.uniform(0, 0.5):.3f}")
        start_server(rig, *exports)
    work_and_stop(loops)
    checks.nothing_left(rig)
    checks.serves(rig)


def load_and_unload(rig, node, module, pauses):
    """Again and again, and leave it loaded.

    An unload may find the module in use for an instant: by a dump, or by a disk whose
    partitions are looked for. Then it is tried again, and the time goes on.
    """
    insmod = f"insmod {node.kernel.rblk}/rblk-core.ko && insmod {node.kernel.rblk}/{module}.ko || exit"
    rounds = rig.spawn(node, f"for pause in {' '.join(f'{pause:.3f}' for pause in pauses)}; do "
                       f"sleep $pause; read -r began rest </proc/uptime; until error=$(rmmod {module.replace('-', '_')} 2>&1); do "
                       "case $error in *'in use'*) sleep 0.05;; *) echo $error >&2; exit 1;; esac; done; "
                       f"rmmod rblk_core || exit; read -r now rest </proc/uptime; echo $began $now; {insmod}; done")
    times = [tuple(map(float, line.split())) for line in rounds.wait(180).stdout.splitlines()]
    assert len(times) == len(pauses)
    slowest = max(now - began for began, now in times)
    print(f"--- {node}: the slowest unload of {module} took {slowest:.2f} s")
    assert slowest < UNLOAD_LIMIT, times


def test_modules_come_and_go_under_netlink(rig):
    """First the client's, while the tool maps and unmaps; then the server's, while it also exports and listens."""
    moment = moments()
    rig.server.export("disk", "2M")
    maps = MapLoop(rig, "disk", "one", "|".join((
        "(un)?map 8 the kernel has no rblk-client loaded", "map 1 the module is (being )?unloaded",
        "unmap 3 there is no such device",
        "map 1 the export is mapped, but /dev/rblk0 did not appear in [0-9]+ seconds",
        "map 3 the server exports nothing under that name")))
    load_and_unload(rig, rig.b, "rblk-client", [moment.uniform(0, 2) for _ in range(8)])
    maps.wait_for("map 0")
    commands = {
        "export add disk --memory 2M --allow any": "0|5 an export of this name exists",
        f"listen add {rig.address}": "0|5 there is a listener on this address already",
        "export add brief --memory 2M": "0|5 an export of this name exists",
        "export list": "0",
        "export remove brief --force": "0|3 there is no export of this name",
    }
    tool = rig.a.kernel.tool
    exports = Loop(rig, rig.a, "exports", "; ".join(
        f"{tool} {words} 2>$err >&2; code=$?; [ $code = 0 ] && >$err; note {words}: $code $(head -n1 $err | sed 's/.*: //')"
        for words in commands))
    load_and_unload(rig, rig.a, "rblk-server", [moment.uniform(0, 2) for _ in range(8)])
    maps.wait_for("map 0")
    maps.stop()
    lines = exports.stop()
    ends = "|".join(f"{re.escape(words)}: ({codes}|8 the kernel has no rblk-server loaded)" for words, codes in commands.items())
    odd = [line for line in lines if not re.fullmatch(ends, line)]
    assert not odd, f"ways to end that nobody expects: {odd}"
    checks.nothing_left(rig)
    checks.serves(rig)


def test_server_comes_back_as_another_one(rig):
    """After the server has lost its memory nothing of the old device may go on."""
    rig.server.export("disk", "8M")
    device = rig.client.map(rig.address, "disk")
    rig.b.run(f"yes old | head -c 65536 | dd of={device} bs=64k iflag=fullblock oflag=direct")
    rig.a.rmmod("rblk-server")
    rig.a.insmod("rblk-server")
    rig.server.listen(rig.address)
    rig.server.export("disk", "8M")
    read = rig.b.run(f"dd if={device} bs=4k count=1 iflag=direct of=/dev/null", check=False, timeout=90)
    assert read.code != 0, "the device went on with another memory"
    rig.client.unmap(device)
    device = rig.client.map(rig.address, "disk")
    rig.b.run(f"cmp -n 65536 {device} /dev/zero")
