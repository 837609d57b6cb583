"""Which blueprint of a book is meant. Jax-free.

In: the JSON object of a blueprint or book and the positions asked for. Out: one blueprint.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from envs.blueprint.text import BlueprintError, shown

PLANNERS = ("deconstruction_planner", "upgrade_planner")

MAX_LISTED = 20
"""Entries of a book that a message names."""


def is_blueprint(obj: object) -> bool:
    """Whether a JSON value has the form of a blueprint, a book or a planner."""
    if not isinstance(obj, Mapping):
        return False
    if any(isinstance(obj.get(key), Mapping) for key in ("blueprint", "blueprint_book", *PLANNERS)):
        return True
    return _is_bare(obj)


def choose(obj: Mapping[str, Any], index: Sequence[int]) -> Mapping[str, Any]:
    """The blueprint at `index`, one 1-based position for each level of books.

    A book with one entry needs no position. Raises BlueprintError, which lists what is there.
    """
    left = list(index)
    while isinstance(obj.get("blueprint_book"), Mapping):
        obj = _pick(obj["blueprint_book"], left)
    for key in PLANNERS:
        if key in obj:
            raise BlueprintError(f"this is a planner ({_words(key)}), which holds no entities")
    if left:
        raise BlueprintError(
            f"--index {left[0]} asks for an entry of a book, but {_title(obj)} is not a book"
        )
    inner = obj if _is_bare(obj) else obj.get("blueprint")
    if not isinstance(inner, Mapping):
        raise BlueprintError(
            "the JSON object is no blueprint: it has neither 'blueprint' nor 'blueprint_book'"
        )
    return inner


def _is_bare(obj: Mapping[str, Any]) -> bool:
    """Whether this is a blueprint's inside: its entities have names, a layout's have kinds."""
    entities = obj.get("entities")
    if obj.get("item") == "blueprint":
        return True
    first = entities[0] if isinstance(entities, list) and entities else None
    return isinstance(first, Mapping) and "name" in first and "k" not in first


def _pick(book: Mapping[str, Any], left: list[int]) -> Mapping[str, Any]:
    """The entry of a book at the first position left, which is taken off the list."""
    entries = book.get("blueprints")
    entries = entries if isinstance(entries, list) else []
    entries = [entry for entry in entries if isinstance(entry, Mapping)]
    if not entries:
        raise BlueprintError("the blueprint book is empty")
    if not left and len(entries) == 1:
        return entries[0]
    position = left.pop(0) if left else 0
    if 1 <= position <= len(entries):
        return entries[position - 1]
    listed = [f"{place} {_title(entry)}" for place, entry in enumerate(entries[:MAX_LISTED], 1)]
    more = len(entries) - len(listed)
    there = ", ".join(listed) + (f" and {more} more" if more > 0 else "")
    asked = f"no entry {position}" if position else "no choice was made"
    raise BlueprintError(
        f"the book holds {len(entries)} entries, {asked}; choose one with --index: {there}"
    )


def _title(obj: Mapping[str, Any]) -> str:
    """What an entry is, with its label."""
    for key in ("blueprint", "blueprint_book", *PLANNERS):
        inner = obj.get(key)
        if isinstance(inner, Mapping):
            label = inner.get("label")
            return _words(key) + (f" {shown(label)}" if isinstance(label, str) else "")
    return "the blueprint" if _is_bare(obj) else "something unknown"


def _words(key: str) -> str:
    return key.replace("_", " ")
