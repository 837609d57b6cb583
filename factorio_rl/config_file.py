"""Config files: reading with overrides, writing, and comparing two configs.

In: a YAML file and command-line overrides. Out: a `Config`, or one ConfigError that names every
problem with its field, what was got and what is allowed. No jax.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from envs.suggestion import nearest
from envs.yaml_text import parse_yaml, to_yaml
from factorio_rl.config import Config, broken_rules
from factorio_rl.overrides import ConfigError, merged, parse_overrides

FIXED_SECTIONS = ("env", "tasks", "network")
"""Sections that stay as they are for the life of a run directory."""

TUNABLE_EXCEPTIONS = frozenset({"network.compute_dtype", "tasks.pool"})
"""Fields of these sections that may change; a pool's tasks are told apart by their hash."""

FIXED_SHAPES = frozenset({"run.seed", "actor.num_envs", "actor.chunk_moves", "replay.capacity"})
"""Fields outside of these sections that the saved state was shaped or drawn by."""

PRINTED_CHARACTERS = 80

_TYPE_WORDS = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "string": "text",
    "null": "null",
    "object": "a section of settings",
}
_BOUND_WORDS = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "exclusiveMaximum": "<"}


def load_config(path: Path, overrides: Sequence[str] = ()) -> Config:
    """The config of a YAML file with dotted overrides on top. Raises ConfigError."""
    values, problems = parse_overrides(overrides)
    for name in [name for name in values if "." not in name or name.count(".") > 1]:
        del values[name]
        problems.append(f"{name}: unknown option; {_nearest_path(name)}")
    data = merged(_read_mapping(path), values)
    config, broken = _checked({name: {} if data[name] is None else data[name] for name in data})
    if config is None or problems:
        raise ConfigError(str(path), [*problems, *broken])
    return config


def dump_config(config: Config) -> str:
    """YAML text that `load_config` reads back to an equal config."""
    return to_yaml(config.model_dump(mode="json"))


def architecture_differences(old: Config, new: Config) -> list[str]:
    """What differs in the fields that are fixed for a run directory, one line per field."""
    return [text for path, text in _differences(old, new) if _is_fixed(path)]


def tunable_differences(old: Config, new: Config) -> list[str]:
    """What differs in the fields that may change between starts, one line per field."""
    return [text for path, text in _differences(old, new) if not _is_fixed(path)]


def _is_fixed(path: str) -> bool:
    is_fixed = path.partition(".")[0] in FIXED_SECTIONS or path in FIXED_SHAPES
    return is_fixed and path not in TUNABLE_EXCEPTIONS


def _differences(old: Config, new: Config) -> Iterator[tuple[str, str]]:
    before, after = old.model_dump(mode="json"), new.model_dump(mode="json")
    for section, fields in after.items():
        for field, value in fields.items():
            was = before[section][field]
            if was != value:
                path = f"{section}.{field}"
                yield path, f"{path}: {_shown(was)} in the run directory, {_shown(value)} now"


def _read_mapping(path: Path) -> Mapping[str, Any]:
    try:
        data = parse_yaml(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(
            str(path), [f"cannot be read ({error.strerror}); give a YAML config file"]
        ) from None
    except ValueError as error:
        raise ConfigError(str(path), [f"not valid YAML: {error}"]) from None
    if data is None:
        return {}
    if not isinstance(data, Mapping):
        raise ConfigError(
            str(path),
            [f"got {_shown(data)}; must be sections, such as 'search:', with settings below"],
        )
    return data


def _checked(data: dict[str, Any]) -> tuple[Config | None, list[str]]:
    """The config of `data`, or None and all problems, fields first, then rules between fields."""
    try:
        return Config.model_validate(data), []
    except ValidationError as error:
        found = [entry for entry in error.errors() if entry["loc"]]
    locations = [entry["loc"] for entry in found]
    problems = [
        _field_problem(entry)
        for entry in found
        # The length of a list says nothing new where one of its elements is wrong.
        if not any(at[: len(entry["loc"])] == entry["loc"] != at for at in locations)
    ]
    failed = {".".join(str(part) for part in at[:2]) for at in locations}
    for rule in broken_rules(_without(data, failed)):
        names = {rule.field, *rule.others}
        if not names & failed and not {name.partition(".")[0] for name in names} & failed:
            problems.append(f"{rule.field}: {rule.message}")
    return None, problems


def _without(data: Mapping[str, Any], failed: set[str]) -> Config:
    """A config of the values that hold on their own, with defaults for the failed ones."""
    sections = {}
    for name, field in Config.model_fields.items():
        values = data.get(name, {}) if name not in failed else {}
        kept = {key: values[key] for key in values if f"{name}.{key}" not in failed}
        sections[name] = _model(field.annotation).model_validate(kept)
    return Config.model_construct(**sections)


def _model(annotation: Any) -> type[BaseModel]:
    assert isinstance(annotation, type)
    assert issubclass(annotation, BaseModel)
    return annotation


def _field_problem(entry: Any) -> str:
    location = entry["loc"]
    path = ".".join(part for part in location if isinstance(part, str))
    path += "".join(f"[{part}]" for part in location if isinstance(part, int))
    if entry["type"] == "extra_forbidden":
        return f"{path}: unknown key; {_nearest_path(path)}"
    got = f"{path}: got {_shown(entry['input'])}"
    if entry["type"] == "value_error":
        return f"{got}; {entry['ctx']['error']}"
    return f"{got}; must be {_allowed(location)}"


def _nearest_path(path: str) -> str:
    """Advice for an unknown dotted path: the same name elsewhere, or the nearest one."""
    section, _, field = path.rpartition(".")
    fields = {
        name: list(_model(info.annotation).model_fields)
        for name, info in Config.model_fields.items()
    }
    wanted = field or section
    homes = [f"{name}.{wanted}" for name in fields if wanted in fields[name]]
    if homes:
        return f"did you mean {' or '.join(homes)}?"
    return nearest(wanted, fields.get(section, fields))


def _allowed(location: Sequence[str | int]) -> str:
    """What a field accepts, in words, from its JSON schema."""
    schema = Config.model_json_schema()
    definitions = schema["$defs"]
    for part in location:
        schema = schema["items"] if isinstance(part, int) else schema["properties"][part]
        if "$ref" in schema:
            schema = definitions[schema["$ref"].rpartition("/")[2]]
    return _in_words(schema)


def _in_words(schema: Mapping[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(_in_words(option) for option in schema["anyOf"])
    if "enum" in schema:
        return f"one of {', '.join(map(str, schema['enum']))}"
    if schema["type"] == "array":
        return f"a list with at least one entry, each {_in_words(schema['items'])}"
    bounds = [f"{word} {schema[key]}" for key, word in _BOUND_WORDS.items() if key in schema]
    return " ".join([_TYPE_WORDS[schema["type"]], " and ".join(bounds)]).rstrip()


def _shown(value: object) -> str:
    text = ""
    # Piece by piece, since a few lines of YAML with aliases can stand for a huge value.
    for piece in json.JSONEncoder(default=str).iterencode(value):
        text += piece
        if len(text) > PRINTED_CHARACTERS:
            return f"{text[:PRINTED_CHARACTERS]}..."
    return text
