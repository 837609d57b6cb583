"""Numbers of arms against rates worked out by hand: none is drawn that adds nothing."""

import numpy as np
import pytest

from envs.arm_counts import ArmGroup, draw_arm_counts
from envs.families import FAMILIES

PLATE, COPPER, CABLE, GEAR = "iron-plate", "copper-plate", "copper-cable", "iron-gear-wheel"
CIRCUIT, SCIENCE, AMMUNITION = "electronic-circuit", "automation-science-pack", "firearm-magazine"


def into(machine: int, network: int, *items: str) -> ArmGroup:
    return ArmGroup(None, machine, network, items)


def out_of(machine: int, network: int, item: str) -> ArmGroup:
    return ArmGroup(machine, None, network, (item,))


def between(giver: int, taker: int, item: str) -> ArmGroup:
    return ArmGroup(giver, taker, None, (item,))


def drawn(family: str, machines: tuple[int, ...], groups: list[ArmGroup]) -> set[tuple[int, ...]]:
    """All numbers of arms that come up, in the order of the groups."""
    rng = np.random.default_rng(0)
    draws = [draw_arm_counts(rng, FAMILIES[family], machines, groups) for _ in range(150)]
    return {tuple(group.count for group in draw) for draw in draws}


@pytest.mark.parametrize(
    ("family", "item", "product", "expected"),
    [
        # Crafting 1/s, two plates each: inputs 0.45, 0.91, 1.36/s, output 0.86/s.
        ("gear", PLATE, GEAR, {(1, 1), (2, 1), (2, 2), (3, 2)}),
        # Two cables per craft: crafting 2/s, inputs 1.82, 3.64/s, outputs 0.86, 1.71, 2.57/s.
        ("cable", COPPER, CABLE, {(1, 1), (1, 2), (1, 3), (2, 3)}),
        # Crafting 1/s, inputs 0.91, 1.82/s, outputs 0.86, 1.71/s.
        ("pipe", PLATE, "pipe", {(1, 1), (1, 2), (2, 2)}),
        # Crafting 0.5/s, four plates each: inputs 0.23, 0.45, 0.68/s.
        ("ammunition", PLATE, AMMUNITION, {(1, 1), (2, 1), (3, 1)}),
        # Five stones each: three arms bring 0.55/s, less than the machine could take.
        ("furnace", "stone", "stone-furnace", {(1, 1), (2, 1), (3, 1)}),
    ],
)
def test_every_arm_of_a_single_machine_adds_to_the_rate(
    family: str, item: str, product: str, expected: set[tuple[int, ...]]
) -> None:
    # By hand: an input swing takes 66 ticks (0.91/s), an output swing 70 ticks (0.86/s).
    assert drawn(family, (0,), [into(0, 0, item), out_of(0, 1, product)]) == expected


def test_a_group_with_two_items_carries_both() -> None:
    # One iron and three cables per circuit by the same arms: 0.23, 0.45, 0.68/s.
    groups = [into(0, 0, PLATE, CABLE), out_of(0, 1, CIRCUIT)]
    assert drawn("circuit", (0,), groups) == {(1, 1), (2, 1), (3, 1)}
    rng = np.random.default_rng(0)
    first, last = draw_arm_counts(rng, FAMILIES["circuit"], (0,), groups)
    assert (first.share, last.share) == (4, 1)


def test_a_stage_serves_what_the_next_one_needs() -> None:
    groups = [
        into(0, 0, COPPER),
        into(1, 1, PLATE),
        between(0, 1, CABLE),
        out_of(1, 2, CIRCUIT),
    ]
    # Circuits per second: copper 0.61 each (1.5 per circuit), cable arms 0.29 each (3 per
    # circuit), the cable machine 0.67 (2 cables per craft), iron 0.91, output 0.86.
    expected = {(1, 1, 1, 1), (1, 1, 2, 1), (1, 1, 3, 1), (2, 1, 3, 1)}
    assert drawn("circuit-own-cable-direct", (0, 1), groups) == expected


def test_machines_of_a_stage_share_the_work_and_all_are_needed() -> None:
    groups = [into(0, 0, PLATE), into(1, 0, PLATE), out_of(0, 1, GEAR), out_of(1, 1, GEAR)]
    # Two machines make 2/s, one alone 1/s: inputs 0.91, 1.82, 2.73/s, outputs 1.71, 3.43/s.
    expected = {(2, 2, 1, 1), (2, 2, 2, 2), (3, 3, 2, 2)}
    assert drawn("gear-parallel", (0, 0), groups) == expected
    rng = np.random.default_rng(0)
    shares = [
        group.share for group in draw_arm_counts(rng, FAMILIES["gear-parallel"], (0, 0), groups)
    ]
    assert shares == [1, 1, 0.5, 0.5]


def test_several_givers_of_one_machine_share_its_demand() -> None:
    groups = [
        into(0, 0, COPPER),
        into(1, 0, COPPER),
        into(2, 1, PLATE),
        between(0, 2, CABLE),
        between(1, 2, CABLE),
        out_of(2, 2, CIRCUIT),
    ]
    rng = np.random.default_rng(0)
    draw = draw_arm_counts(rng, FAMILIES["circuit-own-cable-direct"], (0, 0, 1), groups)
    assert [group.share for group in draw] == [0.75, 0.75, 1, 1.5, 1.5, 1]
    # Above the 0.67/s of one cable machine; cable arms bring 0.57 and 1.14, output 0.86,
    # iron 0.91, the circuit machine makes 1/s.
    found = drawn("circuit-own-cable-direct", (0, 0, 1), groups)
    assert found == {(1, 1, 1, 2, 2, 1), (1, 1, 1, 2, 2, 2), (1, 1, 2, 2, 2, 2)}


def test_slow_machines_need_one_arm_each() -> None:
    groups = [
        *(into(machine, 0, COPPER, GEAR) for machine in range(3)),
        *(out_of(machine, 1, SCIENCE) for machine in range(3)),
    ]
    assert drawn("science-parallel", (0, 0, 0), groups) == {(1, 1, 1, 1, 1, 1)}


def test_arms_between_machines_swing_at_their_own_pace() -> None:
    from_belt, from_machine = into(0, 0, PLATE), between(0, 1, GEAR)
    assert from_belt.items_per_s(2) == pytest.approx(2 * 60 / 66)
    assert from_machine.items_per_s(1) == pytest.approx(60 / 70)
