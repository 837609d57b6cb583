"""The text form of a blueprint (R50): `0` + base64(zlib(JSON)). Jax-free.

In: a blueprint string, or plain JSON text. Out: parsed JSON, and a string back. Every limit
holds before memory is spent, so that hostile text costs little.
"""

import base64
import binascii
import json
import math
import zlib
from typing import Any, NoReturn

from envs.errors import UserError

VERSION_BYTE = b"0"
"""First character of every blueprint string since Factorio 0.15 (R50)."""

MAX_TEXT_BYTES = 16 * 2**20
"""Longest blueprint string or file that is read."""

MAX_JSON_BYTES = 32 * 2**20
"""Longest JSON text inside a blueprint string: about 350,000 entities."""

MAX_JSON_VALUES = 4_000_000
"""Most values in a JSON text: parsed values take up to 30 times the memory of their text."""

MAX_SHOWN = 60
"""Longest piece of the input that a message repeats, characters."""


class BlueprintError(UserError):
    """A blueprint that cannot be read; the message is one line."""


def shown(value: object) -> str:
    """Any value of the input on one short, printable line, for a message."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = ascii(value[: MAX_SHOWN + 1] if isinstance(value, str) else value)
    return text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "..."


def decode_text(text: str) -> dict[str, Any]:
    """The JSON object in a blueprint string; white space anywhere in it is ignored.

    Raises:
        BlueprintError: the string is too long, not a blueprint string, damaged or cut off, or
            what is inside is too long or not a JSON object.
    """
    _check_length(text)
    try:
        packed = text.encode("ascii").translate(None, b" \t\r\n\v\f")
    except UnicodeEncodeError as error:
        raise BlueprintError(
            f"a blueprint string has no character {shown(text[error.start])}; copy it again"
        ) from None
    if packed[:1] != VERSION_BYTE:
        raise BlueprintError(
            f"a blueprint string begins with 0, not with {shown(packed[:12].decode())}; "
            "copy it again from the game"
        )
    try:
        raw = base64.b64decode(packed[1:], validate=True)
    except binascii.Error as error:
        raise BlueprintError(
            f"the blueprint string is not base64 ({error}); copy the whole string again"
        ) from None
    obj = parse_json(_inflate(raw))
    if not isinstance(obj, dict):
        raise BlueprintError(f"a blueprint is a JSON object, not {shown(obj)}")
    return obj


def encode_text(obj: object) -> str:
    """The blueprint string of a JSON value. Raises ValueError for NaN and infinities."""
    raw = json.dumps(obj, separators=(",", ":"), allow_nan=False).encode()
    return (VERSION_BYTE + base64.b64encode(zlib.compress(raw, 9))).decode()


def parse_json(text: str) -> Any:
    """A JSON value; NaN, infinities, deep nesting and floods of values are refused.

    Raises:
        BlueprintError: `text` is not JSON within these limits.
    """
    if sum(map(text.count, "[{,")) > MAX_JSON_VALUES:
        raise BlueprintError(f"the JSON text holds more than {MAX_JSON_VALUES:,} values")
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except BlueprintError:
        raise
    except RecursionError:
        raise BlueprintError("the JSON text is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise BlueprintError(f"the text is not JSON: {error}") from None
    except ValueError:
        raise BlueprintError("a whole number in the JSON text has too many digits") from None


def _check_length(text: str) -> None:
    """Raises BlueprintError for text above the limit."""
    if len(text) > MAX_TEXT_BYTES:
        raise BlueprintError(
            f"the blueprint string has {len(text):,} characters; "
            f"at most {MAX_TEXT_BYTES:,} are read"
        )


def _inflate(raw: bytes) -> str:
    """The text in a zlib stream that must end, and end the data."""
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(raw, MAX_JSON_BYTES + 1)
    except zlib.error as error:
        raise BlueprintError(
            f"the blueprint string is damaged ({error}); copy the whole string again"
        ) from None
    if len(data) > MAX_JSON_BYTES:
        raise BlueprintError(
            f"the blueprint unpacks to more than {MAX_JSON_BYTES:,} bytes; give a smaller one"
        )
    if not stream.eof:
        raise BlueprintError("the blueprint string is cut off; copy the whole string again")
    if stream.unused_data:
        raise BlueprintError("text follows the end of the blueprint; give one string at a time")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BlueprintError(f"the text inside the blueprint is not UTF-8: {error}") from None


def _refuse(name: str) -> NoReturn:
    raise BlueprintError(f"the JSON text holds {name}, which is no number; remove it")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise BlueprintError(f"the number {shown(digits)} in the JSON text is too large")
    return value
