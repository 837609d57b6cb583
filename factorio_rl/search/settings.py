"""Static settings of a search, checked when they are made."""

from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

import mctx
import numpy as np

from envs.errors import UserError
from factorio_rl.search.select import QTransform

TreeName = Literal["lean", "kernel"]


class SearchSettingsError(UserError):
    """A search setting is out of its range."""


@dataclass(frozen=True)
class SearchSettings:
    """Budget, and the scale of the Q-values; the names are mctx's.

    `max_depth` limits the edges from the root to a leaf (None: no limit). The next five go to
    `mctx.qtransform_completed_by_mix_value`; `epsilon` is the least spread that rescaling stretches
    to 1. `tree` names the implementation (`lean_tree.py`, `kernel_tree.py`). Two defaults are not
    mctx's (0.1 and True): rescaling blows mere value noise up to a full-scale preference, and with
    a thousand legal actions the small scale leaves most of the policy target on the prior, even
    once a winning move is known.

    Raises `SearchSettingsError`.
    """

    num_simulations: int
    max_num_considered_actions: int = 16
    max_depth: int | None = None
    value_scale: float = 1.0
    maxvisit_init: float = 50.0
    rescale_values: bool = False
    use_mixed_value: bool = True
    epsilon: float = 1e-8
    tree: TreeName = "lean"

    def __post_init__(self) -> None:
        for name in ("num_simulations", "max_num_considered_actions", "max_depth"):
            count = getattr(self, name)
            if count is not None and (not isinstance(count, int) or count < 1):
                raise SearchSettingsError(f"{name} is {count}; set it to a whole number from 1 on.")
        for name in ("value_scale", "maxvisit_init", "epsilon"):
            number = getattr(self, name)
            if not np.isfinite(number):
                raise SearchSettingsError(f"{name} is {number}; set it to a finite number.")
        if self.tree not in get_args(TreeName):
            names = " or ".join(get_args(TreeName))
            raise SearchSettingsError(f"tree is {self.tree}; set it to {names}.")
        if not self.value_scale > 0:
            raise SearchSettingsError(f"value_scale is {self.value_scale}; set it above 0.")
        least = float(np.finfo(np.float32).tiny)
        if not self.epsilon >= least:
            raise SearchSettingsError(f"epsilon is {self.epsilon}; set it to {least:.2g} or more.")
        if not self.maxvisit_init >= 0:
            raise SearchSettingsError(
                f"maxvisit_init is {self.maxvisit_init}; set it to 0 or more."
            )

    @property
    def depth_limit(self) -> int:
        """The most edges that a walk can have: each simulation deepens the tree by one at most."""
        return min(self.max_depth or self.num_simulations, self.num_simulations)

    @property
    def qtransform(self) -> QTransform:
        return partial(
            mctx.qtransform_completed_by_mix_value,
            value_scale=self.value_scale,
            maxvisit_init=self.maxvisit_init,
            rescale_values=self.rescale_values,
            use_mixed_value=self.use_mixed_value,
            epsilon=self.epsilon,
        )
