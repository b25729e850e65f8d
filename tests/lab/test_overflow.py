# SPDX-License-Identifier: GPL-2.0
"""The signs of a queue that was too short."""
from rblklab.overflow import complaints, moved, parse

BEFORE = """\
/sys/class/infiniband/rxe0/ports/1/hw_counters 100 rcvd_rnr_err 0
/sys/class/infiniband/rxe0/ports/1/hw_counters 100 send_rnr_err 3
"""


def test_what_stays_is_no_news():
    assert parse(BEFORE) == {("rxe0", "1", "100", "rcvd_rnr_err"): 0, ("rxe0", "1", "100", "send_rnr_err"): 3}
    assert not moved(parse(BEFORE), parse(BEFORE))
    assert not moved({}, parse(""))


def test_a_counter_that_moves_is_named():
    assert moved(parse(BEFORE), parse(BEFORE.replace("err 3", "err 4"))) == ["rxe0 port 1: send_rnr_err went from 3 to 4"]


def test_a_device_that_came_anew_began_with_nothing():
    assert not moved(parse(BEFORE), parse(BEFORE.replace(" 100 ", " 200 ").replace("err 3", "err 0")))
    assert moved(parse(BEFORE), parse(BEFORE.replace(" 100 ", " 200 "))) == ["rxe0 port 1: send_rnr_err went from 0 to 3"]


def test_full_queues_are_read_from_the_log():
    for line in ("rxe0: qp#17 rxe_post_send: send queue full", "rxe0: cq#3 rxe_cq_post: queue full",
                 "rblk0: the connection to the server is lost (a request could not be posted), I/O fails"):
        assert complaints(f"[    1.000000] {line}\n") == [f"[    1.000000] {line}"]
    assert not complaints("[    1.000000] rblk0: the connection to the server is lost (transport error), I/O fails\n")
