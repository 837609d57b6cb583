"""Where the time of a chunk went: the parts add up, and the network is part of self-play."""

from dataclasses import replace

import numpy as np
import pytest

from factorio_rl import time_breakdown
from factorio_rl.loop_state import Counters, start_counters
from factorio_rl.time_breakdown import ChunkTimes, TrainingClock, breakdown

PARTS = ("search_s", "network_s", "verification_s", "learner_s", "host_s")


def test_parts_add_up_to_the_time_of_a_chunk() -> None:
    chunks = [ChunkTimes(0.1, 2.0, 0.5), ChunkTimes(0.3, 3.0, 0.7)]
    fields = breakdown(chunks, took_s=8.0, network_s=1.5)
    assert fields["chunk_s"] == 4.0
    assert sum(fields[name] for name in PARTS) == pytest.approx(4.0)
    assert fields["verification_s"] == pytest.approx(0.2)
    assert (fields["search_s"], fields["network_s"]) == (1.0, 1.5)
    assert fields["device_busy"] == pytest.approx((2.5 + 0.6) / 4.0)


def test_network_never_takes_more_than_self_play() -> None:
    fields = breakdown([ChunkTimes(0.0, 1.0, 0.0)], took_s=1.0, network_s=1.2)
    assert (fields["search_s"], fields["network_s"]) == (0.0, 1.0)


def counters(env_steps: int, episodes: int) -> Counters:
    return replace(start_counters(), env_steps=np.asarray(env_steps), episodes=np.asarray(episodes))


def test_each_lap_counts_what_came_since_the_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 100.0
    monkeypatch.setattr(time_breakdown.time, "monotonic", lambda: now_s)
    asked = []

    def network_s() -> float:
        asked.append(True)
        return 0.25

    clock = TrainingClock(counters(0, 0))
    clock.add(ChunkTimes(0.0, 1.0, 0.5))
    now_s = 102.0
    lap = clock.lap(counters(100, 4), "bf16", network_s)
    assert (lap["env_steps_per_s"], lap["episodes_per_s"], lap["chunk_s"]) == (50.0, 2.0, 2.0)
    clock.add(ChunkTimes(0.0, 1.0, 0.5))
    clock.add(ChunkTimes(0.0, 1.0, 0.5))
    now_s = 106.0
    lap = clock.lap(counters(300, 8), "bf16", network_s)
    assert (lap["env_steps_per_s"], lap["episodes_per_s"], lap["chunk_s"]) == (50.0, 1.0, 2.0)
    assert len(asked) == 1
    clock.add(ChunkTimes(0.0, 1.0, 0.5))
    now_s = 107.0
    clock.lap(counters(300, 8), "fp8", network_s)
    assert len(asked) == 2


def test_time_between_laps_that_is_no_chunk_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 0.0
    monkeypatch.setattr(time_breakdown.time, "monotonic", lambda: now_s)
    clock = TrainingClock(counters(0, 0))
    clock.add(ChunkTimes(0.0, 9.0, 0.0))
    now_s = 50.0
    clock.start(counters(10, 1))
    clock.add(ChunkTimes(0.0, 1.0, 0.0))
    now_s = 51.0
    lap = clock.lap(counters(20, 3), "bf16", lambda: 0.5)
    assert (lap["env_steps_per_s"], lap["episodes_per_s"], lap["chunk_s"]) == (10.0, 2.0, 1.0)
