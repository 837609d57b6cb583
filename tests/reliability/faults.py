"""Trains with something broken in this process: `python faults.py FAULT [arguments of train.py]`.

Each fault is a function that replaces a part of the program before training starts. The product
has no switch for any of them.
"""

import itertools
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

COMPILING = "a compilation of a minute begins"
SLOW_EVALUATION = "a slow evaluation begins"
UNROLLED = 6_000
"""Matrix products that take XLA about a minute."""

SLOW_MOVE_S = 2.0


def at_call(number: int, then: Callable[[], None], function: Callable) -> Callable:
    """A function that does something else first when it is called for the `number`th time."""
    calls = itertools.count(1)

    def watched(*arguments: Any, **options: Any) -> Any:
        if next(calls) == number:
            then()
        return function(*arguments, **options)

    return watched


def die() -> None:
    """Ends this process as a power cut would."""
    os.kill(os.getpid(), signal.SIGKILL)


def killed_in_save() -> None:
    """Killed when the arrays of the third checkpoint are written and its manifest is not."""
    from factorio_rl import checkpoint

    checkpoint.write_manifest = at_call(3, die, checkpoint.write_manifest)


def killed_before_rename() -> None:
    """Killed when the third checkpoint is whole but has not its name yet."""
    from factorio_rl import checkpoint

    # One call for the files of a checkpoint each.
    checkpoint._sync = at_call(3, die, checkpoint._sync)


def killed_in_delete() -> None:
    """Killed half-way through the deletion of a checkpoint."""
    from factorio_rl import checkpoint

    def half_removed(path) -> None:
        if path.name.endswith(checkpoint._DELETING):
            for file in sorted(path.rglob("*"))[::2]:
                if file.is_file():
                    file.unlink()
            die()
        remove(path)

    remove = checkpoint._remove
    checkpoint._remove = half_removed


def killed_in_evaluation() -> None:
    """Killed when the second evaluation has left its report and its line, but no score."""
    from factorio_rl import training_run

    saver = training_run.Saver
    saver.note_score = at_call(2, die, saver.note_score)


def clock_backwards() -> None:
    """The wall clock goes back an hour every time that it is read."""
    now_ns = time.time_ns()
    back = itertools.count(1)
    hour_ns = 3_600 * 10**9
    time.time_ns = lambda: max(now_ns - next(back) * hour_ns, 0)
    time.time = lambda: time.time_ns() / 1e9


def long_compilation() -> None:
    """The main thread is inside XLA for a minute; Python runs no handler meanwhile."""
    import jax
    import jax.numpy as jnp

    from factorio_rl import trainer

    def products(x: Any) -> Any:
        # Other numbers each time: a program that was compiled before is in the cache.
        x = x + time.time_ns() % 10**9
        for number in range(UNROLLED):
            x = jnp.sin(x @ x + number)
        return x

    def compile_it(*arguments: Any) -> None:
        lowered = jax.jit(products).lower(jnp.ones((8, 8)))
        print(COMPILING, flush=True)
        lowered.compile()

    trainer.make_pool = compile_it


def slow_evaluation() -> None:
    """The evaluation at chunk 4 takes a minute: each move of the search some seconds."""
    from factorio_rl.evaluation import GreedyPlay

    evaluations = itertools.count(1)

    def play(self: Any, *arguments: Any) -> Any:
        # Two each: the search and the policy alone, of the untrained network and of chunk 0.
        if next(evaluations) == 5:
            print(SLOW_EVALUATION, flush=True)
            self._move = slowly(self._move)
        return play_at_once(self, *arguments)

    def slowly(move: Callable) -> Callable:
        def moved(*arguments: Any) -> Any:
            time.sleep(SLOW_MOVE_S)
            return move(*arguments)

        return moved

    play_at_once = GreedyPlay.__call__
    GreedyPlay.__call__ = play


def stepwise() -> None:
    """Each chunk waits for a file of its number in the folder FACTORIO_RL_ALLOWED."""
    from factorio_rl.chunk import ChunkRunner

    allowed = Path(os.environ["FACTORIO_RL_ALLOWED"])

    def run_when_allowed(self: Any, state: Any) -> Any:
        chunk = int(state.counters.chunk) + 1
        if not (allowed / str(chunk)).exists():
            print(f"chunk {chunk} waits", flush=True)
        while not (allowed / str(chunk)).exists():
            time.sleep(0.01)
        return run(self, state)

    run = ChunkRunner.run
    ChunkRunner.run = run_when_allowed


def no_saving() -> None:
    """No checkpoint can be written, as on a file system that has become read-only."""
    from factorio_rl import checkpoint

    def refuse(*arguments: Any) -> None:
        raise OSError(30, "Read-only file system")

    checkpoint.write_manifest = refuse


def no_estimate_of_memory() -> None:
    """Nothing is refused before memory is asked for."""
    from factorio_rl import trainer

    trainer.require_memory = lambda config, available: None


def little_address_space() -> None:
    """Allocations fail once the process has 5 GiB, far less than the machine has."""
    limit = 5 * 2**30
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def huge_self_play() -> None:
    """A chunk of self-play asks for 32 TiB."""
    import jax.numpy as jnp

    from factorio_rl import chunk

    chunk._jit_act = lambda run_chunk: lambda *state: jnp.zeros(1 << 45, jnp.uint8)


def failing_verifier() -> None:
    """Every third layout cannot be verified, another third is never exact."""
    from factorio_rl import scoring

    numbers = itertools.count()

    def score(layout: Any) -> Any:
        number = next(numbers) % 3
        if number == 0:
            raise MemoryError("Allocation failed")
        return None if number == 1 else score_rate(layout)

    score_rate = scoring.score_rate
    scoring.score_rate = score


def main(name: str, arguments: list[str]) -> int:
    """Breaks what `name` says, then trains; the exit code."""
    globals()[name]()
    from factorio_rl.cli import train_main

    return train_main(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
