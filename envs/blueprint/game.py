"""What the game's entity names mean for the flow of items, in versions 1.1 and 2.0. Jax-free.

Footprints are width x height in tiles of the entity facing north, from the prototypes of the base
mod and Space Age [S3: wube/factorio-data 1.1.110 and 2.0.76]. Four classes of names: supported
ones, names without effect on items, tracks and trains (which matter only to inserters beside
them), and names that are not simulated. Any other name has an unknown footprint and effect.
"""

from enum import Enum
from typing import NamedTuple

from envs.layout import PROTOTYPES

SUPPORTED: dict[str, str] = {
    name: kind for kind in ("belt", "inserter", "asm", "furnace") for name in PROTOTYPES[kind]
}
"""Kind of a layout's entity by the game's name; the names are the same in 1.1 and 2.0."""


class ChestUse(NamedTuple):
    """Who else handles a chest's items: whether it may be a chest_src or a chest_sink."""

    gives: bool
    takes: bool


_ANY_USE = ChestUse(gives=True, takes=True)
_PROVIDER = ChestUse(gives=False, takes=True)

CHESTS: dict[str, ChestUse] = {
    **dict.fromkeys(("wooden-chest", "iron-chest", "steel-chest"), _ANY_USE),
    **dict.fromkeys(("requester-chest", "logistic-chest-requester"), _ANY_USE),
    **dict.fromkeys(("buffer-chest", "logistic-chest-buffer"), _ANY_USE),
    **dict.fromkeys(("storage-chest", "logistic-chest-storage"), _ANY_USE),
    **dict.fromkeys(("active-provider-chest", "logistic-chest-active-provider"), _PROVIDER),
    **dict.fromkeys(("passive-provider-chest", "logistic-chest-passive-provider"), _PROVIDER),
}
"""Robots take from providers and never fill them, so nothing gives what arms take there."""


class Touch(Enum):
    """How an entity that is not simulated takes part in the flow of items around it."""

    LINE = "moves items along its direction, like a belt"
    EDGE = "may hand items to and from whatever stands beside it"
    ARMS = "gets and gives items through inserters only"
    AREA = "changes the machines around it"
    SWING = "is an inserter"


class Unsimulated(NamedTuple):
    """A known entity that is not simulated; width x height in tiles when it faces north."""

    width: int
    height: int
    touch: Touch
    reason: str


def _sizes(**names_by_size: str) -> dict[str, tuple[int, int]]:
    """(width, height) by name from e.g. `s2x1="splitter fast-splitter"`."""
    return {
        name: (int(size[1:].split("x")[0]), int(size[1:].split("x")[1]))
        for size, names in names_by_size.items()
        for name in names.split()
    }


def _group(touch: Touch, reason: str, **names_by_size: str) -> dict[str, Unsimulated]:
    return {
        name: Unsimulated(width, height, touch, reason)
        for name, (width, height) in _sizes(**names_by_size).items()
    }


UNSUPPORTED: dict[str, Unsimulated] = {
    **_group(
        Touch.LINE,
        "only yellow belts are simulated",
        s1x1="fast-transport-belt express-transport-belt turbo-transport-belt",
    ),
    **_group(
        Touch.LINE,
        "underground belts are not simulated",
        s1x1="underground-belt fast-underground-belt express-underground-belt "
        "turbo-underground-belt linked-belt",
    ),
    **_group(
        Touch.LINE,
        "splitters are not simulated",
        s2x1="splitter fast-splitter express-splitter turbo-splitter",
        s1x1="lane-splitter",
    ),
    **_group(
        Touch.EDGE,
        "loaders are not simulated",
        s1x2="loader fast-loader express-loader turbo-loader",
        s1x1="loader-1x1",
    ),
    **_group(
        Touch.SWING,
        "filter, bulk and stack inserters are not simulated",
        s1x1="filter-inserter stack-inserter stack-filter-inserter bulk-inserter",
    ),
    **_group(
        Touch.EDGE,
        "mining is not simulated",
        s2x2="burner-mining-drill",
        s3x3="electric-mining-drill pumpjack",
        s5x5="big-mining-drill",
    ),
    **_group(
        Touch.ARMS,
        "this machine is not simulated",
        s2x3="crusher",
        s3x3="chemical-plant centrifuge lab biochamber agricultural-tower asteroid-collector",
        s4x4="electromagnetic-plant",
        s5x5="oil-refinery foundry cryogenic-plant captive-biter-spawner biolab",
        s9x9="rocket-silo",
    ),
    **_group(Touch.EDGE, "this machine is not simulated", s2x4="recycler"),
    **_group(Touch.AREA, "beacons are not simulated", s3x3="beacon"),
    **_group(
        Touch.ARMS,
        "burning fuel is not simulated",
        s3x2="boiler",
        s3x3="heating-tower",
        s3x5="burner-generator",
        s5x5="nuclear-reactor",
        s6x6="fusion-reactor",
    ),
    **_group(
        Touch.ARMS,
        "robots and platforms are not simulated",
        s4x4="roboport cargo-bay",
        s8x8="cargo-landing-pad space-platform-hub",
    ),
    **_group(
        Touch.ARMS,
        "turrets are not simulated",
        s2x2="gun-turret",
        s3x3="artillery-turret rocket-turret",
        s3x5="railgun-turret",
    ),
    **_group(Touch.ARMS, "this chest is not simulated", s1x1="infinity-chest linked-chest"),
}
"""Entities that are not simulated, by name."""


IGNORED: dict[str, tuple[int, int]] = _sizes(
    s0x0="elevated-straight-rail elevated-curved-rail-a elevated-curved-rail-b "
    "elevated-half-diagonal-rail rail-ramp rail-support",
    s1x1="small-electric-pole medium-electric-pole small-lamp stone-wall gate land-mine "
    "constant-combinator programmable-speaker display-panel rail-signal rail-chain-signal "
    "pipe pipe-to-ground heat-pipe lightning-rod infinity-pipe heat-interface offshore-pump "
    "simple-entity-with-owner simple-entity-with-force",
    s1x2="arithmetic-combinator decider-combinator selector-combinator pump",
    s2x2="big-electric-pole substation power-switch accumulator laser-turret train-stop "
    "electric-energy-interface lightning-collector",
    s2x3="flamethrower-turret",
    s3x2="heat-exchanger",
    s3x3="solar-panel radar storage-tank",
    s3x5="steam-engine steam-turbine fusion-generator",
    s4x4="tesla-turret",
    s4x5="thruster",
)
"""(width, height) of entities that hold, move and make no items; circuits act through the settings
of what they are wired to, which are looked at there. Elevated tracks leave the ground free."""

TRACKS: dict[str, tuple[int, int]] = _sizes(
    s2x2="straight-rail legacy-straight-rail",
    s6x6="curved-rail-a curved-rail-b half-diagonal-rail locomotive cargo-wagon fluid-wagon "
    "artillery-wagon car tank spidertron",
    s8x8="curved-rail legacy-curved-rail",
)
"""Squares (width, height) that hold tracks or vehicles in any rotation: an inserter there loads a
train. Generous for curves, whose true footprints are not rectangles."""

BEACON_TILES = 3
"""A beacon's supply area reaches this far beyond its footprint [S3: supply_area_distance]."""

TURN_UNITS_BEFORE_2_0 = 8
TURN_UNITS = 16
"""Units of `direction` in a full turn (R50)."""

FIRST_OF_2_0 = 2 << 48
"""The least `version` of Factorio 2.0: major << 48 | minor << 32 | patch << 16 (R50)."""
