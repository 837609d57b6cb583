"""The canonical hash: equal for symmetric tasks, sensitive to geometry, blind to the target."""

from dataclasses import replace
from fractions import Fraction

import pytest

from envs.geometry import NUM_SYMMETRIES, transform_spec
from envs.layout import EAST, NORTH, SOUTH
from envs.split import HELDOUT_ONE_IN, canonical_hash, is_heldout
from envs.task_spec import Port, TaskSpec

SOURCE = Port(0, 1, EAST, False, "iron-plate", None)
SINK = Port(7, 3, EAST, True, "pipe", "pipe")
SPEC = TaskSpec(
    width=8,
    height=8,
    blocked=((1, 2), (3, 0)),
    ports=(SOURCE, SINK),
    recipes=("pipe",),
    target_item="pipe",
    target_rate=Fraction(6, 7),
    placement_limit=20,
    family="pipe",
)


@pytest.mark.parametrize("symmetry", range(NUM_SYMMETRIES))
def test_hash_is_equal_for_all_symmetries(symmetry: int) -> None:
    assert canonical_hash(transform_spec(SPEC, symmetry)) == canonical_hash(SPEC)


def test_hash_ignores_the_order_of_ports() -> None:
    assert canonical_hash(replace(SPEC, ports=(SINK, SOURCE))) == canonical_hash(SPEC)


@pytest.mark.parametrize(
    "changes",
    [
        {"target_rate": Fraction(1)},
        {"placement_limit": 21},
        {"family": "other"},
    ],
)
def test_hash_ignores_target_limit_and_family(changes: dict) -> None:
    assert canonical_hash(replace(SPEC, **changes)) == canonical_hash(SPEC)


@pytest.mark.parametrize(
    "changes",
    [
        {"ports": (replace(SOURCE, y=2), SINK)},
        {"ports": (replace(SOURCE, direction=SOUTH), SINK)},
        {"ports": (replace(SOURCE, right="iron-plate"), SINK)},
        {"ports": (replace(SOURCE, left=None, right="iron-plate"), SINK)},
        {"ports": (SOURCE, replace(SINK, direction=NORTH))},
        {"recipes": ("iron-stick",)},
        {"blocked": ((1, 2),)},
        {"blocked": ((1, 2), (3, 1))},
        {"height": 9},
    ],
)
def test_hash_sees_ports_recipes_blocked_cells_and_size(changes: dict) -> None:
    assert canonical_hash(replace(SPEC, **changes)) != canonical_hash(SPEC)


def test_hash_is_the_same_in_every_process_and_version() -> None:
    pinned = "1354477dd7801514ab05e061085e497b0e6478beb0ea5c6d66bb090328449b04"
    assert canonical_hash(SPEC) == pinned


def test_one_geometry_in_eight_is_held_out() -> None:
    blocked = [((x, y), (z, 7)) for x in range(1, 7) for y in range(4, 7) for z in range(8)]
    share = sum(is_heldout(replace(SPEC, blocked=cells)) for cells in blocked) / len(blocked)
    assert 0.5 / HELDOUT_ONE_IN < share < 2 / HELDOUT_ONE_IN
