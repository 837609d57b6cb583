"""`python -m factorio_rl evaluate`: scores a checkpoint of a run directory on a held-out set.

In: a run directory. Out: a report in its `eval/`, pictures in `layouts/`, and a printed summary.
"""

import json
import sys
import time
from functools import partial
from pathlib import Path

import jax

from envs.errors import UserError
from envs.heldout import load_heldout
from factorio_rl import runtime
from factorio_rl.checkpoint import CheckpointStore
from factorio_rl.config import Config
from factorio_rl.config_file import fixed_settings
from factorio_rl.device_errors import STARTING, explained
from factorio_rl.env_shape import env_shape
from factorio_rl.evaluation import Evaluator, require_fit
from factorio_rl.evaluation_files import print_report, write_layouts, write_report
from factorio_rl.learner import start_learner
from factorio_rl.loop_state import start_counters
from factorio_rl.model import make_predict
from factorio_rl.network import make_network, trunk_convolution_names
from factorio_rl.precision_switch import PrecisionState, start_precision
from factorio_rl.printing import printing
from factorio_rl.run_directory import RunDirectory, require_writable


def evaluate(
    path: Path,
    *,
    task_set: str | None,
    num_simulations: int | None,
    newest: bool,
    in_fp8: bool,
    as_json: bool,
) -> int:
    """Evaluates, writes and prints; the exit code.

    Args:
        in_fp8: with the trunk in FP8 as the run's actor has it, root included, with the scales of
            the checkpoint.

    Raises:
        UserError: the run directory or the task set cannot be used, or the run has no scales.
    """
    directory = RunDirectory(path)
    config = _with_any_tree(_with_budget(directory.require_config(), num_simulations))
    directory.require_state_version()
    heldout = load_heldout(task_set or config.tasks.heldout)
    require_fit(heldout, env_shape(config))
    runtime.quiet_libraries()
    runtime.require_device()
    runtime.enable_compilation_cache(config.run.compilation_cache)
    network = make_network(config.network)
    played = network
    if in_fp8:
        from factorio_rl.fp8_network import fp8_network

        played = fp8_network(network)
    predict = make_predict(played, config.env.growth_rule)
    for folder in (directory.evaluations, directory.layouts):
        require_writable(folder)
    store = CheckpointStore(directory.checkpoints, fixed_settings(config))
    tasks = heldout.tasks if task_set else heldout.tasks[: config.eval.num_tasks]
    evaluator = Evaluator(config, predict, heldout.name, tasks, runtime.num_threads())
    with explained(STARTING, config):
        learner = jax.block_until_ready(start_learner(config, network, jax.random.key(0)))
    like = {"learner": learner, "counters": start_counters()}
    if in_fp8:
        like["precision"] = start_precision(len(trunk_convolution_names(config.network.blocks)))
    choose = store.newest_step if newest else partial(store.best_step, _warn)
    step, parts = store.load_chosen(choose, like)
    params, counters = parts["learner"].params, parts["counters"]
    if in_fp8:
        from factorio_rl.fp8_network import frozen_variables

        _require_scales(parts["precision"], path, step)
        params = jax.jit(partial(frozen_variables, network))(params, parts["precision"].scales)
    began_s = time.monotonic()
    evaluation = evaluator.evaluate(params)
    evaluator.close()
    evaluation.report["precision"] = "fp8" if in_fp8 else "bf16"
    name = f"{heldout.name}-{step}-n{config.eval.num_simulations}{'-fp8' if in_fp8 else ''}"
    write_report(directory.evaluations, name, evaluation.report, int(counters.env_steps))
    pictures = directory.layouts / name
    write_layouts(pictures, evaluator.specs, evaluation)
    if as_json:
        print(json.dumps({**evaluation.report, "env_steps": int(counters.env_steps)}))
        return 0
    took_s = time.monotonic() - began_s
    with printing() as console:
        print_report(console, evaluation.report)
        console.print(f"checkpoint {step}, {took_s:.0f} s; pictures in {pictures}", soft_wrap=True)
    return 0


def _warn(text: str) -> None:
    """Not among the results, which a program may read."""
    print(text, file=sys.stderr)


def _require_scales(state: PrecisionState, path: Path, step: int) -> None:
    """Raises UserError if training had measured no activations yet, so that nothing is scaled."""
    if not state.scales.all():
        raise UserError(
            f"checkpoint {step} of {path} has no activation scales, since its actor was never to "
            "be in FP8 by then; try --checkpoint newest, or leave --precision out"
        )


def _with_any_tree(config: Config) -> Config:
    """A run that was trained with the kernel tree can be evaluated where there is no GPU."""
    return config.model_copy(update={"search": config.search.model_copy(update={"tree": "auto"})})


def _with_budget(config: Config, num_simulations: int | None) -> Config:
    if num_simulations is None:
        return config
    if num_simulations < 1:
        raise UserError(f"--num-simulations is {num_simulations}; give a number of at least 1")
    considered = min(config.eval.max_num_considered_actions, num_simulations)
    budget = config.eval.model_copy(
        update={"num_simulations": num_simulations, "max_num_considered_actions": considered}
    )
    return config.model_copy(update={"eval": budget})
