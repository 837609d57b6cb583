"""Agent files: what is written is read back, and nothing else is."""

import hashlib
import json
import math
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save

from factorio_rl import agent_file, cli
from factorio_rl.agent_file import (
    DESCRIPTION,
    Agent,
    AgentFileError,
    read_agent_file,
    write_agent_file,
)
from factorio_rl.checkpoint_manifest import named_leaves
from factorio_rl.config import Config
from factorio_rl.config_file import dump_config
from factorio_rl.env_shape import env_shape
from factorio_rl.network import init_params, make_network

FACTS = {"checkpoint": 3, "env_steps": 70, "scores": [{"task_set": "tiny", "score": 0.5}]}


@pytest.fixture(scope="module")
def agent(config: Config) -> Agent:
    drawn = init_params(make_network(config.network), env_shape(config), jax.random.key(1))
    # So that no kernel is all zeros.
    params = jax.tree.map(lambda leaf: np.asarray(leaf) + np.float32(1 / 3), drawn)
    return Agent(config, params, "tiny", FACTS)


@pytest.fixture
def path(agent: Agent, tmp_path: Path) -> Path:
    path = tmp_path / "tiny.safetensors"
    write_agent_file(path, agent)
    return path


def entries_of(path: Path) -> dict[str, Any]:
    with safe_open(path, "np") as file:
        return json.loads(file.metadata()[DESCRIPTION])


def rewrite(path: Path, params: dict | None = None, **changed: Any) -> None:
    """Changes a file as its writer could have, so that its digests fit again; None leaves out."""
    tensors = agent_file._rounded(read_agent_file(path).params if params is None else params)
    entries = {**entries_of(path), "sha256": agent_file._digest(tensors)}
    entries = {key: value for key, value in {**entries, **changed}.items() if value is not None}
    del entries["description_sha256"]
    own = hashlib.sha256(json.dumps(entries, sort_keys=True).encode()).hexdigest()
    text = json.dumps({**entries, "description_sha256": own})
    path.write_bytes(save(tensors, {DESCRIPTION: text}))


def test_parameters_are_read_back_rounded_to_nearest(agent: Agent, path: Path) -> None:
    found = read_agent_file(path)
    for name, leaf in named_leaves(agent.params).items():
        read = named_leaves(found.params)[name]
        assert read.dtype == np.float32
        # bfloat16 has 8 bits of significand, so half a unit in the last place is 2**-9 or less.
        np.testing.assert_allclose(read, leaf, rtol=2**-8, atol=0)
        assert (read == np.asarray(jnp.asarray(leaf).astype(jnp.bfloat16), np.float32)).all()
    assert jax.tree.structure(found.params) == jax.tree.structure(agent.params)


def test_config_and_facts_are_read_back(agent: Agent, path: Path) -> None:
    found = read_agent_file(path)
    assert found.config.network == agent.config.network
    assert found.config.env == agent.config.env
    assert found.config.eval == agent.config.eval
    assert found.facts == FACTS
    assert entries_of(path)["sha256"][:12] in found.label


def test_a_file_says_nothing_of_the_machine_and_chooses_no_folder(
    agent: Agent, tmp_path: Path
) -> None:
    values = agent.config.model_dump(mode="json")
    values["run"]["compilation_cache"] = "/home/somebody/cache"
    values["tasks"]["pool"] = "/home/somebody/pool"
    values["logging"]["wandb_entity"] = "somebody"
    own = Config.model_validate(values)
    path = tmp_path / "agent"
    write_agent_file(path, replace(agent, config=own))
    assert b"somebody" not in path.read_bytes()
    rewrite(path, config=own.model_dump(mode="json"))
    assert "somebody" not in dump_config(read_agent_file(path).config)


def test_reading_and_writing_again_gives_the_same_bytes(path: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    write_agent_file(again, read_agent_file(path))
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("position", [-1, -5_000, 300, 20])
def test_a_flipped_bit_is_noticed(path: Path, position: int) -> None:
    data = bytearray(path.read_bytes())
    data[position] ^= 1
    path.write_bytes(data)
    with pytest.raises(AgentFileError):
        read_agent_file(path)


@pytest.mark.parametrize("length", [0, 4, 8, 100, 3_000, -1])
def test_a_file_that_was_cut_off_is_refused(path: Path, length: int) -> None:
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(AgentFileError, match=r"was cut off|is no agent file"):
        read_agent_file(path)


def test_parameters_of_another_network_are_refused(path: Path, config: Config) -> None:
    values = config.model_dump(mode="json")
    values["network"]["channels"] = 16
    rewrite(path, config=values)
    with pytest.raises(AgentFileError, match=r"not those of its network: \d+ tensors differ"):
        read_agent_file(path)


def test_a_network_that_no_memory_holds_is_refused_without_being_made(
    path: Path, config: Config
) -> None:
    values = config.model_dump(mode="json")
    values["network"] |= {"channels": 1024, "blocks": 64}
    rewrite(path, config=values)
    with pytest.raises(AgentFileError, match="not those of its network"):
        read_agent_file(path)


def test_another_type_of_numbers_is_refused(path: Path, agent: Agent) -> None:
    tensors = {name: np.asarray(leaf) for name, leaf in named_leaves(agent.params).items()}
    path.write_bytes(save(tensors, {DESCRIPTION: json.dumps(entries_of(path))}))
    with pytest.raises(AgentFileError, match="not those of its network"):
        read_agent_file(path)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_parameters_that_are_not_finite_are_neither_read_nor_written(
    path: Path, agent: Agent, value: float
) -> None:
    spoilt = jax.tree.map(np.array, agent.params)
    jax.tree.leaves(spoilt)[0].flat[0] = value
    rewrite(path, params=spoilt)
    with pytest.raises(AgentFileError, match="not all finite"):
        read_agent_file(path)
    other = path.with_name("other")
    with pytest.raises(AgentFileError, match="are not finite"):
        write_agent_file(other, replace(agent, params=spoilt))
    assert not other.exists()


def test_a_number_that_bfloat16_cannot_hold_is_not_written(agent: Agent, tmp_path: Path) -> None:
    large = jax.tree.map(lambda leaf: np.full_like(leaf, np.finfo(np.float32).max), agent.params)
    with pytest.raises(AgentFileError, match="are not finite"):
        write_agent_file(tmp_path / "agent", replace(agent, params=large))


WRONG = [
    ({"format_version": 2}, "has format version 2, and this program reads 1"),
    ({"format_version": "x" * 9_000}, r"has format version x{100}\.\.\."),
    ({"format_version": None}, "its description cannot be read"),
    ({"rules_version": "fv-9"}, "was trained for rules fv-9"),
    ({"more": "of it"}, "description was changed"),
    ({"facts": None}, "description was changed"),
    ({"config": {"network": {"chanels": 8}}}, r"network\.chanels: Extra inputs"),
    ({"config": {"network": {"blocks": True}}}, r"network\.blocks"),
    ({"config": "no"}, "its settings are not those of this program"),
    ({"facts": []}, "does not say where it is from"),
    ({"facts": {"score": 1}}, "does not say where it is from"),
    ({"facts": {"env_steps": "many"}}, "does not say where it is from"),
    ({"facts": {"env_steps": 1, "score": math.nan}}, "its description cannot be read"),
    ({"facts": {"env_steps": -1}}, "does not say where it is from"),
]


@pytest.mark.parametrize(("changed", "message"), WRONG, ids=range(len(WRONG)))
def test_another_description_is_refused_in_one_line(
    path: Path, changed: dict[str, Any], message: str
) -> None:
    rewrite(path, **changed)
    with pytest.raises(AgentFileError, match=message) as refused:
        read_agent_file(path)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 600


@pytest.mark.parametrize("text", ["[" * 100_000, "", "[1]", '{"format_version": 1e999}', "no"])
def test_a_description_that_is_no_mapping_is_refused(path: Path, text: str) -> None:
    path.write_bytes(save({"a": np.zeros(3)}, {DESCRIPTION: text}))
    with pytest.raises(AgentFileError, match="its description cannot be read"):
        read_agent_file(path)


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(agent_file.MAX_BYTES + 1)


def _long_header(path: Path) -> None:
    path.write_bytes((1 << 40).to_bytes(8, "little") + b"{" * 100)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (_huge, "has more than"),
        (_long_header, "is no agent file"),
        (lambda path: os.mkfifo(path), "no regular file"),
        (lambda path: path.mkdir(), "cannot be read"),
        (lambda path: None, "cannot be read"),
        (lambda path: path.write_bytes(save({"a": np.zeros(3)})), "holds no agent"),
    ],
)
def test_other_files_are_refused(
    tmp_path: Path, make: Callable[[Path], object], message: str
) -> None:
    path = tmp_path / "agent"
    make(path)
    with pytest.raises(AgentFileError, match=message):
        read_agent_file(path)


def test_a_place_that_cannot_be_written_is_told(agent: Agent, tmp_path: Path) -> None:
    with pytest.raises(AgentFileError, match=r"cannot be written: No such file.*; give a path"):
        write_agent_file(tmp_path / "none" / "agent", agent)


def test_without_a_run_or_a_file_the_shipped_agent_is_asked_for(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(agent_file, "SHIPPED_AGENT", tmp_path / "none")
    assert cli.main(["evaluate"]) == 2
    assert "there is no trained agent in this installation" in capfd.readouterr().err
    monkeypatch.setattr(agent_file, "SHIPPED_AGENT", path)
    told: list[str] = []
    loaded = agent_file.load_agent(None, None, tell=told.append)
    assert loaded.config.search.tree == "auto"
    assert loaded.label.startswith("tiny.safetensors (")
    assert all(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(loaded.params))
    assert not told


CONTRADICTIONS = [
    (["--agent", "a", "--run-dir", "b"], "got --run-dir and --agent"),
    (["--agent", "a", "--checkpoint", "newest"], "an agent file has no other checkpoints"),
    (["--agent", "a", "--precision", "fp8"], "has no activation scales"),
    (["--run-dir", "a", "--out", "b"], "leave --out out"),
]


@pytest.mark.parametrize(("arguments", "message"), CONTRADICTIONS)
def test_arguments_that_exclude_each_other_are_refused(
    arguments: list[str], message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["evaluate", *arguments]) == 2
    assert message in capfd.readouterr().err
