"""Raw settings: YAML text and dotted command-line overrides as nested mappings.

In: the text of a config file; arguments such as `--search.num_simulations=32` or
`--tasks.recipes pipe inserter`. Out: plain mappings that `config_file` checks. Values on the
command line are YAML: lists, `null` and `1e-3` read as in a file. Knows nothing of the fields.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from envs.errors import UserError


class ConfigError(UserError):
    """Settings that cannot be used. `problems` holds one line for each."""

    def __init__(self, source: str, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n  ".join([f"{source}:", *problems]))


class _Loader(yaml.SafeLoader):
    """Safe loader that refuses duplicate keys. 1e-3 is a number, as in YAML 1.2; None is null."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: dict[Any, int] = {}
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            line = key_node.start_mark.line + 1
            if not isinstance(key, str):
                raise yaml.constructor.ConstructorError(
                    problem=f"the key {key!r} is not text", problem_mark=key_node.start_mark
                )
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    problem=f"the key {key!r} stands twice, in lines {seen[key]} and {line}; "
                    "remove one",
                    problem_mark=key_node.start_mark,
                )
            seen[key] = line
        return super().construct_mapping(node, deep)


class _Dumper(yaml.SafeDumper):
    """Safe dumper that quotes text which `_Loader` would read as something else."""


for _side in (_Loader, _Dumper):
    _side.add_implicit_resolver(
        "tag:yaml.org,2002:float",
        re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)[eE][-+]?[0-9]+$"),
        list("-+.0123456789"),
    )
    _side.add_implicit_resolver("tag:yaml.org,2002:null", re.compile("None$"), ["N"])


def parse_yaml(text: str) -> Any:
    """The value of a YAML text. Raises ValueError with a one-line reason."""
    try:
        return yaml.load(text, _Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        raise ValueError(f"{error.problem}{where}") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from None


def to_yaml(value: Any) -> str:
    """YAML text that `parse_yaml` reads back as the same value."""
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False)


def parse_overrides(arguments: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """Splits arguments into {dotted path: value} and a list of problems; the last value wins.

    Hyphens in a path mean underscores. A value follows `=` or is the next argument; several
    arguments make a list.
    """
    values: dict[str, Any] = {}
    problems: list[str] = []
    for name, texts in _options(arguments, problems):
        path = name.replace("-", "_")
        try:
            parsed = [parse_yaml(text) for text in texts]
        except ValueError as error:
            problems.append(f"{path}: {' '.join(texts)!r} is not a YAML value: {error}")
            continue
        if parsed:
            values[path] = parsed[0] if len(parsed) == 1 else parsed
        else:
            problems.append(f"{path}: no value; write --{path}=VALUE")
    return values, problems


def _options(arguments: Sequence[str], problems: list[str]) -> list[tuple[str, list[str]]]:
    """(name, value texts) of each option; what belongs to no option is added to `problems`."""
    options: list[tuple[str, list[str]]] = []
    for argument in arguments:
        if argument.startswith("--"):
            name, equals, text = argument[2:].partition("=")
            options.append((name, [text] if equals else []))
        elif options:
            options[-1][1].append(argument)
        else:
            problems.append(f"{argument}: expected an option such as --search.num_simulations=32")
    return options


def merged(base: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with the values at their dotted paths of at most two parts put in."""
    result = {
        name: dict(section) if isinstance(section, Mapping) else section
        for name, section in base.items()
    }
    for path, value in values.items():
        section, _, field = path.partition(".")
        if not field:
            result[section] = value
        elif isinstance(result.setdefault(section, {}), dict):
            result[section][field] = value
    return result
