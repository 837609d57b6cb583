"""Constructed references: complete, and belts without stray ends."""

import numpy as np
import pytest

from envs.construction import construct
from envs.layout import DIRECTION_VECTORS, EAST
from envs.routing import Raster
from envs.task_draw import Draft, draw_draft
from envs.task_spec import BELT, INSERTER, MACHINE, Placement, Port

RECIPES = ("iron-gear-wheel", "copper-cable", "pipe", "iron-stick", "electronic-circuit")


def references(recipe: str, amount: int = 150) -> list[tuple[Draft, list[Placement]]]:
    rng = np.random.default_rng(1)
    raster = Raster(9, 8)
    found = []
    for _ in range(amount):
        draft = draw_draft(rng, 9, 8, (recipe,), 3)
        if draft is not None and (placements := construct(rng, raster, draft)) is not None:
            found.append((draft, placements))
    assert len(found) > amount // 5
    return found


def ahead(put: Placement | Port, rotation: int) -> tuple[int, int]:
    dx, dy = DIRECTION_VECTORS[rotation]
    return put.x + dx, put.y + dy


@pytest.mark.parametrize("recipe", RECIPES)
def test_reference_has_one_machine_and_the_drafted_inserters(recipe: str) -> None:
    for draft, placements in references(recipe):
        assert sum(put.kind == MACHINE for put in placements) == 1
        assert sum(put.kind == INSERTER for put in placements) == sum(draft.counts)


@pytest.mark.parametrize("recipe", RECIPES)
def test_belts_lead_to_a_belt_a_sink_or_end_at_a_pickup_cell(recipe: str) -> None:
    for draft, placements in references(recipe):
        pickups = {ahead(put, (put.rotation + 2) % 4) for put in placements if put.kind == INSERTER}
        takers = {(put.x, put.y): put.rotation for put in placements if put.kind == BELT}
        sink = draft.ports[-1]
        takers[sink.x, sink.y] = sink.direction
        for put in placements:
            if put.kind != BELT:
                continue
            front = ahead(put, put.rotation)
            if front in takers:
                assert takers[front] != (put.rotation + 2) % 4
            else:
                assert (put.x, put.y) in pickups


def test_inserters_alone_join_ports_beside_the_machine() -> None:
    ports = (
        Port(0, 1, EAST, False, "iron-plate", None),
        Port(6, 1, EAST, True, "pipe", "pipe"),
    )
    draft = Draft("pipe", ports, (), (1,), (1, 1))
    rng = np.random.default_rng(0)
    found = [construct(rng, Raster(7, 3), draft) for _ in range(50)]
    shortest = min((placements for placements in found if placements), key=len)
    assert shortest == [
        Placement(INSERTER, 1, 1, EAST),
        Placement(MACHINE, 3, 1, 0),
        Placement(INSERTER, 5, 1, EAST),
    ]


def test_no_room_gives_no_reference() -> None:
    ports = (
        Port(0, 0, EAST, False, "iron-plate", None),
        Port(3, 3, EAST, True, "pipe", "pipe"),
    )
    rng = np.random.default_rng(0)
    draft = Draft("pipe", ports, (), (1,), (1, 1))
    assert all(construct(rng, Raster(4, 4), draft) is None for _ in range(50))
