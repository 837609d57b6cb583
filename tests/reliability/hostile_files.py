"""Files of every kind that the commands read, each made to do harm.

Out: for each, its name, its content, the arguments of `python -m factorio_rl` that read it, and
what the one error must say. Blueprint strings of that kind are in `tests/envs/blueprint`.
"""

import base64
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

MIB = 1 << 20


class Hostile(NamedTuple):
    """A file, how it is read, and what the error says."""

    file: str
    content: bytes
    arguments: tuple[str, ...]
    said: str


def hostile_files() -> Iterator[Hostile]:
    """All of them."""
    yield from _layouts()
    yield from _tasks()
    yield from _pools()


def _layouts() -> Iterator[Hostile]:
    stream = zlib.compressobj(9)
    begin, again = (stream.compress(bytes(MIB)) + stream.flush(zlib.Z_FULL_FLUSH) for _ in "12")
    packed = b"0" + base64.b64encode(begin + again * 8_192)
    for command in ("verify", "render"):
        yield Hostile("bomb.txt", packed, (command,), "unpacks to more than 33,554,432 bytes")
    flood = b'{"width": 9, "height": 9, "entities": [' + b"{}," * 5_000_000 + b"{}]}"
    for name, content, said in (
        ("flood.json", flood, "holds more than"),
        ("long.json", b"[" + b" " * 17 * MIB, "at most 16,777,216 are read"),
        ("deep.json", b"[" * 100_000, "nested too deeply"),
        ("nan.json", b'{"width": NaN, "entities": []}', "NaN"),
        ("digits.json", b'{"width": ' + b"9" * 99_999 + b', "entities": []}', "too many digits"),
        ("wide.json", b'{"width": 1000000000000, "entities": []}', "each side must be from 1"),
        ("binary.json", b"\x80\x04\x95\x0b", "is not UTF-8 text"),
    ):
        yield Hostile(name, content, ("export",), said)


def _tasks() -> Iterator[Hostile]:
    task = b'{"target_item": "pipe"}'
    port = "{x: 0, y: 0, direction: N, role: source, item: pipe}"
    ports = ", ".join(["&p " + port] + ["*p"] * 1_000)
    copied = f"- &t {{target_item: pipe, recipes: [pipe], ports: [{ports}]}}\n" + "- *t\n" * 9_999
    repeated = f"[{', '.join(['*s'] * 9_000)}]"
    grown = f"- &s {'x' * 90}\n" + f"- &l {repeated}\n" + "- *l\n" * 9_000
    for name, content, said in (
        ("million.json", b"[" + b",".join([task] * 1_000_000) + b"]", "more than 4,194,304 bytes"),
        ("many.json", b"[" + b",".join([b"{}"] * 10_001) + b"]", "a list of 1 to 10,000"),
        ("copied.yaml", copied.encode(), "its aliases stand for more than 1,000,000 values"),
        ("grown.yaml", grown.encode(), "its aliases stand for more than 1,000,000 values"),
        ("deep.yaml", b"[" * 1_000_000, "nested more than 40 deep"),
        ("deep.json", b"[" * 1_000_000, "nested too deeply"),
        ("deep_keys.json", b'{"tasks":' * 400_000, "nested too deeply"),
        ("digits.json", b"[" + b"9" * 99_999 + b"]", "is no JSON"),
        ("itself.yaml", b"tasks: &t [*t]", "tasks[0]: holds itself"),
        ("object.yaml", b"!!python/object/apply:os.system ['touch here']", "the tag !!python"),
        ("pickle.yaml", b"\x80\x04\x95\x0b", "is not UTF-8 text"),
    ):
        yield Hostile(name, content, ("tasks", "validate"), said)


def _pools() -> Iterator[Hostile]:
    known = {"format": "factorio-rl-pool", "format_version": 1, "rules_version": "fv-1"}
    more = {"generator_version": 2, "shape": {}, "names": {}, "seed": 0, "sha256": "0"}
    for name, counts, said in (
        ("negative", (-1, 8), "is damaged"),
        ("huge", (10**300, 8), "is damaged"),
        ("not_a_number", (float("nan"), 8), "is damaged"),
        ("infinite", (float("inf"), 8), "is damaged"),
        ("text", ("9", 8), "is damaged"),
        ("true", (True, 8), "is damaged"),
        ("far_too_many", (2**39, 2**39), "was cut off or added to"),
    ):
        manifest = {**known, "count": counts[0], "record_bytes": counts[1], **more}
        content = json.dumps(manifest).encode() + b"\n" + bytes(64)
        yield Hostile(f"{name}.pool", content, ("tasks", "show"), said)
    start = json.dumps(known)[:-1].encode()
    for name, rest in (
        ("deep", b', "a": ' + b"[" * 900_000),
        ("endless", b", " + b" " * 3 * MIB),
        ("no_end", b""),
    ):
        yield Hostile(f"{name}.pool", start + rest, ("tasks", "show"), "is no pool file")
    version = b'{"format": "factorio-rl-pool", "format_version": "' + b"9" * 900_000 + b'"}\n'
    yield Hostile("version.pool", version, ("tasks", "show"), "has format_version")


def written(folder: Path, hostile: Hostile) -> tuple[str, ...]:
    """Puts a file into a folder; the arguments that read it."""
    path = folder / hostile.file
    path.write_bytes(hostile.content)
    return (*hostile.arguments, str(path))
