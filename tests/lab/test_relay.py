# SPDX-License-Identifier: GPL-2.0
"""The relay between nodes: each rule, with frames that the test sends and takes itself."""
import json
import os
import pathlib
import random
import time

import pytest

from rblklab import pcap, relay
from rblklab.errors import LabError
from rblklab.links import pair
from rblklab.rundir import Run

LONG = 20.0  # for what comes at once; the machine may be busy
SHORT = 0.2  # for what must not come


@pytest.fixture(scope="session")
def program():
    """With sanitizers, which make it end with an error and a report."""
    return relay.build(check=True)


class Network:
    """A relay, and the ends that nodes would have: net[link, node]."""

    def __init__(self, folder, program, nodes=2, links=1, seed=1):
        self.run = Run(folder)
        wires = {(link, node): pair() for link in range(links) for node in range(1, nodes + 1)}
        self.ends = {place: ends[0] for place, ends in wires.items()}
        self.relay = relay.Relay(self.run, [(*place, ends[1]) for place, ends in wires.items()], program, seed)

    def __getitem__(self, place):
        return self.ends[place]

    def send(self, node, *frames, link=0):
        """Send frames, and return when the relay has all of them."""
        before = self.count(node, "frames", link)
        for frame in frames:
            put(self.ends[link, node], frame)
        self.wait(lambda: self.count(node, "frames", link) == before + len(frames))

    @staticmethod
    def wait(what):
        deadline = time.monotonic() + LONG
        while not what():
            assert time.monotonic() < deadline
            time.sleep(0.002)

    def take(self, node, count=1, link=0):
        """That many frames; there must be no more."""
        end = self.ends[link, node]
        end.settimeout(LONG)
        frames = [end.recv(65536) for _ in range(count)]
        assert self.nothing(node, link=link, patience=0.02)
        return frames

    def nothing(self, node, link=0, patience=SHORT):
        """Whether no frame comes."""
        end = self.ends[link, node]
        end.settimeout(patience)
        try:
            return not end.recv(65536)
        except TimeoutError:
            return True

    def rest(self, node, link=0):
        """All that still comes."""
        end = self.ends[link, node]
        end.settimeout(SHORT)
        frames = []
        try:
            while True:
                frames.append(end.recv(65536))
        except TimeoutError:
            return frames

    def count(self, node, name, link=0):
        return self.relay.counters()[link, node][name]

    def cpu(self):
        """Seconds of processor time that the relay has had."""
        fields = pathlib.Path(f"/proc/{self.relay.process.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")

    def end(self):
        """The relay goes when nobody has orders for it, and has nothing to complain of."""
        self.relay._control.close()
        try:
            assert self.relay.process.wait(LONG) == 0, self.relay.log.read_text()
        finally:
            self.run.close()
            for end in self.ends.values():
                end.close()


@pytest.fixture
def make(tmp_path, program):
    made = []

    def one(**options):
        made.append(Network(tmp_path / "runs", program, **options))
        return made[-1]

    yield one
    for network in made:
        network.end()


@pytest.fixture
def net(make):
    return make()


def put(end, frame):
    """Send one frame; the relay may be slower than this."""
    deadline = time.monotonic() + LONG
    while True:
        try:
            end.setblocking(False)
            return end.send(frame)
        except BlockingIOError:
            assert time.monotonic() < deadline, "the relay takes no frames"
            time.sleep(0.001)


def numbered(count, size=64):
    return [number.to_bytes(4, "big") + bytes(size - 4) for number in range(count)]


def numbers(frames):
    return [int.from_bytes(frame[:4], "big") for frame in frames]


# -- without rules

def test_frames_arrive_whole_and_in_order_and_are_counted(net):
    frames = [bytes([n]) * size for n, size in enumerate((1, 60, 1514, 9014, 60000))]
    net.send(1, *frames)
    assert net.take(2, 5) == frames
    net.send(2, b"back")
    assert net.take(1) == [b"back"]
    assert net.nothing(2), "a frame does not come back"
    idle = dict.fromkeys(("dropped", "duplicated", "delayed", "reordered", "held", "overflowed", "waiting", "holding"), 0)
    assert net.relay.counters() == {(0, 1): {"frames": 5, "bytes": sum(map(len, frames)), **idle}, (0, 2): {"frames": 1, "bytes": 4, **idle}}


def test_all_other_nodes_of_the_link_get_a_frame(make):
    net = make(nodes=3, links=2)
    net.send(2, b"frame", link=1)
    assert net.take(1, link=1) == net.take(3, link=1) == [b"frame"]
    for place in ((1, 2), (0, 1), (0, 2), (0, 3)):
        assert net.nothing(place[1], link=place[0], patience=0.05), place


def test_a_reader_that_is_slow_loses_frames_and_keeps_nobody_waiting(make):
    net = make(nodes=3)
    frames = numbered(7000, 9000)
    for frame in frames:  # 2 reads nothing
        put(net[0, 1], frame)
        net[0, 3].settimeout(LONG)
        assert net[0, 3].recv(65536) == frame
    lost = net.count(1, "overflowed")
    assert 1000 < lost < 3000
    busy = net.cpu()
    net.send(2, b"from the slow one")
    assert net.take(1) == net.take(3) == [b"from the slow one"]
    time.sleep(0.5)
    assert net.cpu() - busy < 0.3, "the relay looks again and again whether there is room"
    there = [net[0, 2].recv(65536) for _ in range(20)]
    net.send(1, numbered(7001, 9000)[7000])
    assert numbers(net.take(3)) == [7000]
    there = numbers(there + net.rest(2))
    assert there[:7000 - lost] == list(range(7000 - lost)), "a queue loses what comes last"
    assert there[7000 - lost:] in ([], [7000]) and len(there) == 7001 - net.count(1, "overflowed")
    net.send(1, b"later")
    assert net.take(2) == [b"later"] and net.take(3) == [b"later"]


def test_a_node_that_is_gone_is_no_error(make):
    net = make(nodes=3)
    net[0, 2].close()
    net.send(1, b"one", b"two")
    assert net.take(3, 2) == [b"one", b"two"]
    assert net.count(1, "overflowed") == 2
    busy = net.cpu()
    time.sleep(0.5)
    assert net.cpu() - busy < 0.3


# -- cut, loss, duplicates

def test_a_cut_is_of_one_direction_or_of_the_link(make):
    net = make(links=2)
    net.relay.cut(0, 1)
    net.send(1, b"lost", b"lost")
    net.send(2, b"other direction")
    net.send(1, b"other link", link=1)
    assert net.take(1) == [b"other direction"] and net.take(2, link=1) == [b"other link"]
    assert net.nothing(2)
    assert (net.count(1, "dropped"), net.count(2, "dropped"), net.count(1, "dropped", link=1)) == (2, 0, 0)
    net.relay.heal(0, 1)
    net.send(1, b"healed")
    assert net.take(2) == [b"healed"]
    net.relay.cut(0)
    net.send(1, b"lost")
    net.send(2, b"lost")
    assert net.nothing(1) and net.nothing(2)
    net.relay.heal()
    net.send(2, b"healed")
    assert net.take(1) == [b"healed"]


def losses(net, count=1000, node=1):
    """Which of so many frames arrive."""
    net.send(node, *numbered(count))
    return numbers(net.rest(3 - node))


def test_loss_is_as_likely_as_it_was_asked_for(net):
    net.relay.loss(0.3, 0, 1)
    there = losses(net)
    assert 600 < len(there) < 800 and there == sorted(there)
    assert net.count(1, "dropped") == 1000 - len(there)
    net.relay.loss(1, 0, 1)
    assert not losses(net, 100)
    net.relay.loss(0, 0, 1)
    assert losses(net, 100) == list(range(100))


def test_chance_is_a_matter_of_the_seed(make):
    one, same, other = make(seed=7), make(seed=7), make(seed=8)
    for net in (one, same, other):
        net.relay.loss(0.5)
    first = losses(one, 300)
    assert losses(same, 300) == first != losses(other, 300)
    assert losses(one, 300, node=2) != first, "each direction has its own"
    assert losses(one, 300) != first, "it goes on"
    one.relay.seed(7)
    assert losses(one, 300) == first, "it begins anew"
    other.relay.seed(7)
    other.relay.duplicate(0.5)
    other.relay.delay(1, jitter=2)
    other.relay.reorder(0.5, ms=1)
    assert sorted(set(losses(other, 300))) == first, "another rule changed which frames are lost"


def test_duplicates_follow_at_once(net):
    net.relay.duplicate(1, node=1)
    net.send(1, b"a", b"b")
    net.send(2, b"c")
    assert net.take(2, 4) == [b"a", b"a", b"b", b"b"]
    assert net.take(1) == [b"c"]
    assert (net.count(1, "duplicated"), net.count(1, "frames"), net.count(2, "duplicated")) == (2, 2, 0)
    net.relay.duplicate(0.25, node=1)
    assert 1150 < len(losses(net)) < 1350


# -- later, and in another order

def test_a_delay_makes_frames_late(net):
    net.relay.delay(400, link=0, node=1)
    began = time.monotonic()
    net.send(1, b"late")
    net.send(2, b"at once")
    assert net.take(1) == [b"at once"] and net.count(1, "waiting") == 1
    assert net.take(2) == [b"late"]
    assert 0.4 <= time.monotonic() - began < LONG
    assert (net.count(1, "delayed"), net.count(2, "delayed"), net.count(1, "waiting")) == (1, 0, 0)


def test_jitter_spreads_frames_and_keeps_their_order(net):
    net.relay.delay(50, jitter=400, node=1)
    began = time.monotonic()
    times = []
    for frame in numbered(30):
        net.send(1, frame)
    for number in range(30):
        net[0, 2].settimeout(LONG)
        assert numbers([net[0, 2].recv(65536)]) == [number]
        times.append(time.monotonic() - began)
    assert times[0] >= 0.05 and times[-1] >= 0.25, times
    assert net.count(1, "delayed") == 30


def test_a_shorter_delay_lets_nothing_pass_by_what_is_on_the_way(net):
    net.relay.delay(300, node=1)
    net.send(1, b"first")
    net.relay.delay(0, node=1)
    net.send(1, b"second")
    assert net.take(2, 2) == [b"first", b"second"]


def test_a_reordered_frame_is_passed_by(net):
    net.relay.reorder(1, ms=300, node=1)
    began = time.monotonic()
    net.send(1, b"first")
    net.relay.reorder(0, node=1)
    net.send(1, b"second", b"third")
    assert net.take(2, 2) == [b"second", b"third"]
    assert net.take(2) == [b"first"]
    assert time.monotonic() - began >= 0.3
    assert (net.count(1, "reordered"), net.count(1, "delayed")) == (1, 0)


def test_some_frames_are_reordered_and_none_is_lost(net):
    net.relay.reorder(0.2, ms=5, node=1)
    there = []
    for frame in numbered(200):
        net.send(1, frame)
    there = numbers(net.rest(2))
    assert sorted(there) == list(range(200)) != there
    assert 15 < net.count(1, "reordered") < 75


def test_a_rate_spreads_frames_and_its_queue_has_an_end(net):
    net.relay.rate(20000, queue=10000, node=1)
    began = time.monotonic()
    for frame in numbered(30, 1000):
        put(net[0, 1], frame)
    there = []
    while time.monotonic() - began < LONG and net.count(1, "frames") < 30 or net.count(1, "waiting"):
        time.sleep(0.01)
    took = time.monotonic() - began
    there = numbers(net.rest(2))
    assert 10 <= len(there) < 25 and there == sorted(there)
    assert took >= len(there) * 1000 / 20000
    assert net.count(1, "overflowed") == 30 - len(there)
    assert net.count(1, "delayed") == len(there)
    net.send(1, bytes(20000))
    assert net.nothing(2) and net.count(1, "overflowed") == 31 - len(there), "longer than the queue"
    net.relay.rate(0, node=1)
    net.send(1, bytes(20000))
    assert net.take(2) == [bytes(20000)]


# -- hold

def test_held_frames_come_on_release_in_order_and_before_later_ones(net):
    net.send(1, b"before")
    assert net.take(2) == [b"before"]
    net.relay.hold(0, 1)
    net.send(1, *numbered(300))
    net.send(2, b"other direction")
    assert net.take(1) == [b"other direction"]
    assert net.nothing(2)
    assert (net.count(1, "held"), net.count(1, "holding"), net.count(2, "held")) == (300, 300, 0)
    assert net.relay.release(0, 1) == 300
    net.send(1, *numbered(301)[300:])
    assert numbers(net.take(2, 301)) == list(range(301))
    assert (net.count(1, "held"), net.count(1, "holding")) == (300, 0)
    assert net.relay.release(0, 1) == 0


def test_a_hold_has_a_limit(net):
    net.relay.hold(0, limit=3)
    net.send(1, *numbered(5))
    net.send(2, b"x")
    assert (net.count(1, "held"), net.count(1, "overflowed"), net.count(2, "holding")) == (3, 2, 1)
    assert net.relay.release(0) == 4
    assert numbers(net.take(2, 3)) == [0, 1, 2] and net.take(1) == [b"x"]


def test_a_hold_keeps_what_was_on_the_way_when_it_began(net):
    net.relay.delay(200, node=1)
    net.send(1, b"one", b"two")
    net.relay.hold(0, 1)
    net.relay.delay(0, node=1)
    net.send(1, b"three")
    net.wait(lambda: net.count(1, "holding") == 3)
    assert net.nothing(2)
    net.relay.release(0, 1)
    assert net.take(2, 3) == [b"one", b"two", b"three"]


def test_frames_that_were_held_arrive_though_the_link_is_cut_now(net):
    net.relay.hold(0, 1)
    net.send(1, b"old")
    net.relay.cut(0, 1)
    net.send(1, b"lost")
    assert net.relay.release(0, 1) == 1
    assert net.take(2) == [b"old"]


@pytest.mark.parametrize("discard", [False, True])
def test_healing_ends_every_rule_and_says_what_was_kept(net, discard):
    net.relay.delay(60000, node=1)
    net.send(1, b"delayed")
    net.relay.delay(0, node=1)
    net.relay.hold(0, 2)
    net.send(2, b"held")
    for rule in (net.relay.loss, net.relay.duplicate, net.relay.reorder):
        rule(1)
    net.relay.rate(1, queue=1)
    net.relay.cut()
    assert net.relay.heal(discard=discard) == 2
    net.send(1, b"new")
    net.send(2, b"new")
    assert net.take(2, 1 if discard else 2) == ([b"new"] if discard else [b"delayed", b"new"])
    assert net.take(1, 1 if discard else 2) == ([b"new"] if discard else [b"held", b"new"])
    assert net.count(1, "dropped") == discard and net.count(2, "dropped") == discard


def test_a_reset_leaves_nothing_behind(net, tmp_path):
    for _ in range(2):
        net.relay.capture(0, tmp_path / "frames.pcap")
        net.relay.hold(0, 1)
        net.relay.cut(0, 2)
        net.send(1, b"held")
        net.relay.reset()
        net.send(1, b"new")
        net.send(2, b"new")
        assert net.take(2) == net.take(1) == [b"new"]
    assert [frame for _, frame in pcap.read(tmp_path / "frames.pcap")] == [b"held"]


def test_while_it_keeps_frames_it_sleeps(net):
    net.relay.hold(0, 1)
    net.relay.delay(60000, link=0, node=2)
    net.send(1, b"held")
    net.send(2, b"delayed")
    busy = net.cpu()
    time.sleep(1)
    assert net.cpu() - busy < 0.3


# -- captures

def test_a_capture_has_each_frame_as_it_arrived(make, tmp_path):
    net = make(links=2)
    net.send(1, b"too early")
    began = time.time()
    net.relay.capture(0, tmp_path / "link0.pcap")
    net.relay.cut(0, 1)
    net.send(1, b"cut")
    net.relay.heal(0, 1)
    net.relay.hold(0, 1)
    net.relay.duplicate(1, link=0)
    net.send(1, b"held, and twice")
    time.sleep(0.3)
    net.send(2, bytes(9000))
    assert [frame for _, frame in pcap.read(tmp_path / "link0.pcap")] == [b"cut", b"held, and twice", bytes(9000)], "it is whole at any time"
    net.relay.release(0, 1)
    net.send(1, b"other link", link=1)
    assert net.relay.end_capture(0) == 3
    net.send(1, b"too late")
    frames = pcap.read(tmp_path / "link0.pcap")
    assert [frame for _, frame in frames] == [b"cut", b"held, and twice", bytes(9000)]
    times = [when for when, _ in frames]
    assert began - 0.001 <= times[0] <= times[1] <= times[2] - 0.29 and times[2] <= time.time()


def test_captures_of_two_links_and_a_second_one_of_the_same(make, tmp_path):
    net = make(links=2)
    paths = [tmp_path / "0.pcap", tmp_path / "1.pcap"]
    for link in (0, 1):
        net.relay.capture(link, paths[link])
        net.send(1, b"link %d" % link, link=link)
    with pytest.raises(LabError, match="link 0 is captured already"):
        net.relay.capture(0, tmp_path / "other.pcap")
    assert not (tmp_path / "other.pcap").exists()
    assert net.relay.end_capture() == 2 and net.relay.end_capture() == 0
    assert [[frame for _, frame in pcap.read(path)] for path in paths] == [[b"link 0"], [b"link 1"]]
    net.relay.capture(0, paths[0])
    assert net.relay.end_capture(0) == 0 and pcap.read(paths[0]) == [], "a new capture is a new file"
    with pytest.raises(LabError, match="link 0 is not captured"):
        net.relay.end_capture(0)


@pytest.mark.parametrize("path, why", [("", "Is a directory"), ("no/such/file", "No such file"), ("fifo", "No such device|no regular file"),
                                       ("null", "no regular file")])
def test_a_capture_that_cannot_be_written(net, tmp_path, path, why):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "null").symlink_to("/dev/null")
    with pytest.raises(LabError, match=why):
        net.relay.capture(0, tmp_path / path)
    net.send(1, b"frame")
    assert net.take(2) == [b"frame"]


# -- orders that are none

BAD = {
    "nothing": b"",
    "no JSON": b"cut it",
    "half": b'{"do": "set", "link": 0',
    "two": b'{"do": "counters"} {"do": "counters"}',
    "no object": b'["set"]',
    "no UTF-8": b'{"do": "\xff\xfe"}',
    "no order": b'{"link": 0, "cut": true}',
    "unknown order": b'{"do": "cut"}',
    "order that is no text": b'{"do": 1}',
    "unknown rule": b'{"do": "set", "cut": true, "drop": 1, "cutt": true}',
    "cut that is a number": b'{"do": "set", "drop": 1, "cut": 1}',
    "no probability": b'{"do": "set", "cut": true, "drop": 1.5}',
    "negative": b'{"do": "set", "cut": true, "duplicate": -0.1}',
    "text": b'{"do": "set", "cut": true, "delay": "5"}',
    "null": b'{"do": "set", "cut": true, "delay": null}',
    "endless": b'{"do": "set", "cut": true, "jitter": 1e999}',
    "too late": b'{"do": "set", "cut": true, "reorder_ms": 1e9}',
    "half a byte": b'{"do": "set", "cut": true, "rate": 0.5}',
    "no queue": b'{"do": "set", "cut": true, "queue": 0}',
    "unknown link": b'{"do": "set", "link": 3, "cut": true}',
    "unknown node": b'{"do": "set", "link": 0, "node": 9, "cut": true}',
    "node that is true": b'{"do": "set", "node": true, "cut": true}',
    "negative link": b'{"do": "set", "link": -1, "cut": true}',
    "long link": b'{"do": "set", "link": 4294967296, "cut": true}',
    "no limit": b'{"do": "hold", "limit": 0}',
    "large limit": b'{"do": "hold", "limit": 1000000}',
    "hold with a rule": b'{"do": "hold", "cut": true}',
    "release with a limit": b'{"do": "release", "limit": 1}',
    "discard that is none": b'{"do": "heal", "discard": "yes"}',
    "capture of nothing": b'{"do": "capture", "file": "/dev/shm/x"}',
    "capture to nowhere": b'{"do": "capture", "link": 0}',
    "capture to no text": b'{"do": "capture", "link": 0, "file": ""}',
    "no seed": b'{"do": "seed"}',
    "negative seed": b'{"do": "seed", "seed": -1}',
    "counters with more": b'{"do": "counters", "reset": true}',
    "deep": b"[" * 60000,
    "too long": b'{"do": "set", "cut": true}' + b" " * 70000,
    "good, but too long": b" " * 100000 + b'{"do": "set", "cut": true}',
    "far too long": b'{"do": "set", "cut": true}' + b" " * 300000,
}


@pytest.mark.parametrize("line", BAD.values(), ids=BAD)
def test_a_bad_order_is_refused_and_changes_nothing(net, line):
    net.relay.hold(0, 1)
    net.send(1, b"held")
    before = net.relay.counters()
    answer = json.loads(net.relay.exchange(line + b"\n"))
    assert set(answer) == {"error"} and len(answer["error"]) > 5, answer
    assert net.relay.counters() == before
    net.send(2, b"back")
    assert net.take(1) == [b"back"], "a rule was changed"
    net.send(1, b"held too")
    assert net.nothing(2, patience=0.05) and net.relay.release(0, 1) == 2


def test_what_is_wrong_is_said(net):
    for order, why in (({"do": "set", "drop": 2}, "'drop' is a number from 0 to 1"), ({"do": "set", "x": 2}, "nothing is called 'x'"),
                       ({"do": "hold", "link": 7}, "no link 7"), ({"do": "hold", "node": 7}, "no node 7"),
                       ({"do": "hold", "link": 0, "node": 7}, "no node 7 on link 0"), ({"do": "fly"}, "no order is called 'fly'")):
        with pytest.raises(LabError, match=why):
            net.relay.ask(**order)


def test_random_bytes_are_no_orders(net):
    rng = random.Random(1)
    for _ in range(300):
        line = bytes(rng.randrange(256) for _ in range(rng.randrange(200))).replace(b"\n", b"")
        assert "error" in json.loads(net.relay.exchange(line + b"\n"))
    net.send(1, b"frame")
    assert net.take(2) == [b"frame"]


def test_orders_in_pieces_and_several_at_once(net):
    control = net.relay._control
    for piece in (b'{"do": "co', b'unters"}', b'\n{"do": "seed", "seed": 1}\n{"do":', b' "nothing"}'):
        control.sendall(piece)
        time.sleep(0.05)
    assert "ports" in json.loads(net.relay.exchange(b"\n"))
    # Its own line end belonged to the last of three
    assert json.loads(net.relay.exchange(b'{"do": "counters"}\n')) == {"ok": True}
    assert "error" in json.loads(net.relay.exchange(b'{"do": "counters"}\n'))


def test_answers_that_nobody_reads_keep_no_frame_waiting(net):
    control, order = net.relay._control, b'{"do": "counters"}\n'
    control.settimeout(0.5)
    sent = 0
    try:
        while True:
            sent += control.send(order)
    except TimeoutError:
        pass
    busy = net.cpu()
    net[0, 1].send(b"frame")
    assert net.take(2) == [b"frame"]
    time.sleep(0.5)
    assert net.cpu() - busy < 0.3
    answers = b""
    while answers.count(b"\n") < sent // len(order):
        answers += control.recv(65536)
    assert all("ports" in json.loads(line) for line in answers.splitlines())
    if sent % len(order):
        net.relay.exchange(order[sent % len(order):])
    assert net.count(1, "frames") == 1


def test_a_relay_that_was_killed_is_an_error_at_once(tmp_path, program):
    net = Network(tmp_path, program)
    assert net.relay.alive()
    net.relay.process.kill()
    net.relay.process.wait(LONG)
    assert not net.relay.alive()
    with pytest.raises(LabError, match="does not answer"):
        net.relay.cut(0)
    with pytest.raises(LabError):
        net.relay.counters()
    net.relay.close()
    net.run.close()
