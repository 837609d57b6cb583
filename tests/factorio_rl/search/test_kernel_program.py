"""The kernel path as it is lowered for a GPU: one static loop, one kernel, written in place.

No GPU is needed: a program can be lowered for one without it.
"""

import contextlib
import re

import jax
import jax.numpy as jnp
import pytest

from benchmarks.hash_game import HashGame
from factorio_rl.search import Evaluation, SearchSettings, gumbel_muzero_search

BATCH, SIMULATIONS, ACTIONS = 3, 6, 11


def lower(search, *args) -> str:
    """The StableHLO of a search for CUDA; jax from 0.11 on wants to know for which device."""
    with contextlib.ExitStack() as stack:
        if jax.__version_info__ >= (0, 11):
            device = jax.sharding.AbstractDevice("NVIDIA H200", None, "gpu")  # pyright: ignore
            mesh = jax.sharding.AbstractMesh((), (), abstract_device=device)
            stack.enter_context(jax.sharding.use_abstract_mesh(mesh))
        return jax.jit(search).trace(*args).lower(lowering_platforms=("cuda",)).as_text()


@pytest.fixture
def lowered(monkeypatch) -> str:
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    game = HashGame(num_actions=ACTIONS)
    roots = game.roots(BATCH)
    settings = SearchSettings(SIMULATIONS, 4, tree="kernel")

    def search(roots, legal):
        return gumbel_muzero_search(jax.random.key(0), game.expand, roots, legal, settings).action

    return lower(search, roots, game.legal_actions(roots))


def test_kernel_is_compiled_for_the_gpu_once(lowered):
    assert lowered.count("__gpu$xla.gpu.triton") == 1


def test_kernel_changes_its_state_in_place(lowered):
    kernel = next(line for line in lowered.splitlines() if "__gpu$xla.gpu.triton" in line)
    of_results = kernel.rpartition("->")[2]
    results = re.findall(r"tensor<", of_results)
    assert kernel.count("#stablehlo.output_operand_alias") == len(results) == 18
    assert f"tensor<{BATCH}x{SIMULATIONS + 1}x{ACTIONS}xf32>" in of_results


def test_only_loop_has_a_static_length(lowered):
    """No predicate that depends on data: the host launches all simulations without waiting."""
    loops = re.findall(r"stablehlo\.while.*?cond \{(.*?)\} do", lowered, re.DOTALL)
    assert len(loops) == 1
    assert re.search(rf"dense<{SIMULATIONS + 1}> : tensor<i32>", loops[0])
    operations = re.findall(r"= (stablehlo\.\w+)", loops[0])
    assert set(operations) <= {"stablehlo.constant", "stablehlo.compare"}


def test_nothing_but_the_kernel_makes_wide_arrays_in_the_loop(lowered):
    body = lowered[lowered.index("} do {") :]
    body = body[: body.index("stablehlo.return")]
    wide = f"-> tensor<{BATCH}x{SIMULATIONS + 1}x{ACTIONS}xf32>"
    assert not any(line.rstrip().endswith(wide) for line in body.splitlines())


@pytest.mark.parametrize("beforehand", [False, True])
def test_network_stands_once_in_the_program(beforehand, monkeypatch):
    """Also where the root comes evaluated: the simulations share one evaluation."""
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    weights = jnp.ones((5, ACTIONS))

    def expand(board, action, is_root):
        board = jnp.where(is_root, board, board + action[:, None])
        value = board.mean(axis=1)
        return Evaluation(value, value, board @ weights, value), board

    def search(board):
        zeros = jnp.zeros(BATCH)
        root = Evaluation(zeros, zeros, jnp.zeros((BATCH, ACTIONS)), zeros)
        return gumbel_muzero_search(
            jax.random.key(0),
            expand,
            board,
            jnp.ones((BATCH, ACTIONS), bool),
            SearchSettings(SIMULATIONS, 4, tree="kernel"),
            root_evaluation=root if beforehand else None,
        ).action

    assert lower(search, jnp.ones((BATCH, 5))).count("stablehlo.dot_general") == 1


def test_guard_sees_the_loops_of_the_lean_tree():
    game = HashGame(num_actions=ACTIONS)
    roots = game.roots(BATCH)

    def search(roots):
        legal = jnp.ones((BATCH, ACTIONS), bool)
        settings = SearchSettings(SIMULATIONS, 4)
        return gumbel_muzero_search(jax.random.key(0), game.expand, roots, legal, settings).action

    assert lower(search, roots).count("stablehlo.while") == 3
