"""Gumbel MuZero trainer for Factorio modules. Importing this package loads nothing else."""

__version__ = "0.1.0"
