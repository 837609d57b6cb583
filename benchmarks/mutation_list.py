"""All protections that have to be held by a test, by topic; see `mutations.py`."""

from benchmarks.mutation import Mutation
from benchmarks.mutation_checkpoints import CHECKPOINTS
from benchmarks.mutation_input import INPUT
from benchmarks.mutation_numbers import NUMBERS
from benchmarks.mutation_reporting import REPORTING
from benchmarks.mutation_resuming import RESUMING

MUTATIONS: tuple[Mutation, ...] = (*RESUMING, *CHECKPOINTS, *NUMBERS, *REPORTING, *INPUT)
