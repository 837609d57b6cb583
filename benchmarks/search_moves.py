"""Cells of the search benchmark with whole moves: the project's environment, network and search.

The roots are tasks of a held-out set with a part of their references in place, as self-play has
them. Beside the searches stand two loops over the same N + 1 evaluations without a tree, one of the
network alone and one of network and environment. In both, what goes in depends on what came out
before, so that no evaluation can leave the loop.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.network_loop import evaluations
from benchmarks.search_cell import NETWORK, NETWORK_AND_ENVIRONMENT, Cell
from benchmarks.search_trees import Found, search_with
from envs.dynamics import legal_actions
from envs.heldout import load_heldout
from envs.observation import Observation, observe
from envs.types import EMPTY, Board, State, stack_tasks, task_arrays
from factorio_rl.agent_file import Agent
from factorio_rl.config import Config
from factorio_rl.config_file import load_config
from factorio_rl.env_shape import env_shape
from factorio_rl.model import Predict, Prediction, make_expand, make_predict
from factorio_rl.network import (
    Network,
    Params,
    init_params,
    make_network,
    mask_illegal,
)
from factorio_rl.search import Evaluation, SearchSettings
from factorio_rl.selfplay import search_settings

CONFIG = Path(__file__).parents[1] / "configs" / "modules_12x12.yaml"

PRIOR_SCALE = {"untrained": 1.0, "peaked": 48.0}
"""Factor of the logits. With 48 the best action of a root gets some 0.6 of the improved policy."""

EMPTY_SHARE = 0.25
"""Share of roots without a placement, as in self-play."""


class MoveInputs(NamedTuple):
    """Positions to search from, and for the loops a legal action for each evaluation."""

    params: Params  # the network's, and the factor of its logits: see `_scaled`
    states: State
    legal: jax.Array  # [B, A]
    observation: Observation
    actions: jax.Array  # [N + 1, B]


def move_cell(network: str, batch: int, simulations: int, trees: Sequence[str]) -> Cell:
    """The cell of a network `CHANNELSxBLOCKS` with these trees under both policies."""
    channels, blocks = network.split("x")
    config = load_config(CONFIG, [f"--network.channels={channels}", f"--network.blocks={blocks}"])
    params = init_params(make_network(config.network), env_shape(config), jax.random.key(2))
    return _cell(config, params, PRIOR_SCALE, batch, simulations, trees)


def agent_cell(agent: Agent, batch: int, simulations: int, trees: Sequence[str]) -> Cell:
    """The cell of a trained agent with these trees, its policy as it is."""
    return _cell(agent.config, agent.params, {"trained": 1.0}, batch, simulations, trees)


def _cell(
    config: Config,
    params: Params,
    prior_scale: Mapping[str, float],
    batch: int,
    simulations: int,
    trees: Sequence[str],
) -> Cell:
    """The cell of a network under policies of these factors."""
    net = make_network(config.network)
    predict = _scaled(make_predict(net, config.env.growth_rule))
    plain = _inputs(config, params, batch, simulations)
    settings = search_settings(config, simulations, config.search.max_num_considered_actions)
    return Cell(
        network=f"{config.network.channels}x{config.network.blocks}",
        batch=batch,
        simulations=simulations,
        searches={tree: _search(tree, predict, settings) for tree in trees},
        inputs={
            policy: plain._replace(params=_scaled_params(params, scale))
            for policy, scale in prior_scale.items()
        },
        embedding_bytes=sum(leaf.nbytes for leaf in jax.tree.leaves(plain.states.board)),
        loops={NETWORK: _network_loop(net), NETWORK_AND_ENVIRONMENT: _environment_loop(predict)},
    )


def start_states(config: Config, batch: int) -> State:
    """Tasks of the config's held-out set with prefixes of their references placed."""
    solved = load_heldout(config.tasks.heldout).tasks
    random = np.random.default_rng(3)
    chosen = [solved[index] for index in random.integers(0, len(solved), batch)]
    shape = (batch, config.env.height, config.env.width)
    entity, rotation = np.full(shape, EMPTY, np.uint8), np.zeros(shape, np.uint8)
    placed = np.zeros(batch, np.int32)
    for row, entry in enumerate(chosen):
        if random.random() >= EMPTY_SHARE:
            placed[row] = random.integers(1, len(entry.placements))
        for put in entry.placements[: placed[row]]:
            entity[row, put.y, put.x] = put.kind + 1
            rotation[row, put.y, put.x] = put.rotation
    tasks = stack_tasks([task_arrays(entry.spec, env_shape(config)) for entry in chosen])
    boards: Any = (entity, rotation, placed, np.zeros(batch, np.bool_))
    return jax.device_put(State(tasks, Board(*boards)))


def _inputs(config: Config, params: Params, batch: int, simulations: int) -> MoveInputs:
    states = start_states(config, batch)
    legal = jax.vmap(lambda state: legal_actions(state, growth_rule=config.env.growth_rule))(states)
    drawn = jax.random.categorical(
        jax.random.key(4), jnp.where(legal, 0.0, -jnp.inf), shape=(simulations + 1, batch)
    )
    observation = jax.vmap(observe)(states)
    return MoveInputs(params, states, legal, observation, drawn.astype(jnp.int32))


def _scaled_params(params: Params, prior_scale: float) -> Params:
    return {"network": params, "prior_scale": jnp.float32(prior_scale)}


def _scaled(predict: Predict) -> Predict:
    """The prediction with its logits times the factor that stands beside the parameters."""

    def predict_scaled(params: Params, states: State) -> Prediction:
        plain = predict(params["network"], states)
        logits = mask_illegal(plain.policy_logits * params["prior_scale"], plain.legal)
        return plain._replace(policy_logits=logits)

    return predict_scaled


def _search(
    tree: str, predict: Predict, settings: SearchSettings
) -> Callable[[jax.Array, MoveInputs], Found]:
    def search(key: jax.Array, inputs: MoveInputs) -> Found:
        expand = make_expand(predict, inputs.params, inputs.states.task)
        return search_with(tree, key, expand, inputs.states.board, inputs.legal, settings)

    return search


def _network_loop(network: Network) -> Callable[[jax.Array, MoveInputs], Any]:
    def loop(key: jax.Array, inputs: MoveInputs) -> Any:
        del key
        params, count = inputs.params["network"], len(inputs.actions)
        return evaluations(network, params, inputs.observation, count)

    return loop


def _environment_loop(predict: Predict) -> Callable[[jax.Array, MoveInputs], Any]:
    def loop(key: jax.Array, inputs: MoveInputs) -> Any:
        del key
        expand = make_expand(predict, inputs.params, inputs.states.task)

        def body(number: jax.Array, before: tuple[Evaluation, Board]) -> tuple[Evaluation, Board]:
            action = jnp.where(_always(before[0].value), inputs.actions[number], 0)
            return expand(inputs.states.board, action, number == 0)

        zeros = jnp.zeros(len(inputs.legal))
        start = Evaluation(zeros, zeros, jnp.zeros(inputs.legal.shape), zeros)
        return jax.lax.fori_loop(0, len(inputs.actions), body, (start, inputs.states.board))

    return loop


def _always(value: jax.Array) -> jax.Array:
    """True for every value in [0, 1], which is not for the compiler to know."""
    return value >= -1.0
