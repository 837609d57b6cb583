"""Gumbel MuZero search: mctx's decisions at a nearly flat cost per simulation.

`gumbel_muzero_search` takes the model as an `Expand` function and returns a `SearchOutput`.
"""

from factorio_rl.search.choice import KernelTreeError, choose_tree
from factorio_rl.search.policy import Expand, SearchOutput, gumbel_muzero_search
from factorio_rl.search.settings import SearchSettings, SearchSettingsError
from factorio_rl.search.tree import Embedding, Evaluation, SearchTree

__all__ = [
    "Embedding",
    "Evaluation",
    "Expand",
    "KernelTreeError",
    "SearchOutput",
    "SearchSettings",
    "SearchSettingsError",
    "SearchTree",
    "choose_tree",
    "gumbel_muzero_search",
]
