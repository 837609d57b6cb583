"""Searches that need no training: what a user could run on a task instead of the agent.

In: a task, a budget, random numbers. Out: the best layout found, with what it took. All of them
judge layouts through `judge.Judge` only, so a method cannot spend more than its budget. Jax-free.
"""
