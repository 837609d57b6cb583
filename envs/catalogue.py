"""Game figures: items, recipes, machines, belts and arms, each with its source.

Sources (Factorio 2.0, base mod): [S3] wube/factorio-data prototype constants, tags 1.1.110,
2.0.76 and 2.1.12; [S1] divagr18/FactorioGym `docs/sim-logistics.md`, tick-by-tick measurements
on 2.0.60; [S4] 5thlayer/factoryworks overload probe on 2.1.20. Jax-free; nothing is imported.
"""

from dataclasses import dataclass

TICKS_PER_S = 60
"""Game ticks per second (R1)."""

BELT_SPEED_PER_TICK = 8
"""Yellow belt speed in 1/256 tile per tick (R12) [S1, S3: 0.03125 tile per tick]."""

BELT_ITEM_GAP = 64
"""Least distance of two items on a lane in 1/256 tile (R12) [S1]."""

CHEST_CYCLE_TICKS = 70
"""Ticks of a basic inserter's swing between two tiles that never block (R20): 35 out, 35 back."""


@dataclass(frozen=True, slots=True)
class Arm:
    """A kind of inserter (R20) [S3].

    Attributes:
        prototype: the game's name.
        reach_tiles: from the arm to its pickup and to its drop tile (R6).
        rotation_per_tick: in 1e-7 turns.
        extension_per_tick: in 1/256,000 tile.
        rounds_up: whether the last step of a loaded swing may cover two steps in full (R25).
    """

    prototype: str
    reach_tiles: int
    rotation_per_tick: int
    extension_per_tick: int
    rounds_up: bool = False


@dataclass(frozen=True, slots=True)
class Machine:
    """A kind of assembling machine or furnace (R37) [S3].

    Attributes:
        prototype: the game's name.
        size: side of the square footprint, tiles.
        speed_quarters: crafting speed in quarters.
        smelts: whether it takes furnace recipes instead of assembling recipes.
    """

    prototype: str
    size: int
    speed_quarters: int
    smelts: bool = False


ARMS: dict[str, Arm] = {
    arm.prototype: arm
    for arm in (
        Arm("inserter", 1, 140_000, 8_960),
        Arm("burner-inserter", 1, 130_000, 8_960),
        Arm("long-handed-inserter", 2, 200_000, 12_800, rounds_up=True),
        Arm("fast-inserter", 1, 400_000, 25_600),
    )
}
"""Inserters by prototype name."""

MACHINES: dict[str, Machine] = {
    machine.prototype: machine
    for machine in (
        Machine("assembling-machine-1", 3, 2),
        Machine("assembling-machine-2", 3, 3),
        Machine("assembling-machine-3", 3, 5),
        Machine("stone-furnace", 2, 4, smelts=True),
        Machine("steel-furnace", 2, 8, smelts=True),
        Machine("electric-furnace", 3, 8, smelts=True),
    )
}
"""Assembling machines and furnaces by prototype name."""

TASK_MACHINE = MACHINES["assembling-machine-1"]
"""The machine that tasks place."""

MACHINE_SIZE = TASK_MACHINE.size
"""Its side in tiles [S3]."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """One craft of an assembling machine or furnace.

    Attributes:
        product: item name; also the recipe's name.
        time_tenths_s: crafting time at speed 1, in tenths of a second [S3].
        products_per_craft: items made by one craft [S3].
        stack_size: stack size of the product, the stop level of R40 [S3, S4].
        ingredients: (item, amount per craft) pairs [S3].
    """

    product: str
    time_tenths_s: int
    products_per_craft: int
    stack_size: int
    ingredients: tuple[tuple[str, int], ...]

    def craft_ticks(self, machine: Machine) -> int:
        """Ticks of one craft (R37)."""
        return TICKS_PER_S * 4 * self.time_tenths_s // (10 * machine.speed_quarters)

    def ingredient_limit(self, amount: int, machine: Machine) -> int:
        """Items of an ingredient that arms keep in the machine (R38) [S3, S4]."""
        speed_hundredths = 25 * machine.speed_quarters
        crafts = -(-1166 * speed_hundredths // (10_000 * self.time_tenths_s)) + 1
        return amount * min(100, max(2, crafts))


def _recipe(
    product: str, time_tenths_s: int, per_craft: int, stack: int, **ingredients: int
) -> Recipe:
    named = tuple((name.replace("_", "-"), amount) for name, amount in ingredients.items())
    return Recipe(product, time_tenths_s, per_craft, stack, named)


# The recipe table of the game rules (section 4) [S3].
_TABLE = (
    _recipe("iron-gear-wheel", 5, 1, 100, iron_plate=2),
    _recipe("copper-cable", 5, 2, 200, copper_plate=1),
    _recipe("electronic-circuit", 5, 1, 200, iron_plate=1, copper_cable=3),
    _recipe("pipe", 5, 1, 100, iron_plate=1),
    _recipe("iron-stick", 5, 2, 100, iron_plate=1),
    _recipe("transport-belt", 5, 2, 100, iron_plate=1, iron_gear_wheel=1),
    _recipe("inserter", 5, 1, 50, electronic_circuit=1, iron_gear_wheel=1, iron_plate=1),
    _recipe("burner-inserter", 5, 1, 50, iron_plate=1, iron_gear_wheel=1),
    _recipe("long-handed-inserter", 5, 1, 50, iron_gear_wheel=1, iron_plate=1, inserter=1),
    _recipe("fast-inserter", 5, 1, 50, electronic_circuit=2, iron_plate=2, inserter=1),
    _recipe("underground-belt", 10, 2, 50, iron_plate=10, transport_belt=5),
    _recipe("splitter", 10, 1, 50, electronic_circuit=5, iron_plate=5, transport_belt=4),
    _recipe(
        "assembling-machine-1", 5, 1, 50, electronic_circuit=3, iron_gear_wheel=5, iron_plate=9
    ),
    _recipe("automation-science-pack", 50, 1, 200, copper_plate=1, iron_gear_wheel=1),
    _recipe("logistic-science-pack", 60, 1, 200, inserter=1, transport_belt=1),
    _recipe("firearm-magazine", 10, 1, 200, iron_plate=4),
    _recipe("stone-furnace", 5, 1, 50, stone=5),
)

_SMELTING = (
    _recipe("iron-plate", 32, 1, 100, iron_ore=1),
    _recipe("copper-plate", 32, 1, 100, copper_ore=1),
    _recipe("stone-brick", 32, 1, 100, stone=2),
    _recipe("steel-plate", 160, 1, 100, iron_plate=5),
)

RECIPES: dict[str, Recipe] = {recipe.product: recipe for recipe in _TABLE}
"""Recipes of assembling machines by name."""

SMELTING: dict[str, Recipe] = {recipe.product: recipe for recipe in _SMELTING}
"""Recipes of furnaces by name."""

ITEMS: tuple[str, ...] = tuple(
    sorted(
        {recipe.product for recipe in _TABLE + _SMELTING}
        | {item for recipe in _TABLE + _SMELTING for item, _ in recipe.ingredients}
    )
)
"""All item names that occur in a recipe, sorted."""
