"""The colour scale of heat maps. Jax-free.

In: a share from 0 to 1. Out: a colour. The scale follows ColorBrewer's YlOrRd (C. Brewer,
colorbrewer2.org), its middle reds less saturated, so that lightness falls evenly from pale yellow
to dark red for every kind of colour vision: its order can be seen without hue. Grey: no figure.
"""

import math
from collections.abc import Sequence

from PIL import ImageColor

from envs.draw import INK, PAPER

_SCALE = (
    "#ffffcc",
    "#ffeda0",
    "#fed976",
    "#feb24c",
    "#f98e3c",
    "#ee6a30",
    "#d9452a",
    "#b51f2b",
    "#800026",
)

_SUCCESS_SCALE = ("#fffbd1", "#a9d98a", "#2f9e60", "#00482f")
"""Pale yellow to dark green: lightness falls evenly, so the order is seen without hue."""

NO_FIGURE = "#c3c7cd"
NO_FIGURE_EDGE = "#868d97"

STEPS = 20
"""Colours differ in steps of 5 %, so that a picture needs few stamps."""


def heat_colour(share: float | None) -> str:
    """The colour of a share; shares beyond 0 and 1 count as those; grey for None."""
    if share is None:
        return NO_FIGURE
    return _COLOURS[round(min(1.0, max(0.0, share)) * STEPS)]


def blend(first: str, second: str, share: float) -> str:
    """A colour that has `share` of the second and the rest of the first."""
    pairs = zip(ImageColor.getrgb(first)[:3], ImageColor.getrgb(second)[:3], strict=True)
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in pairs)


def success_colour(share: float) -> str:
    """The colour of a success; shares beyond 0 and 1 count as those; grey for nan."""
    return NO_FIGURE if math.isnan(share) else _on_scale(_SUCCESS_SCALE, share)


def _on_scale(scale: Sequence[str], share: float) -> str:
    place = min(1.0, max(0.0, share)) * (len(scale) - 1)
    low = min(int(place), len(scale) - 2)
    return blend(scale[low], scale[low + 1], place - low)


_COLOURS = tuple(_on_scale(_SCALE, step / STEPS) for step in range(STEPS + 1))


def text_colour(ground: str) -> str:
    """Dark or white, whichever has the higher contrast on the ground (WCAG 2.2)."""
    on_ink, on_paper = (_contrast(ground, colour) for colour in (INK, PAPER))
    return INK if on_ink >= on_paper else PAPER


def _contrast(first: str, second: str) -> float:
    darker, lighter = sorted((_luminance(first), _luminance(second)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    """Relative luminance of an sRGB colour (WCAG 2.2)."""
    values = [part / 255 for part in ImageColor.getrgb(colour)[:3]]
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in values
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
