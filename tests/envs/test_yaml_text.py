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


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1_000", 1000),
        ("0x1f", 31),
        ("-7", -7),
        ("0", 0),
        (".5", 0.5),
        ("1.", 1.0),
        ("59:59", "59:59"),
        ("2001-01-01", "2001-01-01"),
        ("010", "010"),
        ("=", "="),
        ("yes", True),
        ("!!str 3", "3"),
        ("[&x {a: 1}, *x]", [{"a": 1}, {"a": 1}]),
    ],
)
def test_plain_words_are_read_as_they_look(text: str, value: object) -> None:
    assert parse_yaml(text) == value


BOMB = "[&a0 [x, x], " + ", ".join(
    f"&a{i} [{'*a' + str(i - 1) + ', '} *a{i - 1}]" for i in range(1, 40)
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"a: {{b: {BOMB}]}}", r"^a\.b\[18\]: its aliases stand for more than 1,000,000 values"),
        ("a: &s {b: [1, *s]}", r"^a\.b\[1\]: holds itself by the alias \*s \(line 1, column 15\)"),
        ("a: " + "[" * 41, r"^a\[0\].*: nested more than 40 deep"),
        ("a: {b: 1,\n b: 2}", r"^a\.b: stands twice, in lines 1 and 2; remove one"),
        ("a: {<<: {b: 1}}", r"^a: merge keys \(<<\) are not read"),
        ("a: !!set {b}", r"^a: the tag !!set is not read; leave it out"),
        ("a: !!python/name:os.system x", r"^a: the tag !!python/name:os\.system is not read"),
        ("a: !!map 3", r"^a: cannot be read as keys with values"),
        ("a: !!bool x", r"^a: 'x' cannot be read as true or false"),
        ("a: !!int ''", r"^a: '' cannot be read as a whole number"),
        ("a: " + "9" * 400, r"^a: '9{60}\.\.\.' cannot be read as a whole number"),
        ('a: "\\ud800"', r"^a: the text holds half of a character"),
        ("a\nb: \x07", r"^the character U\+0007 is not allowed \(line 2, column 4\)"),
        ("a: 1\n---\nb: 2", "expected a single document in the stream, but found another"),
    ],
)
def test_hostile_text_is_refused_with_the_place(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said) as caught:
        parse_yaml(text)
    assert len(str(caught.value)) < 400


def test_the_deepest_text_and_the_longest_number_are_read() -> None:
    value = parse_yaml("[" * 39 + "1" + "]" * 39)
    for _ in range(39):
        (value,) = value
    assert value == 1
    assert parse_yaml("9" * 300) == 10**300 - 1
