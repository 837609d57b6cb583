"""Dotted overrides as raw mappings."""

from factorio_rl.overrides import merged, parse_overrides


def test_overrides_take_values_after_equals_or_as_next_argument() -> None:
    arguments = ["--a.b-c=1e-3", "--a.d", "null", "--a.e=[x, y]", "--a.f", "x", "y", "--a.g", "-1"]
    values, problems = parse_overrides(arguments)
    assert problems == []
    assert values == {
        "a.b_c": 0.001,
        "a.d": None,
        "a.e": ["x", "y"],
        "a.f": ["x", "y"],
        "a.g": -1,
    }


def test_last_override_of_a_field_wins() -> None:
    assert parse_overrides(["--a.b_c=1", "--a.b-c=2"]) == ({"a.b_c": 2}, [])


def test_override_problems_are_all_reported() -> None:
    values, problems = parse_overrides(["stray", "--a.b", "--a.c=[", "--a.d=4"])
    assert values == {"a.d": 4}
    assert [problem.split(":")[0] for problem in problems] == ["stray", "a.b", "a.c"]


def test_merging_leaves_the_base_alone() -> None:
    base = {"a": {"b": 1, "c": 2}, "e": 3}
    assert merged(base, {"a.b": 5, "d.x": 6, "e.y": 7}) == {
        "a": {"b": 5, "c": 2},
        "d": {"x": 6},
        "e": 3,
    }
    assert base == {"a": {"b": 1, "c": 2}, "e": 3}


def test_merging_reaches_sections_of_any_depth() -> None:
    base = {"a": {"b": {"c": 1, "d": 2}}}
    assert merged(base, {"a.b.c": 5, "a.e.f": 6, "g.h.i.j": 7}) == {
        "a": {"b": {"c": 5, "d": 2}, "e": {"f": 6}},
        "g": {"h": {"i": {"j": 7}}},
    }
    assert base == {"a": {"b": {"c": 1, "d": 2}}}


def test_value_below_something_that_is_no_section_is_left_out() -> None:
    base = {"a": {"b": 3, "c": None}, "d": [1]}
    assert merged(base, {"a.b.x": 1, "a.c.x": 1, "d.x": 1}) == base
