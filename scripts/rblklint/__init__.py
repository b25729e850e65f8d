# SPDX-License-Identifier: GPL-2.0
"""The static checks of scripts/lint."""
