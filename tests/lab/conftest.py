# SPDX-License-Identifier: GPL-2.0
"""Tests of the lab itself that need no node."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
