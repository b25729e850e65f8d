# SPDX-License-Identifier: GPL-2.0
"""Counting KUnit cases."""
from rblklab.ktap import parse

SUITE = """\
KTAP version 1
1..1
    KTAP version 1
    # Subtest: rblk_addr
    # module: rblk_kunit
    1..3
        KTAP version 1
        # Subtest: addr_parse
        ok 1 ipv4
        {second} 2 ipv6
    # addr_parse: pass:2 fail:0 skip:0 total:2
    {parent} 1 addr_parse
    ok 2 addr_port
    ok 3 addr_scope # SKIP not here
# rblk_addr: pass:2 fail:0 skip:1 total:3
{parent} 1 rblk_addr
"""


def test_leaves_are_counted_once():
    counts = parse(SUITE.format(second="ok", parent="ok"))
    assert (counts.passed, counts.failed, len(counts.skipped)) == (["ipv4", "ipv6", "addr_port"], [], 1)


def test_a_failed_part_fails_once():
    counts = parse(SUITE.format(second="not ok", parent="not ok"))
    assert counts.failed == ["ipv6"]


def test_a_failed_parent_of_good_parts_is_not_lost():
    assert parse(SUITE.format(second="ok", parent="not ok")).failed == ["addr_parse"]


def test_nothing_is_nothing():
    assert parse("KTAP version 1\n1..0\n").total == 0
