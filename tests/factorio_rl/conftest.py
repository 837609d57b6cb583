"""Fixtures of the learning tests: a tiny configuration and its compiled parts.

Compiled programs and played chunks are session fixtures, since compiling takes most of the time.
"""

from collections.abc import Callable
from dataclasses import replace

import jax
import numpy as np
import pytest
from tiny_setup import PLACEMENT_LIMIT, SOLVED, Played, Variants, make_variants

from envs.dynamics import reset
from envs.solved import Solved
from envs.types import State
from factorio_rl.config import Config
from factorio_rl.curriculum import level_weights, start_curriculum
from factorio_rl.demonstrations import References, family_longest, make_references
from factorio_rl.env_shape import env_shape
from factorio_rl.learner import LearnerState, Update, make_update, start_learner
from factorio_rl.model import Predict, make_predict
from factorio_rl.network import Network, NetworkOutput, make_network
from factorio_rl.selfplay import ActorState, RunChunk, make_run_chunk, start_actor


@pytest.fixture(scope="session")
def config() -> Config:
    """Settings of the tiny set-up."""
    return Config.model_validate(
        {
            "env": {
                "width": 7,
                "height": 7,
                "item_slots": 2,
                "recipe_slots": 1,
                "max_ports": 2,
                "placement_limit": PLACEMENT_LIMIT,
            },
            "tasks": {
                "families": ["pipe", "gear"],
                "num_tasks": len(SOLVED),
                "max_blocked": 2,
            },
            "network": {
                "channels": 8,
                "blocks": 1,
                "value_bins": 11,
                "compute_dtype": "float32",
            },
            "search": {"num_simulations": 4, "max_num_considered_actions": 4},
            "actor": {
                "num_envs": 4,
                "chunk_moves": 6,
                "score_lag_chunks": 3,
                "family_focus": 0.5,
            },
            "replay": {"capacity": 400},
            "learner": {
                "batch_size": 32,
                "updates_per_chunk": 2,
                "learning_rate": 1e-2,
                "warmup_updates": 5,
            },
            "train": {"imitation_updates": 4, "num_chunks": 100},
            "eval": {"num_simulations": 4, "max_num_considered_actions": 4},
        }
    )


@pytest.fixture(scope="session")
def solved() -> list[Solved]:
    """Four tasks with references of 5, 6, 7 and 5 placements."""
    return SOLVED


@pytest.fixture(scope="session")
def variants(solved: list[Solved]) -> Variants:
    """Two incomplete layouts of each task with made-up scores."""
    return make_variants(solved)


@pytest.fixture(scope="session")
def references(config: Config, solved: list[Solved], variants: Variants) -> References:
    """The tasks on the device."""
    return jax.device_put(make_references(solved, variants, env_shape(config)))


@pytest.fixture(scope="session")
def network(config: Config) -> Network:
    return make_network(config.network)


@pytest.fixture(scope="session")
def predict(config: Config, network: Network) -> Predict:
    return make_predict(network, config.env.growth_rule)


@pytest.fixture(scope="session")
def fresh(config: Config, network: Network) -> LearnerState:
    """Freshly initialised parameters."""
    return jax.jit(lambda key: start_learner(config, network, key))(jax.random.key(0))


@pytest.fixture(scope="session")
def learner(fresh: LearnerState) -> LearnerState:
    """Parameters with noise on all of them, so that no layer is zero."""
    leaves, tree = jax.tree.flatten(jax.device_get(fresh.params))
    rng = np.random.default_rng(1)
    noisy = [leaf + 0.1 * rng.standard_normal(leaf.shape).astype(np.float32) for leaf in leaves]
    params = jax.device_put(jax.tree.unflatten(tree, noisy))
    return replace(fresh, params=params)


@pytest.fixture(scope="session")
def apply(network: Network) -> Callable[..., NetworkOutput]:
    """The compiled network."""
    return jax.jit(network.apply)


@pytest.fixture(scope="session")
def empty_boards(references: References) -> State:
    """The start of every task."""
    return jax.jit(jax.vmap(reset))(references.tasks)


@pytest.fixture(scope="session")
def run_chunk(config: Config, predict: Predict) -> RunChunk:
    """One compiled chunk of self-play."""
    return jax.jit(make_run_chunk(config, predict))


@pytest.fixture(scope="session")
def update(config: Config, network: Network) -> Update:
    """One compiled update."""
    return jax.jit(make_update(config, network))


@pytest.fixture(scope="session")
def alike(references: References) -> jax.Array:
    """Weights under which every level is as likely."""
    tallies = start_curriculum(references.families, family_longest(references))
    return jax.device_put(level_weights(tallies, 0.2))


@pytest.fixture(scope="session")
def start(config: Config, references: References, alike: jax.Array) -> Callable[[int], ActorState]:
    """The actor at fresh start states, by seed."""
    compiled = jax.jit(lambda key: start_actor(config, references, alike, key))
    return lambda seed: compiled(jax.random.key(seed))


@pytest.fixture(scope="session")
def played(
    run_chunk: RunChunk,
    learner: LearnerState,
    references: References,
    alike: jax.Array,
    start: Callable[[int], ActorState],
) -> Played:
    """Five chunks of self-play, on the host."""
    # With this seed one episode ends by finish, the others at the placement limit.
    actor = start(2)
    actors, chunks = [jax.device_get(actor)], []
    for number in range(5):
        key = jax.random.fold_in(jax.random.key(7), number)
        actor, chunk = run_chunk(learner.params, references, alike, actor, key)
        actors.append(jax.device_get(actor))
        chunks.append(jax.device_get(chunk))
    return Played(actors, chunks)
