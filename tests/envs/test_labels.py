"""Short names tell items apart; rates show the exact fraction."""

from fractions import Fraction

from envs.catalogue import ITEMS
from envs.labels import TIERS, rate_text, short_name
from envs.layout import MACHINE_KINDS, PROTOTYPES


def test_short_names_tell_all_items_apart() -> None:
    names = {short_name(item) for item in ITEMS}
    assert len(names) == len(ITEMS)
    assert max(map(len, names)) <= 10


def test_tiers_mark_all_machines_but_the_first_of_each_kind() -> None:
    machines = {name for kind in MACHINE_KINDS for name in PROTOTYPES[kind][1:]}
    assert set(TIERS) == machines


def test_rate_shows_decimal_and_fraction() -> None:
    assert rate_text(Fraction(15, 2)) == "7.5 items/s (15/2)"
    assert rate_text(Fraction(15)) == "15 items/s"
    assert rate_text(Fraction(0)) == "0 items/s"
