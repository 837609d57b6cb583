"""Blueprint strings: round trips, and hostile text that costs little."""

import base64
import json
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envs.blueprint.text import (
    MAX_JSON_BYTES,
    MAX_JSON_VALUES,
    MAX_TEXT_BYTES,
    BlueprintError,
    decode_text,
    encode_text,
    parse_json,
    shown,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**64), 2**64) | st.floats(-1e9, 1e9) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


def packed(raw: bytes) -> str:
    return "0" + base64.b64encode(zlib.compress(raw)).decode()


def message_of(text: str) -> str:
    with pytest.raises(BlueprintError) as caught:
        decode_text(text)
    assert caught.value.exit_code == 2
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 300
    return message


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_r50_a_string_decodes_to_what_was_encoded(obj: dict) -> None:
    assert decode_text(encode_text(obj)) == obj


def test_white_space_around_and_inside_is_ignored() -> None:
    text = encode_text({"blueprint": {"label": "x" * 99}})
    broken = "\n".join(text[start : start + 7] for start in range(0, len(text), 7))
    assert decode_text(f" \t{broken}\r\n") == decode_text(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "begins with 0"),
        ("  \n", "begins with 0"),
        ("1" + encode_text({})[1:], "begins with 0"),
        ("0!!!!", "not base64"),
        ("0abc", "not base64"),
        ("0abc=def", "not base64"),
        ("0\xe9", "no character '\\xe9'"),
        ("0", "cut off"),
        ("0" + base64.b64encode(b"no zlib data").decode(), "damaged"),
        (packed(b"{"), "not JSON"),
        (packed(b"[1]"), "not a list"),
        (packed(b"7"), "not 7"),
        (packed(b"\xff\xfe"), "not UTF-8"),
        (packed(b'{"a": NaN}'), "NaN"),
        (packed(b'{"a": -Infinity}'), "-Infinity"),
        (packed(b'{"a": 1e999}'), "1e999"),
        (packed(b'{"a": ' + b"9" * 400 + b".0}"), "too large"),
        (packed(b'{"a": ' + b"9" * 9_999 + b"}"), "too many digits"),
        (packed(b"[" * 100_000), "nested too deeply"),
        (packed(b'{"a":' * 100_000), "nested too deeply"),
    ],
)
def test_a_broken_string_is_one_line(text: str, said: str) -> None:
    assert said in message_of(text)


def test_a_string_that_is_cut_off_or_goes_on_is_refused() -> None:
    raw = zlib.compress(json.dumps({"blueprint": list(range(100))}).encode())
    cut = base64.b64encode(raw[:-6]).decode()
    assert "cut off" in message_of("0" + cut)
    assert "follows the end" in message_of("0" + base64.b64encode(raw + b"more").decode())


def test_a_changed_byte_is_noticed() -> None:
    raw = bytearray(zlib.compress(json.dumps({"blueprint": list(range(100))}).encode()))
    raw[-1] ^= 1
    assert "damaged" in message_of("0" + base64.b64encode(raw).decode())


def test_a_bomb_is_refused_without_unpacking_it() -> None:
    stream = zlib.compressobj(9)
    chunk = b" " * 2**20
    bomb = b"".join(stream.compress(chunk) for _ in range(2 * MAX_JSON_BYTES // 2**20))
    assert "unpacks to more" in message_of("0" + base64.b64encode(bomb + stream.flush()).decode())


def test_text_above_the_limit_is_refused_before_it_is_looked_at() -> None:
    assert "at most" in message_of("0" * (MAX_TEXT_BYTES + 1))


def test_a_flood_of_values_is_refused_before_it_is_parsed() -> None:
    with pytest.raises(BlueprintError, match="values"):
        parse_json("[" + "[]," * (MAX_JSON_VALUES // 2 + 1) + "0]")


def test_large_whole_numbers_and_repeated_keys_are_read() -> None:
    assert parse_json('{"a": 1, "a": 99999999999999999999999}') == {"a": 99999999999999999999999}


def test_what_a_message_repeats_is_short_and_printable() -> None:
    assert shown("a\nb\x1b[31m\ud800") == r"'a\nb\x1b[31m\ud800'"
    assert len(shown("x" * 10**6)) < 70
    assert shown({"a": 1}) == "an object"
