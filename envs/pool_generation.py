"""Many solved tasks of one side of the split, by several processes.

In: settings, a seed, a number of tasks. Out: the first accepted tasks of every family, families in
turn, each geometry at most once; the same for any number of processes. Jax-free.
"""

import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial

from envs.errors import UserError
from envs.generate import (
    GenerationError,
    GeneratorSettings,
    generate,
    incomplete_variants,
)
from envs.solved import Solved, Variant
from envs.split import canonical_hash, is_heldout

MAX_REJECTED_PER_TASK = 200
"""Tasks that may be rejected per task that is asked for."""

CANDIDATES_PER_JOB = 16
"""Tasks of one family that a process makes at a time: a fraction of a second."""

TASKS_PER_JOB = 64
"""Tasks whose variants a process makes at a time."""

TRAINING_SURPLUS, HELDOUT_SURPLUS = 1.3, 4.0
"""Candidates made per missing task: 70 % are for training on average, 25 % held out."""

STOP_GRACE_S = 0.2
"""Wait for a signal that went to all processes and reached a worker first."""


class WorkerError(UserError):
    """A process that makes tasks died, or could not be started."""


def generate_pool(
    settings: GeneratorSettings,
    seed: int,
    count: int,
    *,
    held_out: bool = False,
    workers: int = 1,
    on_progress: Callable[[int], None] = lambda done: None,
) -> list[Solved]:
    """`count` tasks, families in turn; `on_progress` hears how many there are and may raise.

    Raises:
        GenerationError: tasks cannot be made, or hardly any lies on the wanted side.
        WorkerError: a worker died or could not be started.
    """
    num_families = len(settings.families)
    wanted = [len(range(family, count, num_families)) for family in range(num_families)]
    accepted: list[list[Solved]] = [[] for _ in wanted]
    candidates = [0] * num_families
    seen: set[str] = set()

    def tell() -> None:
        on_progress(sum(map(len, accepted)))

    surplus = HELDOUT_SURPLUS if held_out else TRAINING_SURPLUS
    with _mapper(workers, tell) as run:
        while any(len(found) < want for found, want in zip(accepted, wanted, strict=True)):
            jobs = []
            for family, (found, want) in enumerate(zip(accepted, wanted, strict=True)):
                if len(found) == want:
                    continue
                if candidates[family] - len(found) > MAX_REJECTED_PER_TASK * want:
                    raise GenerationError(_rarity(settings, family, len(found), candidates[family]))
                more = -(-int(surplus * (want - len(found))) // CANDIDATES_PER_JOB)
                for _ in range(more + 1):
                    first = candidates[family]
                    jobs.append((settings, seed, family, first, held_out))
                    candidates[family] += CANDIDATES_PER_JOB
            for job, made in zip(jobs, run(_accepted, jobs), strict=True):
                of_family = accepted[job[2]]
                for geometry, solved in made:
                    if geometry not in seen and len(of_family) < wanted[job[2]]:
                        seen.add(geometry)
                        of_family.append(solved)
                tell()
    return [accepted[number % num_families][number // num_families] for number in range(count)]


def all_incomplete_variants(
    pool: Sequence[Solved],
    seed: int,
    count: int,
    workers: int = 1,
    on_progress: Callable[[int], None] = lambda done: None,
) -> list[list[Variant]]:
    """`count` incomplete variants of every task (`envs.generate`); task i draws from seed + i.

    `on_progress` hears of how many tasks there are some, and may raise. Raises WorkerError.
    """
    jobs = [
        (pool[first : first + TASKS_PER_JOB], seed + first, count)
        for first in range(0, len(pool), TASKS_PER_JOB)
    ]
    variants: list[list[Variant]] = []
    with _mapper(workers, lambda: on_progress(len(variants))) as run:
        for made in run(_variants, jobs):
            variants += made
            on_progress(len(variants))
    return variants


def _variants(job: tuple[Sequence[Solved], int, int]) -> list[list[Variant]]:
    tasks, seed, count = job
    return [incomplete_variants(solved, seed + i, count) for i, solved in enumerate(tasks)]


def _accepted(job: tuple[GeneratorSettings, int, int, int, bool]) -> list[tuple[str, Solved]]:
    """(geometry, task) of the candidates of one job that lie on the wanted side of the split."""
    settings, seed, family, first, held_out = job
    made = []
    for number in range(first, first + CANDIDATES_PER_JOB):
        solved = generate(settings, seed, number * len(settings.families) + family)
        if is_heldout(solved.spec) == held_out:
            made.append((canonical_hash(solved.spec), solved))
    return made


@contextmanager
def _mapper(workers: int, tell: Callable[[], None]) -> Iterator[Callable]:
    """An ordered `map` over processes, or in this one for a single worker.

    Where a worker died, `tell` may raise first: who asked this process to stop may have asked all.
    """
    if workers <= 1:
        yield map
        return
    # Spawned: a fork would copy the locks of threads that run here.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, initializer=_end_with_parent) as pool:
        try:
            yield partial(_map_undisturbed, pool)
        except BrokenProcessPool:
            time.sleep(STOP_GRACE_S)
            tell()
            raise WorkerError(
                f"one of the {workers} processes that make tasks died: killed, perhaps for lack of "
                "memory. Free memory or ask for fewer tasks, and start again"
            ) from None
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _end_with_parent() -> None:
    """Lets this process end when the one that started it is gone, even killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def wait() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _map_undisturbed(pool: ProcessPoolExecutor, work: Callable, jobs: Sequence) -> Iterator:
    """`pool.map`; Ctrl-C is left to this process, since those that are started inherit the mask.

    The library's own `map` cancels what is left when a worker has died, while the pool's thread
    says of the same jobs that they failed: that thread then ends by an error, other workers stay
    for ever, and so does this process (Python 3.11: 8 of 30 kills).
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    others = set(multiprocessing.active_children())
    try:
        futures = deque(pool.submit(work, job) for job in jobs)
    except OSError as error:
        for child in set(multiprocessing.active_children()) - others:
            child.kill()
        if isinstance(error, BrokenPipeError):  # it died while it was started
            raise BrokenProcessPool from None
        raise WorkerError(
            f"cannot start a process that makes tasks: {error.strerror}. Raise the limit that it "
            "names (ulimit -n: files, ulimit -u: processes) or free memory, and start again"
        ) from None
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return _results(futures)


def _results(futures: "deque[Future]") -> Iterator:
    """Results in order, each forgotten once it is taken."""
    while futures:
        yield futures.popleft().result()


def _rarity(settings: GeneratorSettings, family: int, found: int, candidates: int) -> str:
    return (
        f"only {found} tasks of {settings.families[family]} were accepted among {candidates} with "
        f"{settings}; ask for fewer tasks, or drop the family"
    )
