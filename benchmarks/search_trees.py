"""The four searches of the search benchmark behind one function.

`stock` is `mctx.gumbel_muzero_policy`, `fix` the same with the backward of `one_scatter.py`, and
`lean` and `kernel` are the trees of this package. All take the model as the package's `Expand`
function and draw the same noise from a key, so that they decide alike.
"""

from contextlib import nullcontext
from dataclasses import replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import mctx

from benchmarks.one_scatter import one_scatter_backward
from factorio_rl.search import Embedding, Expand, SearchSettings, gumbel_muzero_search

TREES = ("stock", "fix", "lean", "kernel")
"""Names, the one that the others are compared with first."""

OF_MCTX = ("stock", "fix")


class Found(NamedTuple):
    """What self-play takes from a search, and the parent of every node, for the tree's depth."""

    action: jax.Array  # [B]
    action_weights: jax.Array  # [B, A]
    parents: jax.Array  # [B, N + 1], -1 at the root and at nodes that do not exist


def search_with(
    tree: str,
    key: jax.Array,
    expand: Expand,
    root_embedding: Embedding,
    root_legal: jax.Array,
    settings: SearchSettings,
) -> Found:
    """One search from each root, with the tree of this name; `root_legal` is `[B, A]`."""
    if tree in OF_MCTX:
        with one_scatter_backward() if tree == "fix" else nullcontext():
            out = mctx_policy(key, expand, root_embedding, root_legal, settings)
        return Found(out.action, out.action_weights, out.search_tree.parents)
    changed: dict[str, Any] = {"tree": tree}
    settings = replace(settings, **changed)
    out = gumbel_muzero_search(key, expand, root_embedding, root_legal, settings)
    return Found(out.action, out.action_weights, out.tree.parents)


def mctx_policy(
    key: jax.Array,
    expand: Expand,
    root_embedding: Embedding,
    root_legal: jax.Array,
    settings: SearchSettings,
    gumbel_scale: jax.Array | float = 1.0,
) -> Any:
    """`mctx.gumbel_muzero_policy` with the package's arguments; its `PolicyOutput`."""
    make: Any = mctx  # chex hides the fields of mctx's dataclasses from type checkers

    def recurrent_fn(
        params: None, key: jax.Array, action: jax.Array, embedding: Embedding
    ) -> tuple[Any, Embedding]:
        del params, key
        evaluation, embedding = expand(embedding, action, jnp.bool_(False))
        return make.RecurrentFnOutput(**evaluation._asdict()), embedding

    no_action = jnp.zeros(root_legal.shape[0], jnp.int32)
    at_root, root_embedding = expand(root_embedding, no_action, jnp.bool_(True))
    return make.gumbel_muzero_policy(
        params=None,
        rng_key=key,
        root=make.RootFnOutput(
            prior_logits=at_root.prior_logits, value=at_root.value, embedding=root_embedding
        ),
        recurrent_fn=recurrent_fn,
        num_simulations=settings.num_simulations,
        invalid_actions=~root_legal,
        max_depth=settings.max_depth,
        qtransform=settings.qtransform,
        max_num_considered_actions=settings.max_num_considered_actions,
        gumbel_scale=gumbel_scale,
    )
