"""Configs with one thing wrong, made from the schema of the settings; see `broken_configs`.

Out: `Broken`, each with what its message must say. The same at every call.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from factorio_rl.config import Config
from factorio_rl.config_fields import SECTIONS, SETTINGS

DIGITS = 3_000
"""Of a whole number that is too long to be one."""


class Broken(NamedTuple):
    """A broken config: what is wrong, the file, the options, and what the message must say.

    `num_problems` is None where it does not matter.
    """

    name: str
    file: bytes
    options: tuple[str, ...]
    said: tuple[str, ...]
    num_problems: int | None = 1


def in_file(name: str, text: str, *said: str, num_problems: int | None = 1) -> Broken:
    """A broken config file."""
    return Broken(name, text.encode("utf-8", "surrogatepass"), (), said, num_problems)


def on_command_line(name: str, options: tuple[str, ...], *said: str) -> Broken:
    """Broken options beside a config file without fault."""
    return Broken(f"{name}, as an option", b"search: {max_depth: 7}", options, said)


def placed(path: str, value: str) -> str:
    """YAML with a value at a dotted path."""
    *sections, name = path.split(".")
    return "".join(f"{part}: {{" for part in sections) + f"{name}: {value}" + "}" * len(sections)


def kinds_of(path: str) -> tuple[dict[str, Any], bool]:
    """The schema of a setting without null, and whether null is allowed."""
    schema: dict[str, Any] = Config.model_json_schema()
    definitions = schema["$defs"]
    for part in path.split("."):
        schema = schema["properties"][part]
        schema = definitions[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    options = schema.get("anyOf", [schema])
    (kind,) = (option for option in options if option.get("type") != "null")
    return kind, len(options) > 1


def broken_settings() -> Iterator[Broken]:
    """Every setting with each kind of wrong value, in a file and as an option."""
    for path in SETTINGS:
        schema, is_nullable = kinds_of(path)
        wrong = dict(_wrong_values(schema))
        if not is_nullable:
            wrong["null"] = "null"
        for what, value in wrong.items():
            name, said = f"{path} is {what}", (path, ": got ", "; must be ")
            if what.startswith("a list") or "word" in what:
                said = (path, ": got ", "; ")
            count = 2 if what == "a list of lists" and schema["type"] == "array" else 1
            broken = in_file(name, placed(path, value), "config.yaml:", *said)
            yield broken._replace(num_problems=count)
            options = (f"--{path.replace('_', '-')}={value}",)
            broken = on_command_line(name, options, "command line:", *said)
            yield broken._replace(num_problems=count)
        long = "9" * DIGITS
        yield in_file(
            f"{path} is a number of {DIGITS} digits",
            f"\n{placed(path, long)}",
            f"{path}: '999",
            "cannot be read as a whole number (line 2",
        )
        yield in_file(f"{path} stands twice", _twice(path), f"{path}: stands twice, in lines")


def broken_sections() -> Iterator[Broken]:
    """Every section with something else in its place, and with keys that it has not."""
    for path in filter(None, SECTIONS):
        for what, value in (("a number", "3"), ("a text", "all"), ("a list", "[1, 2]")):
            yield in_file(
                f"{path} is {what}", placed(path, value), f"{path}: got ", "a section of settings"
            )
        yield on_command_line(
            f"{path} is an option", (f"--{path}=3",), f"{path}: a section of settings; name one"
        )
        yield in_file(f"{path} stands twice", _twice(path, "{}"), f"{path}: stands twice, in lines")
        name = next(iter(SECTIONS[path].model_fields))
        for key, advice in (
            ("qqq", "; known are"),
            (name + name[-1], f"; did you mean {path}.{name}?"),
            (f"{name}.x", "a dotted key"),
            ("'<<'", "unknown key"),
            ("''", "unknown key"),
            ('"a\\nb\\e[31m"', "a b?[31m: unknown key"),
            ("k" * 900, "...: unknown key"),
        ):
            said = (f"{path}.", advice)
            yield in_file(f"{path} has {key[:20]}", placed(path, f"{{{key}: 1}}"), *said)
            if key.isidentifier():
                yield on_command_line(f"{path} has {key[:20]}", (f"--{path}.{key}=1",), f"{path}.")
        for key, said in (("1", "not text"), ("null", "not text"), ("[a]", "not text")):
            yield in_file(
                f"{path} has the key {key}", placed(path, f"{{{key}: 1}}"), said, "line 1"
            )


def sound_settings() -> Iterator[Broken]:
    """Every setting at its bounds and with each of its choices: not wrong by itself."""
    for path in SETTINGS:
        schema, is_nullable = kinds_of(path)
        values = ["null"] * is_nullable + [f"'{choice}'" for choice in schema.get("enum", ())]
        values += ["true", "false"] * (schema.get("type") == "boolean")
        values += [str(schema[key]) for key in ("minimum", "maximum") if key in schema]
        if "exclusiveMaximum" in schema:
            values.append(str(schema["exclusiveMaximum"] - 1))
        if "maxLength" in schema:
            values += ["a", "2024-01-01", "'1e3'", "x" * schema["maxLength"]]
        for value in values:
            yield in_file(f"{path} is {value[:30]}", placed(path, value))


def _wrong_values(schema: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(what it is, YAML) of values that a setting does not take."""
    kind = "choice" if "enum" in schema else schema["type"]
    yield "a mapping", "{a: 1}"
    yield "a list of lists", "[[1], [2]]"
    yield "infinite", ".inf"
    yield "no number", "-.inf" if kind == "array" else ".nan"
    if kind != "string":
        yield "another word", "nonsense"
    if kind in ("integer", "number"):
        yield "true", "true"
        yield "a date", "2001-01-01"
        yield "a time", "59:59"
    if kind == "integer":
        yield "a fraction", "2.5"
    yield from _outside(schema)
    if kind == "string":
        yield "a number", "3"
        yield "empty", "''"
        yield "too long", "x" * (schema["maxLength"] + 1)
        yield "with a NUL", '"a\\0b"'
        yield "with an escape", '"\\e[31mred"'
    if kind != "array":
        yield "an empty list", "[]"


def _outside(schema: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Values just and far outside of the bounds of a number."""
    is_whole = schema.get("type") == "integer"
    if "minimum" in schema:
        least = schema["minimum"]
        below = least - 1 if is_whole else least * 0.999 - 1e-40
        yield "below its least", str(below)
        yield "far below its least", f"-{10**60}"
    if "exclusiveMinimum" in schema:
        yield "at its open end", str(schema["exclusiveMinimum"])
    for key in ("maximum", "exclusiveMaximum"):
        if key in schema:
            most = schema[key]
            above = most + (key == "maximum") if is_whole else most * 1.001
            yield "above its largest", str(above)
            yield "far above its largest", str(10**60)
    if schema.get("type") == "array":
        yield "an empty list", "[]"
        yield "too long", f"[{', '.join(['gear'] * (schema['maxItems'] + 1))}]"
        yield "a list with a word that is none", "[gear, geer]"


def _twice(path: str, value: str = "1") -> str:
    """YAML in which a key stands twice, one below the other."""
    *sections, name = path.split(".")
    lines = "".join(f"{'':{depth}}{part}:\n" for depth, part in enumerate(sections))
    entry = f"{'':{len(sections)}}{name}: {value}\n"
    return lines + entry * 2
