"""Planners build by the environment's rules: same legal actions, only legal layouts."""

from dataclasses import replace
from random import Random

import jax
import numpy as np
import pytest

from benchmarks.planners.genetic import cross
from benchmarks.planners.moves import mutate
from benchmarks.planners.random_legal import random_plan
from benchmarks.planners.site import Ground, Site, buildable, is_legal
from envs.actions import decode, encode
from envs.dynamics import legal_actions, reset, step
from envs.heldout import load_heldout
from envs.layout import EAST
from envs.task_spec import BELT, INSERTER, MACHINE, Placement
from envs.types import EnvShape, task_arrays

SMALL = load_heldout("quickstart").tasks[:6]
LARGE = load_heldout("heldout-v1").tasks[::90]
SHAPES = {8: EnvShape(8, 8, 8, 4, 4), 12: EnvShape(12, 12, 8, 4, 4)}
jitted_step, jitted_legal = jax.jit(step), jax.jit(legal_actions)


@pytest.mark.parametrize("tasks", [SMALL, LARGE])
def test_legal_placements_are_those_of_the_environment(tasks) -> None:
    rng, machines = np.random.default_rng(0), 0
    for task in tasks:
        height, width = task.spec.height, task.spec.width
        ground, state = Ground(Site(task.spec)), reset(task_arrays(task.spec, SHAPES[width]))
        for _ in range(12):
            legal = np.flatnonzero(np.asarray(jitted_legal(state)))[:-1]
            np.testing.assert_array_equal(ground.legal(), legal)
            if not len(legal):
                break
            put = decode(int(rng.choice(legal)), height, width)
            machines += put.kind == MACHINE
            ground.put(put)
            state = jitted_step(state, np.int32(encode(put, height, width)))
    assert machines > 3


@pytest.mark.parametrize("task", [*SMALL[:2], *LARGE[:3]])
def test_random_changes_and_crossings_keep_layouts_legal(task) -> None:
    rng, site = Random(0), Site(task.spec)
    plan, sizes = task.placements, set()
    for _ in range(60):
        other = random_plan(site, rng)
        assert is_legal(site, other)
        plan = mutate(site, plan, rng)
        assert is_legal(site, plan)
        crossed = cross(site, plan, other, rng)
        assert is_legal(site, crossed)
        sizes.update({len(plan), len(crossed)})
    assert len(sizes) > 3


def test_layouts_that_no_episode_can_build_are_illegal() -> None:
    task = SMALL[0]
    site, plan = Site(task.spec), task.placements
    assert is_legal(site, plan)
    assert not is_legal(site, (*plan, plan[0]))
    assert not is_legal(site, (Placement(MACHINE, 4, 4, 3),))
    assert not is_legal(site, (Placement(INSERTER, 0, 4, EAST), *plan))
    assert not is_legal(Site(replace(task.spec, placement_limit=len(plan) - 1)), plan)


def test_what_nothing_leads_to_is_dropped_and_the_limit_kept() -> None:
    task = SMALL[0]
    source = next(port for port in task.spec.ports if not port.is_sink)
    site = Site(replace(task.spec, placement_limit=1, blocked=()))
    beside = [site.position(site.cell(source.x, source.y) + step) for step in site.steps]
    near = [Placement(BELT, x, y, EAST) for x, y in beside if not site.bare[site.cell(x, y)]]
    far = next(
        Placement(BELT, x, y, EAST)
        for x in range(8)
        for y in range(8)
        if all(abs(x - port.x) + abs(y - port.y) > 2 for port in task.spec.ports)
    )
    assert buildable(site, [far]) == ()
    assert buildable(site, [far, near[0]]) == (near[0],)
    assert len(near) > 1
    assert len(buildable(site, near)) == 1
