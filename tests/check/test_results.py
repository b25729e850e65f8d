# SPDX-License-Identifier: GPL-2.0
"""Counting: no test may get lost, and none count that did not run."""
from rblkcheck import results

SUITE = """<?xml version="1.0"?>
<testsuites><testsuite name="s">
<testcase classname="a" name="good"><system-out>KUnit on safety: 70 passed, 2 failed, 1 skipped in 9 suites
</system-out></testcase>
<testcase classname="a" name="bad"><failure message="m">why</failure></testcase>
<testcase classname="a" name="broken"><error message="m">why</error></testcase>
<testcase classname="a" name="left"><skipped message="m"/></testcase>
</testsuite></testsuites>
"""


def test_every_kind_of_result_counts_and_kunit_cases_too(tmp_path):
    (tmp_path / "x.xml").write_text(SUITE)
    tests = results.read(tmp_path / "x.xml")
    assert (tests.passed, tests.failed, tests.skipped) == (71, 4, 2)
    assert tests.failures == ["a KUnit case on safety", "a KUnit case on safety", "a::bad: m", "a::broken: m"]
    assert tests.text() == "71 passed, 4 failed, 2 skipped"


def test_a_reason_is_one_short_line(tmp_path):
    long = "x" * (results.REASON + 1)
    for given, shown in (("a\n  b", "c: a b"), ("", "c"), (long, f"c: {long[:-1]} ...")):
        text = given.replace("\n", "&#10;")
        (tmp_path / "x.xml").write_text(f'<testsuite><testcase name="c"><failure message="{text}"/></testcase></testsuite>')
        assert results.read(tmp_path / "x.xml").failures == [shown]


def test_a_file_that_is_missing_empty_or_cut_off_has_no_test(tmp_path):
    assert results.read(tmp_path / "none.xml").total == 0
    for text in ("", SUITE[:200]):
        (tmp_path / "x.xml").write_text(text)
        assert results.read(tmp_path / "x.xml").total == 0


def test_the_closing_words():
    assert results.Tests(passed=3).text() == "3 passed, 0 failed"
