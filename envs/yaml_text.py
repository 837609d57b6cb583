"""YAML text as plain values and back; stricter than the usual loader. Jax-free.

In: the text of a config file, a task file, or one value of a command line. Out: mappings, lists,
numbers, text. Keys are text and stand once.
"""

import re
from typing import Any

import yaml


class _Loader(yaml.SafeLoader):
    """Safe loader that refuses duplicate keys. 1e-3 is a number, as in YAML 1.2; None is null."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: dict[Any, int] = {}
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            line = key_node.start_mark.line + 1
            if not isinstance(key, str):
                raise yaml.constructor.ConstructorError(
                    problem="a key is not text; put it in quotes", problem_mark=key_node.start_mark
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
