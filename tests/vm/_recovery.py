# SPDX-License-Identifier: GPL-2.0
"""What scenarios share in which paths are lost and come back."""
from _faults import Fault
from rblklab import fio
from rblklab.waits import until

BACK = 15.0  # the pauses between attempts grow to 0.8 s here; the machine may be slow


def paths(rig):
    return rig.client.json("session", "list")["client_sessions"][0]["paths"]


def path_of(rig, index=0):
    return paths(rig)[index]


def both_live(rig, limit=BACK):
    until(lambda: [path["state"] for path in paths(rig)] == ["live", "live"], limit, lambda: paths(rig))


def verifier(rig, device, runtime, **more):
    """I/O that checks what it reads; what it wrote in another generation too."""
    words = {"rw": "randwrite", "bs": "4k", "iodepth": 16, "size": "4m", "time_based": 1, "runtime": runtime, "verify": "crc32c",
             "verify_fatal": 1, "verify_backlog": 64, **more}
    job = rig.spawn(rig.b, fio.command(device, **words))
    rig.wait_for_io(device)
    return job


def verified(job, limit):
    """The job ended without an error, and did read; its longest I/O in seconds."""
    result = fio.parse(job.wait(limit).stdout)
    assert result["error"] == 0 and result["read"]["io_bytes"] > 0, result
    return max(result[way]["clat_ns"]["max"] for way in ("read", "write")) / 1e9


def hurry(rig):
    """No pauses between attempts: they grow with each loss, and a test has many."""
    rig.b.run("echo 1 > /sys/kernel/debug/rblk/hurry")


def break_next_post(rig):
    """The client's next post fails, which breaks the path where it is."""
    Fault(rig.b, "post").order(1, 5)


def lose(rig):
    """Break the path; its generation."""
    generation = path_of(rig)["generation"]
    break_next_post(rig)
    return generation


def back(rig, generation, limit=BACK):
    until(lambda: path_of(rig)["state"] == "live" and path_of(rig)["generation"] > generation, limit, lambda: path_of(rig))


def counts(rig):
    return [node.rdma_counts() for node in rig.lab.nodes]


def sent(rig, link):
    return rig.relay.counters()[link, rig.b.index]["bytes"]


def carries(rig, link):
    """I/O goes over LINK, and no other; what is sent again on a lost one comes to an end."""
    def only():
        before = sent(rig, 0), sent(rig, 1)
        rig.b.run("sleep 0.5")
        moved = [sent(rig, number) - before[number] for number in range(2)]
        return moved[link] > 100_000 and moved[1 - link] < moved[link] / 10

    until(only, 30, f"I/O on link {link} alone")


def ended(rig, job):
    """Stop I/O that checks what it reads; its longest request in seconds."""
    assert job.poll() is None, f"it ended by itself: {job.result}"
    rig.b.run("pkill -INT fio")
    result = fio.parse(job.wait(60, check=False).stdout)
    assert result["error"] == 0 and result["read"]["io_bytes"] > 0, result
    return max(result[way]["clat_ns"]["max"] for way in ("read", "write")) / 1e9
