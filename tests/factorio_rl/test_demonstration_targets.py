"""What demonstrations teach, against feeders found by hand and the growth rule in plain Python."""

from collections.abc import Callable

import jax
import numpy as np
import pytest
from tiny_setup import kept_positions

from envs.actions import encode, finish_action
from envs.dynamics import legal_actions
from envs.solved import Solved
from envs.types import State
from factorio_rl.demonstrations import (
    Demonstration,
    DemonstrationTarget,
    References,
    sample_demonstration,
)
from factorio_rl.model import gather_tasks

BATCH = 1024
FINISH = finish_action(7, 7)
TARGETS: tuple[DemonstrationTarget, ...] = ("next", "fed", "missing")

FEEDERS = [
    (None, 0, 1, 2, 3),
    (None, 0, 1, 1, 2, 3),
    (None, None, 1, 0, 2, 4, 5),
    (None, 0, 1, 2, 3),
]
"""For the placements of each tiny task the one that feeds it, None for the source."""

Draw = Callable[[DemonstrationTarget, bool], Demonstration]


@pytest.fixture(scope="module")
def draw(references: References) -> Draw:
    """Prefixes and, half of them, subsets; the same boards for every target."""
    compiled = jax.jit(sample_demonstration, static_argnums=(2, 3, 4, 5))

    def drawn(target: DemonstrationTarget, growth_rule: bool) -> Demonstration:
        key = jax.random.key(6)
        return jax.device_get(compiled(key, references, BATCH, 0.5, target, growth_rule))

    return drawn


def touches(solved: Solved, kept: list[int], position: int) -> bool:
    """Whether a placement stands beside a port or something that is kept."""
    built = {cell for at in kept for cell in solved.placements[at].cells()}
    built |= {(port.x, port.y) for port in solved.spec.ports}
    return any(
        (x + dx, y + dy) in built
        for x, y in solved.placements[position].cells()
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))
    )


def expected_policies(
    solved: list[Solved], demonstration: Demonstration, target: str, growth_rule: bool
) -> np.ndarray:
    """The target of each board, one placement after another."""
    policies = np.zeros(demonstration.policy.shape)
    positions = kept_positions(solved, demonstration.task_index, demonstration.board)
    for row, index, kept in zip(policies, demonstration.task_index, positions, strict=True):
        entry = solved[index]
        missing = [at for at in range(len(entry.placements)) if at not in kept]
        if target == "next":
            missing = missing[:1]
        elif growth_rule:
            missing = [at for at in missing if touches(entry, kept, at)]
        if target == "fed":
            missing = [at for at in missing if FEEDERS[index][at] in {None, *kept}]
        if not missing:
            row[FINISH] = 1
        for at in missing:
            row[encode(entry.placements[at], 7, 7)] = 1 / len(missing)
    return policies


@pytest.mark.parametrize("growth_rule", [True, False])
@pytest.mark.parametrize("target", TARGETS)
def test_target_is_what_the_setting_says(
    draw: Draw, solved: list[Solved], target: DemonstrationTarget, growth_rule: bool
) -> None:
    demonstration = draw(target, growth_rule)
    expected = expected_policies(solved, demonstration, target, growth_rule)
    np.testing.assert_allclose(demonstration.policy, expected, atol=1e-6)
    assert not np.any(demonstration.board.finished)


def test_settings_differ_and_each_keeps_the_next_placement(draw: Draw) -> None:
    following, fed, missing = (draw(target, True).policy > 0 for target in TARGETS)
    assert np.all(fed[following])
    assert np.all(missing[fed])
    assert following.sum() < fed.sum() < missing.sum()


def test_complete_boards_finish_and_no_others(draw: Draw, references: References) -> None:
    for target in TARGETS:
        demonstration = draw(target, True)
        length = np.asarray(references.length)[demonstration.task_index]
        is_complete = demonstration.board.placed == length
        assert 0 < is_complete.sum() < BATCH
        np.testing.assert_array_equal(demonstration.policy[:, FINISH], is_complete)


def test_targets_are_distributions_over_legal_actions(draw: Draw, references: References) -> None:
    @jax.jit
    def legal_of(demonstration: Demonstration) -> jax.Array:
        tasks = gather_tasks(references.tasks, demonstration.task_index)
        return jax.vmap(legal_actions)(State(tasks, demonstration.board))

    for target in TARGETS:
        demonstration = draw(target, True)
        legal = np.asarray(legal_of(demonstration))
        assert not np.any(demonstration.policy[~legal])
        np.testing.assert_allclose(demonstration.policy.sum(axis=1), 1.0, atol=1e-6)
