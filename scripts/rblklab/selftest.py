# SPDX-License-Identifier: GPL-2.0
"""The lab's test of itself: two nodes, RDMA between them, no rblk anywhere."""
import os
import time

from . import kmemleak, splat
from .errors import CommandError, LabError
from .lab import Lab
from .node import Node

ROUNDS = 200
SIZE = 4096


def selftest(kernel: str, provider: str = "rxe") -> bool:
    """Whether everything the tests rely on works; prints a line for each part."""
    ok = True

    def report(good: bool, what: str) -> None:
        nonlocal ok
        ok = ok and good
        print(f"{'ok  ' if good else 'FAIL'} {what}", flush=True)

    with Lab(kernel, provider=provider) as lab:
        print(f"     logs: {os.path.relpath(lab.run.folder)}", flush=True)
        boots = ", ".join(f"{node} {node.boot_seconds:.1f} s" for node in lab.nodes)
        report(True, f"{kernel} ({lab.kernel.release}): two nodes up in {lab.boot_seconds:.1f} s ({boots})")
        for check in (commands, large_output, timeouts, links, rdma, resources, freezing, lock_checking, clean_console,
                      planted_warning, leaks, restarting):
            try:
                text = check(lab)
                if text:
                    report(True, text)
            except (LabError, AssertionError) as err:
                report(False, f"{check.__name__}: {err}")
    return ok


def commands(lab: Lab) -> str:
    node = lab.nodes[0]
    result = node.run("echo out; echo err >&2; exit 7", check=False)
    assert (result.code, result.stdout, result.stderr) == (7, "out\n", "err\n"), result
    try:
        node.run("exit 3")
    except CommandError as err:
        assert err.result.code == 3
    else:
        raise AssertionError("a failing command was not reported")
    for text in ("through\n", "0123456789" * 2000 + "\n"):
        assert node.run("cat", stdin=text).stdout == text
    assert node.run(f"echo {'long ' * 3000}").stdout.count("long") == 3000
    began = time.monotonic()
    for _ in range(10):
        node.run("true")
    return f"commands: exit code, output, input; {(time.monotonic() - began) / 10 * 1000:.0f} ms a command"


def large_output(lab: Lab) -> str:
    began = time.monotonic()
    out = lab.nodes[1].run("seq 1 500000").stdout
    assert out.count("\n") == 500000 and out.endswith("\n500000\n"), f"{len(out)} characters came back"
    return f"large output: {len(out) / 1e6:.1f} MB in {time.monotonic() - began:.1f} s"


def timeouts(lab: Lab) -> str:
    node = lab.nodes[0]
    began = time.monotonic()
    try:
        node.run("sleep 321 & sleep 322", timeout=2)
    except LabError as err:
        assert "did not end within 2 s" in str(err), err
    else:
        raise AssertionError("a command that hangs was not stopped")
    left = node.run("ps -eo args= | grep '^sleep 32' || true").stdout
    assert not left, f"left behind: {left}"
    return f"a hanging command is stopped with its children, {time.monotonic() - began:.1f} s for a limit of 2 s"


def links(lab: Lab) -> str:
    for node in lab.nodes:
        for port in node.ports:
            shown = node.run(f"cat /sys/class/net/{port.name}/mtu; ip -br addr show {port.name}").stdout
            for wanted in ("9000", port.ipv4, port.ipv6, port.link_local.split("%")[0]):
                assert wanted in shown, f"{node}: {port.name} has no {wanted}: {shown}"
    return "links: MTU 9000, IPv4, IPv6 and link-local addresses"


def rdma(lab: Lab) -> str:
    server, client = lab.nodes
    texts = []
    port = server.ports[0]
    for address in (port.ipv4, port.ipv6):
        process = server.spawn(f"rping -s -a {address} -S {SIZE} -C {ROUNDS} -V")
        time.sleep(0.5)
        result = client.run(f"rping -c -a {address} -S {SIZE} -C {ROUNDS} -V", timeout=60)
        process.wait(20)
        texts.append(f"{result.seconds:.1f} s over {address}")
    return f"{lab.provider}: {ROUNDS} verified rounds of {SIZE} bytes (READ, WRITE and SENDs): {', '.join(texts)}"


def resources(lab: Lab) -> str:
    """Objects are counted; the provider unloads and comes back."""
    node = lab.nodes[0]
    name = node.rdma_name()
    idle = node.rdma_counts()[name]
    process = node.spawn("rping -s -a 0.0.0.0 -C 1")
    time.sleep(1)
    busy = node.rdma_counts()[name]
    process.kill()
    process.wait(10, check=False)
    module = "rdma_rxe" if lab.provider == "rxe" else lab.provider
    node.rdma_link_delete()
    took = node.rmmod(module)
    assert module not in node.loaded(module)
    node.run(["modprobe", module])
    node.rdma_link_add()
    again = node.rdma_counts()[name]
    assert again == idle, f"{again} after the reload, {idle} before"
    assert set(idle) >= {"pd", "cq", "qp", "cm_id", "mr"}, idle
    return f"objects of {name}: idle {idle}, with a listener {busy}; {module} unloads in {took:.1f} s"


def unexpected(node: Node, since: int = 0) -> list[splat.Splat]:
    return splat.judge(splat.find(node.console.text(since)), node.kernel.kind, node.kernel.release)


def lock_checking(lab: Lab) -> str:
    if lab.kernel.kind != "lockdep":
        return ""
    for node in lab.nodes:
        node.run("grep -q 'debug_locks: *1' /proc/lockdep_stats")
    return "lock checking is on"


def clean_console(lab: Lab) -> str:
    for node in lab.nodes:
        bad = unexpected(node)
        assert not bad, f"{node}: {bad[0]}"
    return "consoles: no report"


def planted_warning(lab: Lab) -> str:
    """A scanner that finds nothing has to be seen to find something."""
    node = lab.nodes[1]
    mark = node.console.mark()
    node.run("echo 'WARNING: CPU: 0 PID: 1 at planted.c:1 planted+0x0/0x1' > /dev/kmsg")
    deadline = time.monotonic() + 5
    while not unexpected(node, mark):
        assert time.monotonic() < deadline, "a planted warning was not found"
        time.sleep(0.1)
    return "negative control: a planted warning is found"


FLOOD = "import socket, sys; s = socket.socket(type=socket.SOCK_DGRAM); [s.sendto(bytes(8000), (sys.argv[1], 9)) for _ in range(3000)]"


def pings(node: Node, other: Node, patience: int = 5) -> bool:
    return node.run(f"busybox ping -c 1 -W {patience} {other.ports[0].ipv4}", check=False).code == 0


def freezing(lab: Lab) -> str:
    """A frozen node does nothing and hears nothing, then goes on; the other's interface stays usable."""
    one, other = lab.nodes
    assert pings(other, one)
    process = one.spawn("sleep 1; date")
    one.freeze()
    try:
        assert not pings(other, one, patience=1), "a frozen node answers"
        other.run(["python3", "-c", FLOOD, one.ports[0].ipv4])
        assert process.began + 1 < time.monotonic() and not one.responds(timeout=3), "a frozen node runs commands"
    finally:
        one.thaw()
    assert one.responds(), "it does not go on"
    process.wait(30)
    assert pings(other, one), "its link does not work any more"
    return "a node freezes and goes on"


def restarting(lab: Lab) -> str:
    one, other = lab.nodes
    mark = one.console.mark()
    one.run("echo '<4>rblk-lab-mark' > /dev/kmsg; touch /run/there")
    one.kill()
    assert not one.responds(), "a killed node answers"
    lab.restart(one)
    assert one.run("test -e /run/there", check=False).code == 1, "it is the same machine"
    assert "rblk-lab-mark" in one.console.text(mark), "what it said before is lost"
    assert pings(other, one), "its link does not work any more"
    return f"a killed node is back in {one.boot_seconds:.1f} s, on the same link"


def leaks(lab: Lab) -> str:
    node = lab.nodes[0]
    if not kmemleak.available(node):
        return ""
    began = time.monotonic()
    found = kmemleak.scan(node)
    assert not found, f"kmemleak: {found[0]}"
    return f"kmemleak: empty, a scan takes {time.monotonic() - began:.1f} s"
