# SPDX-License-Identifier: GPL-2.0
"""A random walk of a client over the grammar of the protocol, with what a right server says to each step.

The model of the server is written from Documentation/protocol.md.
"""
import random

import _wire as wire

EXPORTS = ("disk", "other")
# A send that ends the path may be acknowledged or not before its queue pair goes
OUT = ("c sent", "c closed")


class Walk:
    """One client: SCRIPT for the peer, EXPECTED the lines that each line of the peer may be."""

    def __init__(self, rng: random.Random):
        self.rng = rng
        self.session = rng.randbytes(16)
        self.generation = rng.randrange(1, 1000)
        self.path = rng.randrange(64)
        self.script: list[str] = []
        self.expected: list[tuple[str, ...]] = []
        self.queues = 0  # 0 before hello
        self.up: set[int] = set()
        self.ready = False
        self.opens: dict[str, str] = {}  # handle by export
        self.number = 0
        self.broken: set[int] = set()
        self.over = False
        self.say(f"connect c {self.request()}", "c accepted")
        for _ in range(rng.randrange(1, 14)):
            if not self.over:
                self.step()
        self.say("reset")

    def say(self, line: str, *expected: tuple[str, ...] | str) -> None:
        self.script.append(line)
        self.expected += [(one,) if isinstance(one, str) else one for one in expected]

    def request(self, kind=wire.CONTROL, **change) -> str:
        return wire.connect_request(kind, **{"session": self.session, "generation": self.generation, "path": self.path, **change})

    def step(self) -> None:
        # Towards a ready path more often than not: there is the most to see
        onward = self.hello if not self.queues else self.ready_message if len(self.up) == self.queues and not self.ready else \
            self.open if self.ready else self.io
        others = [self.hello, self.io, self.io_wrong, self.ready_message, self.open, self.open, self.extents, self.close,
                  self.ping, self.junk, self.strange, self.control_again, self.take_over, self.leave, self.send_on_io]
        (onward if self.rng.random() < 0.5 else self.rng.choice(others))()

    def ask(self, message: str, reply: str, *more: str, times=1) -> None:
        """A message that the path survives."""
        self.say(f"post c {message} {times}")
        self.say("flush c", "c sent")
        for _ in range(times):
            self.say("recv c 20000", f"c got {reply}")
        for line in more:
            self.say(line)

    def fatal(self, message: str, reply: str = "") -> None:
        """One that it does not: the answer is malformed, if there is one and it gets out before the end."""
        self.say(f"send c {message}", OUT)
        self.say("recv c 20000", ("c closed", f"c got {reply} malformed") if reply else "c closed")
        self.end()

    def end(self) -> None:
        self.say("gone c 20000", "c gone")
        for queue in sorted(self.up):
            self.say(f"gone q{queue} 20000", f"q{queue} gone")
        self.over = True

    def hello(self) -> None:
        if self.rng.random() < 0.2:
            return self.fatal(wire.hello(queues=self.rng.choice([0, 129, 0xffff])))
        queues = self.rng.randrange(1, 5)
        if self.queues:
            return self.fatal(wire.hello(queues=queues), "hello-reply")
        if self.rng.random() < 0.2:
            return self.ask(wire.hello(mandatory=1 << self.rng.randrange(64)), "hello-reply feature")
        self.queues = queues
        self.ask(wire.hello(queues=queues), "hello-reply ok", "take token 48 8")

    def io(self) -> None:
        if not self.queues:
            return self.say(f"connect x {self.request(wire.IO, token=self.rng.randrange(1, 1 << 64))}", "x rejected no-session")
        queue = self.rng.randrange(self.queues)
        request = self.request(wire.IO, token="{token}", queue=queue)
        if self.ready:
            return self.say(f"connect x {request}", "x rejected no-session")
        if queue in self.up:
            return self.say(f"connect x {request}", "x rejected duplicate")
        self.up.add(queue)
        self.say(f"connect q{queue} {request}", f"q{queue} accepted")

    def io_wrong(self) -> None:
        token = "{token}" if self.queues else 1
        change, status = self.rng.choice([
            ({"token": self.rng.randrange(1, 1 << 64)}, "no-session"), ({"token": 0}, "malformed"),
            ({"generation": self.generation + 1}, "no-session"), ({"generation": self.generation - 1}, "no-session"),
            ({"session": self.rng.randbytes(16)}, "no-session"), ({"path": self.path ^ 1}, "no-session"),
            ({"queue": 128}, "malformed"), ({"depth": 0}, "malformed"), ({"kind": 3}, "malformed"),
            ({"queue": 127}, "limit" if self.queues and not self.ready else "no-session"),
            ({"version": 3}, "version"), ({"magic": 1}, "malformed")])
        self.say(f"connect x {self.request(**{'kind': wire.IO, 'token': token, **change})}", f"x rejected {status}")

    def ready_message(self) -> None:
        if self.rng.random() < 0.2:
            return self.fatal(wire.ready(self.rng.choice([0, 129, 0xffff])))
        right = len(self.up) or 1
        said = right if self.rng.random() < 0.8 else right + 1
        if self.ready or not self.queues or said != len(self.up):
            return self.fatal(wire.ready(said), "ready-reply")
        self.ready = True
        self.ask(wire.ready(said), "ready-reply ok")

    def open(self) -> None:
        if self.rng.random() < 0.15:
            return self.fatal(wire.open_export(self.rng.choice(["..", "a/b", "\x7f"])))
        name = self.rng.choice(EXPORTS)
        message = wire.open_export(name, self.rng.choice([0, wire.READ_ONLY]))
        if not self.ready:
            return self.fatal(message, "open-reply")
        if self.rng.random() < 0.15:
            return self.ask(wire.open_export("nothing"), "open-reply no-export", times=self.rng.randrange(1, 4))
        if name in self.opens:
            return self.ask(message, "open-reply duplicate")
        self.number += 1
        self.opens[name] = f"handle{self.number}"
        self.ask(message, "open-reply ok", f"take {self.opens[name]} 16 4")

    def handle(self) -> tuple[str | int, bool]:
        """A handle, and whether it is open."""
        if self.opens and self.rng.random() < 0.7:
            return "{" + self.rng.choice(sorted(self.opens.values())) + "}", self.ready
        return self.rng.choice([0, 1000 + self.rng.randrange(1 << 31)]), False

    def extents(self) -> None:
        handle, good = self.handle()
        first = self.rng.choice([0, 0, 0, 1, (1 << 24) - 1, 1 << 24])
        if first == 1 << 24:
            return self.fatal(wire.extents(handle, first))
        if not good or first:
            return self.fatal(wire.extents(handle, first), "extents-reply")
        self.ask(wire.extents(handle), "extents-reply ok", times=self.rng.randrange(1, 9))

    def close(self) -> None:
        handle, good = self.handle()
        if not good:
            return self.fatal(wire.close(handle), "close-reply")
        self.opens = {name: one for name, one in self.opens.items() if f"{{{one}}}" != handle}
        self.ask(wire.close(handle), "close-reply ok")

    def ping(self) -> None:
        self.say(f"post c {wire.ping(self.rng.randrange(1 << 32))} {self.rng.randrange(1, 9)}")
        self.say("flush c", "c sent")

    def junk(self) -> None:
        size = self.rng.choice([0, 1, 15, 16, 17, 104, 4096])
        data = bytearray(self.rng.randbytes(size))
        data[:2] = b"\x63\x00"[:size]  # no type there is
        self.fatal(data.hex() or "-")

    def strange(self) -> None:
        """A message of the server's."""
        message, reply = self.rng.choice([
            (wire.revoke(1), ""), (wire.hello_reply(tag=1), "hello-reply"), (wire.bare_reply(wire.READY, tag=1), "ready-reply"),
            (wire.bare_reply(wire.CLOSE, 1, tag=1), "close-reply"), (wire.open_reply(tag=1), "open-reply")])
        self.fatal(message, reply)

    def control_again(self) -> None:
        lower = self.generation - self.rng.randrange(2)
        self.say(f"connect x {self.request(generation=lower)}", "x rejected duplicate")

    def take_over(self) -> None:
        self.generation += self.rng.randrange(1, 5)
        self.say(f"connect d {self.request()}", "d accepted")
        self.end()
        self.say(f"send d {wire.hello()}", "d sent")
        self.say("recv d 20000", "d got hello-reply ok")

    def leave(self) -> None:
        """Without a word, with one, or with a queue pair that is gone and nobody told."""
        self.say(self.rng.choice(["drop c", "disconnect c", "reset"]))
        self.over = True

    def send_on_io(self) -> None:
        """No receive is posted there; the sender's own queue pair breaks, and nothing else."""
        if not self.up - self.broken:
            return
        queue = self.rng.choice(sorted(self.up - self.broken))
        self.broken.add(queue)
        self.say(f"send q{queue} {wire.hello()}", f"q{queue} RNR retry counter exceeded")
        self.ping()
