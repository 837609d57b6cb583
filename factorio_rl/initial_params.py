"""Parameters that a new run starts from: those of another run, or of an agent file.

In: `--init-from`. Out: parameters, after a look at whether they are of the network that is wanted.
"""

from collections.abc import Callable
from pathlib import Path

import jax

from envs.errors import UserError
from factorio_rl.agent_file import read_agent_file
from factorio_rl.checkpoint import CheckpointStore
from factorio_rl.config import Config
from factorio_rl.config_file import fixed_settings
from factorio_rl.loop_state import LoopState
from factorio_rl.network import Params
from factorio_rl.run_directory import RunDirectory, network_differences


def require_same_network(path: Path, config: Config) -> None:
    """Raises UserError if there are no parameters there that fit the config's network."""
    if not path.exists():
        raise UserError(
            f"{path} is no run directory and no agent file; give --init-from one of them"
        )
    if path.is_dir():
        directory = RunDirectory(path)
        other = directory.require_config()
    else:
        directory, other = None, read_agent_file(path).config
    differences = network_differences(other, config)
    if differences:
        raise UserError(
            f"the parameters of {path} are of another network:\n  "
            + "\n  ".join(differences)
            + "\nset them as there, or start without --init-from"
        )
    if directory is not None:
        directory.require_state_version()


def load_params(path: Path, config: Config, like: LoopState, tell: Callable[[str], None]) -> Params:
    """The parameters of an agent file, or the best ones of a run directory, on the device.

    `tell` gets warnings.

    Raises:
        AgentFileError: the file is none of an agent.
        CheckpointError: the run has no checkpoint that loads.
    """
    if not path.is_dir():
        params = read_agent_file(path).params
        return jax.tree.map(
            lambda new, own: jax.device_put(new, own.sharding), params, like.learner.params
        )
    network = {
        name: value for name, value in fixed_settings(config).items() if name.startswith("network.")
    }
    store = CheckpointStore(RunDirectory(path).checkpoints, network)
    return store.load(store.best_step(tell), {"learner": like.learner})["learner"].params
