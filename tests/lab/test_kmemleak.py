# SPDX-License-Identifier: GPL-2.0
"""Reading kmemleak's reports, also those of a module that is no longer there."""
from rblklab.kmemleak import parse
from rblklab.splat import judge

REPORT = """\
unreferenced object 0x0000000064c0a000 (size 1024):
  comm "insmod", pid 123, jiffies 4294938000
  hex dump (first 32 bytes):
    00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00  ................
  backtrace (crc 1234abcd):
    kmalloc_noprof+0x10/0x20
    0x62001010
    do_one_initcall+0x1/0x2
unreferenced object 0x0000000064c0b000 (size 64):
  comm "swapper", pid 1, jiffies 4294937296
  backtrace (crc 0):
    acpi_foo+0x10/0x20
"""
TABLE = [(0x62000000, "rblk_init [rblk_core]"), (0x62001000, "rblk_dev_add [rblk_core]")]


def test_one_report_an_object():
    assert len(parse(REPORT, [])) == 2
    assert not parse("", [])


def test_addresses_of_an_unloaded_module_are_named():
    leaks = parse(REPORT, TABLE)
    assert "rblk_dev_add [rblk_core]" in str(leaks[0])
    assert leaks[0].ours
    assert not leaks[1].ours


def test_far_addresses_stay_unnamed():
    assert not parse(REPORT.replace("0x62001010", "0x72001010"), TABLE)[0].ours


def test_a_leak_with_no_entry_in_the_allowlist_counts_whoever_made_it():
    assert len(judge(parse(REPORT, []), "safety", "6.12.117", ())) == 2
