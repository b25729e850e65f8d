# SPDX-License-Identifier: GPL-2.0
"""scripts/soak for a minute, so that it is known to work when somebody wants it for a night."""
import pytest

from rblklab.soak import Soak

LINKS = 2
SECONDS = 60


def test_a_minute(nodes, seed):
    soak = Soak(nodes, seed)
    try:
        soak.run(SECONDS)
    finally:
        print(soak.summary())
    assert set(soak.count) == set(soak.kinds) and not soak.violations
    assert soak.done["writes"] and soak.done["reads"] and soak.done["fio"]


@pytest.mark.parametrize("whose, said", [("sequence", "the sequence checker has ended"), ("fio", "fio has ended")])
def test_what_is_wrong_ends_it(nodes, seed, whose, said):
    """Somebody writes over the blocks of the checker, or over those of fio."""
    soak = Soak(nodes, seed)
    soak.set_up()
    spoil = nodes.spawn(nodes.b, f"while dd if=/dev/zero of={soak.devices[whose]} bs=256k count=4 oflag=direct status=none; do :; done")
    with pytest.raises(AssertionError, match=said):
        for _ in range(10):
            soak.step("post fails")
    spoil.kill()
    found = whose == "sequence"
    assert len(soak.violations) == found and f"violations: {found:d}" in soak.summary(), soak.summary()
