# SPDX-License-Identifier: GPL-2.0
"""Each way to be refused has an exit code and a message of its own."""
import pytest

from rblklab import rblk


def refused(rig, code, *words, mentions=()):
    result = rig.client(*words, check=False, timeout=60)
    assert result.code == code, result
    assert result.stdout == ""
    for word in mentions:
        assert word in result.stderr, result.stderr
    assert len(result.stderr.strip().splitlines()) <= 3, "a refusal is a line, not a page"
    assert not rig.client.devices()
    return result.stderr.strip()


def test_each_refusal_has_its_own_message(rig):
    rig.server.export("private", "8M", ("somebody-else",))
    rig.server.export("taken", "8M")
    address = rig.address
    messages = [
        refused(rig, rblk.NOT_FOUND, "map", address, "no-such-export", mentions=["no-such-export"]),
        refused(rig, rblk.DENIED, "map", address, "private", mentions=["private"]),
        refused(rig, rblk.UNREACHABLE, "map", f"{address}:7999", "taken", mentions=[address, "7999"]),
        refused(rig, rblk.UNREACHABLE, "map", "10.77.0.99", "taken", "--timeout", "5", mentions=["10.77.0.99"]),
        refused(rig, rblk.USAGE, "map", address),
        refused(rig, rblk.USAGE, "map", address, "bad/name"),
        refused(rig, rblk.NOT_FOUND, "unmap", "/dev/rblk77", mentions=["rblk77"]),
    ]
    assert len(set(messages)) == len(messages), messages


def test_a_second_writer_is_busy(rig):
    rig.server.export("disk", "8M")
    device = rig.client.map(rig.address, "disk")
    second = rig.client("map", rig.address, "disk", "--client-name", "second", check=False)
    assert second.code == rblk.BUSY, second
    assert "disk" in second.stderr
    assert list(rig.client.devices()) == [device]
    rig.client.unmap(device)
    device = rig.client.map(rig.address, "disk", "--client-name", "second")
    rig.client.unmap(device)


def test_a_shared_export_takes_two_writers(rig):
    rig.server.export("disk", "8M", ("any",), "--shared")
    one = rig.client.map(rig.address, "disk", "--client-name", "first")
    two = rig.client.map(rig.address, "disk", "--client-name", "second")
    rig.b.run(f"yes one | head -c 65536 | dd of={one} bs=64k seek=0 iflag=fullblock oflag=direct")
    rig.b.run(f"yes two | head -c 65536 | dd of={two} bs=64k seek=1 iflag=fullblock oflag=direct")
    for device in (one, two):
        seen = [rig.b.run(f"dd if={device} bs=64k skip={n} count=1 iflag=direct status=none | head -c 3").stdout for n in (0, 1)]
        assert seen == ["one", "two"], device


def test_allowed_clients_are_let_in_by_name(rig):
    rig.server.export("disk", "8M", ("someone", rig.b.name))
    device = rig.client.map(rig.address, "disk")
    assert rig.client.devices()[device]["client_name"] == rig.b.name


def test_nobody_is_allowed_unless_named(rig):
    rig.server("export", "add", "disk", "--memory", "8M")
    refused(rig, rblk.DENIED, "map", rig.address, "disk", mentions=["disk"])


def test_server_side_refusals(rig):
    rig.server.export("disk", "8M")
    again = rig.server("export", "add", "disk", "--memory", "8M", check=False)
    assert again.code not in (0, rblk.USAGE) and "disk" in again.stderr
    missing = rig.server("export", "remove", "no-such-export", check=False)
    assert missing.code == rblk.NOT_FOUND and "no-such-export" in missing.stderr
    device = rig.client.map(rig.address, "disk")
    in_use = rig.server("export", "remove", "disk", check=False)
    assert in_use.code == rblk.BUSY and "disk" in in_use.stderr
    rig.client.unmap(device)


def test_more_memory_than_there_is_is_an_error_and_not_an_oom_kill(rig):
    result = rig.server("export", "add", "huge", "--memory", "64G", check=False, timeout=60)
    assert result.code == 1, result
    assert "memory" in result.stderr
    assert not rig.server.json("export", "list")["exports"]
    assert "oom-kill" not in rig.a.console.text(rig.marks[rig.a])


@pytest.mark.parametrize("words", [("device", "list"), ("map", "10.77.0.1", "disk")])
def test_without_the_module(nodes, words):
    result = nodes.client(*words, check=False)
    assert result.code == rblk.NO_MODULE, result
    assert "rblk" in result.stderr and "modprobe" in result.stderr
