"""Blueprints of the game, in and out (R50): text, entity names, import, ports, export. Jax-free."""
