"""Where episodes start: success by family and by missing placements, and what is drawn from it.

In: the verified outcomes of a chunk. Out: the next tallies, their figures for the metrics, and
the weights by which `factorio_rl.demonstrations` draws start states. A level is a family and k,
the placements of the reference that are missing at the start. numpy, float64, deterministic.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import jax
import numpy as np
from jaxtyping import Bool, Float32, Float64, Int

from factorio_rl.scoring import ChunkScores
from factorio_rl.selfplay import Ended

DECAY = 0.98
"""Weight of the past per chunk: the figures look back over about fifty chunks."""

FEW_REMOVED = 3
"""Starts with at most so many missing placements are reported as easy."""

HARD_BELOW, MASTERED_ABOVE = 0.1, 0.9
"""Success outside of these teaches little: the range of Florensa et al. (arXiv 1707.05300)."""

FRONTIER_SUCCESS = 0.5
"""A family's frontier is the largest k with at least this success."""

WINDOW = (1 / 3, 2 / 3, 1.0, 2 / 3, 1 / 3)
"""Weights of the levels k - 2 to k + 2: neighbours are about as hard, and counts are sparse."""

FEWEST_EPISODES = 4.0
"""Windowed recent episodes that say something of a level: few, since asking an abandoned level
again and again costs FEWEST_EPISODES * (1 - DECAY) / sum(WINDOW), 0.03 episodes a chunk."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Curriculum:
    """Decayed tallies by family and by k, 0 to L; those of starts from empty also apart."""

    episodes: Float64[np.ndarray, "F K"]
    solved: Float64[np.ndarray, "F K"]
    empty_episodes: Float64[np.ndarray, "F"]
    empty_score: Float64[np.ndarray, "F"]
    empty_solved: Float64[np.ndarray, "F"]
    empty_functional: Float64[np.ndarray, "F"]
    empty_length: Float64[np.ndarray, "F"]  # placements made
    families: tuple[str, ...] = field(metadata={"static": True})  # their names
    longest: tuple[int, ...] = field(metadata={"static": True})  # longest reference of each


def start_curriculum(families: Sequence[str], longest: Sequence[int]) -> Curriculum:
    """Empty tallies for families of these names and longest references."""
    by_level, by_family = np.zeros((len(families), max(longest) + 1)), np.zeros(len(families))
    return Curriculum(
        episodes=by_level,
        solved=by_level,
        empty_episodes=by_family,
        empty_score=by_family,
        empty_solved=by_family,
        empty_functional=by_family,
        empty_length=by_family,
        families=tuple(families),
        longest=tuple(longest),
    )


def tally(
    curriculum: Curriculum,
    ended: Ended,
    scores: ChunkScores,
    family_of_task: Int[np.ndarray, "n"],
) -> Curriculum:
    """The tallies after the outcomes of a chunk; `family_of_task` are indices of families."""
    over = np.asarray(ended.ended)
    family = family_of_task[np.asarray(ended.task_index)]
    shape = curriculum.episodes.shape
    level = family * shape[1] + np.asarray(ended.removed)
    from_empty = over & (np.asarray(ended.start_placed) == 0)

    def by_level(past: np.ndarray, values: np.ndarray) -> np.ndarray:
        counted = np.bincount(level[over], weights=values[over], minlength=past.size)
        return DECAY * past + counted.reshape(shape)

    def by_family(past: np.ndarray, values: np.ndarray) -> np.ndarray:
        counted = np.bincount(family[from_empty], values[from_empty], minlength=past.size)
        return DECAY * past + counted

    ones = np.ones(over.shape)
    return Curriculum(
        episodes=by_level(curriculum.episodes, ones),
        solved=by_level(curriculum.solved, scores.solved),
        empty_episodes=by_family(curriculum.empty_episodes, ones),
        empty_score=by_family(curriculum.empty_score, scores.score),
        empty_solved=by_family(curriculum.empty_solved, scores.solved),
        empty_functional=by_family(curriculum.empty_functional, scores.functional),
        empty_length=by_family(curriculum.empty_length, np.asarray(ended.board.placed)),
        families=curriculum.families,
        longest=curriculum.longest,
    )


def success(curriculum: Curriculum) -> Float64[np.ndarray, "F K"]:
    """Share of solved episodes about each level; nan with too few of them and without a level."""
    episodes, solved = _windowed(curriculum.episodes), _windowed(curriculum.solved)
    known = _levels(curriculum) & (episodes >= FEWEST_EPISODES)
    return np.divide(solved, episodes, out=np.full(episodes.shape, np.nan), where=known)


def frontier(curriculum: Curriculum) -> Int[np.ndarray, "F"]:
    """The largest k of each family that succeeds half of the time; 0 where none does."""
    reached = success(curriculum) >= FRONTIER_SUCCESS
    return np.where(reached, np.arange(reached.shape[1]), 0).max(axis=1)


def family_shares(curriculum: Curriculum, focus: float) -> Float32[np.ndarray, "F"]:
    """Chance of each family, which falls from 1 to 1 - `focus` with its success from empty.

    Relative to the others; a family without recent evidence has no success. They sum to 1.
    """
    solved = curriculum.empty_solved / np.maximum(curriculum.empty_episodes, FEWEST_EPISODES)
    weights = 1.0 - focus * solved
    return (weights / weights.sum()).astype(np.float32)


def start_weights(
    curriculum: Curriculum, review_share: float, family_focus: float
) -> Float32[np.ndarray, "F K"]:
    """Chance of each family and k among the starts: its family's share by that of its level."""
    shares = family_shares(curriculum, family_focus)[:, None]
    return shares * level_weights(curriculum, review_share)


def level_weights(curriculum: Curriculum, review_share: float) -> Float32[np.ndarray, "F K"]:
    """Chance of each k among the starts of a family; every row sums to 1 over 1 to its longest.

    Success of a level is that of k - 2 to k + 2, recent episodes foremost (`success`).
    Levels with success from 0.1 to 0.9, or with too few recent episodes to say, are drawn alike.
    Mastered levels, above 0.9, share `review_share` at most, and none is likelier than a tried one.
    Hard levels, below 0.1, are left out but for the easiest one beyond the frontier.
    A level left out is forgotten as its episodes decay, and so tried again.
    """
    tried, mastered = _drawn_levels(curriculum)
    num_tried, num_mastered = (levels.sum(axis=1, keepdims=True) for levels in (tried, mastered))
    shared = review_share / (1.0 - review_share) * num_tried / np.maximum(num_mastered, 1)
    of_mastered = np.where(num_tried > 0, np.minimum(shared, 1.0), 1.0)
    weights = tried + of_mastered * mastered
    return (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)


def figures(curriculum: Curriculum) -> dict[str, float]:
    """The tallies as metrics, over all families and by family; nan where nothing was tallied."""
    easy = slice(0, FEW_REMOVED + 1)
    few = _ratio(curriculum.solved[:, easy].sum(), curriculum.episodes[:, easy].sum())
    whole = curriculum.empty_episodes.sum()
    found = {
        f"solved_up_to_{FEW_REMOVED}_removed": few,
        "solved": _ratio(curriculum.solved.sum(), curriculum.episodes.sum()),
        "empty_score": _ratio(curriculum.empty_score.sum(), whole),
        "empty_functional": _ratio(curriculum.empty_functional.sum(), whole),
        "empty_placements": _ratio(curriculum.empty_length.sum(), whole),
    }
    reached = frontier(curriculum)
    for index, name in enumerate(curriculum.families):
        episodes = curriculum.empty_episodes[index]
        found[f"empty_score_{name}"] = _ratio(curriculum.empty_score[index], episodes)
        found[f"empty_solved_{name}"] = _ratio(curriculum.empty_solved[index], episodes)
        found[f"frontier_{name}"] = float(reached[index]) if reached[index] else float("nan")
    return found


def _drawn_levels(
    curriculum: Curriculum,
) -> tuple[Bool[np.ndarray, "F K"], Bool[np.ndarray, "F K"]]:
    """Levels that are tried, and mastered ones that are reviewed."""
    share = success(curriculum)
    mastered, hard = share > MASTERED_ABOVE, share < HARD_BELOW
    tried = _levels(curriculum) & ~mastered & ~hard
    beyond = hard & (np.arange(share.shape[1]) > frontier(curriculum)[:, None])
    easiest = beyond & (beyond.cumsum(axis=1) == 1)
    return tried | easiest, mastered


def _levels(curriculum: Curriculum) -> Bool[np.ndarray, "F K"]:
    """Which k a family has: 1 to its longest reference."""
    removed = np.arange(curriculum.episodes.shape[1])
    return (removed >= 1) & (removed <= np.array(curriculum.longest)[:, None])


def _windowed(tallies: Float64[np.ndarray, "F K"]) -> Float64[np.ndarray, "F K"]:
    reach, columns = len(WINDOW) // 2, tallies.shape[1]
    padded = np.pad(tallies, ((0, 0), (reach, reach)))
    parts = [share * padded[:, at : at + columns] for at, share in enumerate(WINDOW)]
    return np.sum(parts, axis=0)


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole > 0 else float("nan")
