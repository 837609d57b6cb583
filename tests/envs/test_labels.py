"""Short names tell items apart; rates show the exact fraction."""

from fractions import Fraction

from envs.catalogue import ITEMS
from envs.labels import rate_text, short_name


def test_short_names_tell_all_items_apart() -> None:
    names = {short_name(item) for item in ITEMS}
    assert len(names) == len(ITEMS)
    assert max(map(len, names)) <= 9


def test_rate_shows_decimal_and_fraction() -> None:
    assert rate_text(Fraction(15, 2)) == "7.5 items/s (15/2)"
    assert rate_text(Fraction(15)) == "15 items/s"
    assert rate_text(Fraction(0)) == "0 items/s"
