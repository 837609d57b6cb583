"""YAML text as plain values: what is a number, what is refused, and back."""

import pytest

from envs.yaml_text import parse_yaml, to_yaml


def test_yaml_reads_exponents_without_a_point_as_numbers() -> None:
    assert parse_yaml("[1e-3, -2E5, 1.5e+2, .5e1]") == [0.001, -200000.0, 150.0, 5.0]
    assert parse_yaml("[1e, e3, x1e3]") == ["1e", "e3", "x1e3"]


@pytest.mark.parametrize("text", ["a: {b: 1, c: 2, b: 3}", "a: 1\nc: 2\na: 3"])
def test_yaml_refuses_a_key_that_stands_twice(text: str) -> None:
    with pytest.raises(ValueError, match="stands twice, in lines"):
        parse_yaml(text)


@pytest.mark.parametrize(
    "text", ["a: [", "a:\n\tb: 1", "1: x", "[a]: 1", "a: \x00", "!!python/x y"]
)
def test_yaml_errors_are_one_line(text: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        parse_yaml(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", ["1e-3", "None", "null", "N", 0.001, None, ["15/16", 1]])
def test_text_that_is_written_reads_back_as_it_was(value: object) -> None:
    assert parse_yaml(to_yaml({"key": value})) == {"key": value}
