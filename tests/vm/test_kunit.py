# SPDX-License-Identifier: GPL-2.0
"""The pure parts of rblk-core, tested in the kernel they run in."""
from rblklab import ktap

FOLDER = "/sys/kernel/debug/kunit"
MODULES = ("rblk-core", "rblk-kunit")


def test_all_suites_pass(nodes):
    node = nodes.a
    node.insmod(*MODULES)
    suites = node.run(f"cd {FOLDER} && ls -d rblk* 2>/dev/null || true").stdout.split()
    assert suites, "the module has no suite whose name begins with rblk"
    total = ktap.Counts()
    for suite in suites:
        counts = ktap.parse(node.read(f"{FOLDER}/{suite}/results"))
        assert counts.total, f"{suite}: no case"
        total.add(counts)
    print(f"KUnit on {nodes.kind}: {len(total.passed)} passed, {len(total.failed)} failed, "
          f"{len(total.skipped)} skipped in {len(suites)} suites")
    assert not total.failed
    assert not total.skipped, "a skipped case is not a passed one"
