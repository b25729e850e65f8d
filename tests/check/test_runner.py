# SPDX-License-Identifier: GPL-2.0
"""The runner: a part that fails, hangs or cannot run is never a good one."""
import pathlib
import subprocess
import time

import pytest

from rblkcheck import parts, runner
from rblkcheck.parts import Part

SUITE = "<testsuite><testcase name='t'>{}</testcase></testsuite>"


@pytest.fixture(autouse=True)
def out(tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "OUT", tmp_path)
    monkeypatch.setattr(runner, "OUT", tmp_path)
    return tmp_path


def shell(name, script, **kwargs):
    return Part(name, "a part", kwargs.pop("timeout", 30), (("sh", "-c", script),), **kwargs)


def run(*wanted):
    return runner.Runner(interactive=False).run([[part] for part in wanted])


def writes(out, name, result=""):
    return f"echo \"{SUITE.format(result)}\" > {out}/{name}.xml"


def test_a_part_without_tests_counts_only_when_it_fails():
    good, bad = run(shell("good", "true"), shell("bad", "exit 3"))
    assert (good.good, good.tests.total) == (True, 0)
    assert (bad.good, bad.tests.failed) == (False, 1)
    assert "ended with 3" in bad.tests.failures[0]


def test_tests_are_counted(out):
    [outcome] = run(shell("x", writes(out, "x"), tests=True))
    assert (outcome.good, outcome.tests.passed) == (True, 1)


def test_a_failed_test_counts_once_though_its_part_failed_too(out):
    [outcome] = run(shell("x", writes(out, "x", "<failure/>") + "; exit 1", tests=True))
    assert (outcome.good, outcome.tests.failed) == (False, 1)


def test_a_part_that_fails_after_good_tests_is_a_failure(out):
    [outcome] = run(shell("x", writes(out, "x") + "; exit 1", tests=True))
    assert (outcome.good, outcome.tests.passed, outcome.tests.failed) == (False, 1, 1)


def test_no_test_at_all_is_a_failure():
    [outcome] = run(shell("x", "true", tests=True))
    assert not outcome.good


def test_results_of_an_earlier_run_do_not_count(out):
    (out / "x.xml").write_text(SUITE.format(""))
    [outcome] = run(shell("x", "true", tests=True))
    assert not outcome.good


def test_the_parts_that_stand_on_a_failed_one_do_not_run_and_fail(out):
    outcomes = run(shell("a", "false"), shell("b", f"touch {out}/ran", needs=("a",)), shell("c", "true", needs=("b",)), shell("d", "true"))
    assert [outcome.good for outcome in outcomes] == [False, False, False, True]
    assert not (out / "ran").exists()
    assert outcomes[2].tests.failures == ["c: not run"]


def test_a_part_that_hangs_is_ended_with_its_children(out):
    began = time.monotonic()
    [outcome] = run(shell("x", f"echo begun; sleep 60 & echo $! > {out}/child; wait", timeout=1))
    assert time.monotonic() - began < 20
    assert not outcome.good and "still running" in outcome.tests.failures[0]
    assert "begun" in (out / "x.log").read_text()
    stat = pathlib.Path("/proc") / (out / "child").read_text().strip() / "stat"
    assert not stat.exists() or stat.read_text().split()[2] == "Z"


def test_the_second_command_does_not_run_after_a_failed_first(out):
    [outcome] = run(Part("x", "a part", 30, (("false",), ("touch", f"{out}/ran"))))
    assert not outcome.good and not (out / "ran").exists()


def test_a_program_that_does_not_exist_is_a_failure():
    [outcome] = run(Part("x", "a part", 30, (("/nonexistent/program",),)))
    assert not outcome.good


def test_parts_of_a_group_run_at_the_same_time(out):
    wait = "for i in $(seq 50); do [ -e {0}/{1} ] && exit 0; sleep 0.1; done; exit 1"
    first = shell("a", f"touch {out}/a; " + wait.format(out, "b"))
    second = shell("b", f"touch {out}/b; " + wait.format(out, "a"))
    outcomes = runner.Runner(interactive=False).run([[first, second]])
    assert all(outcome.good for outcome in outcomes)


def test_parts_are_chosen_by_name_first_word_and_kernel():
    def names(only, kernels):
        return [part.name for part in parts.chosen(only, kernels)]

    assert names(["vm"], []) == ["vm-lockdep", "vm-safety"]
    assert names(["vm", "lab"], ["safety"]) == ["lab", "vm-safety"]
    assert "kunit-safety" not in names([], []) and "kunit-safety" in names(["kunit"], [])
    assert "kernel-stock" in names([], ["safety"]) and "kernel-lockdep" not in names([], ["safety"])
    with pytest.raises(ValueError, match="no part is called nonsense"):
        parts.chosen(["nonsense"], [])


def test_what_waits_runs_beside_what_works():
    def names(only, kernels, parallel=True):
        return [[part.name for part in group] for group in parts.grouped(parts.chosen(only, kernels), parallel)]

    assert names(["vm", "wait", "lab"], []) == [["lab"], ["vm-lockdep", "vm-safety", "wait-safety", "wait-lockdep"]]
    assert names(["vm", "wait"], ["safety"]) == [["vm-safety", "wait-safety"]]
    assert names(["vm", "wait"], ["safety"], parallel=False) == [["vm-safety"], ["wait-safety"]]
    assert names(["kunit", "vm"], ["safety"]) == [["kunit-safety"], ["vm-safety"]]
    assert names([], [])[-1] == ["vm-lockdep", "vm-safety", "wait-safety", "wait-lockdep"]


def test_no_scenario_is_in_both_or_in_neither():
    """Plain 'pytest tests/vm' leaves out what waits, and says so; by name it runs."""
    def collected(*words):
        command = [parts.PYTHON, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider", *words, "--kernel", "safety"]
        return subprocess.run(command, cwd=parts.TOP, capture_output=True, text=True, check=True).stdout

    plain, waiting = collected("tests/vm"), collected("tests/vm/waiting")
    assert "left out: tests/vm/waiting" in plain and "left out" not in waiting
    assert "tests/vm/waiting/test_" not in plain and "tests/vm/test_fio.py" in plain
    lines = [line for line in waiting.splitlines() if "::" in line]
    assert lines and all(line.startswith("tests/vm/waiting/") for line in lines)


def test_every_part_needs_earlier_ones_only():
    seen = set()
    for part in parts.PARTS:
        assert seen.issuperset(part.needs), part.name
        seen.add(part.name)
