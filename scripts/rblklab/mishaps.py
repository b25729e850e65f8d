# SPDX-License-Identifier: GPL-2.0
"""What can happen to the paths of a session, by chance: each mishap begins, lasts and ends in a call."""
import concurrent.futures
import contextlib
import random
import time
from typing import Callable

from .node import Node
from .rig import Rig
from .waits import until

POST_FAULT = "/sys/kernel/debug/rblk/fault/post"
EIO = 5
SHORT, LONG = (0.1, 0.8), (4.2, 5.5)  # seconds; the transport gives a path up after some 4
PATIENCE = 10.0  # for paths to come back by themselves


def down(node: Node, link: int) -> None:
    """A node's link loses all that it sends, or is down.

    UML's network device sleeps where it must not when it goes down with a frame to send, and closes a
    descriptor (vector_net_close()) that it has not got when it comes up again.
    """
    if node.kernel.machine == "uml":
        mute(node, link)
    else:
        node.run(f"ip link set net{link} down")


def up(node: Node, link: int) -> None:
    if node.kernel.machine == "uml":
        unmute(node, link)
    else:
        node.run(f"ip link set net{link} up; ip addr add {node.ports[link].ipv6}/64 dev net{link} nodad 2>/dev/null || true")


def mute(node: Node, link: int) -> None:
    """All that a node sends on a link is lost, and it does not know."""
    node.run(f"tc qdisc replace dev net{link} root netem loss 100%")


def unmute(node: Node, link: int) -> None:
    node.run(f"tc qdisc del dev net{link} root")


def repair(node: Node) -> None:
    """
    What the documentation says to do about rxe: a message of the CM that cannot be sent,
    as when the neighbour is not found any more, leaves the queue pair of the CM in error
    for ever (rxe_requester(); ib_mad takes it for one that can go on). No map was ever
    answered then, whatever the link did.
    """
    # One command, as each takes long in a node that gets little time
    script = "".join(f"rdma resource show qp link {name} | grep GSI | grep -q 'state ERR' && echo {name} && "
                     f"rdma link delete {name} && rdma link add {name} type {node.provider} netdev net{link}; "
                     for link, name in enumerate(map(node.rdma_name, range(len(node.ports)))))
    for name in node.run(script + "true").stdout.split():
        print(f"{node}: {name}: the CM's queue pair is in error, made anew")


class Mishaps:
    """Mishaps to the paths of a rig's two nodes; RNG says which link and node, and for how long.

    They need rig.injects and rig.expect_rnr, since rxe counts a READ that it cannot
    answer as a receive that was not there. Without faults on order (ORDERS) a path
    is lost by waiting only.
    """

    def __init__(self, rig: Rig, rng: random.Random):
        self.rig = rig
        self.rng = rng
        self.links = len(rig.a.ports)
        self.orders = rig.b.run(f"[ -e {POST_FAULT} ]", check=False).code == 0
        self.kinds: dict[str, Callable[[], str]] = {
            "link cut": self.link_cut,
            "one direction cut": self.direction_cut,
            "noise": self.noise,
            "post fails": self.post_fails,
            "held, then late": self.held,
            "RDMA device": self.device,
            "all links cut": self.all_cut,
            "link of a node": self.link_of_a_node,
        }
        if not self.orders:
            del self.kinds["post fails"]

    def some(self, count: int) -> list[str]:
        """COUNT kinds in random order, each about as often as the others."""
        kinds: list[str] = []
        while len(kinds) < count:
            kinds += self.rng.sample(list(self.kinds), len(self.kinds))
        return kinds[:count]

    def happen(self, kind: str) -> str:
        """Begin, wait, end; what it was in words. The network is as before, the paths need not be."""
        return self.kinds[kind]()

    # -- what happens

    def link_cut(self) -> str:
        link = self.link()
        self.rig.relay.cut(link)
        lasted = self.wait(long=5)
        self.rig.relay.heal(link)
        return f"link {link} cut, {lasted}"

    def direction_cut(self) -> str:
        link, node = self.link(), self.node()
        self.rig.relay.cut(link, node)
        lasted = self.wait(long=5)
        self.rig.relay.heal(link)
        return f"what {node} sends on link {link} cut, {lasted}"

    def noise(self) -> str:
        """Frames are late, out of order, doubled or lost, or all of it."""
        link = self.rng.choice((None, *range(self.links)))
        relay, rng = self.rig.relay, self.rng
        rules = {
            "late": lambda: relay.delay(rng.uniform(1, 30), jitter=rng.uniform(0, 20), link=link),
            "out of order": lambda: relay.reorder(rng.uniform(0.02, 0.3), ms=rng.uniform(1, 40), link=link),
            "doubled": lambda: relay.duplicate(rng.uniform(0.05, 0.5), link=link),
            "lost": lambda: relay.loss(rng.uniform(0.005, 0.05), link=link),
        }
        chosen = rng.sample(list(rules), rng.randrange(1, len(rules) + 1))
        for name in chosen:
            rules[name]()
        lasted = self.wait(0.5, 2)
        relay.heal()
        return f"frames of {'all links' if link is None else f'link {link}'} {', '.join(chosen)}, {lasted}"

    def post_fails(self) -> str:
        """As if a request could not be posted, which breaks the path that carries the I/O."""
        number = self.rng.randrange(1, 50)
        self.fail_post(number)
        return f"post {number} fails, {self.wait()}"

    def held(self) -> str:
        """A link keeps its frames while the path is lost and what was on it is done again over another; then they come."""
        link, node = self.active_link(), self.node()
        self.rig.relay.hold(link, node)
        time.sleep(self.rng.uniform(0.02, 0.2))
        if self.orders:
            self.fail_post(1)
        lasted = self.wait(0.3, 1.5) if self.orders else self.wait(*LONG)
        frames = self.rig.relay.release(link, node)
        return f"{frames} frames of {node} held on link {link}, {lasted}"

    def device(self) -> str:
        link, node = self.link(), self.node()
        node.rdma_link_delete(link)
        lasted = self.wait()
        node.rdma_link_add(link)
        return f"{node.rdma_name(link)} of {node} away, {lasted}"

    def all_cut(self) -> str:
        self.rig.relay.cut()
        lasted = self.wait(long=4)
        self.rig.relay.heal()
        return f"all links cut, {lasted}"

    def link_of_a_node(self) -> str:
        """
        The client's is down. The server's loses all that it sends: where rxe cannot send the answer to a READ
        it keeps the state of one that has begun (read_reply()), and begins with the last packet when it is asked
        again, which completes the READ at the client with success and without its data.
        """
        link, node = self.link(), self.node()
        lose, find = (mute, unmute) if node is self.rig.a else (down, up)
        lose(node, link)
        lasted = self.wait(long=4)
        find(node, link)
        return f"net{link} of {node} {'mute' if lose is mute else 'down'}, {lasted}"

    # -- chance

    def link(self) -> int:
        """The one that carries the I/O, more often than not."""
        return self.active_link() if self.rng.random() < 0.6 else self.rng.randrange(self.links)

    def active_link(self) -> int:
        """The link that carries most at the moment; by chance while there is no I/O."""
        chance = self.rng.randrange(self.links)
        before = self.sent()
        time.sleep(0.1)
        moved = [now - then for now, then in zip(self.sent(), before)]
        return moved.index(max(moved)) if max(moved) > 10000 else chance

    def node(self) -> Node:
        return self.rng.choice(self.rig.lab.nodes)

    def wait(self, least: float = SHORT[0], most: float = SHORT[1], long: int = 0) -> str:
        """Let it last for a while, of each LONG times once for so long that a path is lost by it."""
        if long and not self.rng.randrange(long):
            least, most = LONG
        seconds = self.rng.uniform(least, most)
        time.sleep(seconds)
        return f"{seconds:.1f} s"

    # -- means

    def sent(self) -> list[int]:
        counters = self.rig.relay.counters()
        return [sum(counters[link, node.index]["bytes"] for node in self.rig.lab.nodes) for link in range(self.links)]

    def fail_post(self, number: int) -> None:
        self.rig.b.run(f"echo {number} {EIO} > {POST_FAULT}")

    def settle(self, limit: float = 40) -> None:
        """Wait until all paths are live, and mend on the way what rxe does not mend by itself."""
        def live() -> bool:
            sessions = self.rig.client.json("session", "list")["client_sessions"]
            states.append([path["state"] for session in sessions for path in session["paths"]])
            return all(state == "live" for state in states[-1])

        states: list[list[str]] = []
        with contextlib.suppress(AssertionError):
            until(live, PATIENCE, "")
            return
        with concurrent.futures.ThreadPoolExecutor(len(self.rig.lab.nodes)) as pool:
            list(pool.map(repair, self.rig.lab.nodes))
        until(live, limit, lambda: f"paths after a mishap: {states[-1]}")
