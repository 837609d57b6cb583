"""What enters a blueprint and what its furnaces make, inferred from its recipes. Jax-free.

In: a site, whose named ports are kept. Out: a feed for every entry and a product for every
furnace that is brought anything. An entry carries what the machines behind it want and no machine
inside makes, on both lanes, if that is exactly one item; a furnace, what it is brought or what its
product is wanted as. What stays open is an error that names the option to pass.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from envs.blueprint.ports import EMPTY, Feed
from envs.blueprint.site import (
    ELSEWHERE,
    UNDECIDED,
    Known,
    Site,
    arriving,
    lines_with_drops,
    smelted,
    wanted,
)
from envs.blueprint.text import BlueprintError
from envs.catalogue import SMELTING

MAX_ROUNDS = 64
"""Most rounds of inference. Each decides at least one port or furnace; real blueprints need few."""

_NEEDED = "the machines or outputs behind it want it, and no machine brings it there"
_SPARE = "nothing behind it takes anything"
_LAST_NEED = "the other items wanted behind it come from elsewhere"
_COVERED = "all that is wanted behind it comes from elsewhere"
_ASKED = "it asks robots for it"
_NOTHING = Feed(None, None)


def infer_inputs(site: Site) -> Known:
    """Feeds of all entries, and recipes of the furnaces that get anything.

    Raises BlueprintError for an entry outside the unknown entities that stays open; one that feeds
    an open furnace does.
    """
    asked = {number: items[0] for number, items in site.requested.items() if len(items) == 1}
    known = Known().with_feeds({n: Feed(item, item) for n, item in asked.items()}, _ASKED)
    known = replace(known, feeds={**known.feeds, **site.given.feeds})
    for _ in range(MAX_ROUNDS):
        new = _round(site, known)
        if new is known:
            break
        known = new
    open_entries = [number for number in site.entries() if number not in known.feeds]
    _check_entries(site, known, [n for n in open_entries if n not in site.unknown])
    return replace(known, feeds={**known.feeds, **dict.fromkeys(open_entries, _NOTHING)})


def _round(site: Site, known: Known) -> Known:
    """Decides by the surest evidence that decides anything; the same object if none does."""
    for step in (_by_arrival, _by_want, _by_need, _by_last_need, _spare_starts):
        new = step(site, known)
        if new is not known:
            return new
    return known


def _open_furnaces(site: Site, known: Known) -> list[int]:
    return [
        number
        for number, one in enumerate(site.entities)
        if one.kind == "furnace" and number not in known.recipes
    ]


def _by_arrival(site: Site, known: Known) -> Known:
    """Furnaces to which exactly one item that can be smelted comes."""
    if not (furnaces := _open_furnaces(site, known)):
        return known
    items = arriving(site, known, with_feeds=True)
    found = {number: smelted(*items[number]) for number in furnaces if len(items[number]) == 1}
    recipes = {number: product for number, product in found.items() if product}
    return known.with_recipes(recipes, "from what is brought") if recipes else known


def _by_want(site: Site, known: Known) -> Known:
    """Furnaces to which nothing comes yet, and whose output is wanted as exactly one product."""
    if not (furnaces := _open_furnaces(site, known)):
        return known
    items = arriving(site, known, with_feeds=True)
    wants = wanted(site, known, None)
    found = {number: wants[number] & SMELTING.keys() for number in furnaces if not items[number]}
    recipes = {number: next(iter(one)) for number, one in found.items() if len(one) == 1}
    return known.with_recipes(recipes, "from what is wanted") if recipes else known


def _candidates(site: Site, known: Known, with_feeds: bool) -> dict[int, set[str]]:
    """Items that each open entry may carry: wanted behind it, and not made inside (or fed)."""
    wants = wanted(site, known, arriving(site, known, with_feeds))
    return {number: wants[number] for number in site.entries() if number not in known.feeds}


def _own_lines(site: Site, entries: Iterable[int]) -> set[int]:
    """Entries whose belt gets nothing else further on."""
    entries = list(entries)
    return set(entries) - lines_with_drops(site, entries).keys()


def _by_need(site: Site, known: Known) -> Known:
    """Entries that must carry exactly one item, and entries that nobody uses."""
    wants = _candidates(site, known, with_feeds=False)
    own = _own_lines(site, wants)
    needed = {number: one - {ELSEWHERE} for number, one in wants.items() if number in own}
    feeds = _single(needed)
    if feeds:
        return known.with_feeds(feeds, _NEEDED)
    idle = [number for number, one in wants.items() if not one and site.has_machines]
    return known.with_feeds(dict.fromkeys(idle, _NOTHING), _SPARE) if idle else known


def _by_last_need(site: Site, known: Known) -> Known:
    """Entries of which only one item does not come from the entries decided so far."""
    wants = _candidates(site, known, with_feeds=True)
    own = _own_lines(site, wants)
    feeds = _single({number: wants[number] - {ELSEWHERE} for number in own})
    return known.with_feeds(feeds, _LAST_NEED) if feeds else known


def _spare_starts(site: Site, known: Known) -> Known:
    """Belts that begin before the first inserter drops on them, when nothing is missing there."""
    wants = _candidates(site, known, with_feeds=True)
    own = _own_lines(site, wants)
    if any(number not in site.unknown for number in own):
        return known
    spare = [number for number, one in wants.items() if number not in own and one <= {ELSEWHERE}]
    return known.with_feeds(dict.fromkeys(spare, _NOTHING), _COVERED) if spare else known


def _single(needed: dict[int, set[str]]) -> dict[int, Feed]:
    """Both lanes for each entry with exactly one item, which no open furnace can change."""
    return {
        number: Feed(item, item)
        for number, items in needed.items()
        if len(items) == 1 and UNDECIDED not in items
        for item in items
    }


def _check_entries(site: Site, known: Known, entries: Sequence[int]) -> None:
    """Raises BlueprintError, with the option to pass, for the first entry that stays open."""
    if not entries:
        return
    first = entries[0]
    wants = _candidates(site, known, with_feeds=False)[first]
    items = sorted(wants - {ELSEWHERE, UNDECIDED})
    where = site.where(first)
    option = f"--input {site.entities[first].x},{site.entities[first].y}="
    example = items[0] if items else "iron-ore"
    is_chest = site.entities[first].kind == "chest_src"
    what = "chest" if is_chest else "belt"
    if not items:
        told = f"nothing tells what the {what} at {where} carries: pass e.g. {option}{example}"
    elif drop := lines_with_drops(site, [first]).get(first):
        told = (
            f"the belt that begins at {where} also gets items from an inserter at "
            f"{site.where(drop)}: pass {option}{example},left (or right), "
            f"or {option}{EMPTY} if nothing enters"
        )
    elif is_chest or len(items) == 1:
        told = f"the {what} at {where} may carry {' or '.join(items)}: pass e.g. {option}{example}"
    else:
        told = (
            f"the belt that begins at {where} may carry {' or '.join(items)}: pass "
            f"{option}{items[0]} for both lanes, or one item a lane as in "
            f"{option}{items[0]},left {option}{items[1]},right"
        )
    more = len(entries) - 1
    others = ", ".join(site.where(number) for number in entries[1:6])
    dots = ", ..." if more > 5 else ""
    raise BlueprintError(told + (f" (also open: {others}{dots})" if more else ""))


def mixed_furnaces(site: Site, known: Known) -> dict[int, str]:
    """Furnaces to which several items that can be smelted come, and why that is unknown."""
    items = arriving(site, known, with_feeds=True)
    return {
        number: f"{' and '.join(sorted(items[number]))} can get into it; one recipe is simulated"
        for number, one in enumerate(site.entities)
        if one.kind == "furnace" and len(items[number]) > 1
    }
