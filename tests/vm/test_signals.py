# SPDX-License-Identifier: GPL-2.0
"""The tool is interrupted or killed at random moments of a map and of an unmap."""
import json
import random
import shlex

from rblklab.rundir import TOP
from rblklab.waits import counts_return, sessions_end, works

# With --full. Else half, and on lockdep, where a map takes four times as long, a fifth
ROUNDS = 300
PART = {"safety": 2, "lockdep": 5, "stock": 2}
HALF_BUILT_LIMIT = 35.0  # documented: 30 s, for a path whose client did not go on


def test_map_and_unmap_are_done_or_undone(rig, request):
    """See tests/peer/signal-rounds.py for what must hold after each round."""
    rig.server.export("disk", "8M")
    rounds = ROUNDS if request.config.getoption("--full") else ROUNDS // PART[rig.kind]
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    words = [str(TOP / "tests/peer/signal-rounds.py"), str(rig.b.kernel.tool), rig.address, "disk", str(rounds), str(seed)]
    seen = json.loads(rig.b.run(shlex.join(words), timeout=600).stdout)
    print(seen)
    # Else the moments were not spread over the commands, and nothing was tested
    for what in ("map killed", "mapped", "not mapped", "unmap killed", "unmapped", "still mapped"):
        assert seen.get(what, 0) >= rounds / 30, seen
    assert not rig.client.devices() and not rig.client.json("session", "list")["client_sessions"]
    counts_return(rig, rig.b)
    sessions_end(rig, HALF_BUILT_LIMIT)
    counts_return(rig, rig.a)
    works(rig, rig.address, "disk")
