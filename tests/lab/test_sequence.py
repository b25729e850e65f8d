# SPDX-License-Identifier: GPL-2.0
"""The checker of tests/sequence: its model, and on a plain file that this test spoils behind its back."""
import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import time

import pytest

from rblklab import sequence

BLOCK = 4096
BLOCKS = 64
LONG = 60.0  # for what comes at once; the machine may be busy


@pytest.fixture(scope="session")
def program():
    """With sanitizers, which make it end with an error and a report."""
    return sequence.build(check=True)


@pytest.fixture
def disk(tmp_path):
    path = tmp_path / "disk"
    path.write_bytes(bytes(BLOCK * BLOCKS))
    return path


class Running:
    """The checker at work on a file, which may be spoilt meanwhile."""

    def __init__(self, program: pathlib.Path, disk: pathlib.Path, **options: object):
        # Not all file systems have direct I/O, and a page is read while it is written
        command = [program, disk, *sequence.words(buffered=True, racy_sectors=True, blocks=BLOCKS, **options)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        restore_signals=False)  # a write beyond a limit is an error, not a signal
        self.file = os.open(disk, os.O_RDWR)
        assert json.loads(self.process.stdout.readline())["violations"] == 0

    def get(self, block: int) -> bytes:
        return os.pread(self.file, BLOCK, block * BLOCK)

    def put(self, block: int, data: bytes) -> None:
        os.pwrite(self.file, data, block * BLOCK)

    def older(self, block: int) -> bytes:
        """What a block held before it was written once more."""
        before = self.get(block)
        deadline = time.monotonic() + LONG
        while self.get(block) == before:
            assert time.monotonic() < deadline
            time.sleep(0.005)
        return before

    def spoil(self, work) -> None:
        """Do it again and again until the checker ends: what it writes itself may come over it."""
        deadline = time.monotonic() + LONG
        while self.process.poll() is None:
            assert time.monotonic() < deadline, "it found nothing"
            work()

    def mark(self) -> dict:
        self.process.send_signal(signal.SIGUSR1)
        return json.loads(self.process.stdout.readline())

    def end(self, code: int) -> dict:
        out, err = self.process.communicate(timeout=LONG)
        os.close(self.file)
        assert self.process.returncode == code, (out, err)
        return json.loads(out.splitlines()[-1])

    def stop(self, code: int = sequence.RIGHT) -> dict:
        self.process.terminate()
        return self.end(code)


def test_the_model(program):
    subprocess.run([program.with_name("rblk-sequence-test")], check=True)


@pytest.mark.parametrize("block_size", [512, 4096])
def test_nothing_is_wrong(program, disk, block_size):
    running = Running(program, disk, block_size=block_size, depth=8)
    time.sleep(0.5)
    mark = running.mark()
    assert mark["writes"] > 0 and mark["reads"] > 0 and mark["write_stall"] > 0, mark
    result = running.stop()
    assert result["whole"] and result["writes"] >= mark["writes"], result
    assert result["violations"] == 0 and result["first_violation"] is None, result


def test_it_ends_by_itself(program, disk):
    assert Running(program, disk, seconds=1).end(sequence.RIGHT)["whole"]


def stale(running):
    old = running.older(3)
    return lambda: running.put(3, old)


def foreign(running):
    return lambda: running.put(4, running.get(5))


def foreign_sector(running):
    return lambda: running.put(4, running.get(4)[:512] * 8)


def torn(running):
    """The first half of a sector is of the write before."""
    old = running.older(6)

    def work():
        now = running.get(6)
        running.put(6, old[:256] + now[256:512] + now[512:])
    return work


def zeroes(running):
    return lambda: running.put(7, bytes(BLOCK))


PLANTED = {
    "stale": (stale, "block 3 sector 0: stale: number "),
    "foreign": (foreign, "block 4 sector 0: foreign: what belongs to block 5 sector 0"),
    "foreign sector": (foreign_sector, "block 4 sector 1: foreign: what belongs to block 4 sector 0"),
    "torn": (torn, "block 6 sector 0: torn: begins as number "),
    "zeroes": (zeroes, "block 7 sector 0: no record at all"),
}


@pytest.mark.parametrize("what", PLANTED)
def test_planted(program, disk, what):
    """It says what it found and where. At few writes a second, so that what is planted stays for a while."""
    plant, said = PLANTED[what]
    running = Running(program, disk, depth=1, rate=50)
    running.spoil(plant(running))
    result = running.end(sequence.VIOLATION)
    assert said in result["first_violation"], result


def test_lost_in_the_end(program, disk):
    """Nobody reads until all is over: an acknowledged write is not there then."""
    running = Running(program, disk, depth=1, readers=0, rate=50)
    old = running.older(9)
    running.process.terminate()
    running.spoil(lambda: running.put(9, old))
    result = running.end(sequence.VIOLATION)
    assert "in the end: block 9 sector 0: stale: number " in result["first_violation"] and result["reads"] > 0, result


@pytest.mark.parametrize("allowed", [False, True])
def test_errors_are_counted(program, disk, allowed):
    """The second half of the disk takes no writes any more, and then is not there."""
    half = BLOCK * BLOCKS // 2
    running = Running(program, disk, depth=1, **({"allow_errors": True} if allowed else {}))
    resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, (half, half))
    deadline = time.monotonic() + LONG
    while not running.mark()["write_errors"]:
        assert time.monotonic() < deadline
    os.truncate(disk, half)
    while not running.mark()["read_errors"]:
        assert time.monotonic() < deadline
    result = running.stop(sequence.RIGHT if allowed else sequence.ERROR)
    assert "write of block" in result["first_error"] and "File too large" in result["first_error"], result
    assert result["violations"] == 0 and not result["whole"], result


def test_a_failed_write_is_there_or_not(program, disk):
    """Blocks whose last write failed may hold the one before, and be written again."""
    half = BLOCK * BLOCKS // 2
    running = Running(program, disk, depth=4, allow_errors=True)
    for _ in range(3):
        had = running.mark()["write_errors"]
        resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, (half, resource.RLIM_INFINITY))
        while running.mark()["write_errors"] == had:
            time.sleep(0.01)
        resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    result = running.stop()
    assert result["whole"] and result["write_errors"] >= 3, result


def test_what_it_does_not_take(program, disk, tmp_path):
    for words in ([disk, "--depth"], [disk, "--depth", "x"], [disk, "--blocks", "100000000"], ["--seconds", "1"],
                  [disk, "--block-size", "100"], [disk, "--unknown"], [tmp_path / "none"], [disk, "--offset", "512", "--blocks", str(BLOCKS)]):
        done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, timeout=LONG, check=False)
        assert done.returncode == sequence.NOT_TRIED and "rblk-sequence: " in done.stderr, (words, done)


def test_same_seed_same_blocks(program, disk):
    """Which blocks are written is a matter of the seed; with one in flight their order is too."""
    def written(seed):
        running = Running(program, disk, seed=seed, depth=1, readers=0, rate=100, seconds=1)
        running.end(sequence.RIGHT)
        data = disk.read_bytes()
        return [int.from_bytes(data[n * BLOCK + 32:n * BLOCK + 40], "little") for n in range(BLOCKS)]

    seed = random.randrange(1 << 32)
    one, two, other = written(seed), written(seed), written(seed + 1)
    few = lambda a, b: sum(abs(x - y) for x, y in zip(a, b))  # noqa: E731
    assert few(one, two) < few(one, other)
