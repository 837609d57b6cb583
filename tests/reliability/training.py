"""Real training processes for drills: started, watched, killed, and compared with each other.

Runs are tiny: six chunks in about ten seconds on two cores.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, Self

from saved_runs import CONFIG, TINY, metrics_lines, saved

ROOT = Path(__file__).parents[2]
FAULTS = Path(__file__).parent / "faults.py"

PATIENCE_S = 240.0
"""A first start compiles the verifier, which takes a minute on a slow machine."""


class Finished(NamedTuple):
    """How a process ended, and all it printed."""

    code: int
    output: str


class Training:
    """A running training process; a context manager that leaves none behind.

    `fault` names a function of `faults.py` that is called in the process before it trains.
    """

    def __init__(
        self,
        run_dir: Path,
        *overrides: str,
        fault: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.run_dir = run_dir
        program = [ROOT / "train.py"] if fault is None else [FAULTS, fault]
        options = ["--config", CONFIG, "--run-dir", run_dir, *TINY, *overrides]
        self.log = run_dir.with_name(f"{run_dir.name}.{time.monotonic_ns()}.log")
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, *map(str, program), *map(str, options)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})},
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    @property
    def output(self) -> str:
        """All that the process has printed."""
        return self.log.read_text(errors="replace")

    def wait_until(self, happened: Callable[[], bool]) -> None:
        """Waits for something; fails if the process ends before it, or takes too long."""
        deadline_s = time.monotonic() + PATIENCE_S
        while not happened():
            assert self.process.poll() is None, f"ended too soon:\n{self.output}"
            assert time.monotonic() < deadline_s, f"nothing happened:\n{self.output}"
            time.sleep(0.01)

    def wait_for_chunk(self, chunk: int) -> None:
        """Waits until a training line of this chunk or a later one is in the metrics."""
        self.wait_until(
            lambda: any(
                line["event"] == "train" and line["chunk"] >= chunk
                for line in metrics_lines(self.run_dir)
            )
        )

    def wait_for_output(self, text: str) -> None:
        """Waits until the process has printed a text."""
        self.wait_until(lambda: text in self.output)

    def end(self, number: int | None = None) -> Finished:
        """Waits for the end, after a signal if one is given."""
        if number is not None:
            self.process.send_signal(number)
        self.process.wait(PATIENCE_S)
        return Finished(self.process.returncode, self.output)


class Stepwise(Training):
    """A run that makes each chunk when it is allowed to."""

    def __init__(self, run_dir: Path, *overrides: str) -> None:
        self._allowed = Path(tempfile.mkdtemp(dir=run_dir.parent))
        environment = {"FACTORIO_RL_ALLOWED": str(self._allowed)}
        super().__init__(run_dir, *overrides, fault="stepwise", environment=environment)

    def wait_before_chunk(self, chunk: int) -> None:
        """Waits until all before this chunk is done, its checkpoint too."""
        self.wait_for_output(f"chunk {chunk} waits")

    def allow(self, *chunks: int) -> None:
        """Lets the run make these chunks."""
        for chunk in chunks:
            (self._allowed / str(chunk)).touch()


def trained(run_dir: Path, *overrides: str, fault: str | None = None) -> Finished:
    """Trains until the process ends by itself."""
    with Training(run_dir, *overrides, fault=fault) as training:
        return training.end()


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder but the lock, which says who had it last."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != "lock"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def assert_same_run(one: Path, other: Path) -> None:
    """Every leaf of the last state, every line of the metrics and every report are the same."""
    first, second = saved(one), saved(other)
    assert first.keys() == second.keys()
    different = [
        path
        for path in first
        if (first[path].dtype, first[path].shape, first[path].tobytes())
        != (second[path].dtype, second[path].shape, second[path].tobytes())
    ]
    assert not different
    assert metrics_lines(one) == metrics_lines(other)
    reports = {path.name: path.read_text() for path in (one / "eval").iterdir()}
    assert {path.name: path.read_text() for path in (other / "eval").iterdir()} == reports
