"""Config files: reading with overrides, writing, and comparing two configs.

In: a YAML file and command-line overrides. Out: a `Config`, or one ConfigError that names every
problem with its field, what was got and what is allowed. No jax.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from envs.one_line import one_line
from envs.text_file import UnreadableError, read_text
from envs.yaml_text import parse_yaml, to_yaml
from factorio_rl.config import Config, broken_rules
from factorio_rl.config_fields import (
    MAX_SHOWN,
    SECTIONS,
    SETTINGS,
    allowed,
    ancestry,
    nearest_path,
    option_problem,
)
from factorio_rl.overrides import ConfigError, merged, parse_overrides

FIXED_SECTIONS = ("env", "tasks", "network")
"""Sections that stay as they are for the life of a run directory."""

TUNABLE_EXCEPTIONS = frozenset({"network.compute_dtype", "tasks.pool"})
"""Fields of these sections that may change; a pool's tasks are told apart by their hash."""

FIXED_SHAPES = frozenset(
    {
        "run.seed",
        "actor.num_envs",
        "actor.chunk_moves",
        "actor.score_lag_chunks",
        "replay.capacity",
    }
)
"""Fields outside of these sections that the saved state was shaped or drawn by."""

PRINTED_CHARACTERS = 80

MAX_BYTES = 1 << 16
"""Longest config file that is read: twenty times one with every setting."""

MAX_PROBLEMS = 50
"""Most problems that are put into words."""


def load_config(path: Path, overrides: Sequence[str] = ()) -> Config:
    """The config of a YAML file with dotted overrides on top. Raises ConfigError."""
    values, of_options = parse_overrides(overrides)
    refused = [name for name in values if name not in SETTINGS]
    of_options += map(option_problem, refused[:MAX_PROBLEMS])
    of_options += _uncounted(refused)
    usable = {name: values[name] for name in values if name in SETTINGS}
    config, found = _checked(merged(_read_mapping(path), usable))
    of_options += [problem.text for problem in found if problem.fields & usable.keys()]
    of_file = [problem.text for problem in found if not problem.fields & usable.keys()]
    if config is None or of_options:
        raise ConfigError(str(path), of_file, of_options)
    return config


def dump_config(config: Config) -> str:
    """YAML text that `load_config` reads back to an equal config."""
    return to_yaml(config.model_dump(mode="json"))


def fixed_settings(config: Config) -> dict[str, Any]:
    """Values of the settings that are fixed for a run directory, by dotted path."""
    values = config.model_dump(mode="json")
    return {path: _at(values, path) for path in SETTINGS if _is_fixed(path)}


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
    for path in SETTINGS:
        was, now = _at(before, path), _at(after, path)
        if was != now:
            yield path, f"{path}: {_shown(was)} in the run directory, {_shown(now)} now"


def _at(values: Mapping[str, Any], path: str) -> Any:
    return reduce(getitem, path.split("."), values)


def _read_mapping(path: Path) -> Mapping[str, Any]:
    try:
        data = parse_yaml(read_text(path, MAX_BYTES, "give a YAML config file"))
    except UnreadableError as error:
        raise ConfigError(str(path), [str(error)]) from None
    except ValueError as error:
        raise ConfigError(str(path), [f"not valid YAML: {error}"]) from None
    if data is None:
        return {}
    if not isinstance(data, Mapping):
        raise ConfigError(
            str(path),
            [f"got {_shown(data)}; must be sections, such as 'search:', with settings below"],
        )
    return {name: {} if section is None else section for name, section in data.items()}


class _Problem(NamedTuple):
    """A line of a message, and the paths of the settings that it is about."""

    text: str
    fields: frozenset[str] = frozenset()


def _checked(data: dict[str, Any]) -> tuple[Config | None, list[_Problem]]:
    """The config of `data`, or None and all problems, fields first, then rules between fields."""
    try:
        return Config.model_validate(data), []
    except ValidationError as error:
        found = [entry for entry in error.errors() if entry["loc"]]
    locations = [entry["loc"] for entry in found]
    # The length of a list says nothing new where one of its elements is wrong.
    above = {at[:depth] for at in locations for depth in range(len(at))}
    found = [entry for entry in found if entry["loc"] not in above]
    problems = [_field_problem(entry) for entry in found[:MAX_PROBLEMS]]
    problems += map(_Problem, _uncounted(found))
    failed = {_dotted(at) for at in locations}
    for rule in broken_rules(_without(data, failed)):
        names = {rule.field, *rule.others}
        if not any(ancestry(name) & failed for name in names):
            problems.append(_Problem(f"{rule.field}: {rule.message}", frozenset(names)))
    return None, problems


def _uncounted(problems: Sequence[object]) -> list[str]:
    """A line about the problems that have none of their own."""
    return [f"and {len(problems) - MAX_PROBLEMS} more"] if len(problems) > MAX_PROBLEMS else []


def _dotted(location: Sequence[str | int]) -> str:
    return ".".join(part for part in location if isinstance(part, str))


def _without(data: Mapping[str, Any], failed: set[str]) -> Config:
    """A config of the values that hold on their own, with defaults for the failed ones."""
    kept = _kept(data, failed)
    made = {name: SECTIONS[name].model_validate(kept.get(name, {})) for name in Config.model_fields}
    return Config.model_construct(None, **made)


def _kept(values: Mapping[str, Any], failed: set[str], prefix: str = "") -> dict[str, Any]:
    return {
        name: _kept(value, failed, f"{prefix}{name}.") if f"{prefix}{name}" in SECTIONS else value
        for name, value in values.items()
        if f"{prefix}{name}" not in failed
    }


def _field_problem(entry: Any) -> _Problem:
    *parents, name = location = entry["loc"]
    path = ".".join(one_line(part, MAX_SHOWN) for part in location if isinstance(part, str))
    path += "".join(f"[{part}]" for part in location if isinstance(part, int))
    got = f"got {_shown(entry['input'])}"
    if entry["type"] == "extra_forbidden" and "." in name:
        said = "a dotted key; in a file, put a setting below the name of its section"
    elif entry["type"] == "extra_forbidden":
        said = f"unknown key; {nearest_path('.'.join([*parents, name]))}"
    elif entry["type"] == "value_error":
        said = f"{got}; {entry['ctx']['error']}"
    else:
        said = f"{got}; must be {allowed(location)}"
    return _Problem(f"{path}: {said}", frozenset({_dotted(location)}))


def _shown(value: object) -> str:
    text = ""
    # Piece by piece, since a few lines of YAML with aliases can stand for a large value.
    for piece in json.JSONEncoder(default=str).iterencode(value):
        text += piece
        if len(text) > PRINTED_CHARACTERS:
            return f"{text[:PRINTED_CHARACTERS]}..."
    return text
