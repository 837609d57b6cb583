"""Works are timed in turns, the slow ones less often."""

import time

import jax

from benchmarks.taking_turns import MAX_BURST, MIN_TURNS, Pace, take_turns

PROBES = 2  # calls before the first turn: one that warms up, one that tells the length of a burst


def test_a_slow_work_gets_fewer_turns_and_a_fast_one_bursts():
    calls: list[str] = []

    def fast(key: jax.Array) -> None:
        calls.append("fast")

    def slow(key: jax.Array) -> None:
        calls.append("slow")
        time.sleep(0.03)

    times = take_turns({"fast": fast, "slow": slow}, Pace(repeats=6, budget_s=0.05))
    assert calls.count("slow") == PROBES + MIN_TURNS
    assert calls.count("fast") == PROBES + 6 * MAX_BURST
    assert times["slow"] >= 30
    assert times["fast"] < times["slow"]


def test_turns_alternate_and_keys_differ():
    seen: list[tuple[str, bytes]] = []

    def work(name: str):
        def run(key: jax.Array) -> None:
            seen.append((name, jax.random.key_data(key).tobytes()))
            time.sleep(0.021)

        return run

    take_turns({"a": work("a"), "b": work("b")}, Pace(repeats=2, budget_s=9.0))
    turns = seen[2 * PROBES :]
    assert [name for name, _ in turns] == ["a", "b", "a", "b"]
    assert turns[0][1] == turns[1][1] != turns[2][1]
