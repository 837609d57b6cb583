"""The picture of the curriculum: colours of levels, marks, what is grey."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image, ImageColor

from envs.heat_colours import NO_FIGURE, success_colour
from factorio_rl.curriculum import Curriculum, start_curriculum
from factorio_rl.curriculum_picture import draw_curriculum


def pixels(image: Image.Image, colour: str) -> int:
    """How many pixels have exactly this colour, below the title and above the legend."""
    cells = np.asarray(image)[60:-130]
    return int((cells == ImageColor.getrgb(colour)).all(axis=-1).sum())


@pytest.fixture
def nothing() -> Curriculum:
    return start_curriculum(("gear", "circuit-own-cable-direct"), (12, 30))


@pytest.fixture
def some(nothing: Curriculum) -> Curriculum:
    """The first family solves everything, the second nothing of what it tried."""
    episodes = np.zeros(nothing.episodes.shape)
    episodes[0, 1:13] = 50
    episodes[1, 1:20] = 50
    solved = np.where([[True], [False]], episodes, 0)
    empty = np.array([50.0, 0.0])
    return replace(
        nothing, episodes=episodes, solved=solved, empty_episodes=empty, empty_solved=empty
    )


def test_levels_have_the_colour_of_their_success(some: Curriculum) -> None:
    image = draw_curriculum(some, 0.2)
    one, none, unknown = (pixels(image, success_colour(share)) for share in (1, 0, np.nan))
    cell = 21 * 21
    # Twelve levels with dots and the column of starts from empty; 20 levels, the window's two
    # more, all but one without a dot; nine levels and one figure unknown.
    assert 12 * cell * 0.7 < one < 18 * cell
    assert 19 * cell < none < 22 * cell
    assert 8 * cell * 0.7 < unknown < 13 * cell


def test_without_episodes_all_is_grey(nothing: Curriculum) -> None:
    image = draw_curriculum(nothing, 0.2)
    assert pixels(image, NO_FIGURE) > 40 * 21 * 21 * 0.7
    for share in (0.0, 1.0):
        assert pixels(image, success_colour(share)) == 0


def test_only_levels_that_are_drawn_have_a_mark(some: Curriculum) -> None:
    """A row in which only k = 1 is drawn differs from a row without dots there alone."""
    hard = replace(some, episodes=some.episodes[1:], solved=some.solved[1:])
    known = np.full((1, 31), 50.0)
    hard = replace(
        hard,
        episodes=known,
        solved=0 * known,
        empty_episodes=np.zeros(1),
        empty_solved=np.zeros(1),
        families=("a",),
        longest=(30,),
    )
    cells = np.asarray(draw_curriculum(hard, 0.2))[70:91]
    pale = np.array(ImageColor.getrgb(success_colour(0.0)))
    inside = cells[10]
    first = int((inside == pale).all(axis=-1).argmax())
    darker = (inside.sum(axis=-1) < pale.sum() - 200).nonzero()[0]
    marked = darker[(darker >= first) & (darker < first + 30 * 22)]
    assert len(marked) > 0
    assert np.all(marked < first + 22)


def test_success_colours_run_from_pale_to_dark() -> None:
    lightness = [sum(ImageColor.getrgb(success_colour(share))) for share in np.linspace(0, 1, 21)]
    assert all(np.diff(lightness) < 0)


def test_many_levels_make_no_endless_picture() -> None:
    image = draw_curriculum(start_curriculum(("gear",), (200,)), 0.2)
    assert image.width < 2000
