"""Reads layouts and blueprints from what a user names on a command line. Jax-free.

In: a file, `-` for standard input, or a blueprint string. The form is told by the content: a layout
JSON (R3), a JSON list of layouts, a blueprint as JSON, or a blueprint string. Out: layouts with
names. At most `MAX_TEXT_BYTES` are read.
"""

import io
import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from envs.blueprint.book import is_blueprint
from envs.blueprint.importing import Imported, import_blueprint
from envs.blueprint.ports import InputPort, OutputPort
from envs.blueprint.text import MAX_TEXT_BYTES, BlueprintError, decode_text, parse_json, shown
from envs.errors import UserError
from envs.layout import Layout, LayoutError
from envs.layout_json import layout_from_json

FORMS = "a layout JSON, a list of layouts, a blueprint string or a blueprint as JSON"

MAX_MESSAGE = 300
"""Longest message about one layout, characters; it may repeat what the file holds."""

_STRING = re.compile(r"\s*0[A-Za-z0-9+/=\s]{20,}")


class InputError(UserError):
    """Something that cannot be read, or options that do not fit it; the message is one line."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A layout and what it is called.

    `imported` says how a blueprint was read, `in_list` whether the layout came in a list.
    """

    name: str
    layout: Layout
    imported: Imported | None = None
    in_list: bool = False

    @property
    def unknown(self) -> frozenset[tuple[int, int]]:
        """(x, y) of the entities whose work is not known, sinks among them."""
        return self.imported.unknown if self.imported else frozenset()


def load_inputs(
    argument: str,
    *,
    stdin: TextIO,
    index: Sequence[int] = (),
    inputs: Sequence[InputPort] = (),
    outputs: Sequence[OutputPort] = (),
) -> list[Loaded]:
    """The layouts that an argument names.

    A layout is called by its "name", else by the file; in a list also by its position from 0 on,
    as in `cases.json[3]`. A blueprint is called by its label, else by the file.

    Args:
        argument: path, `-` or blueprint string.
        stdin: read for `-`.
        index, inputs, outputs: of a blueprint (`import_blueprint`).

    Raises:
        UserError: the argument cannot be read, holds none of these, or has options that do not
            fit; one line.
    """
    path, obj, is_string = read_object(argument, stdin)
    if is_string or is_blueprint(obj):
        try:
            imported = import_blueprint(obj, index=index, inputs=inputs, outputs=outputs)
        except BlueprintError as error:
            raise BlueprintError(f"{path}: {error}") from None
        return [Loaded(imported.label or path, imported.layout, imported)]
    if index or inputs or outputs:
        raise InputError(
            f"{path} is no blueprint: a layout names its sources and sinks itself, so --input, "
            "--output and --index do not go with it"
        )
    if not isinstance(obj, list):
        return [_layout(obj, path, in_list=False)]
    if not obj:
        raise InputError(f"{path} is an empty list; give {FORMS}")
    return [_layout(one, f"{path}[{place}]", in_list=True) for place, one in enumerate(obj)]


def read_object(argument: str, stdin: TextIO) -> tuple[str, Any, bool]:
    """What to call an argument, the object that it holds, and whether as a blueprint string.

    Raises UserError for what cannot be read.
    """
    path, text = _read(argument, stdin)
    start = text.lstrip()[:1]
    if not start:
        raise InputError(f"{path} is empty; give {FORMS}")
    if start not in "{[0":
        raise InputError(
            f"{path} begins with {shown(text.lstrip()[:12])}: a blueprint string begins with 0, "
            f"JSON with {{ or [; give {FORMS}"
        )
    try:
        return path, decode_text(text) if start == "0" else parse_json(text), start == "0"
    except BlueprintError as error:
        raise BlueprintError(f"{path}: {error}") from None


def _layout(obj: Mapping[str, Any], place: str, in_list: bool) -> Loaded:
    try:
        layout = layout_from_json(obj)
    except LayoutError as error:
        raise LayoutError(f"{place}: {str(error)[:MAX_MESSAGE]}") from None
    name = obj.get("name")
    if not isinstance(name, str) or not name.isprintable() or not name.strip():
        return Loaded(place, layout, in_list=in_list)
    return Loaded(name[:MAX_MESSAGE], layout, in_list=in_list)


def _read(argument: str, stdin: TextIO) -> tuple[str, str]:
    """(what to call it, its text)."""
    if argument == "-":
        return "standard input", _decoded("standard input", _from_stream(stdin))
    if _STRING.fullmatch(argument) and not os.path.exists(argument):
        return "the blueprint string", argument
    place = argument if argument.isprintable() and len(argument) <= MAX_MESSAGE else shown(argument)
    return place, _decoded(place, _from_file(argument, place))


def _from_file(argument: str, place: str) -> bytes:
    """At most `MAX_TEXT_BYTES` of a file."""
    try:
        with open(argument, "rb") as file:
            status = os.fstat(file.fileno())
            if stat.S_ISREG(status.st_mode) and status.st_size > MAX_TEXT_BYTES:
                raise InputError(_too_large(place, f"{status.st_size:,} bytes"))
            data = file.read(MAX_TEXT_BYTES + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"cannot read {place}: {reason}; give a file with {FORMS}") from None
    return _bounded(place, data)


def _from_stream(stdin: TextIO) -> bytes:
    """At most `MAX_TEXT_BYTES` of a text stream, as bytes where it has them."""
    raw = getattr(stdin, "buffer", None)
    if isinstance(raw, io.BufferedIOBase):
        return _bounded("standard input", raw.read(MAX_TEXT_BYTES + 1))
    return _bounded("standard input", stdin.read(MAX_TEXT_BYTES + 1).encode("utf-8", "replace"))


def _bounded(place: str, data: bytes) -> bytes:
    if len(data) > MAX_TEXT_BYTES:
        raise InputError(_too_large(place, f"more than {MAX_TEXT_BYTES:,} bytes"))
    return data


def _too_large(place: str, size: str) -> str:
    return f"{place} has {size}; at most {MAX_TEXT_BYTES:,} are read"


def _decoded(place: str, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{place} is not UTF-8 text ({error.reason}); give {FORMS}") from None
