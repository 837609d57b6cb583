"""Real processes that report: started, disturbed, and looked at after their end."""

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
LOOP = Path(__file__).parent / "reporting_loop.py"
PATIENCE_S = 60.0
LONGEST_GAP_S = 1.0
"""The promise: reporting never holds training up for longer."""

LONGEST_END_S = 8.0
"""Five seconds for wandb, and the end of the process."""


class Reporting:
    """A running `reporting_loop.py`, and what it printed."""

    def __init__(self, run_dir: Path, folder: Path, **environment: str) -> None:
        self.run_dir, self.folder = run_dir, folder
        self.printed = folder / "printed"
        usual = {name: text for name, text in os.environ.items() if not name.startswith("WANDB")}
        paths = {"PYTHONPATH": str(ROOT), "NETRC": str(folder / "none")}
        with self.printed.open("w") as output:
            self.process = subprocess.Popen(
                [sys.executable, str(LOOP), str(run_dir), str(folder)],
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**usual, **paths, **environment},
            )

    def wait_for(self, condition: Callable[[], object]) -> None:
        until_s = time.monotonic() + PATIENCE_S
        while not condition():
            assert self.process.poll() is None, self.printed.read_text()
            assert time.monotonic() < until_s, self.printed.read_text()
            time.sleep(0.05)

    def wait_for_text(self, text: str) -> None:
        self.wait_for(lambda: text in self.printed.read_text())

    def wait_for_reports(self, more: int) -> None:
        """Until so many more reports are in metrics.jsonl."""
        lines = self.run_dir / "metrics.jsonl"
        wanted = more + _num_lines(lines)
        self.wait_for(lambda: _num_lines(lines) >= wanted)

    def wandb_process(self) -> int:
        """Id of the process that imports wandb, once it has started its service."""
        return self._wandb()[0]

    def wandb_service(self) -> int:
        """Id of wandb's own service process."""
        return self._wandb()[1]

    def _wandb(self) -> tuple[int, int]:
        found: list[tuple[int, int]] = []

        def is_there() -> bool:
            for pid in _children(self.process.pid):
                services = [child for child in _children(pid) if "wandb-core" in _command(child)]
                found.extend((pid, service) for service in services)
            return bool(found)

        self.wait_for(is_there)
        return found[0]

    def end(self) -> dict[str, Any]:
        """Ends it; what it measured. It kept its exit code and was not held up."""
        began_s = time.monotonic()
        (self.folder / "stop").touch()
        assert self.process.wait(PATIENCE_S) == 7, self.printed.read_text()
        assert time.monotonic() - began_s < LONGEST_END_S
        result = json.loads((self.folder / "result.json").read_text())
        print(result)
        assert result["longest_gap_s"] < LONGEST_GAP_S
        assert not result["loaded_wandb"]
        assert "Traceback" not in self.printed.read_text()
        return result

    def offline_markers(self) -> list[str]:
        """The markers in the newest offline folder, as soon as it is finished."""
        folders = sorted((self.run_dir / "wandb").glob("offline-run-*"))
        [path] = folders[-1].glob("*.wandb")
        return sorted({text.decode() for text in re.findall(rb"marker-\d{4}", path.read_bytes())})


@contextmanager
def reporting(run_dir: Path, folder: Path, **environment: str) -> Iterator[Reporting]:
    """A running process that does not outlive the test."""
    started = Reporting(run_dir, folder, **environment)
    try:
        yield started
    finally:
        started.process.kill()
        started.process.wait()


@contextmanager
def server(accepts: bool) -> Iterator[dict[str, str]]:
    """Where wandb is to go: a port that is closed, or one where nobody ever answers."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        if accepts:
            listening.listen(64)
        yield {"WANDB_BASE_URL": f"http://127.0.0.1:{port}", "WANDB_API_KEY": "a" * 40}


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A file system of its own, of that size.

    Skips where mounting is not allowed; fails there if FACTORIO_RL_REQUIRE_TMPFS is 1.
    """
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True)
        problem = done.stderr.strip() if done.returncode else ""
    except OSError as error:
        problem = str(error)
    if problem:
        assert os.environ.get("FACTORIO_RL_REQUIRE_TMPFS") != "1", problem
        pytest.skip(f"no file system can be mounted: {problem}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def markers(count: int) -> list[str]:
    """The markers of so many reports."""
    return [f"marker-{number:04d}" for number in range(1, count + 1)]


def fill(path: Path) -> None:
    """Fills the disk that a file is on."""
    with path.open("wb", buffering=0) as file:
        size = 4096
        while size:
            try:
                file.write(b"x" * size)
            except OSError:
                size //= 2


def _num_lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def wait_for_end(pid: int) -> None:
    """Until a process that somebody else started has ended."""
    until_s = time.monotonic() + PATIENCE_S
    while _state_and_parent(pid):
        assert time.monotonic() < until_s
        time.sleep(0.05)


def _children(pid: int) -> list[int]:
    """Ids of the running processes that a process has started."""
    pids = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    return [child for child in pids if _state_and_parent(child)[1:] == [str(pid)]]


def _state_and_parent(pid: int) -> list[str]:
    """Of a running process; nothing of one that has ended."""
    try:
        found = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return []
    return [] if found[0] == "Z" else found


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""
