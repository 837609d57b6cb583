"""What a process sets up before jax is loaded, in processes of their own."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from factorio_rl.runtime import DETERMINISTIC_FLAGS

ROOT = Path(__file__).parents[2]

# A trainer that only says what it finds; the true one loads jax when it is imported.
TRAIN = """
import os, sys, types

def train(*arguments):
    assert "jax" not in sys.modules
    print("flags:", os.environ.get("XLA_FLAGS"))
    return 0

sys.modules["factorio_rl.trainer"] = types.SimpleNamespace(train=train)
from factorio_rl.cli import train_main

sys.exit(train_main(sys.argv[1:]))
"""


def flags_of(tmp_path: Path, *options: str) -> str:
    """XLA's flags when the trainer is imported."""
    config = ROOT / "configs" / "minute.yaml"
    arguments = ["--config", str(config), "--run-dir", str(tmp_path / "run"), *options]
    done = subprocess.run(
        [sys.executable, "-c", TRAIN, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), "XLA_FLAGS": "--xla_of_the_user=1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    [line] = [line for line in done.stdout.splitlines() if line.startswith("flags:")]
    return line.removeprefix("flags: ")


def test_deterministic_run_adds_its_flags_before_jax_is_loaded(tmp_path: Path) -> None:
    flags = flags_of(tmp_path, "--run.deterministic=true")
    assert flags.split() == ["--xla_of_the_user=1", *DETERMINISTIC_FLAGS]


@pytest.mark.parametrize("options", [[], ["--run.deterministic=false"]])
def test_other_runs_leave_the_flags_alone(tmp_path: Path, options: list[str]) -> None:
    assert flags_of(tmp_path, *options) == "--xla_of_the_user=1"


# As on a GPU, whose programs are not needed for this.
KEEP = """
import sys
from pathlib import Path
import jax

jax.default_backend = lambda: "gpu"
from factorio_rl.config_sections import RunConfig
from factorio_rl.runtime import keep_programs

run_dir = Path(sys.argv[1])
keep_programs(RunConfig(deterministic=True, compilation_cache=sys.argv[2]), run_dir / "compiled")
jax.jit(lambda x: x + 1)(1.0)
print(*sorted(path.name for path in (run_dir / "compiled").iterdir()))
"""


def test_deterministic_run_keeps_every_program_and_finds_it_after_a_move(tmp_path: Path) -> None:
    found = []
    for name in ("one", "other"):
        arguments = [str(tmp_path / name), str(tmp_path / "shared")]
        done = subprocess.run(
            [sys.executable, "-c", KEEP, *arguments],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        found.append([name for name in done.stdout.split() if name.endswith("-cache")])
    assert len(found[0]) > 0
    assert found[0] == found[1]
    assert not (tmp_path / "shared").exists()


def test_the_compiler_knows_the_flags_of_a_deterministic_run() -> None:
    """It ends a process that gives it one it does not know."""
    done = subprocess.run(
        [sys.executable, "-c", "import jax; print(jax.numpy.ones(2).sum())"],
        env={**os.environ, "XLA_FLAGS": " ".join(DETERMINISTIC_FLAGS)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "2.0\n"


def test_place_where_no_program_can_be_kept_costs_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    code = f"""
import jax
from factorio_rl.runtime import enable_compilation_cache
enable_compilation_cache({str(tmp_path / "file" / "cache")!r}, min_compile_s=0.0)
jax.jit(lambda x: x + 1)(1.0)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    [line] = done.stderr.splitlines()
    assert line.startswith("warning: compiled programs are not kept")
    assert "set run.compilation_cache" in line


def test_interrupt_while_modules_are_loaded_ends_train_without_a_traceback() -> None:
    code = """
import os, runpy, signal, sys

class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == "factorio_rl.cli":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupts())
runpy.run_path("train.py", run_name="__main__")
"""
    done = subprocess.run(
        [sys.executable, "-c", code, "--help"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == -signal.SIGINT
    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("JAX_ENABLE_X64", "1", "JAX_ENABLE_X64 is set"),
        ("JAX_PLATFORMS", "nothing", "jax finds no device to compute on (JAX_PLATFORMS is nothing"),
    ],
)
def test_environment_that_keeps_jax_from_computing_is_an_error_in_words(
    tmp_path: Path, variable: str, value: str, words: str
) -> None:
    config = str(ROOT / "configs" / "minute.yaml")
    done = subprocess.run(
        [sys.executable, "train.py", "--config", config, "--run-dir", str(tmp_path / "run")],
        env={**os.environ, variable: value},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2, done.stderr
    [line] = done.stderr.splitlines()
    assert line.startswith(f"error: {words}")
    assert not (tmp_path / "run").exists()


def test_settings_that_change_numbers_are_part_of_what_a_result_depends_on() -> None:
    code = "from factorio_rl.runtime import made_with; print(made_with())"
    settings = {"XLA_FLAGS": "--xla_cpu_enable_fast_math=true", "JAX_THREEFRY_PARTITIONABLE": "0"}
    usual, changed = (
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": str(ROOT), **more},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for more in ({}, settings)
    )
    assert "'jax_threefry_partitionable': 'True'" in usual
    assert "'jax_threefry_partitionable': 'False'" in changed
    assert "fast_math" in changed
