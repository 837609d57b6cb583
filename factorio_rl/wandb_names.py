"""How figures are called in Weights & Biases, and what their panels are drawn over.

In: events and fields as metrics.jsonl has them. Out: names such as `eval/family/gear/score`. The
first part of a name is the section of panels that wandb puts a figure in: `eval`, `curriculum`,
`search`, `time` and `train`, besides one for each rarer event. No jax.
"""

import re

from factorio_rl.metrics import UNTRAINED_EVENT, is_time_field

ENV_STEPS, UPDATES = "env_steps", "learner_updates"

COUNTERS = ("chunk", ENV_STEPS, UPDATES)
"""Fields that are logged under their own name."""

_BY_FAMILY = {
    "eval": ("eval", re.compile(r"(score|solved)_(.+)")),
    UNTRAINED_EVENT: (UNTRAINED_EVENT, re.compile(r"(score|solved)_(.+)")),
    "train": ("curriculum", re.compile(r"(empty_score|empty_solved|frontier)_(.+)")),
}
"""Section of an event's figures of families, and how their fields are made: `<figure>_<family>`."""

_SEARCH = (
    "target_entropy",
    "target_divergence",
    "root_value",
    "root_q_range",
    "search_depth",
    "non_finite_moves",
)
_CURRICULUM = re.compile(r"solved|solved_up_to_\d+_removed|empty_.+")


def wandb_name(event: str, field: str) -> str:
    """The name of a field of an event."""
    if field in COUNTERS:
        return field
    if is_time_field(field) or field == "device_busy":
        return f"time/{field}"
    section, pattern = _BY_FAMILY.get(event, (event, None))
    found = None if pattern is None else pattern.fullmatch(field)
    if found is not None:
        figure, family = found.groups()
        return f"{section}/family/{family}/{figure}"
    if event != "train":
        return f"{event}/{field}"
    if field in _SEARCH:
        return f"search/{field}"
    return f"curriculum/{field}" if _CURRICULUM.fullmatch(field) else f"train/{field}"


def step_metric(name: str) -> str | None:
    """The figure that a panel of this one is drawn over; None for that figure itself.

    Imitation comes before the first environment step, so that it is drawn over updates.
    """
    if name == ENV_STEPS:
        return None
    return UPDATES if name.startswith("imitation/") else ENV_STEPS
