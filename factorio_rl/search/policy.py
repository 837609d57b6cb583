"""Gumbel MuZero search for a batch of positions.

In: a key, the model as an `expand` function, and the roots' embeddings and legal actions. Out: the
action to play, the improved policy, the root's values, and the tree. Root and simulations share one
loop, in which the root is iteration 0, so that the network stands once in the compiled program; the
loop's length is static, so that no host waits for a predicate. `settings.tree` says which of the
two trees holds the statistics.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, Int32, PRNGKeyArray

from factorio_rl.search.lean_tree import LeanTree
from factorio_rl.search.methods import TreeMethods
from factorio_rl.search.select import Root, conclude, sample_gumbel
from factorio_rl.search.settings import SearchSettings
from factorio_rl.search.tree import ROOT, Embedding, Evaluation, SearchTree

# `expand(embedding, action, is_root)` takes each embedding on by its action `[B]`, and returns the
# evaluation of the embedding that results, and that embedding. Where the scalar `is_root` is true
# it ignores the action, and evaluates and returns the embedding that it was given.
Expand = Callable[[Embedding, Int32[Array, "B"], Bool[Array, ""]], tuple[Evaluation, Embedding]]


class SearchOutput(NamedTuple):
    """What a search found.

    `action`: `[B]` the action to play.
    `action_weights`: `[B, A]` the improved policy, the target to train on; rows sum to 1.
    `root_value`: `[B]` mean of all returns at the root, those of explored losers included.
    `raw_value`: `[B]` the network's value of the root.
    `tree`: the tree when the search ended.
    `embeddings`: `[B, N + 1, ...]` the embedding of each node.
    """

    action: Int32[Array, "B"]
    action_weights: Float32[Array, "B A"]
    root_value: Float32[Array, "B"]
    raw_value: Float32[Array, "B"]
    tree: SearchTree
    embeddings: Embedding


def gumbel_muzero_search(
    key: PRNGKeyArray,
    expand: Expand,
    root_embedding: Embedding,
    root_legal: Bool[Array, "B A"],
    settings: SearchSettings,
    gumbel_scale: Float32[Array, ""] | Float32[Array, "B 1"] | float = 1.0,
    root_evaluation: Evaluation | None = None,
) -> SearchOutput:
    """Runs `settings.num_simulations` simulations from each root.

    Args:
      key: consumed.
      expand: the model, traced once.
      root_embedding: a pytree of arrays `[B, ...]`.
      root_legal: `[B, A]` the actions allowed at the root. A row without any gives action 0 and
        uniform weights.
      settings: static.
      gumbel_scale: 1 for self-play, 0 for greedy evaluation; may be traced, and differ by position.
      root_evaluation: of the roots, where something else than `expand` has evaluated them, such as
        the network in a higher precision. Without it `expand` evaluates them.

    Raises:
      TypeError: the model returned something else than float32.
    """
    root = Root(root_legal, sample_gumbel(key, root_legal, jnp.float32(gumbel_scale)))
    methods = _tree_methods(root, settings)
    num_nodes = settings.num_simulations + 1
    search = _Search(methods.start(), _store(root_embedding, num_nodes))
    first = ROOT
    if root_evaluation is not None:
        _check_float32(root_evaluation)
        state = methods.add(search.state, root_evaluation, jnp.int32(ROOT))
        search, first = search._replace(state=state), ROOT + 1

    simulate = partial(_simulate, expand=expand, methods=methods)
    search = jax.lax.fori_loop(first, num_nodes, simulate, search)
    tree = methods.finish(search.state)
    action, action_weights = conclude(tree, root, settings.qtransform)
    return SearchOutput(
        action=action,
        action_weights=action_weights,
        root_value=tree.values[:, ROOT],
        raw_value=tree.raw_values[:, ROOT],
        tree=tree,
        embeddings=search.embeddings,
    )


def _tree_methods(root: Root, settings: SearchSettings) -> TreeMethods[Any]:
    if settings.tree == "lean":
        return LeanTree(root, settings)
    # Loaded where it is used: a jax without Pallas's Triton backend still has the lean tree.
    from factorio_rl.search.kernel_tree import KernelTree

    return KernelTree(root, settings)


class _Search(NamedTuple):
    """What the simulations carry: the state of the tree, and each node's embedding."""

    state: Any
    embeddings: Embedding


def _store(root_embedding: Embedding, num_nodes: int) -> Embedding:
    """Room for the embeddings of all nodes, `[B, N + 1, ...]`, with the root's in it."""

    def store(leaf: Array) -> Array:
        shape = (leaf.shape[0], num_nodes, *leaf.shape[1:])
        return jnp.zeros(shape, leaf.dtype).at[:, ROOT].set(leaf)

    return jax.tree.map(store, root_embedding)


def _simulate(
    iteration: Int32[Array, ""], search: _Search, *, expand: Expand, methods: TreeMethods
) -> _Search:
    """Evaluates one more node per batch element; in iteration 0 that is the root itself."""
    state, edge = methods.select(search.state, iteration)
    rows = jnp.arange(edge.node.shape[0])
    parent = jnp.maximum(edge.parent, ROOT)
    above = jax.tree.map(lambda stored: stored[rows, parent], search.embeddings)
    evaluation, embedding = expand(above, jnp.maximum(edge.action, 0), iteration == ROOT)
    _check_float32(evaluation)
    embeddings = jax.tree.map(
        lambda stored, new: stored.at[rows, edge.node].set(new, unique_indices=True),
        search.embeddings,
        embedding,
    )
    return _Search(methods.add(state, evaluation, iteration), embeddings)


def _check_float32(evaluation: Evaluation) -> None:
    """Refuses narrow types: in bfloat16 the best of a thousand Gumbels always hold ties."""
    for name, array in evaluation._asdict().items():
        if array.dtype != jnp.float32:
            raise TypeError(
                f"The model returned {name} as {array.dtype}; the search takes float32 only, "
                "so cast it where the model ends."
            )
