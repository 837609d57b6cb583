"""Names and figures as pictures and text show them. Jax-free.

In: item names of the catalogue and exact rates. Out: short item names, marks of tiers, and rates
such as "7.5 items/s (15/2)".
"""

from fractions import Fraction

_SHORT_NAMES = {
    "assembling-machine-1": "asm 1",
    "automation-science-pack": "red sci",
    "burner-inserter": "burner",
    "copper-cable": "cable",
    "copper-ore": "copper ore",
    "copper-plate": "copper",
    "electronic-circuit": "circuit",
    "fast-inserter": "fast ins",
    "firearm-magazine": "ammo",
    "iron-gear-wheel": "gear",
    "iron-ore": "iron ore",
    "iron-plate": "iron",
    "iron-stick": "stick",
    "logistic-science-pack": "green sci",
    "long-handed-inserter": "long ins",
    "steel-plate": "steel",
    "stone-brick": "brick",
    "stone-furnace": "furnace",
    "transport-belt": "belt",
    "underground-belt": "u-belt",
}

TIERS = {
    "assembling-machine-2": "2",
    "assembling-machine-3": "3",
    "steel-furnace": "2",
    "electric-furnace": "3",
}
"""Marks of machines that are not the first of their kind, by prototype name."""


def short_name(item: str | None) -> str:
    """An item name of few letters; a dash for no item."""
    if item is None:
        return "-"
    return _SHORT_NAMES.get(item, item.replace("-", " "))


def rate_text(rate: Fraction) -> str:
    """Items per second as a decimal, and the exact fraction where the two differ in form."""
    decimal = f"{float(rate):.4g} items/s"
    return decimal if rate.denominator == 1 else f"{decimal} ({rate})"
