# SPDX-License-Identifier: GPL-2.0
"""The console scanner: what it finds, what it leaves alone, what may be allowed."""
import re

import pytest

from rblklab.splat import Allowed, find, judge, load_allowlist

CLEAN = """\
SeaBIOS (version 1.16)
[    0.000000] Linux version 6.12.117 (x) #1 SMP
[    0.000000] Kernel command line: console=ttyS0 WARNING: BUG: not a report
[    0.100000] KernelAddressSanitizer initialized
[    0.200000] kmemleak: Kernel memory leak detector initialized (mem pool available: 37990)
[    1.000000] kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)
WARNING: a program wrote this on the console
[    2.000000] rblk_client: rblk0: connected to 10.77.0.1:7471
[    3.000000] rdma_rxe: loaded
"""
WARN = """\
[   10.000000] ------------[ cut here ]------------
[   10.000001] WARNING: CPU: 1 PID: 77 at block/blk-mq.c:1234 blk_mq_foo+0x10/0x20
[   10.000002] Modules linked in: {modules}
[   10.000003] CPU: 1 UID: 0 PID: 77 Comm: {comm} Not tainted 6.12.117 #1
[   10.000004] RIP: 0010:{top}+0x10/0x20
[   10.000005] Call Trace:
[   10.000006]  <TASK>
[   10.000007]  {caller}+0x1/0x2
[   10.000008]  </TASK>
[   10.000009] ---[ end trace 0000000000000000 ]---
"""
SAMPLES = {
    "warn": "WARNING: CPU: 0 PID: 1 at lib/x.c:5 foo+0x1/0x2",
    "bug": "kernel BUG at mm/slub.c:448!",
    "oops": "Oops: 0000 [#1] PREEMPT SMP",
    "null": "BUG: kernel NULL pointer dereference, address: 0000000000000008",
    "gpf": "Oops: general protection fault, probably for non-canonical address 0xdead000000000100: 0000 [#1]",
    "kasan": "BUG: KASAN: slab-use-after-free in foo+0x1/0x2",
    "ubsan": "UBSAN: array-index-out-of-bounds in drivers/x.c:12:3",
    "circular": "WARNING: possible circular locking dependency detected",
    "inconsistent": "WARNING: inconsistent lock state",
    "recursive": "WARNING: possible recursive locking detected",
    "rcu": "WARNING: suspicious RCU usage",
    "sleeping": "BUG: sleeping function called from invalid context at kernel/locking/mutex.c:585",
    "hung": "INFO: task kworker/0:1:12 blocked for more than 60 seconds.",
    "leak": "unreferenced object 0xffff888100000000 (size 64):",
    "refcount": "refcount_t: underflow; use-after-free.",
    "list": "list_del corruption. prev->next should be ffff, but was dead",
    "odebug": "ODEBUG: free active (active state 0) object: 0 object type: timer_list",
    "soft": "watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [fio:99]",
    "stall": "rcu: INFO: rcu_preempt self-detected stall on CPU",
    "stall2": "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:",
    "trace": "Call Trace:",
    "panic": "Kernel panic - not syncing: Attempted to kill init!",
    "workqueue": "BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 31s!",
    "alloc": "fio: page allocation failure: order:10, mode:0xcc0(GFP_KERNEL)",
    "atomic": "BUG: scheduling while atomic: swapper/0/0/0x00000100",
}


def warn(modules="rdma_rxe", comm="fio", top="blk_mq_foo", caller="do_syscall_64"):
    return WARN.format(modules=modules, comm=comm, top=top, caller=caller)


def entry(title, kernel="lockdep .*"):
    return (Allowed(re.compile(title), re.compile(kernel), "a test"),)


def test_clean_log_has_no_report():
    assert not find(CLEAN)


@pytest.mark.parametrize("line", SAMPLES.values(), ids=SAMPLES)
def test_every_kind_of_report_is_found(line):
    reports = find(CLEAN + f"[   20.000000] {line}\n")
    assert [report.title for report in reports] == [line]


@pytest.mark.parametrize("stamp", ["[    5.123456] ", "[   12.000001][  T123] ", "[   12.000001][    C1] ", "[99999.000001]  "])
def test_forms_of_the_time_stamp(stamp):
    assert len(find(f"{stamp}BUG: KASAN: double-free in foo+0x1/0x2\n")) == 1


def test_report_after_a_program_wrote_half_a_line():
    assert len(find("progress 50%[   20.000000] WARNING: CPU: 0 PID: 1 at lib/x.c:5 foo+0x1/0x2\n")) == 1


def test_a_report_is_one_report_with_its_whole_trace():
    reports = find(CLEAN + warn() + CLEAN)
    assert len(reports) == 1
    assert "do_syscall_64+0x1/0x2" in str(reports[0])
    assert "rdma_rxe: loaded" not in str(reports[0])


def test_the_text_of_a_warning_belongs_to_its_title():
    text = warn().replace("[   10.000002] Mod", "[   10.000002] list_del corruption. prev\n[   10.000002] Mod")
    report, = find(text)
    assert report.title.endswith("blk_mq_foo+0x10/0x20: list_del corruption. prev")


def test_two_reports_in_a_row_are_two():
    assert len(find(warn() + warn())) == 2


def test_lock_report_is_one_report_from_banner_to_trace():
    lines = ["======================================================", "WARNING: possible circular locking dependency detected",
             "6.12.117 #1 Not tainted", "------------------------------------------------------",
             "fio/1 is trying to acquire lock:", "ffff (&x->lock){+.+.}-{3:3}, at: foo+0x1/0x2", "but task is already holding lock:",
             "ffff (&y->lock){+.+.}-{3:3}, at: rblk_session_close+0x1/0x2 [rblk_client]", "the existing dependency chain is:",
             *[f"       step{i}+0x1/0x2" for i in range(30)],
             "stack backtrace:", "CPU: 0 PID: 1 Comm: fio", "Call Trace:", " foo+0x1/0x2"]
    reports = find("".join(f"[    1.{i:06d}] {line}\n" for i, line in enumerate(lines)))
    assert len(reports) == 1
    assert reports[0].ours


def test_a_report_after_a_trace_without_an_end_is_a_report_of_its_own():
    text = "".join(f"[    1.{i:06d}] {line}\n" for i, line in enumerate([
        "BUG: sleeping function called from invalid context at x.c:1", "Call Trace:", " foo+0x1/0x2",
        "BUG: KASAN: slab-use-after-free in rblk_x+0x1/0x2 [rblk_core]"]))
    assert [report.ours for report in find(text)] == [False, True]


def test_kasan_report_ends_at_its_ruler():
    lines = ["=" * 66, "BUG: KASAN: slab-use-after-free in foo+0x1/0x2", *[f" frame{i}+0x1/0x2" for i in range(20)], "=" * 66,
             "rblk_client rblk0 something else"]
    report, = find("".join(f"[    1.{i:06d}] {line}\n" for i, line in enumerate(lines)))
    assert not report.ours


def test_ours_is_told_by_any_mention_but_loaded_modules_and_our_own_messages():
    assert not find(warn(modules="rblk_client rblk_core"))[0].ours
    assert find(warn(top="rblk_queue_rq"))[0].ours
    assert find(warn(caller="rblk_queue_rq"))[0].ours
    assert find(warn(comm="rblk"))[0].ours
    own_message = warn().replace("[   10.000005] Call", "[   10.000005] rblk_client: rblk0: path lost\n[   10.000005] Call")
    assert not find(own_message)[0].ours


def test_allowed_only_for_its_kernel_and_never_for_ours():
    allow = entry(r"at block/blk-mq\.c")
    assert not judge(find(warn()), "lockdep", "6.12.117", allow)
    assert judge(find(warn()), "stock", "6.12.117", allow)
    assert judge(find(warn(top="rblk_queue_rq")), "lockdep", "6.12.117", allow)
    assert judge(find(warn(caller="rblk_queue_rq")), "lockdep", "6.12.117", allow)
    assert judge(find(warn()), "lockdep", "6.12.117", entry("at block/other"))
    assert judge(find(warn()), "lockdep", "6.12.117", ())


def test_the_allowlist_itself():
    for item in load_allowlist():
        assert item.reason.strip()
        assert not item.pattern.search(""), "an entry that matches everything"
        assert "rblk" not in item.pattern.pattern


VMALLOC = """\
[   10.000001] rblk: vmalloc error: size 8192, page order 0, failed to allocate pages, mode:0xcc0(GFP_KERNEL)
[   10.000005] Call Trace:
[   10.000006]  {frame}+0x1f7/0x400
[   10.000007]  rblk_conn_create+0x1/0x2 [rblk_core]
"""


@pytest.mark.parametrize("frame, is_so", [("warn_alloc", True), ("warn_slowpath_fmt", False)])
def test_want_of_memory_is_told_from_other_traces(frame, is_so):
    [report] = find(VMALLOC.format(frame=frame))
    assert report.want_of_memory is is_so


def test_a_use_after_free_is_no_want_of_memory():
    text = "[   10.000001] BUG: KASAN: slab-use-after-free in warn_alloc+0x1/0x2\n[   10.000005] Call Trace:\n"
    [report] = find(text)
    assert not report.want_of_memory
