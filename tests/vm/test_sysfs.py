# SPDX-License-Identifier: GPL-2.0
"""The attributes of a device, read all the time while devices come and go, and fed with junk."""
import collections

from rblklab import fio
from rblklab.rundir import TOP

PROGRAM = str(TOP / "tests/guest/sysfs_churn.py")
FACTS = ("state reason export server session incarnation backing persistent shared queues depth extent_size extents policy "
         "write_order strict_writes").split()
COUNTERS = ("reads writes read_bytes write_bytes errors").split()
PATH = ("state server source rdma_device generation active drained losses last_error tos ack_timeout retry_count").split()
TUNED = {"tos": "0", "ack_timeout": "17", "retry_count": "6"}  # of a path, as it is mapped


def test_attributes_are_read_while_devices_come_and_go(rig):
    """Under I/O, through a withdrawal by the server, and through the module's end."""
    rig.server.export("disk", "8M")
    rig.b.run("rm -f /run/stop /run/stop.begun")
    reader = rig.spawn(rig.b, ["/usr/bin/python3", PROGRAM, "read", "/run/stop"])
    rig.b.run("for i in $(seq 300); do [ -e /run/stop.begun ] && exit; sleep 0.1; done; exit 1")
    rounds = 12 if rig.kind == "safety" else 6
    for number in range(rounds):
        device = rig.client.map(rig.address, "disk")
        fio.run(rig.b, device, rw="randrw", bs="4k", size="256k", iodepth=16)
        if number == 1:
            rig.server("export", "remove", "disk", "--force")
            rig.server.export("disk", "8M")
        rig.client.unmap(device)
    rig.client.map(rig.address, "disk")
    rig.b.rmmod("rblk-client")
    rig.b.run("touch /run/stop")
    done = reader.wait(60)
    times = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())
    ours = [f"/sys/block/rblk0/{folder}/{name}" for folder, names in (("rblk", FACTS), ("rblk-queue0", COUNTERS), ("rblk-path0", PATH),
                                                                      ("rblk-path7", PATH)) for name in names]
    assert not [path for path in ours if int(times.get(path, 0)) < 3], times


def test_junk_written_into_attributes(rig):
    """Rblk's own take none of it; what the block layer's make of junk leaves the device well."""
    rig.server.export("disk", "8M")
    device = rig.client.map(rig.address, "disk")
    job = rig.spawn(rig.b, fio.command(device, rw="randread", bs="4k", iodepth=8, size="4m", time_based=1, runtime=60))
    rig.wait_for_io(device)
    said = rig.b.run(["/usr/bin/python3", PROGRAM, "write", device[5:]], timeout=120).stdout.splitlines()
    answers = collections.defaultdict(dict)
    for line in said:
        path, junk, answer = line.split()
        answers[path][junk] = answer
    own = "rblk/no_path_timeout_ms"
    words = {"rblk/policy": "preferred", "rblk/write_order": "auto"}
    tuned = [f"rblk-path{number}/{name}" for number in range(8) for name in TUNED]
    assert sorted(path for path in answers if path.startswith("rblk")) == sorted([own, *words, *tuned]), "which attributes of ours can be written"
    for path, value in words.items():
        assert answers[path].pop("nothing") == "taken" and set(answers[path].values()) == {"EINVAL"}, answers[path]
        assert rig.b.read(f"/sys/block/{device[5:]}/{path}").strip() == value
    for path in (own, *tuned):
        assert {answers[path].pop(junk) for junk in ("huge", "1-MiB")} == {"ERANGE"}, (path, answers[path])
        # A write of nothing does not reach it
        assert answers[path].pop("nothing") == "taken" and set(answers[path].values()) == {"EINVAL"}, (path, answers[path])
    assert rig.b.read(f"/sys/block/{device[5:]}/{own}").strip() == "30000"
    assert {name: rig.b.read(f"/sys/block/{device[5:]}/rblk-path0/{name}").strip() for name in TUNED} == TUNED
    assert "queue/nr_requests" in answers and "queue/read_ahead_kb" in answers, sorted(answers)
    # What is no number at all is refused, whatever it is written to
    assert {answers["queue/nr_requests"][junk] for junk in ("words", "no-UTF-8", "a-newline")} == {"EINVAL"}, answers["queue/nr_requests"]
    assert rig.client.devices()[device]["state"] == "live"
    assert job.poll() is None, job.result
    fio.verify(rig.b, device, bs="4k", size="256k", iodepth=8)
    job.kill()
    rig.client.unmap(device)
