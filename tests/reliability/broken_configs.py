"""Broken configs of every kind: hostile YAML, settings that contradict each other, options.

Out: `all_broken` with what each message must say. The same at every call.
"""

from collections.abc import Iterator

from broken_settings import (
    Broken,
    broken_sections,
    broken_settings,
    in_file,
    on_command_line,
    placed,
)

BOMB_LEVELS = 9
BOMB_WIDTH = 9

PLACES = ("search", "search.num_simulations", "tasks.families", "run.compilation_cache", "nothing")
"""A section, a number, a list, a text, an unknown key."""


def all_broken() -> list[Broken]:
    """Broken configs, each with another name."""
    makers = (broken_settings, broken_sections, hostile_yaml, contradictions, broken_options)
    found = [broken for make in makers for broken in make()]
    assert len({broken.name for broken in found}) == len(found)
    return found


def hostile_yaml() -> Iterator[Broken]:
    """Files that are no YAML, or YAML that expands, recurs, nests or has tags."""
    for place in PLACES:
        for what, bomb in (("list", _bomb("[{}]")), ("mapping", _bomb_of_mappings())):
            said = (f"{place}[", "its aliases stand for more than 1,000,000 values (line 1")
            yield in_file(f"{what} bomb at {place}", placed(place, bomb), *said)
            options = (f"--{place}={bomb}",)
            yield on_command_line(f"{what} bomb at {place}", options, f"{place}: '[&a0", "aliases")
        inner, said = f"{place}[1]", "holds itself by the alias *s (line 1"
        yield in_file(f"{place} holds itself", placed(place, "&s [3, *s]"), inner, said)
        yield in_file(f"{place} holds itself by a key", placed(place, "&s {a: *s}"), said)
        yield on_command_line(f"{place} holds itself", (f"--{place}=&s [*s]",), place, "itself")
        for opening, closing in (("[", "]"), ("{a: ", "}")):
            deep = opening * 5_000 + closing * 5_000
            said = "nested more than 40 deep (line 1"
            yield in_file(f"{place} nested by {opening}", placed(place, deep), place, said)
        for tag in TAGS:
            said = "line 2"
            yield in_file(f"{place} has {tag}", f"\n{placed(place, tag)}", said)
        yield in_file(
            f"{place} has a merge key", "\n" + placed(place, "{<<: {max_depth: 3}}"), "line 2, "
        )
    for name, text in NO_YAML.items():
        yield in_file(name, text, "not valid YAML: ", "(line ")
    for name, text in NO_SECTIONS.items():
        yield in_file(name, text, "must be sections, such as 'search:'")
    for name, data in NO_TEXT.items():
        yield Broken(name, data, (), ("config.yaml:", "is not UTF-8 text"))
    yield in_file("long line", "x" * 3_000_000, "has more than 65,536 bytes")
    yield in_file("long comment", "#" * 3_000_000, "has more than 65,536 bytes")
    flood = ", ".join(f"k{number}: 1" for number in range(5_000))
    yield in_file(
        "flood of keys", f"search: {{{flood}}}", "search.k0: unknown key", "more", num_problems=51
    )
    yield in_file("flood of sections", f"{{{flood}}}", "k0: unknown key", "more", num_problems=51)
    flood = ", ".join(f"k{number}" for number in range(90))
    yield in_file(
        "flood of families",
        f"tasks: {{families: [{flood}]}}",
        "families[0]",
        "more",
        num_problems=51,
    )


def _bomb(form: str) -> str:
    """A list whose last entry stands for BOMB_WIDTH to the BOMB_LEVELS texts."""
    levels = ["&a0 [x, x]"]
    for level in range(1, BOMB_LEVELS + 1):
        inside = ", ".join([f"*a{level - 1}"] * BOMB_WIDTH)
        levels.append(f"&a{level} {form.format(inside)}")
    return f"[{', '.join(levels)}]"


def _bomb_of_mappings() -> str:
    levels = ["&a0 {x: 1}"]
    for level in range(1, BOMB_LEVELS + 1):
        inside = ", ".join(f"k{key}: *a{level - 1}" for key in range(BOMB_WIDTH))
        levels.append(f"&a{level} {{{inside}}}")
    return f"[{', '.join(levels)}]"


TAGS = (
    "!!python/object/apply:os.system [true]",
    "!!python/name:os.system x",
    "!!binary aGVsbG8=",
    "!!binary a",
    "!!set {gear}",
    "!!omap [a: 1]",
    "!!timestamp x",
    "!!int ''",
    "!!int 1:1:x",
    "!!float x",
    "!!bool x",
    "!!map 3",
    "!!seq {a: 1}",
    "!own 3",
    f"!{'x' * 9_000} 3",
)

NO_YAML = {
    "tab": "search:\n\tmax_depth: 3",
    "NUL": "search: {max_depth: \0}",
    "control character": "search: \x07",
    "half a character": 'logging: {wandb_project: "\\ud800"}',
    "half a character in a key": '"\\ud800": 3',
    "two documents": "search: {}\n---\nsearch: {}",
    "other version": "%YAML 9.9\n---\nsearch: {}",
    "open list": "search: [",
    "open mapping": "search: {max_depth: 3",
    "open quote": "search: 'x",
    "no such alias": "search: *a",
    "anchor twice": "a: &a 1\nb: &a 2",
    "at sign": "search: @x",
    "long key": f"{'a' * 30_000}: 1",
    "long key twice": f"{'a' * 900}: 1\n" * 2,
    "long alias": f"search: *{'a' * 30_000}",
    "indentation": "search:\n  max_depth: 3\n tree: lean",
    "list as a key": "? [a]\n: 1",
    "itself as a key": "? &s [*s]\n: 1",
    "whole file holds itself": "&s {search: *s}",
}

NO_SECTIONS = {"text": "just text", "list": "[1, 2]", "number": "3", "true": "true"}

NO_TEXT = {
    "no UTF-8": b"search: \xff",
    "UTF-16": "search: {max_depth: 3}".encode("utf-16"),
    "half a character in bytes": b"search: \xed\xa0\x80",
    "pickle": b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00}\x94\x8c\x01a\x94K\x01s.",
}

CONTRADICTIONS = {
    "env.width": {"env.width": "9"},
    "tasks.max_blocked": {"tasks.max_blocked": "900"},
    "tasks.families": {"tasks.families": "[gear, pipe, gear]"},
    "tasks.families: tasks of circuit have up to 3 items": {
        "tasks.families": "[circuit]",
        "env.item_slots": "2",
    },
    "tasks.families: tasks of circuit-own-cable-belt have up to 2 recipes": {
        "tasks.families": "[circuit-own-cable-belt]",
        "env.recipe_slots": "1",
    },
    "tasks.families: tasks of circuit have up to 3 ports": {
        "tasks.families": "[circuit]",
        "env.max_ports": "2",
    },
    "search.max_num_considered_actions": {"search.max_num_considered_actions": "17"},
    "eval.max_num_considered_actions": {"eval.max_num_considered_actions": "33"},
    "search.max_num_considered_actions: 4000 is more than": {
        "search.max_num_considered_actions": "4000",
        "search.num_simulations": "4000",
    },
    "learner.batch_size": {"learner.batch_size": "200000"},
    "replay.capacity": {"replay.capacity": "300"},
    "learner.demonstration_share_start": {"learner.demonstration_share_start": "0.9"},
    "learner.demonstration_share_end": {"learner.demonstration_share_end": "0.9"},
    "network.channels": {"network.channels": "20", "actor.precision": "fp8"},
    "search.root_precision": {"search.root_precision": "fp8"},
    "search.max_num_considered_actions: the gate": {
        "search.max_num_considered_actions": "1",
        "actor.precision": "fp8",
    },
    "learner.qat": {"learner.qat": "true"},
    "train.keep_every_chunks": {"train.keep_every_chunks": "51"},
}
"""Settings that contradict each other, by how the problem begins."""

SMALL_GRID = ("env.width: a grid of 4 x 4", {"env.width": "4", "env.height": "4"})
"""Breaks other rules too."""


def contradictions() -> Iterator[Broken]:
    """Settings that are sound one by one, in a file and as options."""
    for problem, settings in (*CONTRADICTIONS.items(), SMALL_GRID):
        sections: dict[str, list[str]] = {}
        for path, value in settings.items():
            section, _, name = path.partition(".")
            sections.setdefault(section, []).append(f"{name}: {value}")
        text = "\n".join(f"{name}: {{{', '.join(rows)}}}" for name, rows in sections.items())
        count = None if settings is SMALL_GRID[1] else 1
        yield in_file(f"rule of {problem}", text, "config.yaml:", problem, num_problems=count)
        options = tuple(f"--{path}={value}" for path, value in settings.items())
        said = ("command line:", problem)
        yield on_command_line(f"rule of {problem}", options, *said)._replace(num_problems=count)


def broken_options() -> Iterator[Broken]:
    """Arguments that are no options, or whose values are no YAML."""
    for arguments, said in (
        (("stray",), "stray: expected an option"),
        (("-x",), "-x: expected an option"),
        (("--", "x"), "unknown option"),
        (("--=3",), "unknown option"),
        (("--lr=3",), "lr: unknown option"),
        (("--search.max_depth",), "search.max_depth: no value"),
        (("--search.max_depth=[",), "search.max_depth: '[' is not a YAML value"),
        (("--search.max_depth={a: 1, a: 2}",), "a: stands twice"),
        (("--search.max_depth=\udcff",), "search.max_depth: '?' is not a YAML value"),
        (("--search.max_depth=!!python/name:os.system x",), "the tag !!python/name:os.system"),
        (("--search.max_depth", "1", "2"), "search.max_depth: got [1, 2]"),
        (("--search.max_depth.x=1",), "search.max_depth.x: unknown option"),
        ((f"--{'a' * 90_000}=1",), "aaa...: unknown option"),
        ((f"--{'a.' * 9_000}a=1",), "a.a.a....: unknown option"),
        ((f"--search.max_depth={'[' * 90_000}",), "nested more than 40 deep"),
        ((f"--run.seed={'9' * 90_000}",), "run.seed: '999"),
        ((f"--search.tree={'x' * 90_000}",), "search.tree: got"),
        (("--run.compilation_cache=~no-such-user/x",), "the home folder in ~no-such-user/x"),
        (("--tasks.pool=~no-such-user/x",), "tasks.pool: got"),
        (("--logging.wandb_project=a/b",), "no / \\ # ? % : in the name"),
        (("--actor.precision=mxfp8",), "actor.precision: got"),
    ):
        yield on_command_line(" ".join(arguments)[:40], arguments, "command line:", said)
    flood = tuple(f"--k{number}=1" for number in range(2_000))
    broken = on_command_line("flood of options", flood, "k0: unknown option", "more")
    yield broken._replace(num_problems=51)
