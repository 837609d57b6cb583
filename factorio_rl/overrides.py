"""Raw settings: YAML text and dotted command-line overrides as nested mappings.

In: the text of a config file; arguments such as `--search.num_simulations=32` or
`--tasks.families pipe inserter`. Out: plain mappings that `config_file` checks. Values on the
command line are YAML: lists, `null` and `1e-3` read as in a file. Knows nothing of the fields.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from envs.errors import UserError
from envs.one_line import one_line
from envs.yaml_text import parse_yaml

MAX_LISTED = 1_700
"""Most characters of the problems of one source that a message lists, counting its first line."""

MAX_SHOWN = 60
"""Longest piece of an argument that a message repeats, characters."""


_INDENT = "\n  "


class ConfigError(UserError):
    """Settings that cannot be used. `problems` holds one line for each, those of options last."""

    def __init__(
        self, source: str, problems: Sequence[str], option_problems: Sequence[str] = ()
    ) -> None:
        self.problems = (*problems, *option_problems)
        groups = ((one_line(source, 200), problems), ("command line", option_problems))
        super().__init__("\n".join(_listed(name, group) for name, group in groups if group))


def _listed(source: str, problems: Sequence[str]) -> str:
    """The problems of a source below its name; those that do not fit are counted."""
    lines = [f"{source}:"]
    room = MAX_LISTED
    for number, problem in enumerate(problems):
        room -= len(problem) + len(_INDENT)
        if room < 0:
            lines.append(f"and {len(problems) - number} more")
            break
        lines.append(problem)
    return _INDENT.join(lines)


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
            value = one_line(" ".join(texts), MAX_SHOWN)
            problems.append(f"{_shown(path)}: {value!r} is not a YAML value: {error}")
            continue
        if parsed:
            values[path] = parsed[0] if len(parsed) == 1 else parsed
        else:
            problems.append(f"{_shown(path)}: no value; write --{_shown(path)}=VALUE")
    return values, problems


def _shown(path: str) -> str:
    return one_line(path, MAX_SHOWN)


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
            problems.append(
                f"{_shown(argument)}: expected an option such as --search.num_simulations=32"
            )
    return options


def merged(base: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with the values at their dotted paths put in, in sections of any depth.

    A value below something that is no section is left out.
    """
    result = dict(base)
    for path, value in values.items():
        result = _put(result, path.split("."), value)
    return result


def _put(base: Any, path: Sequence[str], value: Any) -> Any:
    if not path:
        return value
    if not isinstance(base, Mapping):
        return base
    name, *rest = path
    return {**base, name: _put(base.get(name, {}), rest, value)}
