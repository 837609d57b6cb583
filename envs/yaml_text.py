"""YAML text as plain values and back; stricter than the usual loader. Jax-free.

In: the text of a config file, a task file, or one value of a command line; it may be hostile. Out:
mappings, lists, numbers, text. Keys are text and stand once; tags, merge keys and values inside
themselves are refused; plain words are read as in YAML 1.2 but for yes, no, on and off.
"""

import re
from collections.abc import Sequence
from typing import Any

import yaml

from envs.one_line import one_line

MAX_DEPTH = 40
"""Deepest nesting; the deepest file of ours has 6 levels."""

MAX_VALUES = 1_000_000
"""Most values that a text stands for once its aliases are written out."""

MAX_INTEGER_BITS = 1_000
"""Longest whole number; longer ones cannot be made numbers with a point, nor always printed."""

MAX_SHOWN = 60
"""Longest piece of the text that a reason repeats, characters."""

MAX_REASON = 300
"""Longest reason, characters; it may repeat what the text holds."""

_PREFIX = "tag:yaml.org,2002:"
_KINDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "null": "null",
    "map": "keys with values",
    "seq": "a list",
}
_NODES = {"map": yaml.MappingNode, "seq": yaml.SequenceNode}
_WORDS = ("bool", "null", "merge")
_EXPONENT = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)[eE][-+]?[0-9]+$")
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9_]*|0x[0-9a-fA-F]+)$")
_FLOAT = re.compile(
    r"([-+]?([0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$"
)


class _Loader(yaml.SafeLoader):
    """Safe loader that refuses what would expand, recur or be read as something unexpected.

    All is checked while nodes are put together, since only then the path to a value is known.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._path: list[str] = []
        self._num_values: dict[int, int] = {}

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event = self.peek_event()
        self._path.append(_step(index))
        if len(self._path) > MAX_DEPTH:
            raise self._refused(f"nested more than {MAX_DEPTH} deep", event)
        node = super().compose_node(parent, index)
        assert node is not None
        if not isinstance(event, yaml.AliasEvent):
            self._check(node)
        elif id(node) not in self._num_values:
            raise self._refused(f"holds itself by the alias *{event.anchor}", event)
        self._path.pop()
        return node

    def _check(self, node: yaml.Node) -> None:
        kind = node.tag.removeprefix(_PREFIX)
        if kind == "merge":
            raise self._refused("merge keys (<<) are not read; write the keys out", node)
        if kind not in _KINDS:
            tag = one_line(node.tag.replace(_PREFIX, "!!", 1), MAX_SHOWN)
            raise self._refused(f"the tag {tag} is not read; leave it out", node)
        if not isinstance(node, _NODES.get(kind, yaml.ScalarNode)):
            raise self._refused(f"cannot be read as {_KINDS[kind]}", node)
        if isinstance(node, yaml.ScalarNode):
            self._check_scalar(node, _KINDS[kind])
        if isinstance(node, yaml.MappingNode):
            self._check_keys(node)
        count = 1 + sum(self._num_values[id(child)] for child in _children(node))
        if count > MAX_VALUES:
            raise self._refused(f"its aliases stand for more than {MAX_VALUES:,} values", node)
        self._num_values[id(node)] = count

    def _check_scalar(self, node: yaml.ScalarNode, kind: str) -> None:
        try:
            value = self.construct_object(node)
            str(value).encode()
            if isinstance(value, int) and value.bit_length() > MAX_INTEGER_BITS:
                raise ValueError
        except UnicodeEncodeError:
            raise self._refused("the text holds half of a character", node) from None
        except (ValueError, LookupError, OverflowError):
            shown = one_line(node.value, MAX_SHOWN)
            raise self._refused(f"{shown!r} cannot be read as {kind}", node) from None

    def _check_keys(self, node: yaml.MappingNode) -> None:
        lines: dict[str, int] = {}
        for key, _ in node.value:
            if key.tag != f"{_PREFIX}str":
                raise self._refused("a key is not text; put it in quotes", key)
            line = key.start_mark.line + 1
            if key.value in lines:
                self._path.append(_step(key))
                lines_of_both = f"lines {lines[key.value]} and {line}"
                raise self._refused(f"stands twice, in {lines_of_both}; remove one", key)
            lines[key.value] = line

    def _refused(self, problem: str, at: yaml.Node | yaml.Event) -> yaml.MarkedYAMLError:
        place = "".join(self._path).lstrip(".")
        return yaml.MarkedYAMLError(
            problem=f"{place}: {problem}" if place else problem, problem_mark=at.start_mark
        )


class _Dumper(yaml.SafeDumper):
    """Safe dumper that quotes text which `_Loader` would read as something else."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag.removeprefix(_PREFIX) in _WORDS]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(f"{_PREFIX}int", _INTEGER, list("-+0123456789"))
_Loader.add_implicit_resolver(f"{_PREFIX}float", _FLOAT, list("-+.0123456789"))
for _side in (_Loader, _Dumper):
    _side.add_implicit_resolver(f"{_PREFIX}float", _EXPONENT, list("-+.0123456789"))
    _side.add_implicit_resolver(f"{_PREFIX}null", re.compile("None$"), ["N"])


def parse_yaml(text: str) -> Any:
    """The value of a YAML text. Raises ValueError with a one-line reason of bounded length."""
    try:
        return yaml.load(text, _Loader)
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        reason, where = f"the character U+{error.character:04X} is not allowed", (line, column)
    except yaml.MarkedYAMLError as error:
        context = error.context or "while"
        steps = [] if context.startswith("while") else [context]
        reason = ", ".join([*steps, str(error.problem)])
        mark = error.problem_mark
        where = (mark.line + 1, mark.column + 1) if mark else None
    place = f" (line {where[0]}, column {where[1]})" if where else ""
    raise ValueError(one_line(reason, MAX_REASON) + place)


def to_yaml(value: Any) -> str:
    """YAML text that `parse_yaml` reads back as the same value."""
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False)


def _step(index: Any) -> str:
    """A step of the path to a value, as in `tasks.families[2]`."""
    if isinstance(index, yaml.ScalarNode):
        return f".{one_line(index.value, MAX_SHOWN)}"
    return f"[{index}]" if isinstance(index, int) else ""


def _children(node: yaml.Node) -> Sequence[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else ()
