# SPDX-License-Identifier: GPL-2.0
"""Scenarios on two nodes: one boot of each kernel serves all of its scenarios.

    pytest tests/vm                        on the lockdep and the safety kernel
    pytest tests/vm --kernel safety -k fio
    pytest tests/vm/waiting                those that mostly wait, which the first two leave out
"""
import pathlib
import random
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[1]
WAITING = HERE / "waiting"
sys.path.insert(0, str(TOP / "scripts"))

import _pattern  # noqa: E402  (it needs the path too)
from rblklab import clock, fio  # noqa: E402  (the path comes first)
from rblklab.errors import LabError  # noqa: E402
from rblklab.kernels import KINDS  # noqa: E402
from rblklab.rig import Rig, Slot  # noqa: E402
from rblklab.rundir import Run  # noqa: E402

import _peer  # noqa: E402


# Files of long scenarios, of which each run takes some by chance: one in so many
SHARE = {"lockdep": 12, "safety": 4}
LONG = ("test_allocations", "test_client_resets", "test_comes_back", "test_device_removal", "test_disk_io",
        "test_disk_paths", "test_flapping", "test_half_built",
        "test_hostile_server", "test_kick", "test_limits", "test_many", "test_many_return", "test_mirror", "test_netlink",
        "test_no_path", "test_path_changes", "test_paths", "test_peer", "test_poison", "test_policies", "test_recovery", "test_resize", "test_sequence",
        "test_setup_faults", "test_shutdown", "test_signals", "test_soak", "test_stacked", "test_swap_pressure", "test_sysfs", "test_unload", "test_vectors",
        "test_dead_peer", "test_frozen_peer", "test_link_down", "test_network")
CHOSEN = pytest.StashKey[str]()


def pytest_addoption(parser):
    parser.addoption("--kernel", action="append", choices=KINDS, help="may be repeated; default: lockdep and safety")
    parser.addoption("--full", action="store_true", help="the long form of those scenarios that have one")
    parser.addoption("--provider", choices=("rxe", "siw"), default="rxe")


def asks_for_waiting(config) -> bool:
    return any(pathlib.Path(word.partition("::")[0]).resolve().is_relative_to(WAITING) for word in config.args)


def pytest_ignore_collect(collection_path, config):
    """What mostly waits runs beside the others, on nodes of its own, and so only if asked for by name."""
    return True if collection_path == WAITING and not asks_for_waiting(config) else None


def pytest_terminal_summary(terminalreporter, config):
    if config.stash.get(CHOSEN, ""):
        terminalreporter.write_line(config.stash[CHOSEN])
    if not asks_for_waiting(config):
        terminalreporter.write_line(f"left out: {WAITING.relative_to(TOP)}, which has to be asked for by name")


def pytest_collection_modifyitems(config, items):
    """Some of what is long, by chance; fewer where emulation makes it longer still. See Documentation/testing.md."""
    if config.getoption("--full"):
        return
    seed = clock.seed()
    rng = random.Random(seed)
    # What somebody names is run
    named = any("::" in word or word.endswith(".py") for word in config.args) or config.option.keyword
    gone = [item for item in items if not named and item.path.stem in LONG and
            any(f"[{kind}" in item.name and rng.randrange(share) for kind, share in SHARE.items())]
    # None at all is what pytest takes for a mistake
    if gone and len(gone) == len(items):
        gone.remove(rng.choice(gone))
    if gone:
        items[:] = [item for item in items if item not in gone]
        config.hook.pytest_deselected(items=gone)
        config.stash[CHOSEN] = f"RBLK_SEED={seed} left {len(gone)} long scenarios out; --full runs all"


def pytest_generate_tests(metafunc):
    if "kernel" in metafunc.fixturenames:
        kinds = metafunc.config.getoption("kernel") or ["lockdep", "safety"]
        metafunc.parametrize("kernel", kinds, indirect=True, scope="session")


@pytest.fixture(scope="session")
def run_folder():
    run = Run()
    print(f"\nlogs: {run.folder.relative_to(TOP)}")
    yield run
    run.close()


@pytest.fixture(scope="session")
def kernel(request):
    return request.param


@pytest.fixture(scope="session")
def slots(request, kernel, run_folder):
    """Nodes of the kernel; those that are asked for with the same options are the same."""
    made = {}

    def of(**options):
        key = tuple(sorted(options.items()))
        if key not in made:
            made[key] = Slot(kernel, request.config.getoption("provider"), run_folder, **options)
        return made[key]

    yield of
    for slot in made.values():
        slot.discard()


@pytest.fixture
def slot(request, slots):
    """
    Nodes of one kernel, booted when the first scenario asks. A file with LINKS has them joined by so many,
    one with NODES has so many of them, two otherwise, and one with BOOT_OPTIONS gives the kernels these.
    """
    more = {name.lower(): getattr(request.module, name) for name in ("NODES", "BOOT_OPTIONS") if hasattr(request.module, name)}
    return slots(links=getattr(request.module, "LINKS", 1), **more)


@pytest.fixture
def nodes(slot):
    """Nodes without rblk, and the checks that hold after every scenario."""
    rig = Rig(slot)
    yield rig
    problems = rig.finish()
    if problems:
        pytest.fail("after the scenario:\n" + "\n".join(problems), pytrace=False)


@pytest.fixture
def rig(nodes):
    """Node A with rblk-server, node B with rblk-client; A listens on its first link. Others have rblk-server alone."""
    nodes.load()
    nodes.server.listen(nodes.address)
    return nodes


@pytest.fixture
def second(rig):
    """The server's address on the second link, for files with LINKS = 2; the client brings lost paths back."""
    rig.client.reconnect = True
    address = rig.a.ports[1].ipv4
    rig.server.listen(address)
    return address


@pytest.fixture
def seed():
    number = clock.seed()
    print(f"RBLK_SEED={number}")
    return number


@pytest.fixture(scope="session")
def peer_binary():
    target = _peer.build()
    yield target
    target.unlink()


@pytest.fixture
def peer(rig, peer_binary):
    """A client that breaks the rules, on B. The server must be well afterwards."""
    rig.server.export("disk", "8M")
    yield _peer.Peer(peer_binary, rig.b, rig.address)
    device = rig.client.map(rig.address, "disk")
    fio.verify(rig.b, device, bs="4k", size="256k", iodepth=8)


@pytest.fixture(scope="session")
def pattern():
    """tests/pattern/rblk-pattern.c, built."""
    with _pattern.built() as program:
        yield program


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Put the nodes' console tails beside a failure."""
    outcome = yield
    report = outcome.get_result()
    holder = item.funcargs.get("slot") if hasattr(item, "funcargs") else None
    if report.failed and holder and holder.lab and not (call.excinfo and call.excinfo.errisinstance(KeyboardInterrupt)):
        for node in holder.lab.nodes:
            try:
                report.sections.append((f"{node} ({node.console.path})", node.tail(30)))
            except (OSError, LabError):
                pass
