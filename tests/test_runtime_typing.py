"""The run-time check of annotations is on, and leaves pytrees alone."""

import jax
import jax.numpy as jnp
import pytest
import runtime_typing
from jaxtyping import TypeCheckError

from envs.dynamics import dilate, legal_actions
from envs.types import Board


def test_a_wrong_dtype_or_rank_is_refused() -> None:
    with pytest.raises(TypeCheckError, match=r"envs\.dynamics\.dilate"):
        dilate(jnp.zeros((3, 3), jnp.int32))
    with pytest.raises(TypeCheckError, match=r"envs\.dynamics\.dilate"):
        dilate(jnp.zeros((2, 3, 3), jnp.bool_))
    with pytest.raises(TypeCheckError, match=r"envs\.dynamics\.legal_actions"):
        legal_actions("no state")  # pyright: ignore[reportArgumentType]


def test_every_module_with_shape_annotations_is_checked() -> None:
    modules = runtime_typing.annotated_modules()
    assert {"envs.types", "envs.reach", "factorio_rl.replay", "factorio_rl.search.walk"} <= {
        *modules
    }
    assert not [name for name in modules if name.startswith("envs.verifier")]


def test_dataclasses_may_hold_any_leaves_after_a_map() -> None:
    cells = jnp.zeros((2, 3, 3), jnp.uint8)
    boards = Board(cells, cells, jnp.zeros(2, jnp.int32), jnp.zeros(2, jnp.bool_))
    assert jax.tree.map(lambda leaf: leaf.ndim == 3, boards).entity is True
    assert jax.eval_shape(lambda: boards).placed.shape == (2,)
