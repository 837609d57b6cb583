"""The curriculum as a picture: how often each family succeeds from each level, and what is drawn.

In: the tallies. Out: a PIL image, one row per family, one column per number of missing placements,
the starts from empty at the right.
"""

from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from envs.draw import FAINT_INK, INK, PAPER
from envs.heat_colours import NO_FIGURE, NO_FIGURE_EDGE, success_colour, text_colour
from factorio_rl.curriculum import FEWEST_EPISODES, Curriculum, level_weights, success

LETTER_PX = 13
MARGIN_PX = 18
ROW_PX = 22
WIDEST_CELL_PX, NARROWEST_CELL_PX = 22, 6
GRID_PX = 1600
"""Columns become narrower where they would be wider than this together."""

EMPTY_COLUMN_PX = 76
BAR_PX = 130
TICK_EVERY = 5

_TITLE = "Share of episodes solved, by family and by how much is missing at the start"
_AXIS = "k, placements of the reference missing at the start"
_LEGEND = (
    "solved, 0% to 100%, over k - 2 to k + 2",
    f"fewer than {FEWEST_EPISODES:.0f} episodes lately",
    "drawn now as a start; a larger dot: more often",
)
_LEGEND_LEFT_PX = MARGIN_PX + BAR_PX + 10


class _Plot(NamedTuple):
    """Where things lie, pixels."""

    draw: ImageDraw.ImageDraw
    font: ImageFont.FreeTypeFont
    left: int  # of the column k = 1
    top: int  # of the first row
    cell: int  # width of a column
    right: int  # of the last column
    bottom: int  # of the last row

    def write(self, x: float, y: float, text: str, anchor: str, colour: str = INK) -> None:
        self.draw.text((x, y), text, fill=colour, font=self.font, anchor=anchor)

    def dot(self, x: float, y: float, share: float, colour: str) -> None:
        """A dot whose area is this share of the largest one."""
        radius = max(1.0, 0.27 * min(self.cell, ROW_PX) * share**0.5)
        self.draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour)

    def box(self, x: int, row: int, width: int, fill: str) -> None:
        """A cell of a row, a line of paper between it and the next ones."""
        y = self.top + row * ROW_PX
        self.draw.rectangle((x, y, x + width - 2, y + ROW_PX - 2), fill=fill)


def draw_curriculum(curriculum: Curriculum, review_share: float) -> Image.Image:
    """An RGB picture of the tallies; `review_share` is that of `level_weights`."""
    font = ImageFont.load_default(LETTER_PX)
    assert isinstance(font, ImageFont.FreeTypeFont)
    families, levels = curriculum.families, max(curriculum.longest)
    cell = max(NARROWEST_CELL_PX, min(WIDEST_CELL_PX, GRID_PX // levels))
    left = MARGIN_PX + 10 + round(max(font.getlength(name) for name in families))
    top = MARGIN_PX + 4 * LETTER_PX
    right, bottom = left + levels * cell, top + len(families) * ROW_PX
    legend_right = _LEGEND_LEFT_PX + max(font.getlength(text) for text in _LEGEND)
    title_right = MARGIN_PX + font.getlength(_TITLE)
    grid_right = right + MARGIN_PX + EMPTY_COLUMN_PX
    width = round(max(grid_right, legend_right, title_right)) + MARGIN_PX
    image = Image.new("RGB", (width, bottom + 9 * LETTER_PX + MARGIN_PX), PAPER)
    plot = _Plot(ImageDraw.Draw(image), font, left, top, cell, right, bottom)
    plot.write(MARGIN_PX, MARGIN_PX, _TITLE, "lt")
    for row, name in enumerate(families):
        plot.write(left - 10, top + (row + 0.45) * ROW_PX, name, "rm")
    _draw_levels(plot, curriculum, review_share)
    _draw_empty(plot, curriculum)
    _draw_axis(plot, levels)
    _draw_legend(plot)
    return image


def _draw_levels(plot: _Plot, curriculum: Curriculum, review_share: float) -> None:
    """Cells of the levels that exist, with dots on those that are drawn now."""
    shares, weights = success(curriculum), level_weights(curriculum, review_share)
    for row, longest in enumerate(curriculum.longest):
        most = weights[row].max()
        for removed in range(1, longest + 1):
            colour = success_colour(shares[row, removed])
            x = plot.left + (removed - 1) * plot.cell
            plot.box(x, row, plot.cell, colour)
            weight = weights[row, removed]
            if weight > 0:
                middle = plot.top + row * ROW_PX + ROW_PX / 2 - 1
                ink = text_colour(colour)
                plot.dot(x + plot.cell / 2 - 1, middle, float(weight / most), ink)


def _draw_empty(plot: _Plot, curriculum: Curriculum) -> None:
    """The column of the starts from empty, with its percentages."""
    left, middle = plot.right + MARGIN_PX, plot.right + MARGIN_PX + EMPTY_COLUMN_PX / 2
    plot.write(middle, plot.top - 6, "from empty", "mb", FAINT_INK)
    tallies = zip(curriculum.empty_solved, curriculum.empty_episodes, strict=True)
    for row, (solved, episodes) in enumerate(tallies):
        share = solved / episodes if episodes >= FEWEST_EPISODES else np.nan
        colour = success_colour(share)
        plot.box(left, row, EMPTY_COLUMN_PX, colour)
        text = "" if np.isnan(share) else f"{100 * share:.0f}%"
        y = plot.top + (row + 0.45) * ROW_PX
        plot.write(middle, y, text, "mm", text_colour(colour))


def _draw_axis(plot: _Plot, levels: int) -> None:
    for removed in {1, *range(TICK_EVERY, levels + 1, TICK_EVERY)}:
        x = plot.left + (removed - 0.5) * plot.cell - 1
        plot.draw.line((x, plot.bottom, x, plot.bottom + 3), fill=FAINT_INK)
        plot.write(x, plot.bottom + 6, str(removed), "mt", FAINT_INK)
    plot.write(plot.left, plot.bottom + 2 * LETTER_PX, _AXIS, "lt")


def _draw_legend(plot: _Plot) -> None:
    """The colour scale, the grey of levels without a figure, the dot of levels drawn now."""
    left = MARGIN_PX
    lines = [plot.bottom + round(height * LETTER_PX) for height in (4.8, 6.6, 8.4)]
    half = LETTER_PX // 2
    for x in range(BAR_PX):
        colour = success_colour(x / (BAR_PX - 1))
        plot.draw.line((left + x, lines[0] - half, left + x, lines[0] + half), fill=colour)
    grey = (left + BAR_PX - 20, lines[1] - half, left + BAR_PX - 1, lines[1] + half)
    plot.draw.rectangle(grey, fill=NO_FIGURE, outline=NO_FIGURE_EDGE)
    plot.dot(left + BAR_PX - 10, lines[2], 1.0, INK)
    for y, text in zip(lines, _LEGEND, strict=True):
        plot.write(_LEGEND_LEFT_PX, y, text, "lm")
