"""A blueprint whose ports are being found: its graph, belt ends and what is known. Jax-free.

In: entities without ports. Out: where items may enter and leave, and the sets of items that
arrive or are wanted at each entity, given the recipes and feeds known so far.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from envs.blueprint.ports import Feed, GivenPorts
from envs.catalogue import SMELTING
from envs.item_flow import ItemFlow, Tile, continues, ingredients_of, spread, tile_ahead
from envs.layout import MACHINE_KINDS, Entity

ELSEWHERE = "*"
"""Wanted by an arm that takes any item to a chest or belt."""

UNDECIDED = "?"
"""Wanted by a furnace whose recipe is not known yet."""

_SMELTABLE = {recipe.ingredients[0][0]: name for name, recipe in SMELTING.items()}


def smelted(item: str) -> str | None:
    """What a furnace makes of an item."""
    return _SMELTABLE.get(item)


@dataclass(frozen=True, slots=True)
class Site:
    """What does not change while ports are found.

    Attributes:
        entities: belts, inserters, machines and chests.
        flow: their graph.
        unknown: entities that something not simulated may act on.
        fed: belts that something not simulated may fill.
        occupied: tiles where something stands, so that a belt cannot go on there.
        requested: items that a chest asks robots for, by entity number.
        given: ports that the user named.
        has_machines: whether anything is made here.
    """

    entities: tuple[Entity, ...]
    flow: ItemFlow
    unknown: frozenset[int]
    fed: frozenset[int]
    occupied: frozenset[Tile]
    requested: Mapping[int, tuple[str, ...]]
    given: GivenPorts
    has_machines: bool

    def entries(self) -> list[int]:
        """Belts that nothing fills but that lead somewhere, and chests that are emptied."""
        return [
            number
            for number, one in enumerate(self.entities)
            if one.kind == "chest_src"
            or (one.kind == "belt" and self.flow.after[number] and not self.flow.before[number])
            if number not in self.fed
        ]

    def ends(self) -> list[int]:
        """Belts that no belt follows."""
        return [
            number
            for number, one in enumerate(self.entities)
            if one.kind == "belt"
            and not any(self.entities[taker].kind == "belt" for taker in self.flow.after[number])
        ]

    def is_closed(self, end: int) -> bool:
        """Whether something stands ahead of a belt's end."""
        return tile_ahead(self.entities[end]) in self.occupied

    def where(self, number: int) -> str:
        """An entity's tile, for a sentence."""
        return f"({self.entities[number].x}, {self.entities[number].y})"


@dataclass(frozen=True, slots=True)
class Known:
    """What has been found out.

    Attributes:
        recipes: product of each furnace that is decided.
        feeds: what each decided entry gets.
        reasons: why, by entity number, for the inferred ones.
    """

    recipes: Mapping[int, str] = field(default_factory=dict)
    feeds: Mapping[int, Feed] = field(default_factory=dict)
    reasons: Mapping[int, str] = field(default_factory=dict)

    def with_feeds(self, feeds: Mapping[int, Feed], reason: str) -> "Known":
        """The same and these feeds."""
        reasons = {**self.reasons, **dict.fromkeys(feeds, reason)}
        return replace(self, feeds={**self.feeds, **feeds}, reasons=reasons)

    def with_recipes(self, recipes: Mapping[int, str], reason: str) -> "Known":
        """The same and these recipes of furnaces."""
        reasons = {**self.reasons, **dict.fromkeys(recipes, reason)}
        return replace(self, recipes={**self.recipes, **recipes}, reasons=reasons)


def machines(site: Site, known: Known) -> dict[int, Entity]:
    """The machines with the recipes known so far, by number."""
    return {
        number: replace(one, recipe=known.recipes[number]) if number in known.recipes else one
        for number, one in enumerate(site.entities)
        if one.kind in MACHINE_KINDS
    }


def arriving(site: Site, known: Known, with_feeds: bool) -> list[set[str]]:
    """Items that may get to each entity if every machine makes its product.

    A furnace takes all that can be smelted, whatever its recipe, as it does in the game.
    """
    built = machines(site, known)
    seeds = {number: {one.recipe} for number, one in built.items() if one.recipe}
    feeds = known.feeds if with_feeds else {}
    fed = {number: {item for item in feed if item} for number, feed in feeds.items()}
    items = spread(site.flow.after, {**seeds, **fed}, _accepted(site, built), _ends(site))
    for number, feed in fed.items():
        items[number] |= feed
    return items


def wanted(site: Site, known: Known, met: Sequence[set[str]] | None) -> list[set[str]]:
    """Items that machines and named outputs behind each entity take.

    Without what is `met`, i.e. arrives there anyway. At a furnace: what its product is wanted as.
    """
    seeds: dict[int, set[str]] = {}
    for number, one in machines(site, known).items():
        undecided = one.kind == "furnace" and one.recipe is None
        seeds[number] = {UNDECIDED, *_SMELTABLE} if undecided else set(ingredients_of(one))
    for number, item in site.given.sinks.items():
        seeds[number] = {item} if item else set()
    if met is not None:
        seeds = {number: items - met[number] for number, items in seeds.items()}
    for number, one in enumerate(site.entities):
        takers = site.flow.after[number] if one.kind == "inserter" else ()
        if any(site.entities[taker].kind not in MACHINE_KINDS for taker in takers):
            seeds[number] = {ELSEWHERE}
    items = spread(site.flow.before, seeds, {}, _ends(site))
    for number in site.given.sinks:
        items[number] |= seeds[number]
    return items


def _ends(site: Site) -> list[int]:
    """Entities that hand on nothing of what they get."""
    kinds = (*MACHINE_KINDS, "chest_src", "chest_sink")
    return [number for number, one in enumerate(site.entities) if one.kind in kinds]


def _accepted(site: Site, built: Mapping[int, Entity]) -> dict[int, frozenset[str]]:
    """The items that machines, and arms that fill machines, take."""
    takes = {
        number: frozenset(_SMELTABLE) if one.kind == "furnace" else ingredients_of(one)
        for number, one in built.items()
    }
    for number, one in enumerate(site.entities):
        for taker in site.flow.after[number] if one.kind == "inserter" else ():
            if taker in built:
                takes[number] = takes[taker]
    return takes


def lines_with_drops(site: Site, entries: Sequence[int]) -> dict[int, int]:
    """For each entry onto whose own belt an inserter drops further on, the first such belt."""
    found = {}
    for entry in entries:
        belt, seen = entry, set()
        while belt not in seen and site.entities[belt].kind == "belt":
            seen.add(belt)
            if any(site.entities[giver].kind == "inserter" for giver in site.flow.before[belt]):
                found[entry] = belt
                break
            ahead = [n for n in site.flow.after[belt] if site.entities[n].kind == "belt"]
            if not ahead or not continues(belt, ahead[0], site.entities, site.flow):
                break
            belt = ahead[0]
    return found
