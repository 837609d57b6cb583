"""Where the time of training goes: seconds per chunk, by what the run was doing.

In: the times of chunks, counters, the time that the network takes. Out: flat fields for the
metrics. The device is busy with self-play, then with updates; layouts are verified and the host
prepares what comes next meanwhile, so only what the device waits for counts beside it.
"""

import time
from collections.abc import Callable
from typing import NamedTuple

from factorio_rl.loop_state import Counters


class ChunkTimes(NamedTuple):
    """Seconds of one chunk."""

    verification_s: float  # waiting for scores that were due and not yet known
    self_play_s: float  # until the moves were made
    learner_s: float  # from then until the updates were made


class TrainingClock:
    """Measures laps of chunks: the time since the last report."""

    def __init__(self, counters: Counters) -> None:
        self._network_s: dict[str, float] = {}  # of a chunk, by the arithmetic of self-play
        self.start(counters)

    def start(self, counters: Counters) -> None:
        """Begins a lap, as after something that is no chunk."""
        self._before = counters
        self._chunks: list[ChunkTimes] = []
        self._from_s = time.monotonic()

    def add(self, times: ChunkTimes) -> None:
        """Counts one chunk."""
        self._chunks.append(times)

    def lap(
        self, counters: Counters, precision: str, measure_network_s: Callable[[], float]
    ) -> dict[str, float]:
        """Speed and breakdown of the lap, which has chunks; begins the next one.

        Args:
            measure_network_s: seconds that the network's evaluations in the searches of a chunk
                take by themselves; asked once for each `precision`.
        """
        took_s = time.monotonic() - self._from_s
        steps = counters.env_steps - self._before.env_steps
        episodes = counters.episodes - self._before.episodes
        if precision not in self._network_s:
            self._network_s[precision] = measure_network_s()
        fields = {
            "env_steps_per_s": float(steps / took_s),
            "episodes_per_s": float(episodes / took_s),
            **breakdown(self._chunks, took_s, self._network_s[precision]),
        }
        self.start(counters)
        return fields


def breakdown(chunks: list[ChunkTimes], took_s: float, network_s: float) -> dict[str, float]:
    """Means of chunks that took `took_s` together, all between them included; seconds a chunk.

    Args:
        network_s: of a chunk, what the network's evaluations in searches take.
    """
    count = len(chunks)
    means = ChunkTimes(*(sum(times) / count for times in zip(*chunks, strict=True)))
    network_s, whole_s = min(network_s, means.self_play_s), took_s / count
    return {
        "chunk_s": whole_s,
        "search_s": means.self_play_s - network_s,
        "network_s": network_s,
        "verification_s": means.verification_s,
        "learner_s": means.learner_s,
        "host_s": max(whole_s - sum(means), 0.0),
        "device_busy": min((means.self_play_s + means.learner_s) / whole_s, 1.0),
    }
