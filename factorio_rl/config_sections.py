"""The sections of the settings: one frozen pydantic model each.

Every field has its default, its bounds and a line with its meaning and unit, which `--help`
prints. `config` joins the sections; rules between fields are there. No jax.
"""

from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
)
from pydantic_core import PydanticCustomError

from envs.families import FAMILIES
from envs.suggestion import nearest
from envs.task_checks import MAX_SIDE, MIN_SIDE
from factorio_rl.argument_types import MAX_SIMULATIONS
from factorio_rl.home_folder import expanded

LARGEST_COUNT = 2**31 - 1
"""The device counts in 32 bits."""

LARGEST_NUMBER = 1e30
"""The device computes in float32, which ends at 3e38."""

MAX_FAMILIES = 100
"""Longest list of families; each is named once."""


def _listed(value: object) -> object:
    return (value,) if isinstance(value, str) else value


def _known_family(name: object) -> object:
    if isinstance(name, str) and name not in FAMILIES:
        raise ValueError(f"no family of tasks; {nearest(name, FAMILIES)}")
    return name


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("must be printable characters")
    return text


def _path_text(text: str) -> str:
    expanded(_printable(text))
    return text


def _project_name(text: str) -> str:
    if set(text) & set("/\\#?%:"):
        raise ValueError("Weights & Biases takes no / \\ # ? % : in the name of a project")
    return text


Count = Annotated[int, Field(ge=0, le=LARGEST_COUNT)]
PositiveCount = Annotated[int, Field(ge=1, le=LARGEST_COUNT)]
Weight = Annotated[float, Field(ge=0, le=LARGEST_NUMBER)]
PositiveFloat = Annotated[float, Field(gt=0, le=LARGEST_NUMBER)]
Share = Annotated[float, Field(ge=0, le=1)]
GridSide = Annotated[int, Field(ge=MIN_SIDE, le=MAX_SIDE)]
Simulations = Annotated[PositiveCount, Field(le=MAX_SIMULATIONS)]
FamilyName = Annotated[str, BeforeValidator(_known_family)]
Name = Annotated[str, Field(min_length=1, max_length=128), AfterValidator(_printable)]
PathText = Annotated[str, Field(min_length=1, max_length=1024), AfterValidator(_path_text)]


class Section(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True
    )

    @field_validator("*", mode="before")
    @classmethod
    def _true_is_not_one(cls, value: object, info: ValidationInfo) -> object:
        kind = cls.model_fields[info.field_name].annotation if info.field_name else None
        if isinstance(value, bool) and kind is not bool:
            raise PydanticCustomError("not_boolean", "Input should not be true or false")
        return value


class RunConfig(Section):
    """What belongs to the run as a whole."""

    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    """Root of all random keys."""

    deterministic: bool = False
    """Whether a GPU computes the same bits at every start, for an exact resume; some slower. A CPU
    always does."""

    compilation_cache: PathText | None = "~/.cache/factorio-rl/xla"
    """Folder of the persistent XLA compilation cache; null turns it off."""


class EnvConfig(Section):
    """Shape and rules of the environment. Fixed for a run directory."""

    width: GridSide = 12
    """Grid width, cells."""

    height: GridSide = 12
    """Grid height, cells."""

    item_slots: Annotated[PositiveCount, Field(ge=2, le=8)] = 8
    """Items that one task can name."""

    recipe_slots: Annotated[PositiveCount, Field(le=4)] = 4
    """Recipes that one task can name; one per rotation digit of an action."""

    max_ports: Annotated[PositiveCount, Field(ge=2, le=8)] = 4
    """Most sources and sinks of one task."""

    placement_limit: Annotated[PositiveCount, Field(ge=3)] = 96
    """Placements after which an episode ends; the limit of a task's family may be lower."""

    growth_rule: bool = True
    """Whether a placement has to touch a port or something already placed."""


class TasksConfig(Section):
    """The tasks that are trained on and evaluated. Fixed for a run directory, except `pool`."""

    families: Annotated[
        tuple[FamilyName, ...],
        Field(min_length=1, max_length=MAX_FAMILIES),
        BeforeValidator(_listed),
    ] = ("gear",)
    """Families of tasks, in equal numbers."""

    num_tasks: Annotated[PositiveCount, Field(le=1_000_000)] = 4096
    """Training tasks: made for the run, or read from `pool`."""

    pool: PathText | None = None
    """Pool file that training tasks are read from (`tasks build`); null makes them on the fly."""

    max_blocked: Count = 6
    """Most blocked cells of a task."""

    heldout: Name = "heldout-v1"
    """Name of the frozen held-out set."""


class NetworkConfig(Section):
    """Size of the network. Fixed for a run directory, except `compute_dtype`."""

    channels: Annotated[PositiveCount, Field(ge=4, le=1024)] = 64
    """Channels of the convolutional trunk."""

    blocks: Annotated[PositiveCount, Field(le=64)] = 6
    """Residual blocks, two convolutions each."""

    value_bins: Annotated[PositiveCount, Field(ge=2, le=1001)] = 51
    """Bins of the two-hot value head on [0, 1]."""

    compute_dtype: Literal["auto", "bfloat16", "float32"] = "auto"
    """Arithmetic of the trunk; auto is bfloat16 on a GPU and float32 elsewhere."""


class SearchConfig(Section):
    """Gumbel MuZero search of self-play."""

    num_simulations: Simulations = 16
    """Simulations per move."""

    max_num_considered_actions: PositiveCount = 16
    """Root actions that sequential halving starts with."""

    max_depth: PositiveCount | None = None
    """Deepest simulation, edges; null is no limit."""

    value_scale: PositiveFloat = 1.0
    """Scale of completed Q-values in the improved policy."""

    maxvisit_init: Weight = 50.0
    """Visits added to the largest visit count when completed Q-values are scaled."""

    rescale_values: bool = False
    """Whether completed Q-values are stretched to [0, 1] at each node."""

    use_mixed_value: bool = True
    """Whether unvisited actions get the mixed value instead of the raw value."""

    epsilon: Annotated[float, Field(ge=1e-30, le=LARGEST_NUMBER)] = 1e-8
    """Least spread of Q-values that rescaling stretches to 1; about the error of the values."""

    root_precision: Literal["bf16", "fp8"] = "bf16"
    """Arithmetic of the trunk at the root while the actor searches in FP8."""

    tree: Literal["auto", "lean", "kernel"] = "auto"
    """lean runs everywhere; kernel is faster, needs a GPU, and training ends where it cannot run;
    auto is kernel where it runs, else lean."""


class SwitchConfig(Section):
    """When self-play goes over to FP8: after some steps, and while a gate lets it.

    The gate compares both arithmetics on fixed positions before every chunk.
    """

    after_env_steps: Annotated[int, Field(ge=0, le=2**53)] = 0
    """Environment steps before which the actor stays in bf16."""

    gate: bool = True
    """Whether the actor is in FP8 only while both arithmetics agree; false does not look."""

    probe_positions: Annotated[PositiveCount, Field(le=4096)] = 64
    """Positions that are compared."""

    min_policy_agreement: Share = 0.95
    """Least share of positions whose likeliest action is the same."""

    max_value_error: PositiveFloat = 0.1
    """Largest RMS difference of values, as a share of the spread of Q-values at a root."""

    max_target_divergence: PositiveFloat = 0.02
    """Largest mean KL divergence of search targets, nats."""

    passes: PositiveCount = 3
    """Chunks in a row that have to pass before the actor goes over to FP8."""

    slack: Annotated[float, Field(ge=1, le=100)] = 1.5
    """Once in FP8, the limits are missed by this factor before the actor goes back to bf16."""


def _no_mx(precision: object) -> object:
    if precision == "mxfp8":
        raise ValueError(
            "XLA and cuDNN have no MX convolution, only MX matrix products, which GPUs before "
            "Blackwell emulate; give bf16, fp8 or auto"
        )
    return precision


class ActorConfig(Section):
    """Self-play."""

    precision: Annotated[Literal["bf16", "fp8", "auto"], BeforeValidator(_no_mx)] = "bf16"
    """Arithmetic of the trunk in self-play; fp8 under the rules of `switch`; auto is fp8 where
    its trunk is the faster one on this device. bf16 stands for `network.compute_dtype`."""

    switch: SwitchConfig = SwitchConfig()
    """When self-play goes over to FP8 and back."""

    num_envs: Annotated[PositiveCount, Field(le=65_536)] = 256
    """Environments that play side by side."""

    chunk_moves: PositiveCount = 8
    """Moves of each environment in one jitted chunk."""

    score_lag_chunks: Annotated[PositiveCount, Field(ge=2, le=16)] = 2
    """Chunks from the end of an episode until its score is needed, which hide how long the slowest
    layouts take to verify. Fixed for a run directory."""

    empty_share: Annotated[Share, Field(ge=0.25)] = 0.25
    """Least share of episodes that start from an empty grid."""

    family_focus: Annotated[Share, Field(le=0.95)] = 0.0
    """How much rarer a family that is solved from empty becomes, in episodes and demonstrations: 0
    draws all families alike, 0.8 such a one a fifth as often as one that is never solved."""

    review_share: Annotated[Share, Field(le=0.5)] = 0.2
    """Largest share of the other starts at mastered levels, while there are levels to learn."""

    subset_share: Share = 0.2
    """Share of the other starts and demonstrations from random subsets, not prefixes."""

    max_non_finite_chunks: PositiveCount = 3
    """Chunks in a row with a search that is not finite; one more ends the run."""


class ReplayConfig(Section):
    """Replay buffer."""

    capacity: PositiveCount = 100_000
    """Rows kept, one per move."""


class LearnerConfig(Section):
    """Optimizer, losses and the make-up of a batch."""

    batch_size: PositiveCount = 256
    """Rows per update."""

    updates_per_chunk: PositiveCount = 12
    """Updates after each chunk of self-play."""

    learning_rate: PositiveFloat = 2e-3
    """Highest learning rate of AdamW."""

    warmup_updates: Count = 100
    """Updates of the linear rise to `learning_rate`."""

    final_learning_rate_ratio: Share = 0.1
    """Learning rate at the end over `learning_rate`."""

    weight_decay: Weight = 1e-4
    """Decoupled weight decay."""

    max_grad_norm: PositiveFloat = 1.0
    """Global gradient norm that larger gradients are clipped to."""

    max_skipped_updates: PositiveCount = 20
    """Updates in a row that may be skipped since something is not finite; one more ends the run."""

    qat: bool = False
    """Quantisation-aware training: whether the learner evaluates the network in the actor's FP8."""

    value_weight: Weight = 1.0
    """Weight of the value loss; the policy loss has 1."""

    demonstration_share_start: Share = 0.5
    """Share of demonstrations in a batch at the first chunk."""

    demonstration_share_end: Share = 0.25
    """Share of demonstrations in a batch at the last chunk."""

    demonstration_target: Literal["next", "fed", "missing"] = "next"
    """Target of a demonstration: the next placement, all whose feeder stands, or all missing."""

    incomplete_share: Share = 0.15
    """Share of finished layouts in a batch: references and incomplete ones, with their scores."""


class TrainConfig(Section):
    """Length of the run and its checkpoints."""

    imitation_updates: Count = 900
    """Updates on demonstrations before the first chunk."""

    num_chunks: PositiveCount = 500
    """Chunks of self-play; one is num_envs * chunk_moves environment steps."""

    checkpoint_every_chunks: PositiveCount = 50
    """Chunks between checkpoints."""

    checkpoint_replay: bool = True
    """Whether checkpoints hold the replay buffer. Without it they are small; a run that goes on
    from one fills its buffer anew, learning from demonstrations meanwhile, so not as if it had
    never stopped."""

    keep_checkpoints: PositiveCount = 2
    """Newest checkpoints kept; the best one is kept besides."""

    keep_every_chunks: PositiveCount | None = None
    """Checkpoints at multiples of so many chunks are kept for good; null keeps none of them."""

    max_failed_saves: PositiveCount = 3
    """Checkpoints in a row that may fail to be written, as on a full disk, before the run ends."""


class EvalConfig(Section):
    """Greedy evaluation on the held-out set."""

    every_chunks: PositiveCount = 100
    """Chunks between evaluations."""

    num_simulations: Simulations = 32
    """Simulations per move."""

    max_num_considered_actions: PositiveCount = 16
    """Root actions that sequential halving starts with."""

    num_tasks: PositiveCount | None = None
    """Tasks of the held-out set that are played; null is the whole set."""


class LoggingConfig(Section):
    """Where metrics go."""

    every_chunks: PositiveCount = 5
    """Chunks between log lines."""

    wandb: Literal["auto", "online", "offline", "disabled"] = "auto"
    """Weights & Biases; auto is online when a key is configured and offline otherwise."""

    wandb_project: Annotated[Name, AfterValidator(_project_name)] = "factorio-rl"
    """Project of Weights & Biases."""

    wandb_entity: Name | None = None
    """Entity of Weights & Biases; null is the key's own."""
