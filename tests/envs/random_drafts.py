"""Drafts of a family with any of its numbers of machines, as the generator draws them."""

import numpy as np

from envs.families import Family
from envs.random_draw import chosen
from envs.task_draw import Draft, draw_draft


def random_draft(
    rng: np.random.Generator,
    width: int,
    height: int,
    family: Family,
    min_blocked: int,
    max_blocked: int,
) -> Draft | None:
    """A draft, or None where two ports came too close."""
    counts = chosen(rng, family.machines)
    return draw_draft(rng, width, height, family, counts, min_blocked, max_blocked)
