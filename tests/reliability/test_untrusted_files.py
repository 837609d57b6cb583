"""Files from others do no harm: nothing in them is run, sizes are bounded, paths stay inside.

Files of each kind are read by the commands in one process with little memory. What single readers
refuse beside is in their own tests: `tests/envs/blueprint/test_text.py`, `test_task_file.py`,
`test_task_fields.py`, `test_layout_input.py`, `test_layout_json.py`, `test_pool_file.py`.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hostile_files import hostile_files
from unsafe_code import Unsafe, unsafe_code

from envs.errors import UserError
from envs.heldout import TaskSetError, load_heldout
from factorio_rl import cli
from factorio_rl.config import Config
from factorio_rl.run_directory import RunDirectory, task_identity

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

MAX_MESSAGE = 4_096
"""Longest message, characters."""

CODE = [
    path
    for place in ("envs", "factorio_rl", "benchmarks")
    for path in sorted((ROOT / place).rglob("*.py"))
] + [ROOT / "train.py"]


def test_no_code_runs_or_unpacks_what_a_file_says() -> None:
    assert len(CODE) > 100
    found = {
        str(path.relative_to(ROOT)): unsafe
        for path in CODE
        if (unsafe := unsafe_code(path.read_text(encoding="utf-8")))
    }
    assert found == {}


UNSAFE = [
    ("import pickle", "import of pickle"),
    ("import os, cloudpickle as safe", "import of cloudpickle"),
    ("def read():\n    from joblib import load", "import of joblib"),
    ("from marshal import loads", "import of marshal"),
    ("import shelve", "import of shelve"),
    ("import dill.source", "import of dill.source"),
    ("archive.extractall(folder)", "extractall"),
    ("shutil.unpack_archive(path)", "shutil.unpack_archive"),
    ("np.load(path)", "load without allow_pickle=False"),
    ("np.load(path, allow_pickle=True)", "allow_pickle=True"),
    ("np.load(path, allow_pickle=is_trusted)", "allow_pickle=True"),
    ("np.lib.format.read_array(file, allow_pickle=True)", "allow_pickle=True"),
    ("value = [eval(text)]", "eval"),
    ("exec(text)", "exec"),
    ("compile(text, name, 'exec')", "compile"),
    ("__import__(name)", "__import__"),
    ("importlib.import_module(name)", "import of a computed name"),
    ("yaml.load(text)", "yaml.load without a safe loader"),
    ("yaml.load(text, Loader=yaml.UnsafeLoader)", "yaml.load without a safe loader"),
    ("yaml.load(text, yaml.FullLoader)", "yaml.load without a safe loader"),
    ("yaml.unsafe_load(text)", "yaml.unsafe_load"),
    ("subprocess.run(text, shell=True)", "shell=True"),
    ("os.system(text)", "os.system"),
    ("os.popen(text)", "os.popen"),
    ("tempfile.mktemp()", "tempfile.mktemp"),
]


@pytest.mark.parametrize(("text", "what"), UNSAFE)
def test_unsafe_code_is_found(text: str, what: str) -> None:
    assert Unsafe(text.count("\n") + 1, what) in unsafe_code(text)


@pytest.mark.parametrize(
    "text",
    [
        "np.load(path, allow_pickle=False)",
        "json.load(file)",
        "yaml.load(text, _Loader)",
        "yaml.safe_load(text)",
        "re.compile(text)",
        "lowered.compile()",
        "subprocess.run([text], shell=False)",
        "importlib.import_module('jax')",
        "from pickles import cucumber",
    ],
)
def test_safe_code_is_not(text: str) -> None:
    assert unsafe_code(text) == []


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """What reading each hostile file comes to, in order."""
    folder = tmp_path_factory.mktemp("hostile")
    command = [sys.executable, HERE / "read_hostile_files.py", folder]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert not (folder / "here").exists()
    return json.loads(done.stdout)


HOSTILE = list(hostile_files())


@pytest.mark.parametrize(
    "number",
    range(len(HOSTILE)),
    ids=lambda at: " ".join((*HOSTILE[at].arguments, HOSTILE[at].file)),
)
def test_a_hostile_file_gives_one_short_error(outcomes: list[Any], number: int) -> None:
    outcome = outcomes[number]
    assert isinstance(outcome, list), outcome
    code, printed, error = outcome
    assert (code, printed) == (2, "")
    assert error.startswith("error: ")
    assert error.count("error: ") == 1
    assert HOSTILE[number].said in error
    assert len(error) < MAX_MESSAGE
    assert error.replace("\n", "").isprintable()


@pytest.mark.parametrize("arguments", [("tasks", "validate"), ("tasks", "show")])
@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_what_is_no_regular_file_is_refused_without_waiting(
    arguments: tuple[str, ...], kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = {"pipe": tmp_path / "pipe", "device": Path("/dev/zero"), "folder": tmp_path}[kind]
    if kind == "pipe":
        os.mkfifo(path)
    assert cli.main([*arguments, str(path)]) == 2
    said = "Is a directory" if kind == "folder" else "no regular file"
    assert f"cannot be read ({said})" in capsys.readouterr().err


@pytest.fixture
def run_path(tmp_path: Path) -> Path:
    """A run directory as training makes it."""
    directory = RunDirectory(tmp_path / "run")
    directory.open(Config(), task_identity("1", "1", "heldout", "pool"))
    return directory.path


HOSTILE_IDENTITIES = {
    "deep": lambda path: path.write_text("[" * 60_000),
    "large": lambda path: path.write_text('{"a": "' + "x" * 10_000_000 + '"}'),
    "pipe": os.mkfifo,
    "list": lambda path: path.write_text("[[1, 2, 3]]"),
    "version": lambda path: path.write_text('{"state_version": "' + "x\\u001b" * 5_000 + '"}'),
}


@pytest.mark.parametrize("kind", HOSTILE_IDENTITIES)
def test_the_record_of_a_foreign_run_is_read_with_care(run_path: Path, kind: str) -> None:
    make: Callable[[Path], Any] = HOSTILE_IDENTITIES[kind]
    (run_path / "identity.json").unlink()
    make(run_path / "identity.json")
    with pytest.raises(UserError) as caught:
        RunDirectory(run_path).require_state_version()
    assert len(str(caught.value)) < MAX_MESSAGE
    assert str(caught.value).isprintable()


def test_the_config_of_a_foreign_run_is_no_pipe(run_path: Path) -> None:
    (run_path / "config.yaml").unlink()
    os.mkfifo(run_path / "config.yaml")
    with pytest.raises(UserError, match="no regular file"):
        RunDirectory(run_path).require_config()


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("eval", "../elsewhere"),
        ("layouts", "../elsewhere"),
        ("checkpoints", "../elsewhere"),
        ("metrics.jsonl", "../elsewhere/file"),
        ("lock", "../elsewhere/file"),
        ("layouts/quickstart-1-n32", "../../elsewhere"),
        ("eval/quickstart-1-n32.json", "../../elsewhere/file"),
        ("metrics.jsonl", "no-such-file/../../../elsewhere/file"),
        ("metrics.jsonl", "metrics.jsonl"),
        ("wandb", "../elsewhere"),
        ("wandb/latest-run", "../../elsewhere"),
    ],
)
def test_a_link_out_of_a_run_directory_is_refused(
    run_path: Path, name: str, target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere = run_path.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "file").write_text("mine")
    link = run_path / name
    link.parent.mkdir(exist_ok=True)
    if link.exists():
        link.rmdir()
    link.symlink_to(target)
    with pytest.raises(UserError, match="is a link out of the run directory"):
        RunDirectory(run_path).require_config()
    assert cli.main(["evaluate", "--run-dir", str(run_path)]) == 2
    assert "is a link out of the run directory" in capsys.readouterr().err
    assert [path.read_text() for path in elsewhere.iterdir()] == ["mine"]


def test_links_to_and_within_a_run_directory_are_followed(run_path: Path, tmp_path: Path) -> None:
    (run_path / "newest").symlink_to("eval")
    (tmp_path / "link").symlink_to(run_path)
    assert RunDirectory(tmp_path / "link").require_config() == Config()


def test_links_of_wandb_to_its_logs_do_not_keep_a_run_from_going_on(run_path: Path) -> None:
    logs = run_path / "wandb" / "offline-run-20261130_120000-abc" / "logs"
    logs.mkdir(parents=True)
    (logs / "debug-core.log").symlink_to("/nowhere/wandb/logs/core-debug.log")
    (run_path / "wandb" / "latest-run").symlink_to(logs.parent.name)
    assert RunDirectory(run_path).require_config() == Config()


NAMES = ["../../x", "/etc/passwd", "x\0y", "x" * 5_000, "", ".", "quickstart/../quickstart"]


@pytest.mark.parametrize("name", NAMES)
def test_the_name_of_a_task_set_reaches_no_path(
    name: str, run_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(TaskSetError, match="unknown held-out set"):
        load_heldout(name)
    config = Config.model_construct(None, **dict(Config()))
    tasks = config.tasks.model_copy(update={"heldout": name})
    with pytest.raises(TaskSetError, match="unknown held-out set"):
        load_heldout(config.model_copy(update={"tasks": tasks}).tasks.heldout)
    before = sorted(run_path.rglob("*"))
    if name:
        assert cli.main(["evaluate", "--run-dir", str(run_path), "--task-set", name]) == 2
        assert "error: unknown held-out set" in capsys.readouterr().err
    assert sorted(run_path.rglob("*")) == before


@pytest.mark.parametrize("name", ["../../x", "/etc/passwd", "x" * 90, "a/b"])
def test_names_in_a_task_file_reach_no_path(name: str, tmp_path: Path) -> None:
    ports = [
        {"x": 0, "y": 4, "direction": "E", "role": "source", "item": "iron-plate"},
        {"x": 8, "y": 4, "direction": "E", "role": "sink"},
    ]
    task = {"name": name, "family": name, "width": 9, "height": 9, "ports": ports}
    task |= {"recipes": ["pipe"], "target_item": "pipe", "target_rate": 1}
    folder = tmp_path / "a" / "b" / "c"
    folder.mkdir(parents=True)
    (folder / "task.json").write_text(json.dumps(task))
    picture = folder / "out.png"
    assert cli.main(["tasks", "show", str(folder / "task.json"), "--png", str(picture)]) == 0
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert sorted(files) == [picture, folder / "task.json"]
