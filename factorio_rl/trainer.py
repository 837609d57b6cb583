"""Starts a training run: checks its directory, makes the tasks, opens the reports, and runs it.

In: a config and a run directory. Out: an exit code, and all that the run leaves in the directory.
"""

from pathlib import Path

from envs.generate import GENERATOR_VERSION
from envs.heldout import RULES_VERSION, HeldoutSet, load_heldout
from factorio_rl import runtime
from factorio_rl.config import Config
from factorio_rl.device_errors import MAKING_TASKS, STARTING, TRAINING, explained
from factorio_rl.env_shape import env_shape
from factorio_rl.evaluation import require_fit
from factorio_rl.initial_params import require_same_network
from factorio_rl.memory_need import available_bytes, require_memory
from factorio_rl.pool import Pool, make_pool
from factorio_rl.preemption import StopRequest
from factorio_rl.reporter import open_reporter
from factorio_rl.run_directory import RunDirectory, task_identity
from factorio_rl.selfplay import actor_settings
from factorio_rl.training_run import TrainingRun


def train(config: Config, path: Path, init_from: Path | None, stop: StopRequest) -> int:
    """Trains in a run directory until the budget is used or a signal asks to stop.

    Returns:
        the exit code: 0 done, 129, 130 or 143 stopped by a signal and saved.

    Raises:
        UserError: config, task set, run directory or the tree that the config wants cannot be
            used (nothing was overwritten), or the run could not go on.
        CheckpointError: the run has checkpoints and none loads.
        NonFiniteError: losses, gradients or searches are not finite again and again.
        StoppedError: a signal came before there was anything to save.
    """
    directory = RunDirectory(path)
    directory.check(config)
    heldout = load_heldout(config.tasks.heldout)
    require_fit(heldout, env_shape(config))
    if init_from is not None and not directory.has_checkpoints():
        require_same_network(init_from, config)
    runtime.quiet_libraries()
    runtime.require_device()
    runtime.keep_programs(config.run, directory.compiled)
    require_memory(config, available_bytes())
    actor_settings(config)
    origin = f"reading {config.tasks.pool}, at most" if config.tasks.pool else "making"
    print(f"{origin} {config.tasks.num_tasks} solved training tasks", flush=True)
    with explained(MAKING_TASKS, config):
        pool = make_pool(config, stop.raise_if_asked)
    identity = task_identity(RULES_VERSION, str(GENERATOR_VERSION), heldout.sha256, pool.sha256)
    stop.raise_if_asked()
    with directory.lock():
        changes = directory.open(config, identity)
        return _train_in(config, directory, pool, heldout, changes, init_from, stop)


def _train_in(
    config: Config,
    directory: RunDirectory,
    pool: Pool,
    heldout: HeldoutSet,
    changes: list[str],
    init_from: Path | None,
    stop: StopRequest,
) -> int:
    with open_reporter(config, directory.path) as reporter:
        for change in changes:
            reporter.message(f"warning: setting changed: {change}")
        with explained(STARTING, config):
            run = TrainingRun(config, directory, pool, heldout, reporter, stop)
        try:
            with explained(STARTING, config):
                run.begin(init_from)
            with explained(TRAINING, config):
                reporter.exit_code = run.loop()
        finally:
            run.close()
    return reporter.exit_code
