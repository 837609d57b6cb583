"""The scale of heat maps is ordered by lightness, also for colour-blind people."""

import numpy as np
import pytest
from PIL import ImageColor

from envs.heat_colours import NO_FIGURE, STEPS, blend, heat_colour, text_colour

# Linear RGB as seen with full protanopia, deuteranopia, tritanopia (Machado, Oliveira and
# Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency", 2009).
VISION = {
    "full": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}


def _lightness(colour: str, vision: str) -> float:
    """CIE L* of a colour, 0 to 100."""
    values = np.array(ImageColor.getrgb(colour)) / 255
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    seen = np.clip(VISION[vision] @ linear, 0, 1)
    luminance = float(seen @ np.array([0.2126, 0.7152, 0.0722]))
    return 116 * luminance ** (1 / 3) - 16


@pytest.mark.parametrize("vision", VISION)
def test_each_step_is_darker_than_the_last(vision: str) -> None:
    lightness = [_lightness(heat_colour(step / STEPS), vision) for step in range(STEPS + 1)]
    assert (np.diff(lightness) < -1.5).all()
    assert lightness[0] - lightness[-1] > 60


def test_grey_is_no_colour_of_the_scale() -> None:
    assert heat_colour(None) == NO_FIGURE
    grey = np.array(ImageColor.getrgb(NO_FIGURE))
    for step in range(STEPS + 1):
        colour = np.array(ImageColor.getrgb(heat_colour(step / STEPS)))
        assert np.abs(colour - grey).max() > 50


def test_shares_beyond_the_scale_take_its_ends() -> None:
    assert heat_colour(-0.1) == heat_colour(0.0)
    assert heat_colour(1.1) == heat_colour(1.0)


def test_blend_meets_both_ends_and_the_middle() -> None:
    mixed = [blend("#000000", "#ff8000", share) for share in (0.0, 0.5, 1.0)]
    assert mixed == ["#000000", "#804000", "#ff8000"]


def test_text_on_the_scale_can_be_read() -> None:
    for step in range(STEPS + 1):
        ground = heat_colour(step / STEPS)
        difference = _lightness(ground, "full") - _lightness(text_colour(ground), "full")
        assert abs(difference) > 35
