"""Drafted tasks: ports on the border, inserter counts without waste."""

import numpy as np
import pytest

from envs.catalogue import RECIPES
from envs.layout import DIRECTION_VECTORS
from envs.task_draw import Draft, draw_draft, useful_counts


def drafts(recipe: str, amount: int = 200) -> list[Draft]:
    rng = np.random.default_rng(0)
    drawn = [draw_draft(rng, 8, 7, (recipe,), 3) for _ in range(amount)]
    return [draft for draft in drawn if draft is not None]


def test_ports_lie_on_the_border_sources_flow_in_and_sinks_can_be_entered_from_behind() -> None:
    for draft in drafts("pipe"):
        cells = {(port.x, port.y) for port in draft.ports}
        assert len(cells) == 2
        for port in draft.ports:
            assert port.x in (0, 7) or port.y in (0, 6)
            dx, dy = DIRECTION_VECTORS[port.direction]
            if port.is_sink:
                assert 0 <= port.x - dx < 8
                assert 0 <= port.y - dy < 7
                continue
            ahead = (port.x + dx, port.y + dy)
            assert 0 <= ahead[0] < 8
            assert 0 <= ahead[1] < 7
            assert ahead not in cells
            assert ahead not in draft.blocked
        assert not cells & set(draft.blocked)


def test_blocked_cells_take_every_number_up_to_the_limit() -> None:
    assert {len(draft.blocked) for draft in drafts("pipe")} == {0, 1, 2, 3}


def test_sources_feed_one_or_both_lanes() -> None:
    lanes = {(draft.ports[0].left, draft.ports[0].right) for draft in drafts("pipe")}
    plate = "iron-plate"
    assert lanes == {(plate, plate), (plate, None), (None, plate)}


def test_two_inputs_come_from_two_sources_or_from_one_with_a_lane_each() -> None:
    circuits = drafts("electronic-circuit")
    assert {len(draft.ports) for draft in circuits} == {2, 3}
    for draft in circuits:
        lanes = [(port.left, port.right) for port in draft.ports[:-1]]
        fed = {item for pair in lanes for item in pair if item is not None}
        assert fed == {"iron-plate", "copper-cable"}


@pytest.mark.parametrize(
    ("recipe", "amounts", "expected"),
    [
        ("iron-gear-wheel", (2,), {(1, 1), (2, 1), (2, 2), (3, 2)}),
        ("copper-cable", (1,), {(1, 1), (1, 2), (1, 3), (2, 3)}),
        ("pipe", (1,), {(1, 1), (1, 2), (2, 2)}),
    ],
)
def test_every_counted_inserter_adds_to_the_rate(
    recipe: str, amounts: tuple[int, ...], expected: set[tuple[int, ...]]
) -> None:
    # By hand: crafting 1/s, input swing 66 ticks (0.91/s), output swing 70 ticks (0.86/s).
    assert set(useful_counts(RECIPES[recipe], amounts)) == expected
