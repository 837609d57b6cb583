"""Where items leave a blueprint. Jax-free.

In: a site with all feeds known. Out: the scored item of every sink, and sentences about belt ends
that are none. With machines, a belt end is an output if a product gets there that inserters do
not take from the same belt for machines inside; without machines, every belt end is.
"""

from collections.abc import Mapping
from typing import NamedTuple

from envs.blueprint.site import ELSEWHERE, Known, Site, arriving, machines
from envs.blueprint.text import BlueprintError
from envs.item_flow import ingredients_of, spread
from envs.layout import MACHINE_KINDS, Entity


class Outputs(NamedTuple):
    """Sinks by entity number with their item, and notes."""

    sinks: Mapping[int, str | None]
    notes: tuple[str, ...]


class _Items(NamedTuple):
    """Sets of items by entity number.

    Attributes:
        arriving: what can get there.
        made: what machines inside make and can get there.
        taken: what inserters take for machines from the belts that lead there.
        unclear: not empty where items may get that are not known.
        ingredients: all that machines inside use up; not by entity.
    """

    arriving: list[set[str]]
    made: list[set[str]]
    taken: list[set[str]]
    unclear: list[set[str]]
    ingredients: frozenset[str]


def infer_outputs(site: Site, known: Known) -> Outputs:
    """All sinks. Raises BlueprintError where the item of one is open, with the option to pass."""
    items = _items(site, known)
    sinks: dict[int, str | None] = {}
    notes: list[str] = []
    for number, one in enumerate(site.entities):
        if number in site.given.closed:
            sinks |= {number: None} if one.kind == "chest_sink" else {}
        elif number in site.given.sinks or one.kind == "chest_sink":
            sinks[number] = site.given.sinks.get(number) or _item_at(site, number, items)
    for number in site.ends():
        if number in sinks or number in site.given.closed or any(known.feeds.get(number, ())):
            continue
        reason = _dead_end(site, number, items)
        if reason is None:
            sinks[number] = _item_at(site, number, items)
        elif reason and number not in site.unknown:
            notes.append(f"belt end {site.where(number)}: a dead end, {reason}")
    notes += [
        f"output {site.where(number)}: {item or 'no item'} (inferred)"
        for number, item in sorted(sinks.items())
        if not site.given.sinks.get(number) and number not in site.given.closed
    ]
    if not sinks:
        notes.append("no output was found: pass --output x,y=item for a belt end or chest")
    return Outputs(sinks, tuple(notes))


def _items(site: Site, known: Known) -> _Items:
    all_items = arriving(site, known, with_feeds=True)
    built = machines(site, known)
    picked: dict[int, set[str]] = {}
    for number, one in enumerate(site.entities):
        if one.kind == "inserter" and any(taker in built for taker in site.flow.after[number]):
            for giver in site.flow.before[number]:
                picked.setdefault(giver, set()).update(all_items[number])
    belts = [number for number, one in enumerate(site.entities) if one.kind == "belt"]
    along = [
        [taker for taker in takers if site.entities[taker].kind == "belt"]
        for takers in site.flow.after
    ]
    picked = {number: picked[number] for number in belts if number in picked}
    taken = spread(along, picked, {}, ())
    for number, items in picked.items():
        taken[number] |= items
    return _Items(
        arriving=all_items,
        made=arriving(site, known, with_feeds=False),
        taken=taken,
        unclear=_unclear(site, known, built),
        ingredients=frozenset().union(*(ingredients_of(one) for one in built.values())),
    )


def _unclear(site: Site, known: Known, built: Mapping[int, Entity]) -> list[set[str]]:
    """Where items get that come from what is not simulated, or are not known themselves."""
    origins = {number for number, one in built.items() if one.recipe is None}
    if not built:
        origins |= {number for number, feed in known.feeds.items() if not any(feed)}
    seeds = dict.fromkeys((origins & site.unknown) | site.fed, (ELSEWHERE,))
    items = spread(site.flow.after, seeds, {}, built)
    for number in site.fed:
        items[number].add(ELSEWHERE)
    return items


def _dead_end(site: Site, end: int, items: _Items) -> str | None:
    """Why a belt end is no output, "" if there is nothing to say, None if it is one."""
    if not items.arriving[end] and not items.unclear[end]:
        return ""
    if site.is_closed(end):
        return "since something stands ahead of it"
    takers = [site.flow.after[arm] for arm in site.flow.after[end]]
    if any(site.entities[one].kind not in MACHINE_KINDS for taken in takers for one in taken):
        return "since an inserter empties it"
    if not site.has_machines or not items.arriving[end]:
        return None
    if not items.made[end]:
        return f"since only {_listed(items.arriving[end])} from outside gets there"
    if items.made[end] <= items.taken[end]:
        made = _listed(items.made[end])
        x, y = site.entities[end].x, site.entities[end].y
        return f"since machines inside take its {made} (else pass --output {x},{y}={made})"
    return None


def _listed(items: set[str]) -> str:
    return ", ".join(sorted(items))


def _item_at(site: Site, number: int, items: _Items) -> str | None:
    """The scored item of a sink: what is made and gets there, else what gets there."""
    there = items.arriving[number]
    choices = (items.made[number] - items.taken[number]) or items.made[number] or there
    if len(choices) > 1:
        choices = (choices - items.ingredients) or choices
    if len(choices) == 1:
        return next(iter(choices))
    if number in site.unknown or (not choices and number not in site.given.sinks):
        return None
    one = site.entities[number]
    option = f"--output {one.x},{one.y}="
    if not choices:
        raise BlueprintError(
            f"nothing gets to the output at {site.where(number)}: pass {option}item"
        )
    named = sorted(choices)
    raise BlueprintError(
        f"{' and '.join(named)} get to the output at {site.where(number)}: "
        f"pass {option}{named[0]} or {option}{named[1]}"
    )
