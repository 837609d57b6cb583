"""`python -m factorio_rl evaluate`: scores an agent on a held-out set.

In: a run directory, an agent file or neither for the shipped agent. Out: a printed summary, and a
report with pictures: of a run in its `eval/` and `layouts/`, of a file in the folder that is given.
"""

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax

from envs.atomic_file import make_writable_folder
from envs.errors import UserError
from envs.heldout import load_heldout
from factorio_rl import runtime
from factorio_rl.agent_file import agent_file_path, read_agent_file, with_any_tree
from factorio_rl.config import Config
from factorio_rl.env_shape import env_shape
from factorio_rl.evaluation import Evaluation, Evaluator, require_fit, with_budget
from factorio_rl.evaluation_files import print_report, write_layouts, write_report
from factorio_rl.model import make_predict
from factorio_rl.network import Network, Params, make_network
from factorio_rl.precision_switch import PrecisionState
from factorio_rl.printing import printing
from factorio_rl.run_directory import RunDirectory, require_writable
from factorio_rl.run_parameters import load_run_parameters


class Loaded(NamedTuple):
    """Parameters to evaluate, and what a report says of them."""

    params: Params
    env_steps: int
    name: str  # in the names of files
    label: str  # in messages
    precision: PrecisionState | None


class Subject(NamedTuple):
    """What is evaluated: its config, how its parameters come in, where reports and pictures go."""

    config: Config
    load: Callable[[], Loaded]
    reports: Path | None
    pictures: Path | None


def evaluate(
    run_dir: Path | None,
    agent_path: Path | None,
    out: Path | None,
    *,
    task_set: str | None,
    num_simulations: int | None,
    newest: bool,
    in_fp8: bool,
    as_json: bool,
) -> int:
    """Evaluates, writes and prints; the exit code.

    Args:
        out: folder for the report of an agent file; None writes none.
        in_fp8: with the trunk in FP8 as the run's actor has it, root included, with the scales of
            the checkpoint.

    Raises:
        UserError: the agent or the task set cannot be used, or the run has no scales.
    """
    path = agent_file_path(run_dir, agent_path, newest=newest)
    subject = _subject(path, run_dir, out, newest=newest, in_fp8=in_fp8)
    config = with_any_tree(subject.config)
    if num_simulations is not None:
        config = with_budget(config, num_simulations)
    heldout = load_heldout(task_set or config.tasks.heldout)
    require_fit(heldout, env_shape(config))
    runtime.quiet_libraries()
    runtime.require_device()
    runtime.enable_compilation_cache(config.run.compilation_cache)
    network = make_network(config.network)
    predict = make_predict(_in_fp8(network) if in_fp8 else network, config.env.growth_rule)
    _require_folders(subject, is_run=path is None)
    tasks = heldout.tasks if task_set else heldout.tasks[: config.eval.num_tasks]
    evaluator = Evaluator(config, predict, heldout.name, tasks, runtime.num_threads())
    loaded = subject.load()
    params = _frozen(network, loaded) if in_fp8 else loaded.params
    began_s = time.monotonic()
    evaluation = evaluator.evaluate(params)
    evaluator.close()
    took_s = time.monotonic() - began_s
    evaluation.report["precision"] = "fp8" if in_fp8 else "bf16"
    name = f"{heldout.name}-{loaded.name}-n{config.eval.num_simulations}{'-fp8' if in_fp8 else ''}"
    pictures = _write(subject, name, loaded, evaluator, evaluation)
    if as_json:
        print(json.dumps({**evaluation.report, "env_steps": loaded.env_steps}))
        return 0
    ending = f"; pictures in {pictures}" if pictures else ""
    _print(evaluation, f"{loaded.label}, {took_s:.0f} s{ending}")
    return 0


def _subject(
    path: Path | None, run_dir: Path | None, out: Path | None, *, newest: bool, in_fp8: bool
) -> Subject:
    """The agent file at `path`, or a run."""
    if path is not None:
        return _of_file(path, out, in_fp8=in_fp8)
    assert run_dir is not None
    return _of_run(RunDirectory(run_dir), out, newest=newest, with_scales=in_fp8)


def _of_run(
    directory: RunDirectory, out: Path | None, *, newest: bool, with_scales: bool
) -> Subject:
    if out is not None:
        raise UserError("the reports of a run go into its eval/; leave --out out")
    config = directory.require_config()
    directory.require_state_version()

    def load() -> Loaded:
        found = load_run_parameters(
            directory, config, newest=newest, with_scales=with_scales, tell=_warn
        )
        name, label = str(found.step), f"checkpoint {found.step}"
        return Loaded(found.params, found.env_steps, name, label, found.precision)

    return Subject(config, load, directory.evaluations, directory.layouts)


def _of_file(path: Path, out: Path | None, *, in_fp8: bool) -> Subject:
    if in_fp8:
        raise UserError(
            "an agent file has no activation scales for FP8; give --run-dir, or leave --precision "
            "out"
        )
    agent = read_agent_file(path)

    def load() -> Loaded:
        params = jax.device_put(agent.params)
        return Loaded(params, agent.facts["env_steps"], path.stem, f"agent {agent.label}", None)

    return Subject(agent.config, load, out, out)


def _require_folders(subject: Subject, *, is_run: bool) -> None:
    """Makes the folders before the work whose results they take. Raises UserError."""
    for folder in (subject.reports, subject.pictures):
        if folder is None:
            continue
        if is_run:
            require_writable(folder)
            continue
        try:
            make_writable_folder(folder)
        except OSError as error:
            raise UserError(
                f"cannot write into {folder}: {error.strerror}; give another folder with --out"
            ) from None


def _write(
    subject: Subject, name: str, loaded: Loaded, evaluator: Evaluator, evaluation: Evaluation
) -> Path | None:
    """Writes report and pictures where the subject has a place for them; where the pictures are."""
    if subject.reports is None or subject.pictures is None:
        return None
    write_report(subject.reports, name, evaluation.report, loaded.env_steps)
    pictures = subject.pictures / name
    write_layouts(pictures, evaluator.specs, evaluation)
    return pictures


def _in_fp8(network: Network) -> Network:
    """The network with its trunk in FP8, which is loaded where it is asked for only."""
    from factorio_rl.fp8_network import fp8_network

    return fp8_network(network)


def _frozen(network: Network, loaded: Loaded) -> Params:
    """The parameters in FP8."""
    from factorio_rl.fp8_network import frozen_variables

    assert loaded.precision is not None
    return jax.jit(partial(frozen_variables, network))(loaded.params, loaded.precision.scales)


def _print(evaluation: Evaluation, about: str) -> None:
    with printing() as console:
        print_report(console, evaluation.report)
        console.print(about, soft_wrap=True)


def _warn(text: str) -> None:
    """Not among the results, which a program may read."""
    print(text, file=sys.stderr)
