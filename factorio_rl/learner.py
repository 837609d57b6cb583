"""The learner: batches from replay and references, and AdamW updates on them.

In: learner state, replay, references. Out: the learner state some updates later. A batch mixes
rows of self-play, demonstrations and finished reference layouts row by row, so their shares can
change without another compilation; every row is turned by a random quarter turn. An update with
a number that is not finite is skipped: it leaves parameters and optimizer as they were.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int

from envs.observe_choice import choose_observe
from envs.symmetry import rotate_policy, rotate_state
from envs.types import State
from factorio_rl.config import Config
from factorio_rl.demonstrations import References, sample_demonstration, sample_finished
from factorio_rl.env_shape import env_shape
from factorio_rl.losses import Batch, LossFigures, loss_function
from factorio_rl.model import gather_tasks
from factorio_rl.network import Network, Params, init_params
from factorio_rl.replay import Replay, num_scored, sample_rows


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class LearnerState:
    """Parameters and what their optimizer remembers.

    `updates` numbers the updates and their keys. The optimizer counts those that were not skipped
    itself: its schedule and its bias correction belong to them alone.
    """

    params: Params
    optimizer: optax.OptState
    updates: Int[Array, ""]  # made or skipped
    skipped: Int[Array, ""]  # of them, since something was not finite
    skipped_in_row: Int[Array, ""]  # up to the last update, which made it 0 if it was not skipped


class Shares(NamedTuple):
    """Shares of a batch; the rest is self-play."""

    demonstrations: Float[Array, ""]
    finished: Float[Array, ""]  # finished reference layouts, whole or incomplete
    families: Float[Array, "F"] | None = None  # of both; None is all alike


class UpdateFigures(NamedTuple):
    """Figures of an update."""

    losses: LossFigures
    gradient_norm: Float[Array, ""]
    finite: Bool[Array, ""]  # else the update was skipped


Gradient = Callable[[Params, Batch, Float[Array, "L"]], tuple[Params, LossFigures]]
Update = Callable[
    [LearnerState, Replay, References, Shares, Float[Array, "L"], Array],
    tuple[LearnerState, UpdateFigures],
]
"""The array before the key holds the scales of activations in FP8; only read with `learner.qat`."""


def learning_rate_schedule(config: Config) -> optax.Schedule:
    """Linear rise, then cosine fall over all updates of the run."""
    learner, train = config.learner, config.train
    total = train.imitation_updates + train.num_chunks * learner.updates_per_chunk
    return optax.warmup_cosine_decay_schedule(
        init_value=0.0,
        peak_value=learner.learning_rate,
        warmup_steps=learner.warmup_updates,
        decay_steps=max(total, learner.warmup_updates + 1),
        end_value=learner.learning_rate * learner.final_learning_rate_ratio,
    )


def make_optimizer(config: Config) -> optax.GradientTransformation:
    """AdamW with clipped gradients, on all parameters as one vector.

    By leaves it is hundreds of small kernels, which take a GPU's host longer to hand out than the
    GPU takes to compute the gradient.
    """
    learner = config.learner
    return optax.flatten(
        optax.chain(
            optax.clip_by_global_norm(learner.max_grad_norm),
            optax.adamw(learning_rate_schedule(config), weight_decay=learner.weight_decay),
        )
    )


def start_learner(config: Config, network: Network, key: Array) -> LearnerState:
    """Freshly initialised parameters."""
    params = init_params(network, env_shape(config), key)
    # Arrays of their own: one that stands twice in a state cannot be donated.
    counts = (jnp.zeros((), jnp.int32) for _ in range(3))
    return LearnerState(params, make_optimizer(config).init(params), *counts)


def make_update(config: Config, network: Network) -> Update:
    """The function that makes one update, or skips it where a number is not finite.

    The host calls it once per update: inside a `scan` XLA's CPU backend computes the gradient of
    a convolution 60 times slower (1.6 s against 0.025 s for a batch of 128, 32x3, jax 0.10.2).
    """
    optimizer = make_optimizer(config)
    gradient = make_gradient(config, network)

    def update(
        state: LearnerState,
        replay: Replay,
        references: References,
        shares: Shares,
        scales: Float[Array, "L"],
        key: Array,
    ) -> tuple[LearnerState, UpdateFigures]:
        batch = make_batch(config, replay, references, shares, key)
        gradients, figures = gradient(state.params, batch, scales)
        norm = jnp.linalg.norm(_as_vector(gradients))
        old = (state.params, state.optimizer)
        new = apply_gradients(optimizer, *old, gradients)
        finite = jnp.isfinite(figures.loss) & jnp.isfinite(norm) & all_finite(new)
        params, optimizer_state = jax.tree.map(partial(jnp.where, finite), new, old)
        after = LearnerState(
            params,
            optimizer_state,
            state.updates + 1,
            state.skipped + ~finite,
            jnp.where(finite, 0, state.skipped_in_row + 1),
        )
        return after, UpdateFigures(figures, norm, finite)

    return update


def make_gradient(config: Config, network: Network) -> Gradient:
    """The function (params, batch, scales) -> (gradient of the loss, figures)."""
    learner = config.learner
    observe = choose_observe()
    trained, variables_of = trained_network(config, network)

    def gradient(
        params: Params, batch: Batch, scales: Float[Array, "L"]
    ) -> tuple[Params, LossFigures]:
        def loss_of(params: Params):
            return loss_function(
                trained,
                variables_of(params, scales),
                batch,
                growth_rule=config.env.growth_rule,
                value_weight=learner.value_weight,
                observe=observe,
            )

        return jax.grad(loss_of, has_aux=True)(params)

    return gradient


def apply_gradients(
    optimizer: optax.GradientTransformation,
    params: Params,
    state: optax.OptState,
    gradients: Params,
) -> tuple[Params, optax.OptState]:
    """Parameters and optimizer state after a step, finite or not."""
    changes, state = optimizer.update(gradients, state, params)
    return jax.tree.map(jnp.add, params, changes), state


def all_finite(tree: Any) -> Bool[Array, ""]:
    """Whether every number of a pytree is finite; integers always are."""
    return jnp.isfinite(_as_vector(tree)).all()


def _as_vector(tree: Any) -> Float[Array, "n"]:
    """All floats of a pytree in one row."""
    leaves = [leaf for leaf in jax.tree.leaves(tree) if jnp.issubdtype(leaf.dtype, jnp.floating)]
    return jnp.concatenate([leaf.reshape(-1) for leaf in leaves])


def trained_network(
    config: Config, network: Network
) -> tuple[Network, Callable[[Params, Array], Params]]:
    """The network of the loss, and what it takes, made of parameters and scales."""
    if not config.learner.qat:
        return network, lambda params, scales: params
    # Loaded where it is used: without FP8 nothing of it is in the program.
    from factorio_rl.fp8_network import fp8_network, training_variables

    return fp8_network(network), partial(training_variables, network)


def make_batch(
    config: Config, replay: Replay, references: References, shares: Shares, key: Array
) -> Batch:
    """A batch of rotated rows; without scored rows the self-play share is demonstrations."""
    size, subset_share = config.learner.batch_size, config.actor.subset_share
    source_key, played_key, demo_key, finished_key, turn_key = jax.random.split(key, 5)
    played = sample_rows(played_key, replay, size)
    demo = sample_demonstration(
        demo_key,
        references,
        size,
        subset_share,
        config.learner.demonstration_target,
        config.env.growth_rule,
        shares.families,
    )
    done = sample_finished(finished_key, references, size, shares.families)
    draw = jax.random.uniform(source_key, (size,))
    is_done = draw < shares.finished
    is_demo = draw < shares.finished + shares.demonstrations
    is_demo = (is_demo | (num_scored(replay) == 0)) & ~is_done

    def choose(of_done: Array, of_demo: Array, of_played: Array) -> Array:
        extend = (-1, *(1,) * (of_played.ndim - 1))
        rest = jnp.where(is_demo.reshape(extend), of_demo, of_played)
        return jnp.where(is_done.reshape(extend), of_done, rest)

    board = jax.tree.map(choose, done.board, demo.board, played.board)
    task_index = choose(done.task_index, demo.task_index, played.task_index)
    policy = choose(jnp.zeros_like(demo.policy), demo.policy, played.policy)
    states = State(gather_tasks(references.tasks, task_index), board)
    turns = jax.random.randint(turn_key, (size,), 0, 4)
    turned = jax.vmap(rotate_policy, in_axes=(0, 0, None))(policy, turns, config.env.width)
    return Batch(
        states=jax.vmap(rotate_state)(states, turns),
        policy=turned,
        has_policy=~board.finished,
        value=jnp.where(is_done, done.score, played.value),
        # A demonstration says what to do, not what self-play will score from there.
        has_value=~is_demo,
    )


def mean_figures(figures: list[UpdateFigures]) -> UpdateFigures:
    """Means over the updates that are finite, NaN where none is; `finite` where all are."""
    finite = jnp.stack([of_update.finite for of_update in figures])

    def mean(*values: Array) -> Array:
        return jnp.where(finite, jnp.stack(values), 0.0).sum() / finite.sum()

    return jax.tree.map(mean, *figures)._replace(finite=finite.all())
