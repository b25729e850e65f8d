# SPDX-License-Identifier: GPL-2.0
"""The netlink families against everything that is wrong, and against lists that are read while they change.

What broke: a list in which something early was removed while it was read left out what came later, and did not say so.
"""
import json

import yaml

from rblklab.rundir import TOP

PROGRAMS = str(TOP / "tests/guest")
SPECS = TOP / "Documentation/netlink/specs"


def spec_of(node, side):
    spec = yaml.safe_load((SPECS / f"rblk-{side}.yaml").read_text())
    return node.put(json.dumps(spec).encode())


def test_each_command_with_all_that_is_wrong(rig, seed):
    """Errno and text of each are what the spec makes of it; as nobody too. Nothing is done, and all is as before."""
    rig.server.export("disk", "8M")
    device = rig.client.map(rig.address, "disk")
    rounds = 600 if rig.kind == "safety" else 200
    for node, side in ((rig.a, "server"), (rig.b, "client")):
        result = node.run(["/usr/bin/python3", f"{PROGRAMS}/netlink_junk.py", spec_of(node, side), str(seed), str(rounds)],
                          timeout=120, check=False)
        assert result.code == 0, f"seed {seed}: {result.stdout}{result.stderr}"
        assert int(result.stdout.split()[-2]) > rounds + 500
    assert [export["name"] for export in rig.server.json("export", "list")["exports"]] == ["disk"]
    assert len(rig.server.json("listen", "list")["listeners"]) == 1
    assert list(rig.client.devices()) == [device]


def test_lists_that_change_while_they_are_read(rig):
    """Two processes add and remove, one reads and gives up reading, one follows the events."""
    rounds = 60 if rig.kind == "safety" else 25
    result = rig.a.run(["/usr/bin/python3", f"{PROGRAMS}/netlink_change.py", spec_of(rig.a, "server"), str(rounds)], timeout=120, check=False)
    assert result.code == 0, f"{result.stdout}{result.stderr}"
    assert not rig.server.json("export", "list")["exports"]
