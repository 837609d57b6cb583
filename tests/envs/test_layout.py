"""Layouts: what is valid, footprints, directions (R3-R5)."""

import pytest

from envs.errors import UserError
from envs.layout import (
    DIRECTION_NAMES,
    DIRECTION_VECTORS,
    MAX_SIZE,
    PROTOTYPES,
    Entity,
    Layout,
    LayoutError,
    validate,
)


def refused(entity: Entity, size: int = 6) -> str:
    with pytest.raises(LayoutError) as caught:
        validate(Layout(size, size, (entity,)))
    assert isinstance(caught.value, UserError)
    return str(caught.value)


def test_r3_defaults_are_the_first_prototypes() -> None:
    kinds = {kind: Entity(kind, 0, 0).prototype for kind in PROTOTYPES}
    assert kinds == {
        "belt": "transport-belt",
        "source": "transport-belt",
        "sink": "transport-belt",
        "inserter": "inserter",
        "asm": "assembling-machine-1",
        "furnace": "stone-furnace",
        "chest_src": "wooden-chest",
        "chest_sink": "wooden-chest",
    }


@pytest.mark.parametrize(
    ("kind", "prototype", "size"),
    [
        ("asm", "assembling-machine-1", 3),
        ("asm", "assembling-machine-2", 3),
        ("asm", "assembling-machine-3", 3),
        ("furnace", "stone-furnace", 2),
        ("furnace", "steel-furnace", 2),
        ("furnace", "electric-furnace", 3),
        ("belt", "", 1),
        ("chest_sink", "", 1),
    ],
)
def test_r3_footprints_hang_from_the_top_left_tile(kind: str, prototype: str, size: int) -> None:
    tiles = Entity(kind, 4, 2, prototype=prototype).tiles()
    assert tiles[0] == (4, 2)
    assert tiles[-1] == (4 + size - 1, 2 + size - 1)
    assert len(tiles) == size * size


def test_r4_touching_entities_and_the_edges_are_valid() -> None:
    entities = (Entity("asm", 0, 0), Entity("asm", 3, 0), Entity("belt", 5, 3, 0))
    validate(Layout(6, 4, entities))
    with pytest.raises(LayoutError, match="leaves the grid of 5 x 4"):
        validate(Layout(5, 4, entities))


@pytest.mark.parametrize(
    ("kind", "prototype", "side"),
    [("asm", "assembling-machine-3", 3), ("furnace", "steel-furnace", 2), ("belt", "", 1)],
)
def test_r4_a_footprint_must_be_on_the_grid_as_a_whole(
    kind: str, prototype: str, side: int
) -> None:
    for x, y in ((-1, 0), (0, -1), (6 - side + 1, 0), (0, 6 - side + 1)):
        assert "leaves the grid of 6 x 6" in refused(Entity(kind, x, y, 0, prototype=prototype))
    validate(Layout(6, 6, (Entity(kind, 6 - side, 6 - side, 0, prototype=prototype),)))


def test_r4_two_entities_on_one_tile_are_refused() -> None:
    overlapping = (Entity("furnace", 1, 1), Entity("chest_src", 2, 2))
    with pytest.raises(LayoutError, match=r"chest_src at \(2, 2\) overlaps the furnace"):
        validate(Layout(6, 6, overlapping))


@pytest.mark.parametrize(
    ("kind", "recipe", "valid"),
    [
        ("asm", "pipe", True),
        ("furnace", "steel-plate", True),
        ("asm", "steel-plate", False),
        ("furnace", "pipe", False),
        ("asm", "iron-ore", False),
        ("asm", "nonsense", False),
        ("asm", None, True),
        ("furnace", None, True),
    ],
)
def test_r4_a_recipe_must_fit_the_machines_category(
    kind: str, recipe: str | None, valid: bool
) -> None:
    if valid:
        validate(Layout(6, 6, (Entity(kind, 0, 0, recipe=recipe),)))
    else:
        assert f"{recipe!r} is no recipe of" in refused(Entity(kind, 0, 0, recipe=recipe))


@pytest.mark.parametrize(
    ("entity", "said"),
    [
        (Entity("splitter", 0, 0, 0), "unknown entity kind 'splitter'"),
        (Entity("asm", 0, 0, prototype="stone-furnace"), "'stone-furnace' is not known"),
        (Entity("furnace", 0, 0, prototype="assembling-machine-1"), "is not known"),
        (Entity("inserter", 0, 0, 0, prototype="stack-inserter"), "known are inserter, burner"),
        (Entity("belt", 0, 0, 0, prototype="fast-transport-belt"), "known are transport-belt"),
        (Entity("belt", 0, 0), "direction None; give 0, 1, 2 or 3"),
        (Entity("inserter", 0, 0, 4), "direction 4; give 0, 1, 2 or 3"),
    ],
)
def test_r4_unknown_kinds_types_and_directions_are_refused(entity: Entity, said: str) -> None:
    assert said in refused(entity)


@pytest.mark.parametrize("size", [(0, 5), (5, -1), (MAX_SIZE + 1, 5)])
def test_r4_a_grid_side_is_from_1_to_1000(size: tuple[int, int]) -> None:
    with pytest.raises(LayoutError, match="from 1 to 1000"):
        validate(Layout(*size, ()))


def test_r5_directions_are_north_east_south_west_with_y_down() -> None:
    assert dict(zip(DIRECTION_NAMES, DIRECTION_VECTORS, strict=True)) == {
        "N": (0, -1),
        "E": (1, 0),
        "S": (0, 1),
        "W": (-1, 0),
    }
