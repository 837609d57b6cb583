"""Settings out of range are refused with a message that names them."""

import pytest

from factorio_rl.search import SearchSettings, SearchSettingsError


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("num_simulations", 0),
        ("num_simulations", -3),
        ("max_num_considered_actions", 0),
        ("max_depth", 0),
        ("value_scale", 0.0),
        ("value_scale", -1.0),
        ("value_scale", float("nan")),
        ("maxvisit_init", -1.0),
        ("maxvisit_init", float("inf")),
        ("epsilon", 0.0),
        ("epsilon", 1e-46),
        ("epsilon", float("nan")),
        ("num_simulations", 2.5),
        ("tree", "auto"),
    ],
)
def test_setting_out_of_range_is_refused_by_name(name, value):
    with pytest.raises(SearchSettingsError, match=rf"{name} is {value}; set it"):
        SearchSettings(**{"num_simulations": 8, name: value})


def test_bad_settings_are_value_errors():
    assert issubclass(SearchSettingsError, ValueError)


def test_depth_limit_is_never_above_the_budget():
    assert SearchSettings(8).depth_limit == 8
    assert SearchSettings(8, max_depth=3).depth_limit == 3
    assert SearchSettings(8, max_depth=30).depth_limit == 8
