# SPDX-License-Identifier: GPL-2.0
"""Let the tests import what scripts/check is made of."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
