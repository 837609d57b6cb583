"""What a search asks of a tree. Two trees offer it: `lean_tree.py` and `kernel_tree.py`.

A search is: `start`, then for each simulation `select` an edge, evaluate it, `add` the evaluation;
then `finish`. The state between two calls is the tree's own business.
"""

from typing import Protocol, TypeVar, runtime_checkable

from jaxtyping import Array, Int32

from factorio_rl.search.tree import Edge, Evaluation, SearchTree

State = TypeVar("State")


@runtime_checkable
class TreeMethods(Protocol[State]):
    """Methods of a tree for one search of B roots; all of them are pure and traced."""

    def start(self) -> State:
        """A tree without nodes, whose next edge is the root's."""
        ...

    def select(self, state: State, iteration: Int32[Array, ""]) -> tuple[State, Edge]:
        """The edges to evaluate next. In iteration 0 that is `root_edge`."""
        ...

    def add(self, state: State, evaluation: Evaluation, iteration: Int32[Array, ""]) -> State:
        """Adds the nodes at the selected edges, and takes their values up to the roots."""
        ...

    def finish(self, state: State) -> SearchTree:
        """The statistics of all nodes."""
        ...
