"""Generated tasks: verified, legal in flow order, as their family says, varied, without waste."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import jax.numpy as jnp
import numpy as np
import pytest
from example_states import batch_legal, batch_reset, batch_step
from reference_checks import (
    arm_ends,
    illegal_placements,
    unfed_placements,
    without_machine,
    wrong_structure,
)

from envs.actions import encode, finish_action
from envs.families import FAMILIES, MAX_SOURCES
from envs.generate import GenerationError, GeneratorSettings, generate, incomplete_variants
from envs.layout import validate
from envs.solved import Solved
from envs.task_spec import BELT, INSERTER, MACHINE, Placement, layout_of
from envs.types import EnvShape, stack_tasks, task_arrays
from envs.verifier import score_rate

QUICKSTART = GeneratorSettings(8, 8, ("gear", "cable", "pipe", "stick"), 24, 3)
EVERY = GeneratorSettings(12, 12, tuple(FAMILIES), 96, 6)
TASKS_PER_FAMILY = 3
SHAPE = EnvShape(height=12, width=12, item_slots=8, recipe_slots=4, max_ports=MAX_SOURCES + 1)


@pytest.fixture(scope="module")
def tasks() -> list[Solved]:
    """Solved 12x12 tasks of every family."""
    return [generate(EVERY, 5, index) for index in range(TASKS_PER_FAMILY * len(FAMILIES))]


@pytest.fixture(scope="module")
def small_tasks() -> list[Solved]:
    """Solved 8x8 tasks of single machines."""
    return [generate(QUICKSTART, 5, index) for index in range(60)]


def rate_of(solved: Solved, placements: list[Placement]) -> Fraction:
    """Exact rate of other placements on the task."""
    rate = score_rate(layout_of(solved.spec, placements))
    assert rate is not None
    return rate


def test_target_is_the_exact_positive_rate_of_the_reference(
    tasks: list[Solved], small_tasks: list[Solved]
) -> None:
    for solved in tasks + small_tasks:
        layout = layout_of(solved.spec, solved.placements)
        validate(layout)
        assert solved.spec.target_rate > 0
        assert score_rate(layout) == solved.spec.target_rate


def test_every_prefix_is_legal_under_the_growth_rule(
    tasks: list[Solved], small_tasks: list[Solved]
) -> None:
    for solved in tasks + small_tasks:
        assert illegal_placements(solved.spec, solved.placements) == []


def test_the_environment_allows_every_placement_in_the_stored_order(tasks: list[Solved]) -> None:
    states = batch_reset(stack_tasks([task_arrays(solved.spec, SHAPE) for solved in tasks]))
    finish = finish_action(SHAPE.height, SHAPE.width)
    for number in range(max(len(solved.placements) for solved in tasks)):
        actions = [
            encode(solved.placements[number], SHAPE.height, SHAPE.width)
            if number < len(solved.placements)
            else finish
            for solved in tasks
        ]
        legal = np.asarray(batch_legal(states))[np.arange(len(tasks)), actions]
        going_on = np.array([number < len(solved.placements) for solved in tasks])
        assert (legal | ~going_on).all()
        states = batch_step(states, jnp.asarray(actions, jnp.int32))
    placed = [int(count) for count in states.board.placed]
    assert placed == [len(solved.placements) for solved in tasks]


def test_nothing_is_placed_before_what_feeds_it(
    tasks: list[Solved], small_tasks: list[Solved]
) -> None:
    for solved in tasks + small_tasks:
        assert unfed_placements(solved.spec, solved.placements) == []


def test_tasks_are_what_their_family_says_and_families_take_turns(tasks: list[Solved]) -> None:
    for number, solved in enumerate(tasks):
        assert solved.spec.family == EVERY.families[number % len(FAMILIES)]
        assert wrong_structure(solved) == []


def test_no_reference_holds_a_useless_inserter(
    tasks: list[Solved], small_tasks: list[Solved]
) -> None:
    for solved in tasks + small_tasks:
        for put in solved.placements:
            if put.kind == INSERTER:
                rest = [other for other in solved.placements if other != put]
                assert rate_of(solved, rest) < solved.spec.target_rate


def test_every_machine_is_needed(tasks: list[Solved]) -> None:
    parallel = 0
    for solved in tasks:
        machines = [put for put in solved.placements if put.kind == MACHINE]
        parallel += len(machines) > len(solved.spec.recipes)
        for machine in machines:
            rest = without_machine(solved.placements, machine)
            assert rate_of(solved, rest) < solved.spec.target_rate
    assert parallel >= 3 * TASKS_PER_FAMILY


def test_the_checks_see_what_is_wrong(tasks: list[Solved]) -> None:
    solved = next(one for one in tasks if one.spec.family == "circuit-own-cable-direct")
    spec, placements = solved.spec, solved.placements
    sink = spec.sink
    far = Placement(BELT, 11 - sink.x, 11 - sink.y, 0)
    alone = replace(spec, ports=(sink,), blocked=())
    assert illegal_placements(alone, [far]) == [f"{far} touches nothing"]
    assert illegal_placements(spec, [*placements, placements[-1]])
    assert illegal_placements(
        replace(spec, blocked=((placements[3].x, placements[3].y),)), placements
    )
    assert illegal_placements(replace(spec, recipes=("copper-cable",)), placements)
    assert illegal_placements(replace(spec, width=max(put.x for put in placements)), placements)
    assert unfed_placements(spec, placements[::-1])
    assert unfed_placements(spec, placements[1:])
    arms = [put for put in placements if put.kind == INSERTER]
    turned = [replace(arm, rotation=(arm.rotation + 2) % 4) for arm in arms]
    others = tuple(put for put in placements if put.kind != INSERTER)
    assert wrong_structure(Solved(spec, (*others, *turned)))
    assert wrong_structure(Solved(replace(spec, family="circuit-own-cable-belt"), placements))
    assert wrong_structure(Solved(replace(spec, family="circuit-own-cable-inside"), placements))
    machine = next(put for put in placements if put.kind == MACHINE)
    assert wrong_structure(Solved(spec, tuple(without_machine(placements, machine))))


def test_targets_vary_within_each_family(small_tasks: list[Solved]) -> None:
    for family in range(4):
        assert len({solved.spec.target_rate for solved in small_tasks[family::4]}) >= 3


def single_inserter_rate(solved: Solved) -> Fraction:
    """Best rate of the reference with one inserter per source and one for the product."""
    machine = next(put for put in solved.placements if put.kind == MACHINE)
    body = set(machine.cells())
    sides: tuple[list[Placement], list[Placement]] = ([], [])
    for put in solved.placements:
        if put.kind == INSERTER:
            sides[arm_ends(put)[1] not in body].append(put)
    others = [put for put in solved.placements if put.kind != INSERTER]
    sources = len(solved.spec.ports) - 1
    return max(
        score_rate(layout_of(solved.spec, [*others, *inputs, output])) or Fraction(0)
        for inputs in combinations(sides[0], sources)
        for output in sides[1]
    )


def test_most_targets_exceed_what_single_inserters_deliver(small_tasks: list[Solved]) -> None:
    harder = [single_inserter_rate(solved) < solved.spec.target_rate for solved in small_tasks]
    print(f"targets above single inserters: {sum(harder)} of {len(small_tasks)}")
    assert sum(harder) >= len(small_tasks) / 2


@pytest.mark.parametrize(("width", "height"), [(7, 7), (9, 7), (14, 10)])
def test_other_grid_sizes_work(width: int, height: int) -> None:
    families = (*QUICKSTART.families, "circuit", "gear-inside", "circuit-own-cable-direct")
    settings = replace(EVERY, width=width, height=height, families=families, max_blocked=2)
    for index in range(len(families) if width > 7 else 5):
        solved = generate(settings, 1, index)
        assert (solved.spec.width, solved.spec.height) == (width, height)
        assert illegal_placements(solved.spec, solved.placements) == []
        assert wrong_structure(solved) == []


def test_blocked_cells_stay_within_the_limits(tasks: list[Solved]) -> None:
    assert {len(solved.spec.blocked) for solved in tasks} == set(range(7))
    settings = replace(EVERY, families=("gear", "belt-own-gear-direct"), min_blocked=6)
    crowded = [generate(replace(settings, max_blocked=10), 1, index) for index in range(24)]
    assert {len(solved.spec.blocked) for solved in crowded} == {6, 7, 8, 9, 10}


def test_the_lower_placement_limit_holds(tasks: list[Solved]) -> None:
    limits = {solved.spec.family: solved.spec.placement_limit for solved in tasks}
    assert limits == {name: family.placement_limit for name, family in FAMILIES.items()}
    settings = replace(EVERY, families=("gear", "inserter-from-plates"), placement_limit=44)
    for index in range(6):
        solved = generate(settings, 1, index)
        assert solved.spec.placement_limit == 44
        assert len(solved.placements) <= 44


def test_same_settings_seed_and_index_give_the_same_task() -> None:
    first = [generate(EVERY, 3, index) for index in range(20)]
    again = [generate(EVERY, 3, index) for index in reversed(range(20))]
    assert first == again[::-1]
    assert len({solved.spec for solved in first}) == 20
    assert generate(EVERY, 4, 0) != first[0]


def test_incomplete_variants_carry_their_verified_score(tasks: list[Solved]) -> None:
    scores = []
    for solved in tasks[::2]:
        variants = incomplete_variants(solved, 7, 6)
        assert variants == incomplete_variants(solved, 7, 6)
        for number, (kept, score) in enumerate(variants):
            assert len(kept) == len(solved.placements)
            assert not all(kept)
            if number % 2 == 0:
                assert sorted(kept, reverse=True) == list(kept)
            else:
                assert 1 <= kept.count(False) <= 3
            rest = [put for put, keep in zip(solved.placements, kept, strict=True) if keep]
            rate = score_rate(layout_of(solved.spec, rest)) or Fraction(0)
            assert score == min(1.0, float(rate / solved.spec.target_rate))
            scores.append(score)
    assert any(0 < score < 1 for score in scores)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"width": 4, "height": 4}, "no room or no route"),
        ({"width": 2, "height": 9}, "no room or no route"),
        ({"placement_limit": 2}, "above the placement limit"),
        ({"families": ("inserter-from-plates",)}, "inserter-from-plates found in 100 drafts"),
    ],
)
def test_impossible_settings_are_refused_with_the_reason(
    changes: dict, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("envs.generate.MAX_DRAFTS", 100)
    settings = replace(QUICKSTART, **changes)
    with pytest.raises(GenerationError, match=reason):
        generate(settings, 0, 0)


@pytest.mark.parametrize(
    "changes",
    [
        {"families": ()},
        {"families": ("gear", "x")},
        {"families": ("iron-gear-wheel",)},
        {"max_blocked": -1, "min_blocked": -1},
        {"min_blocked": 4},
    ],
)
def test_unusable_settings_are_refused_at_once(changes: dict) -> None:
    with pytest.raises(GenerationError, match="give"):
        replace(QUICKSTART, **changes)
