"""Generated tasks: verified, legal in flow order, deterministic, varied, without waste."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pytest

from envs.generate import (
    GenerationError,
    GeneratorSettings,
    generate,
    generate_pool,
    incomplete_variants,
)
from envs.layout import DIRECTION_VECTORS, validate
from envs.solved import Solved
from envs.split import is_heldout
from envs.task_spec import INSERTER, MACHINE, Placement, TaskSpec, layout_of
from envs.verifier import score_rate

QUICKSTART = GeneratorSettings(
    8, 8, ("iron-gear-wheel", "copper-cable", "pipe", "iron-stick"), 24, 3
)
RECIPES = (*QUICKSTART.recipes, "electronic-circuit")
TASKS_PER_RECIPE = 15


@pytest.fixture(scope="module")
def tasks() -> list[Solved]:
    """Solved 8x8 tasks of every recipe."""
    return [
        generate(replace(QUICKSTART, recipes=(recipe,)), 5, index)
        for recipe in RECIPES
        for index in range(TASKS_PER_RECIPE)
    ]


def illegal_placements(spec: TaskSpec, placements: Sequence[Placement]) -> list[str]:
    """What breaks the rules when the placements are made in this order; empty if nothing does."""
    placed = {(port.x, port.y) for port in spec.ports}
    blocked = set(spec.blocked)
    problems = []

    def is_inside(x: int, y: int) -> bool:
        return 0 <= x < spec.width and 0 <= y < spec.height

    for put in placements:
        cells = put.cells()
        if not all(is_inside(x, y) for x, y in cells):
            problems.append(f"{put} leaves the grid")
        if set(cells) & (placed | blocked):
            problems.append(f"{put} overlaps")
        around = {(x + dx, y + dy) for x, y in cells for dx, dy in DIRECTION_VECTORS}
        if not around & placed:
            problems.append(f"{put} touches nothing")
        dx, dy = DIRECTION_VECTORS[put.rotation]
        ends = [(put.x + dx, put.y + dy), (put.x - dx, put.y - dy)]
        if put.kind == INSERTER and not all(is_inside(x, y) for x, y in ends):
            problems.append(f"{put} reaches outside")
        placed.update(cells)
    return problems


def single_inserter_rate(solved: Solved) -> Fraction:
    """Best rate of the reference with one inserter per source and one for the product."""
    machine = next(put for put in solved.placements if put.kind == MACHINE)
    body = set(machine.cells())
    sides: tuple[list[Placement], list[Placement]] = ([], [])
    for put in solved.placements:
        if put.kind == INSERTER:
            dx, dy = DIRECTION_VECTORS[put.rotation]
            sides[(put.x + dx, put.y + dy) not in body].append(put)
    others = [put for put in solved.placements if put.kind != INSERTER]
    sources = len(solved.spec.ports) - 1
    return max(
        score_rate(layout_of(solved.spec, [*others, *inputs, output])) or Fraction(0)
        for inputs in combinations(sides[0], sources)
        for output in sides[1]
    )


def test_target_is_the_exact_positive_rate_of_the_reference(tasks: list[Solved]) -> None:
    for solved in tasks:
        layout = layout_of(solved.spec, solved.placements)
        validate(layout)
        assert solved.spec.target_rate > 0
        assert score_rate(layout) == solved.spec.target_rate


def test_every_prefix_is_legal_under_the_growth_rule(tasks: list[Solved]) -> None:
    for solved in tasks:
        assert len(solved.placements) <= solved.spec.placement_limit
        assert illegal_placements(solved.spec, solved.placements) == []


def test_no_reference_holds_a_useless_inserter(tasks: list[Solved]) -> None:
    for solved in tasks[::5]:
        for put in solved.placements:
            rest = [other for other in solved.placements if other != put]
            if put.kind == INSERTER:
                rate = score_rate(layout_of(solved.spec, rest))
                assert rate is not None
                assert rate < solved.spec.target_rate


def test_every_recipe_is_its_own_family(tasks: list[Solved]) -> None:
    for number, solved in enumerate(tasks):
        recipe = RECIPES[number // TASKS_PER_RECIPE]
        assert solved.spec.recipes == (recipe,)
        assert solved.spec.family == solved.spec.target_item == recipe


def test_targets_vary_within_each_recipe(tasks: list[Solved]) -> None:
    for start in range(0, len(tasks), TASKS_PER_RECIPE):
        targets = {solved.spec.target_rate for solved in tasks[start : start + TASKS_PER_RECIPE]}
        assert len(targets) >= 3


def test_most_targets_exceed_what_single_inserters_deliver() -> None:
    tasks = [generate(QUICKSTART, 6, index) for index in range(60)]
    harder = [single_inserter_rate(solved) < solved.spec.target_rate for solved in tasks]
    print(f"targets above single inserters: {sum(harder)} of {len(tasks)}")
    assert sum(harder) >= len(tasks) / 2


@pytest.mark.parametrize("size", [7, 12])
def test_other_grid_sizes_work(size: int) -> None:
    settings = replace(QUICKSTART, width=size, height=size, recipes=RECIPES)
    for index in range(5):
        solved = generate(settings, 1, index)
        assert (solved.spec.width, solved.spec.height) == (size, size)
        assert illegal_placements(solved.spec, solved.placements) == []


def test_same_settings_seed_and_index_give_the_same_task() -> None:
    first = [generate(QUICKSTART, 3, index) for index in range(5)]
    again = [generate(QUICKSTART, 3, index) for index in reversed(range(5))]
    assert first == again[::-1]
    assert len({solved.spec for solved in first}) == 5
    assert generate(QUICKSTART, 4, 0) != first[0]


def test_training_pool_holds_no_held_out_geometry() -> None:
    pool = generate_pool(QUICKSTART, 2, 40, lambda spec: not is_heldout(spec))
    assert len(pool) == 40
    assert not any(is_heldout(solved.spec) for solved in pool)
    every = [generate(QUICKSTART, 2, index) for index in range(60)]
    assert any(is_heldout(solved.spec) for solved in every)
    assert pool == [solved for solved in every if not is_heldout(solved.spec)][:40]


def test_pool_that_accepts_nothing_is_refused() -> None:
    with pytest.raises(GenerationError, match=r"only 0 of 1 tasks"):
        generate_pool(QUICKSTART, 2, 1, lambda spec: False)


def test_incomplete_variants_carry_their_verified_score(tasks: list[Solved]) -> None:
    scores = []
    for solved in tasks[::3]:
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
    ],
)
def test_impossible_settings_are_refused_with_the_reason(changes: dict, reason: str) -> None:
    settings = replace(QUICKSTART, **changes)
    with pytest.raises(GenerationError, match=reason):
        generate(settings, 0, 0)


@pytest.mark.parametrize(
    "changes",
    [{"recipes": ()}, {"recipes": ("inserter",)}, {"recipes": ("x",)}, {"max_blocked": -1}],
)
def test_unusable_settings_are_refused_at_once(changes: dict) -> None:
    with pytest.raises(GenerationError, match=r"give|must be"):
        replace(QUICKSTART, **changes)
