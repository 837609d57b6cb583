"""Time of a search, this package's lean tree against stock mctx, with next to no network.

    python -m benchmarks.search --batch 8 --simulations 16 32 64

The model is one untrained linear layer over 1,729 actions, 1,400 of them legal, so that the tree
is what costs. Both searches compute the same thing bit for bit; their runs take turns, and the
table gives medians. Writes `docs/results/search.json`.
"""

import argparse
import shlex
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import mctx
from jax.stages import Compiled

from benchmarks.results import write_results
from factorio_rl.search import Evaluation, SearchSettings, gumbel_muzero_search

NUM_ACTIONS = 1729
NUM_LEGAL = 1400
NUM_FEATURES = 16

Search = Callable[[jax.Array, jax.Array], tuple[jax.Array, Any]]  # (key, roots) -> (action, tree)


class LinearModel(NamedTuple):
    """Positions are `[B, NUM_FEATURES]`; an action adds its own vector."""

    moves: jax.Array
    policy: jax.Array
    value: jax.Array
    legal: jax.Array

    def step(self, position: jax.Array, action: jax.Array) -> jax.Array:
        return jnp.tanh(position + self.moves[action])

    def evaluate(self, position: jax.Array) -> Evaluation:
        value = jax.nn.sigmoid(position @ self.value)
        lowest = jnp.finfo(jnp.float32).min
        return Evaluation(
            reward=jnp.zeros_like(value),
            discount=jnp.ones_like(value),
            prior_logits=jnp.where(self.legal, position @ self.policy, lowest),
            value=value,
        )


def untrained_model() -> LinearModel:
    moves, policy, value, legal = jax.random.split(jax.random.key(0), 4)
    order = jax.random.permutation(legal, NUM_ACTIONS)
    return LinearModel(
        moves=jax.random.normal(moves, (NUM_ACTIONS, NUM_FEATURES)),
        policy=jax.random.normal(policy, (NUM_FEATURES, NUM_ACTIONS)) / NUM_FEATURES**0.5,
        value=jax.random.normal(value, (NUM_FEATURES,)) / NUM_FEATURES**0.5,
        legal=order < NUM_LEGAL,
    )


def lean_search(model: LinearModel, settings: SearchSettings) -> Search:
    def expand(
        position: jax.Array, action: jax.Array, is_root: jax.Array
    ) -> tuple[Evaluation, jax.Array]:
        position = jnp.where(is_root, position, model.step(position, action))
        return model.evaluate(position), position

    def search(key: jax.Array, roots: jax.Array) -> tuple[jax.Array, Any]:
        legal = jnp.broadcast_to(model.legal, (len(roots), NUM_ACTIONS))
        out = gumbel_muzero_search(key, expand, roots, legal, settings)
        return out.action, out.tree

    return search


def stock_search(model: LinearModel, settings: SearchSettings) -> Search:
    make: Any = mctx  # chex hides the fields of mctx's dataclasses from type checkers

    def recurrent_fn(
        params: None, key: jax.Array, action: jax.Array, position: jax.Array
    ) -> tuple[Any, jax.Array]:
        del params, key
        position = model.step(position, action)
        return make.RecurrentFnOutput(**model.evaluate(position)._asdict()), position

    def search(key: jax.Array, roots: jax.Array) -> tuple[jax.Array, Any]:
        at_root = model.evaluate(roots)
        out = make.gumbel_muzero_policy(
            params=None,
            rng_key=key,
            root=make.RootFnOutput(
                prior_logits=at_root.prior_logits, value=at_root.value, embedding=roots
            ),
            recurrent_fn=recurrent_fn,
            num_simulations=settings.num_simulations,
            invalid_actions=jnp.broadcast_to(~model.legal, (len(roots), NUM_ACTIONS)),
            qtransform=settings.qtransform,
            max_num_considered_actions=settings.max_num_considered_actions,
        )
        return out.action, out.search_tree

    return search


def compile_search(search: Search, roots: jax.Array) -> tuple[Compiled, float, int]:
    """The compiled search, the seconds that took, and the bytes of its tree."""
    start = time.perf_counter()
    compiled = jax.jit(search).lower(jax.random.key(0), roots).compile()
    seconds = time.perf_counter() - start
    _, tree = jax.eval_shape(search, jax.random.key(0), roots)
    return compiled, seconds, sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(tree))


def run_ms(compiled: Compiled, seed: int, roots: jax.Array) -> float:
    key = jax.random.key(seed)
    start = time.perf_counter()
    jax.block_until_ready(compiled(key, roots))
    return 1e3 * (time.perf_counter() - start)


def measure(batch: int, simulations: int, repeats: int) -> list[dict[str, Any]]:
    """One row per tree, in the schema of `docs/results/search.json`."""
    model, settings = untrained_model(), SearchSettings(simulations)
    roots = jax.random.normal(jax.random.key(1), (batch, NUM_FEATURES))
    searches = {"stock": stock_search(model, settings), "lean": lean_search(model, settings)}
    builds = {name: compile_search(search, roots) for name, search in searches.items()}
    times: dict[str, list[float]] = {name: [] for name in builds}
    for seed in range(repeats + 1):
        for name, (compiled, _, _) in builds.items():
            times[name].append(run_ms(compiled, seed, roots))
    return [
        {
            "tree": name,
            "network": "none",
            "policy": "untrained",
            "batch": batch,
            "simulations": simulations,
            "ms_per_move": round(median(times[name][1:]), 3),
            "compile_s": round(compile_s, 2),
            "tree_bytes": tree_bytes,
        }
        for name, (_, compile_s, tree_bytes) in builds.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the search against stock mctx.")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--simulations", type=int, nargs="+", default=[16, 32, 64])
    parser.add_argument("--repeats", type=int, default=9)
    args = parser.parse_args()

    print(
        f"{'tree':6} {'batch':>6} {'simulations':>12} {'ms/move':>10} {'compile s':>10} {'MB':>8}"
    )
    rows = []
    for simulations in args.simulations:
        for row in measure(args.batch, simulations, args.repeats):
            rows.append(row)
            print(
                f"{row['tree']:6} {row['batch']:6d} {simulations:12d} {row['ms_per_move']:10.2f} "
                f"{row['compile_s']:10.2f} {row['tree_bytes'] / 1e6:8.2f}"
            )
    print(
        write_results(
            "search", rows, shlex.join(["python", "-m", "benchmarks.search", *sys.argv[1:]])
        )
    )


if __name__ == "__main__":
    main()
