"""All settings of a run, `Config`, and the rules that join its fields.

In: mappings, as read by `config_file`. Out: a checked, frozen `Config` that every part reads.
Bounds of a single field stand in `config_sections`. No jax.
"""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from pydantic import model_validator

from envs.actions import num_actions
from envs.catalogue import MACHINE_SIZE
from envs.families import FAMILIES
from factorio_rl.config_sections import (
    ActorConfig,
    EnvConfig,
    EvalConfig,
    LearnerConfig,
    LoggingConfig,
    NetworkConfig,
    ReplayConfig,
    RunConfig,
    SearchConfig,
    Section,
    TasksConfig,
    TrainConfig,
)

FP8_CHANNEL_MULTIPLE = 16
"""cuDNN has few FP8 plans for convolutions with other numbers of input channels."""


class Config(Section):
    """All settings of a run."""

    run: RunConfig = RunConfig()
    env: EnvConfig = EnvConfig()
    tasks: TasksConfig = TasksConfig()
    network: NetworkConfig = NetworkConfig()
    search: SearchConfig = SearchConfig()
    actor: ActorConfig = ActorConfig()
    replay: ReplayConfig = ReplayConfig()
    learner: LearnerConfig = LearnerConfig()
    train: TrainConfig = TrainConfig()
    eval: EvalConfig = EvalConfig()
    logging: LoggingConfig = LoggingConfig()

    @model_validator(mode="after")
    def _rules_hold(self) -> "Config":
        broken = list(broken_rules(self))
        if broken:
            raise ValueError("; ".join(f"{rule.field}: {rule.message}" for rule in broken))
        return self


class BrokenRule(NamedTuple):
    """A rule between fields that does not hold: the field to change first, the others, why."""

    field: str
    others: tuple[str, ...]
    message: str


def broken_rules(config: Config) -> Iterator[BrokenRule]:
    """The rules between fields that `config` breaks."""
    yield from _broken_size_rules(config)
    yield from _broken_task_rules(config)
    yield from _broken_search_rules(config)
    yield from _broken_learner_rules(config)
    yield from _broken_precision_rules(config)
    yield from _broken_train_rules(config)


def _broken_size_rules(config: Config) -> Iterator[BrokenRule]:
    env, tasks = config.env, config.tasks
    if env.width != env.height:
        yield BrokenRule(
            "env.width",
            ("env.height",),
            f"the grid is {env.width} x {env.height}; training turns boards by quarter turns, "
            "which needs a square one",
        )
    side = MACHINE_SIZE + 2
    if max(env.width, env.height) < side:
        yield BrokenRule(
            "env.width",
            ("env.height",),
            f"a grid of {env.width} x {env.height} has no room for a machine, an inserter and a "
            f"port in line; one side must be >= {side}",
        )
    needed = MACHINE_SIZE**2 + 2 + env.max_ports
    free = env.width * env.height - needed
    if tasks.max_blocked > max(free, 0):
        yield BrokenRule(
            "tasks.max_blocked",
            ("env.width", "env.height", "env.max_ports"),
            f"{tasks.max_blocked} blocked cells leave no room for a machine, two inserters and "
            f"{env.max_ports} ports ({needed} cells) on {env.width} x {env.height}; "
            f"must be <= {max(free, 0)}",
        )


def _broken_task_rules(config: Config) -> Iterator[BrokenRule]:
    env = config.env
    names = config.tasks.families
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if twice:
        yield BrokenRule("tasks.families", (), f"named more than once: {', '.join(twice)}")
    for name in dict.fromkeys(names):
        family = FAMILIES[name]
        needs = {
            "item_slots": (family.num_items, "items"),
            "recipe_slots": (len(family.recipes), "recipes"),
            "max_ports": (family.max_ports, "ports"),
        }
        for field, (needed, what) in needs.items():
            if needed > getattr(env, field):
                yield BrokenRule(
                    "tasks.families",
                    (f"env.{field}",),
                    f"tasks of {name} have up to {needed} {what}, env.{field} is "
                    f"{getattr(env, field)}; raise it or drop the family",
                )


def _broken_search_rules(config: Config) -> Iterator[BrokenRule]:
    actions = num_actions(config.env.height, config.env.width)
    for name, section in (("search", config.search), ("eval", config.eval)):
        considered = section.max_num_considered_actions
        if considered > section.num_simulations:
            yield BrokenRule(
                f"{name}.max_num_considered_actions",
                (f"{name}.num_simulations",),
                f"{considered} actions cannot all be visited in {section.num_simulations} "
                f"simulations; must be <= {name}.num_simulations",
            )
        if considered > actions:
            yield BrokenRule(
                f"{name}.max_num_considered_actions",
                ("env.width", "env.height"),
                f"{considered} is more than the {actions} actions of the grid",
            )


def _broken_learner_rules(config: Config) -> Iterator[BrokenRule]:
    learner, actor, capacity = config.learner, config.actor, config.replay.capacity
    if learner.batch_size > capacity:
        yield BrokenRule(
            "learner.batch_size",
            ("replay.capacity",),
            f"{learner.batch_size} is more than replay.capacity, {capacity}",
        )
    # A move writes at most two rows; the score of the first one of the longest episode arrives
    # `score_lag_chunks` after the last one's.
    moving_chunks = -(-config.env.placement_limit // actor.chunk_moves)
    chunks = moving_chunks + actor.score_lag_chunks
    rows = 2 * chunks * actor.num_envs * actor.chunk_moves
    if rows > capacity:
        yield BrokenRule(
            "replay.capacity",
            (
                "actor.num_envs",
                "actor.chunk_moves",
                "actor.score_lag_chunks",
                "env.placement_limit",
            ),
            f"{capacity} rows are overwritten before their scores arrive; must be >= "
            f"{2 * chunks} * actor.num_envs * actor.chunk_moves = {rows}",
        )
    for end in ("start", "end"):
        field = f"demonstration_share_{end}"
        total = getattr(learner, field) + learner.incomplete_share
        if total > 1:
            yield BrokenRule(
                f"learner.{field}",
                ("learner.incomplete_share",),
                f"with learner.incomplete_share it is {total:g} of a batch; must be <= 1",
            )


def _broken_precision_rules(config: Config) -> Iterator[BrokenRule]:
    precision, channels = config.actor.precision, config.network.channels
    if precision != "bf16" and channels % FP8_CHANNEL_MULTIPLE:
        yield BrokenRule(
            "network.channels",
            ("actor.precision",),
            f"{channels} channels; FP8 convolutions need a multiple of {FP8_CHANNEL_MULTIPLE}",
        )
    if precision == "bf16" and config.search.root_precision == "fp8":
        yield BrokenRule(
            "search.root_precision",
            ("actor.precision",),
            "fp8 at the root of a search in bf16; set actor.precision to fp8 or auto",
        )
    gate, considered = config.actor.switch.gate, config.search.max_num_considered_actions
    if precision != "bf16" and gate and considered < 2:
        yield BrokenRule(
            "search.max_num_considered_actions",
            ("actor.switch.gate", "actor.precision"),
            "the gate measures value errors by the spread of a root's Q-values, which needs two "
            "visited actions; raise it, or set actor.switch.gate to false",
        )
    if config.learner.qat and precision != "fp8":
        yield BrokenRule(
            "learner.qat",
            ("actor.precision",),
            f"the learner would train for an FP8 actor, and actor.precision is {precision}; "
            "set it to fp8, or qat to false",
        )


def _broken_train_rules(config: Config) -> Iterator[BrokenRule]:
    every, kept = config.train.checkpoint_every_chunks, config.train.keep_every_chunks
    if kept is not None and kept % every:
        yield BrokenRule(
            "train.keep_every_chunks",
            ("train.checkpoint_every_chunks",),
            f"{kept} is no multiple of train.checkpoint_every_chunks, {every}: not every one of "
            "these chunks has a checkpoint",
        )
