"""What an evaluation leaves behind: the choice of tasks on the picture sheet."""

import pytest

from envs.heldout import load_heldout
from factorio_rl.evaluation_files import SHEET_TASKS, tasks_on_sheet


@pytest.mark.parametrize("name", ["quickstart", "heldout-v1", "heldout-hard-v1"])
def test_the_sheet_shows_as_many_families_as_it_can(name: str) -> None:
    specs = [solved.spec for solved in load_heldout(name).tasks]
    shown = tasks_on_sheet(specs)
    assert len(set(shown)) == SHEET_TASKS
    families = {spec.family for spec in specs}
    assert len({specs[index].family for index in shown}) == min(SHEET_TASKS, len(families))


@pytest.mark.parametrize("count", [1, 4, 5, 12, 13])
def test_small_sets_are_shown_as_far_as_there_is_room(count: int) -> None:
    specs = [solved.spec for solved in load_heldout("quickstart").tasks[:count]]
    shown = tasks_on_sheet(specs)
    assert len(shown) == min(count, SHEET_TASKS)
    assert set(shown) <= set(range(count))
