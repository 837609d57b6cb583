"""Solved tasks by construction: every target is the exact rate of a reference.

Flow: settings, seed, index -> drafts (`task_draw`) -> references (`construction`) -> verifier ->
flow order -> `Solved`. Only references with a positive exact rate and no useless arm are kept.
The same (settings, seed, index) gives the same task in every process. Jax-free.
"""

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from envs.construction import construct
from envs.errors import UserError
from envs.families import FAMILIES, Family
from envs.flow_order import flow_order
from envs.random_draw import below, chosen
from envs.routing import Raster
from envs.solved import Solved, Variant
from envs.task_draw import Draft, draw_draft
from envs.task_spec import INSERTER, Placement, TaskSpec, layout_of
from envs.verifier import score_rate

GENERATOR_VERSION = 2
"""Raised by every change that gives another task for the same settings, seed and index."""

MAX_DRAFTS = 2_000
"""Drafts tried for one task."""

DRAFTS_PER_MACHINES = 400
"""Drafts tried with the same numbers of machines: small grids have no room for some."""

TRIES_PER_DRAFT = 12
"""Constructions tried for one draft."""

REFERENCES_PER_DRAFT = 4
"""References found for one draft, of which the smallest is kept: demonstrations stay short."""

INSERTER_REMOVAL_WEIGHT = 4.0
"""How much likelier an incomplete variant lacks an inserter than another entity."""


class GenerationError(UserError):
    """Settings from which no task can be made."""


@dataclass(frozen=True)
class GeneratorSettings:
    """What tasks to make.

    Attributes:
        width, height: grid size in cells.
        families: names of `envs.families`; they take turns.
        placement_limit: most placements of an episode; a family's own limit may be lower. Longer
            references are dropped.
        max_blocked, min_blocked: blocked cells of a task.

    Raises GenerationError for settings that are out of bounds.
    """

    width: int
    height: int
    families: tuple[str, ...]
    placement_limit: int
    max_blocked: int
    min_blocked: int = 0

    def __post_init__(self) -> None:
        unknown = [name for name in self.families if name not in FAMILIES]
        if unknown or not self.families:
            raise GenerationError(
                f"families are {list(self.families)}; give one or more of {', '.join(FAMILIES)}"
            )
        if not 0 <= self.min_blocked <= self.max_blocked:
            raise GenerationError(
                f"blocked cells are {self.min_blocked} to {self.max_blocked}; "
                "give 0 or more, the lower bound first"
            )


def generate(settings: GeneratorSettings, seed: int, index: int) -> Solved:
    """Task number `index` of a seed. Raises GenerationError where none can be found."""
    rng = np.random.default_rng((seed, index))
    raster = Raster(settings.width, settings.height)
    family = FAMILIES[settings.families[index % len(settings.families)]]
    counts = family.machines[0]
    failures: Counter[str] = Counter()
    for number in range(MAX_DRAFTS):
        # Not with every draft, or the numbers that fit on the grid more easily would prevail.
        if number % DRAFTS_PER_MACHINES == 0:
            counts = chosen(rng, family.machines)
        draft = draw_draft(
            rng,
            settings.width,
            settings.height,
            family,
            counts,
            settings.min_blocked,
            settings.max_blocked,
        )
        outcome = (
            "ports too close" if draft is None else _attempt(rng, raster, family, draft, settings)
        )
        if isinstance(outcome, Solved):
            return outcome
        failures[outcome] += 1
    reasons = ", ".join(f"{reason} ({count}x)" for reason, count in failures.most_common())
    raise GenerationError(
        f"no task of {family.name} found in {MAX_DRAFTS} drafts with {settings}: {reasons}; "
        "enlarge the grid or the placement limit, block fewer cells or drop the family"
    )


def incomplete_variants(solved: Solved, seed: int, count: int) -> list[Variant]:
    """Finished but incomplete layouts of a reference with their verified scores.

    Even entries are prefixes of the flow order, odd ones lack 1 to 3 random placements, mostly
    inserters. Each is (kept, one flag per placement; score in [0, 1]).
    """
    rng = np.random.default_rng(seed)
    weights = np.array(
        [INSERTER_REMOVAL_WEIGHT if put.kind == INSERTER else 1.0 for put in solved.placements]
    )
    variants = []
    for number in range(count):
        kept = np.ones(len(weights), bool)
        if number % 2 == 0:
            kept[below(rng, len(weights)) :] = False
        else:
            removed = 1 + below(rng, min(3, len(weights)))
            keys = rng.random(len(weights)) ** (1 / weights)
            kept[np.argsort(-keys, kind="stable")[:removed]] = False
        flags = tuple(bool(flag) for flag in kept)
        variants.append((flags, _score(solved, flags)))
    return variants


def _score(solved: Solved, kept: tuple[bool, ...]) -> float:
    placements = [put for put, keep in zip(solved.placements, kept, strict=True) if keep]
    rate = score_rate(layout_of(solved.spec, placements)) or Fraction(0)
    return float(min(Fraction(1), rate / solved.spec.target_rate))


def _attempt(
    rng: np.random.Generator,
    raster: Raster,
    family: Family,
    draft: Draft,
    settings: GeneratorSettings,
) -> Solved | str:
    """The solved task of a draft, or why there is none."""
    references: list[list[Placement]] = []
    for _ in range(TRIES_PER_DRAFT):
        found = construct(rng, raster, draft)
        if found is not None:
            references.append(found)
        if len(references) == REFERENCES_PER_DRAFT:
            break
    if not references:
        return "no room or no route"
    spec = TaskSpec(
        settings.width,
        settings.height,
        draft.blocked,
        draft.ports,
        family.recipes,
        family.product,
        Fraction(0),
        min(family.placement_limit, settings.placement_limit),
        family.name,
    )
    placements = flow_order(rng, spec, min(references, key=len))
    if placements is None:
        return "a placement that nothing feeds"
    if len(placements) > spec.placement_limit:
        return "reference above the placement limit"
    rate = score_rate(layout_of(spec, placements))
    if not rate:
        return "reference delivers nothing"
    spec = replace(spec, target_rate=rate)
    if _has_useless_arm(spec, placements):
        return "an inserter without use"
    return Solved(spec, tuple(placements))


def _has_useless_arm(spec: TaskSpec, placements: list[Placement]) -> bool:
    """Whether the target is reached without one of the arms."""
    for number, put in enumerate(placements):
        if put.kind == INSERTER:
            rest = score_rate(layout_of(spec, placements[:number] + placements[number + 1 :]))
            if rest is None or rest >= spec.target_rate:
                return True
    return False
