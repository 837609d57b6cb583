"""Families of tasks: which modules are asked for, and how their stages are joined. Jax-free.

A family names a chain of recipes, how many machines each stage may have, and whether stages hand
on by direct insertion or by belt. The generator draws its tasks family by family.
"""

from dataclasses import dataclass
from enum import Enum

from envs.catalogue import RECIPES


class Link(Enum):
    """How a stage hands its product to the next one."""

    DIRECT = "direct"
    BELT = "belt"


MAX_SOURCES = 3
"""Most sources of a task."""

SINGLE, LARGE_SINGLE, MULTIPLE, LARGE_MULTIPLE = 48, 64, 80, 96
"""Placement limits; the 95th percentiles of references are 18-28, 32, 27-52 and 56."""


@dataclass(frozen=True)
class Family:
    """One kind of module.

    Attributes:
        name: what task files, reports and settings call it.
        recipes: stages in topological order, the product last; recipe slots of its tasks.
        machines: the numbers of machines per stage that are drawn from.
        link: between stages; None where there is one stage.
        inner_ports: whether ports lie inside the grid instead of on its border.
        placement_limit: placements of an episode, about twice the 95th percentile of the
            references on 12x12.
    """

    name: str
    recipes: tuple[str, ...]
    machines: tuple[tuple[int, ...], ...]
    link: Link | None = None
    inner_ports: bool = False
    placement_limit: int = MULTIPLE

    @property
    def product(self) -> str:
        """The item that its tasks ask for."""
        return self.recipes[-1]

    @property
    def raw_items(self) -> tuple[str, ...]:
        """Items that ports have to supply, in recipe order."""
        items = (item for name in self.recipes for item, _ in RECIPES[name].ingredients)
        return tuple(dict.fromkeys(item for item in items if item not in self.recipes))

    @property
    def num_items(self) -> int:
        """Item slots that its tasks use."""
        return len(self.raw_items) + len(self.recipes)

    @property
    def max_ports(self) -> int:
        """Most ports of its tasks: sources, stages that use the same item apart, and the sink."""
        wants = [item for name in self.recipes for item, _ in RECIPES[name].ingredients]
        return 1 + min(MAX_SOURCES, sum(item not in self.recipes for item in wants))


_GEAR, _CABLE, _CIRCUIT = "iron-gear-wheel", "copper-cable", "electronic-circuit"
_BELT, _SCIENCE, _AMMUNITION = "transport-belt", "automation-science-pack", "firearm-magazine"
_ONE, _ONE_EACH = ((1,),), ((1, 1),)

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family("gear", (_GEAR,), _ONE, placement_limit=SINGLE),
        Family("cable", (_CABLE,), _ONE, placement_limit=SINGLE),
        Family("pipe", ("pipe",), _ONE, placement_limit=SINGLE),
        Family("stick", ("iron-stick",), _ONE, placement_limit=SINGLE),
        Family("ammunition", (_AMMUNITION,), _ONE, placement_limit=SINGLE),
        Family("furnace", ("stone-furnace",), _ONE, placement_limit=SINGLE),
        Family("circuit", (_CIRCUIT,), _ONE, placement_limit=SINGLE),
        Family("belt", (_BELT,), _ONE, placement_limit=SINGLE),
        Family("science", (_SCIENCE,), _ONE, placement_limit=SINGLE),
        Family("inserter", ("inserter",), _ONE, placement_limit=LARGE_SINGLE),
        Family("gear-inside", (_GEAR,), _ONE, inner_ports=True, placement_limit=SINGLE),
        Family("circuit-inside", (_CIRCUIT,), _ONE, inner_ports=True, placement_limit=SINGLE),
        Family("gear-parallel", (_GEAR,), ((2,),)),
        Family("ammunition-parallel", (_AMMUNITION,), ((2,), (3,))),
        Family("science-parallel", (_SCIENCE,), ((2,), (3,))),
        Family("circuit-own-cable-direct", (_CABLE, _CIRCUIT), ((1, 1), (2, 1)), Link.DIRECT),
        Family("circuit-own-cable-belt", (_CABLE, _CIRCUIT), _ONE_EACH, Link.BELT),
        Family("circuit-own-cable-inside", (_CABLE, _CIRCUIT), _ONE_EACH, Link.DIRECT, True),
        Family("belt-own-gear-direct", (_GEAR, _BELT), _ONE_EACH, Link.DIRECT),
        Family("belt-own-gear-belt", (_GEAR, _BELT), _ONE_EACH, Link.BELT),
        Family("science-own-gear-direct", (_GEAR, _SCIENCE), ((1, 1), (1, 2)), Link.DIRECT),
        Family("science-own-gear-belt", (_GEAR, _SCIENCE), _ONE_EACH, Link.BELT),
        Family("inserter-own-gear", (_GEAR, "inserter"), _ONE_EACH, Link.DIRECT),
        Family(
            "underground-from-plates",
            (_GEAR, _BELT, "underground-belt"),
            ((1, 1, 1),),
            Link.DIRECT,
        ),
        Family(
            "logistic-science-own-belt",
            (_GEAR, _BELT, "logistic-science-pack"),
            ((1, 1, 1),),
            Link.DIRECT,
        ),
        Family("inserter-own-circuit", (_CABLE, _CIRCUIT, "inserter"), ((1, 1, 1),), Link.DIRECT),
        Family(
            "inserter-from-plates",
            (_CABLE, _CIRCUIT, _GEAR, "inserter"),
            ((1, 1, 1, 1),),
            Link.DIRECT,
            placement_limit=LARGE_MULTIPLE,
        ),
    )
}
"""All families by name: single machines, several machines of one stage, then chains."""
