"""Factory grid environment, its tasks and its exact throughput verifier.

Importing this package loads nothing: pick the module that holds what you need
(`envs.dynamics`, `envs.verifier`, `envs.tasks`, ...). Nothing here imports `factorio_rl`.
"""
