"""Solved one-machine tasks by construction: every target is the exact rate of a reference.

Flow: settings, seed, index -> drafts (`task_draw`) -> references (`construction`) -> verifier ->
`Solved`. Only references with a positive exact rate and no useless inserter are kept. The same
(settings, seed, index) gives the same task in every process. Jax-free.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice

import numpy as np

from envs.catalogue import RECIPES
from envs.construction import construct
from envs.errors import UserError
from envs.routing import Raster
from envs.solved import Solved
from envs.task_draw import FASTEST_PICK_TICKS, Draft, below, draw_draft, products_per_s, without_one
from envs.task_spec import INSERTER, Placement, TaskSpec, layout_of
from envs.verifier import score_rate

GENERATOR_VERSION = 1
"""Raised by every change that gives another task for the same settings, seed and index."""

MAX_INGREDIENTS = 2
"""Most ingredients of a recipe that the generator can supply: one or two sources."""

MAX_ATTEMPTS = 500
"""Drafts tried for one task; good settings need 1 to 3 on average."""

CONSTRUCTIONS_PER_DRAFT = 12
"""Random references per draft, of which the smallest is kept: demonstrations stay short."""

MAX_REJECTED_PER_TASK = 200
"""Tasks that a pool may reject per task it asks for; the train split rejects 1 in 8."""

INSERTER_REMOVAL_WEIGHT = 4.0
"""How much likelier an incomplete variant lacks an inserter than another entity."""


class GenerationError(UserError):
    """Settings from which no task can be made."""


@dataclass(frozen=True)
class GeneratorSettings:
    """What tasks to make.

    Attributes:
        width, height: grid size in cells.
        recipes: recipe names; one is drawn per task and names its family.
        placement_limit: placements of an episode; longer references are dropped.
        max_blocked: most blocked cells; 0 to this many are drawn.

    Raises GenerationError for recipes that are unknown or need too many sources.
    """

    width: int
    height: int
    recipes: tuple[str, ...]
    placement_limit: int
    max_blocked: int

    def __post_init__(self) -> None:
        usable = [
            name for name, recipe in RECIPES.items() if len(recipe.ingredients) <= MAX_INGREDIENTS
        ]
        unusable = [name for name in self.recipes if name not in usable]
        if unusable or not self.recipes:
            raise GenerationError(
                f"recipes are {list(self.recipes)}; give one or more of {', '.join(usable)}"
            )
        if self.max_blocked < 0:
            raise GenerationError(f"max_blocked is {self.max_blocked}; it must be 0 or more")


def generate(settings: GeneratorSettings, seed: int, index: int) -> Solved:
    """Task number `index` of a seed. Raises GenerationError where none can be found."""
    rng = np.random.default_rng((seed, index))
    raster = Raster(settings.width, settings.height)
    failures: Counter[str] = Counter()
    for _ in range(MAX_ATTEMPTS):
        draft = draw_draft(
            rng, settings.width, settings.height, settings.recipes, settings.max_blocked
        )
        outcome = "ports too close" if draft is None else _attempt(rng, raster, draft, settings)
        if isinstance(outcome, Solved):
            return outcome
        failures[outcome] += 1
    reasons = ", ".join(f"{reason} ({count}x)" for reason, count in failures.most_common())
    raise GenerationError(
        f"no task found in {MAX_ATTEMPTS} attempts with {settings}: {reasons}; "
        "enlarge the grid or the placement limit, or block fewer cells"
    )


def generate_pool(
    settings: GeneratorSettings, seed: int, count: int, accept: Callable[[TaskSpec], bool]
) -> list[Solved]:
    """The first `count` accepted tasks of a seed, by index. Raises GenerationError."""
    pool: list[Solved] = []
    index = 0
    while len(pool) < count:
        if index - len(pool) > MAX_REJECTED_PER_TASK * count:
            raise GenerationError(
                f"only {len(pool)} of {count} tasks were accepted among {index} with {settings}; "
                "ask for fewer tasks or accept more of them"
            )
        solved = generate(settings, seed, index)
        if accept(solved.spec):
            pool.append(solved)
        index += 1
    return pool


def incomplete_variants(
    solved: Solved, seed: int, count: int
) -> list[tuple[tuple[bool, ...], float]]:
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
    rng: np.random.Generator, raster: Raster, draft: Draft, settings: GeneratorSettings
) -> Solved | str:
    """The solved task of a draft, or why there is none."""
    found = [construct(rng, raster, draft) for _ in range(CONSTRUCTIONS_PER_DRAFT)]
    references = [placements for placements in found if placements is not None]
    if not references:
        return "no room or no route"
    placements = tuple(min(references, key=len))
    if len(placements) > settings.placement_limit:
        return "reference above the placement limit"
    spec = TaskSpec(
        settings.width,
        settings.height,
        draft.blocked,
        draft.ports,
        (draft.recipe,),
        draft.recipe,
        Fraction(0),
        settings.placement_limit,
        draft.recipe,
    )
    rate = score_rate(layout_of(spec, placements))
    if not rate:
        return "reference delivers nothing"
    spec = replace(spec, target_rate=rate)
    if _has_useless_inserter(spec, placements, draft):
        return "an inserter without use"
    return Solved(spec, placements)


def _has_useless_inserter(spec: TaskSpec, placements: tuple[Placement, ...], draft: Draft) -> bool:
    """Whether the target is reached without one of the inserters; verified unless certain."""
    recipe = RECIPES[draft.recipe]
    inserters = iter([put for put in placements if put.kind == INSERTER])
    for port, count in enumerate(draft.counts):
        fewer = without_one(draft.counts, port)
        bound = products_per_s(recipe, draft.amounts, fewer, FASTEST_PICK_TICKS)
        for put in islice(inserters, count):
            if bound < spec.target_rate:
                continue
            rest = score_rate(layout_of(spec, [other for other in placements if other != put]))
            if rest is None or rest >= spec.target_rate:
                return True
    return False
