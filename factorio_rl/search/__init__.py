"""Gumbel MuZero search over a lean tree: mctx's decisions bit for bit, at a fraction of the cost.

`gumbel_muzero_search` takes the model as an `Expand` function and returns a `SearchOutput`.
"""

from factorio_rl.search.policy import Expand, SearchOutput, gumbel_muzero_search
from factorio_rl.search.settings import SearchSettings, SearchSettingsError
from factorio_rl.search.tree import Embedding, Evaluation, SearchTree

__all__ = [
    "Embedding",
    "Evaluation",
    "Expand",
    "SearchOutput",
    "SearchSettings",
    "SearchSettingsError",
    "SearchTree",
    "gumbel_muzero_search",
]
