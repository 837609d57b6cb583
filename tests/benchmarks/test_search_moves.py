"""Whole moves of the search benchmark: real states, and one model for all trees."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from benchmarks.search_cell import NETWORK, NETWORK_AND_ENVIRONMENT
from benchmarks.search_moves import CONFIG, agent_cell, move_cell, start_states
from envs.dynamics import legal_actions
from envs.types import State
from factorio_rl.agent_file import Agent
from factorio_rl.config_file import load_config
from factorio_rl.env_shape import env_shape
from factorio_rl.network import init_params, make_network


@pytest.fixture(scope="module")
def cell():
    return move_cell("4x1", 3, 5, ["stock", "lean"])


def test_start_states_are_unfinished_layouts_with_something_left_to_place():
    states = start_states(load_config(CONFIG), 24)
    board = states.board
    assert board.entity.shape == (24, 12, 12)
    assert np.array_equal((board.entity > 0).sum(axis=(1, 2)), board.placed)
    assert (np.asarray(board.placed) == 0).any()
    assert len(np.unique(board.placed)) > 5
    assert not board.finished.any()
    legal = jax.vmap(legal_actions)(states)
    assert (np.asarray(legal.sum(axis=-1)) > 1).all()


@pytest.mark.slow
def test_mctx_and_plan_search_the_same_model(cell):
    key = jax.random.key(7)
    searches = {tree: jax.jit(search) for tree, search in cell.searches.items()}
    for inputs in cell.inputs.values():
        stock, lean = (searches[tree](key, inputs) for tree in ("stock", "lean"))
        for name, one, other in zip(stock._fields, stock, lean, strict=True):
            assert np.asarray(one).tobytes() == np.asarray(other).tobytes(), name
        assert np.asarray(jnp.take_along_axis(inputs.legal, stock.action[:, None], 1)).all()


@pytest.mark.slow
def test_loops_evaluate_the_network_once_for_each_node_on_changing_inputs(cell):
    inputs = cell.inputs["untrained"]
    loop = cell.loops[NETWORK_AND_ENVIRONMENT]
    evaluation, board = jax.jit(loop)(jax.random.key(0), inputs)
    last = inputs.actions[-1]
    finish = inputs.legal.shape[1] - 1
    assert np.array_equal(board.placed, inputs.states.board.placed + (last != finish))
    legal = jax.vmap(legal_actions)(State(inputs.states.task, board))
    assert np.array_equal(evaluation.prior_logits > jnp.finfo(jnp.float32).min, legal)
    for name in (NETWORK, NETWORK_AND_ENVIRONMENT):
        text = jax.jit(cell.loops[name]).lower(jax.random.key(0), inputs).as_text()
        assert text.count("stablehlo.convolution") == 3, name


def test_a_trained_agent_is_searched_with_as_it_is() -> None:
    config = load_config(CONFIG, ["--network.channels=4", "--network.blocks=1"])
    params = init_params(make_network(config.network), env_shape(config), jax.random.key(0))
    cell = agent_cell(Agent(config, params, "tiny", {"env_steps": 0}), 2, 3, ["lean"])
    assert (cell.network, cell.batch, cell.simulations) == ("4x1", 2, 3)
    assert list(cell.inputs) == ["trained"]
    of_network = cell.inputs["trained"].params
    assert of_network["prior_scale"] == 1.0
    jax.tree.map(np.testing.assert_array_equal, of_network["network"], params)
