"""The settings by dotted path: which there are, what a wrong one may have meant, what one accepts.

In: paths such as `search.num_simulations` or, in a section within a section, `actor.switch.gate`.
Out: words for messages. Works on any nesting of the sections in `Config`. No jax.
"""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any

from envs.one_line import one_line
from factorio_rl.config import Config
from factorio_rl.config_sections import Section

MAX_SHOWN = 60
"""Longest name that a message repeats, characters."""

_TYPE_WORDS = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "string": "text",
    "null": "null",
    "object": "a section of settings",
}
_BOUND_WORDS = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "exclusiveMaximum": "<"}


def _join(*parts: str) -> str:
    return ".".join(part for part in parts if part)


def _sections(section: type[Section], path: str) -> Iterator[tuple[str, type[Section]]]:
    yield path, section
    for name, field in section.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            yield from _sections(field.annotation, _join(path, name))


SECTIONS: Mapping[str, type[Section]] = dict(_sections(Config, ""))
"""Every section by its path; `Config` itself has the empty one."""

_PATHS = tuple(_join(path, name) for path in SECTIONS for name in SECTIONS[path].model_fields)

SETTINGS = tuple(path for path in _PATHS if path not in SECTIONS)
"""The paths of all settings, sections left out."""


def option_problem(path: str) -> str:
    """Why a path that is none of SETTINGS cannot be set on the command line."""
    if path and path in SECTIONS:
        inside = next(setting for setting in SETTINGS if setting.startswith(f"{path}."))
        return f"{path}: a section of settings; name one of them, such as --{inside}=VALUE"
    return f"{one_line(path, MAX_SHOWN)}: unknown option; {nearest_path(path)}"


def nearest_path(path: str) -> str:
    """Advice for an unknown path: the same name elsewhere, or the nearest one in its section."""
    parts = path.split(".")
    section = ""
    while parts[1:] and _join(section, parts[0]) in SECTIONS:
        section = _join(section, parts.pop(0))
    homes = [known for known in _PATHS if "." in known and known.split(".")[-1] == parts[-1]]
    names = list(SECTIONS[section].model_fields)
    meant = homes or [_join(section, name) for name in get_close_matches(parts[0], names, n=1)]
    if meant:
        return f"did you mean {' or '.join(meant)}?"
    return f"known are {', '.join(names)}"


def allowed(location: Sequence[str | int]) -> str:
    """What the setting, section or element of a list at a location accepts, in words."""
    schema = _schema()
    definitions = schema["$defs"]
    for part in location:
        schema = schema["items"] if isinstance(part, int) else schema["properties"][part]
        if "$ref" in schema:
            schema = definitions[schema["$ref"].rpartition("/")[2]]
    return _in_words(schema)


@cache
def _schema() -> Mapping[str, Any]:
    return Config.model_json_schema()


def ancestry(path: str) -> set[str]:
    """A path and the paths of the sections that it is in."""
    parts = path.split(".")
    return {_join(*parts[:depth]) for depth in range(1, len(parts) + 1)}


def _in_words(schema: Mapping[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(_in_words(option) for option in schema["anyOf"])
    if "enum" in schema:
        return f"one of {', '.join(map(str, schema['enum']))}"
    if schema["type"] == "array":
        sizes = f"{schema['minItems']} to {schema['maxItems']}"
        return f"a list of {sizes} entries, each {_in_words(schema['items'])}"
    if "maxLength" in schema:
        return f"text of {schema['minLength']} to {schema['maxLength']} characters"
    bounds = [f"{word} {schema[key]}" for key, word in _BOUND_WORDS.items() if key in schema]
    return " ".join([_TYPE_WORDS[schema["type"]], " and ".join(bounds)]).rstrip()
