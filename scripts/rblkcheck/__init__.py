# SPDX-License-Identifier: GPL-2.0
"""What scripts/check is made of: parts, how they run, how their tests are counted."""
