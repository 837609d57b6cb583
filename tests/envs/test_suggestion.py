"""Endings of messages about unknown names."""

from envs.suggestion import nearest


def test_a_misspelt_name_gets_the_nearest_one() -> None:
    assert nearest("iron-gear-weel", ["pipe", "iron-gear-wheel"]) == "did you mean iron-gear-wheel?"


def test_a_name_like_no_other_gets_what_is_known_cut_short_where_it_is_long() -> None:
    assert nearest("zzz", ["pipe", "gear"]) == "known are pipe, gear"
    assert nearest("zzz", [f"n{number}" for number in range(30)]).endswith("n19, ...")
