"""Pools: one side of the split, families in turn, no geometry twice, for any number of workers."""

import errno
import multiprocessing
import os
import signal
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import pytest

from envs import pool_generation
from envs.generate import GenerationError, GeneratorSettings, generate
from envs.pool_generation import WorkerError, all_incomplete_variants, generate_pool
from envs.solved import Solved
from envs.split import canonical_hash, in_heldout_stratum, is_heldout
from envs.task_spec import TaskSpec

FAMILIES = ("gear", "cable", "circuit-own-cable-direct")
SETTINGS = GeneratorSettings(12, 12, FAMILIES, 80, 4)
SEED = 2


class StopError(Exception):
    """What a caller raises to stop."""


@pytest.fixture(scope="module")
def training() -> list[Solved]:
    """Twenty training tasks, made by this process alone."""
    return generate_pool(SETTINGS, SEED, 20)


def first_of(held_out: bool, count: int, family: int) -> list[Solved]:
    """The first tasks of a family on one side, one candidate after the other."""
    found: list[Solved] = []
    number = 0
    while len(found) < count:
        solved = generate(SETTINGS, SEED, number * len(FAMILIES) + family)
        number += 1
        if is_heldout(solved.spec) == held_out:
            found.append(solved)
    return found


def test_pool_is_the_first_tasks_of_every_family_in_turn(training: list[Solved]) -> None:
    assert len(training) == 20
    assert [solved.spec.family for solved in training] == [FAMILIES[n % 3] for n in range(20)]
    for family, count in enumerate((7, 7, 6)):
        assert training[family::3] == first_of(False, count, family)


def test_held_out_pool_is_the_other_side() -> None:
    pool = generate_pool(SETTINGS, SEED, 6, held_out=True)
    for family in range(3):
        assert pool[family::3] == first_of(True, 2, family)


def test_training_pool_holds_no_held_out_geometry_or_stratum(training: list[Solved]) -> None:
    assert not any(is_heldout(solved.spec) for solved in training)
    assert not any(in_heldout_stratum(solved.spec) for solved in training)
    candidates = [generate(SETTINGS, SEED, number).spec for number in range(20)]
    assert any(in_heldout_stratum(spec) for spec in candidates)


@pytest.mark.slow
def test_two_workers_make_the_same_pool_as_one(training: list[Solved]) -> None:
    assert generate_pool(SETTINGS, SEED, 20, workers=2) == training


@pytest.mark.parametrize("size", [1, 5])
def test_size_of_the_jobs_does_not_matter(
    size: int, training: list[Solved], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_generation, "CANDIDATES_PER_JOB", size)
    assert generate_pool(SETTINGS, SEED, 20) == training


def test_a_longer_pool_starts_like_a_shorter_one(training: list[Solved]) -> None:
    assert generate_pool(SETTINGS, SEED, 6) == training[:6]


def test_every_geometry_comes_once(training: list[Solved], monkeypatch: pytest.MonkeyPatch) -> None:
    def twice(settings: GeneratorSettings, seed: int, index: int) -> Solved:
        number, family = divmod(index, len(FAMILIES))
        return generate(settings, seed, number // 2 * len(FAMILIES) + family)

    monkeypatch.setattr(pool_generation, "generate", twice)
    pool = generate_pool(SETTINGS, SEED, 20)
    assert max(Counter(canonical_hash(solved.spec) for solved in pool).values()) == 1
    assert pool == training


def test_progress_rises_to_the_whole_pool() -> None:
    heard: list[int] = []
    generate_pool(SETTINGS, SEED, 9, on_progress=heard.append)
    assert heard == sorted(heard)
    assert heard[-1] == 9
    assert len(set(heard)) > 1


def stop(done: int) -> None:
    raise StopError(done)


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_who_hears_of_progress_may_stop_it(workers: int) -> None:
    with pytest.raises(StopError):
        generate_pool(SETTINGS, SEED, 9, workers=workers, on_progress=stop)


@pytest.mark.slow
def test_worker_that_is_killed_ends_it_in_words() -> None:
    killed: list[int] = []

    def kill_one(done: int) -> None:
        if not killed:
            killed.extend(child.pid for child in multiprocessing.active_children() if child.pid)
            os.kill(killed[0], signal.SIGKILL)

    with pytest.raises(WorkerError, match=r"one of the 2 processes .* died: killed") as raised:
        generate_pool(SETTINGS, SEED, 200, workers=2, on_progress=kill_one)
    assert raised.value.exit_code == 2
    assert not multiprocessing.active_children()


def test_a_stop_that_was_asked_for_wins_over_a_worker_that_died(
    training: list[Solved], monkeypatch: pytest.MonkeyPatch
) -> None:
    def died(pool: ProcessPoolExecutor, *work: object) -> None:
        raise BrokenProcessPool

    monkeypatch.setattr(ProcessPoolExecutor, "submit", died)
    with pytest.raises(StopError):
        generate_pool(SETTINGS, SEED, 9, workers=2, on_progress=stop)
    with pytest.raises(StopError):
        all_incomplete_variants(training, SEED, 4, workers=2, on_progress=stop)
    with pytest.raises(WorkerError):
        all_incomplete_variants(training, SEED, 4, workers=2)


def test_processes_that_cannot_be_started_are_told_in_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_process(pool: ProcessPoolExecutor, *work: object) -> None:
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(ProcessPoolExecutor, "submit", no_process)
    with pytest.raises(WorkerError, match=r"temporarily unavailable.*ulimit -u"):
        generate_pool(SETTINGS, SEED, 9, workers=2)


def test_families_of_which_hardly_a_task_is_accepted_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Gears and circuits are complete after the first round; only cables are missing.
    monkeypatch.setattr(pool_generation, "MAX_REJECTED_PER_TASK", 20)
    monkeypatch.setattr(pool_generation, "is_heldout", lambda spec: spec.family == "cable")
    with pytest.raises(GenerationError, match=r"only 0 tasks of cable were accepted among \d\d "):
        generate_pool(SETTINGS, SEED, 3)


def test_a_family_that_is_complete_is_not_refused_while_others_are_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = Counter[str]()

    def rejects(spec: TaskSpec) -> bool:
        made[spec.family] += 1
        return spec.family == "cable" and made["cable"] <= 30

    # A round makes 28 of each: gears are complete, but 27 are more than may be rejected for one.
    monkeypatch.setattr(pool_generation, "MAX_REJECTED_PER_TASK", 20)
    monkeypatch.setattr(pool_generation, "CANDIDATES_PER_JOB", 14)
    monkeypatch.setattr(pool_generation, "is_heldout", rejects)
    settings = GeneratorSettings(12, 12, ("cable", "gear"), 80, 0)
    families = [solved.spec.family for solved in generate_pool(settings, SEED, 3)]
    assert families == ["cable", "gear", "cable"]
