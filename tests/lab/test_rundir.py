# SPDX-License-Identifier: GPL-2.0
"""Run folders: unique, and the old ones go, but never one in use."""
import os

from rblklab import rundir


def test_old_runs_go_but_not_those_in_use(tmp_path):
    dead = [f"20260101-0000{n:02d}-4999999" for n in range(rundir.KEEP_RUNS + 3)]
    mine = f"20250101-000000-{os.getpid()}"
    for name in [*dead, mine, "20260101-notes", "kept"]:
        (tmp_path / name).mkdir()
    rundir.drop_old_runs(tmp_path)
    left = {path.name for path in tmp_path.iterdir()}
    assert {mine, "20260101-notes", "kept"} <= left
    assert left & set(dead) == set(dead[-rundir.KEEP_RUNS:])


def test_two_runs_at_once_have_folders_of_their_own(tmp_path):
    one, two = rundir.Run(tmp_path), rundir.Run(tmp_path)
    assert one.folder != two.folder
    one.close()
    two.close()
