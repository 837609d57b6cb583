"""The static sizes of a configuration's environment."""

from envs.types import EnvShape
from factorio_rl.config import Config


def env_shape(config: Config) -> EnvShape:
    """Grid size and slots that all tasks of a run share."""
    env = config.env
    return EnvShape(env.height, env.width, env.item_slots, env.recipe_slots, env.max_ports)
