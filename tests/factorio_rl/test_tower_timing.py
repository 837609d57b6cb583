"""Times of the network in both arithmetics: sensible, measured once, kept by circumstances."""

import json
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from factorio_rl import tower_timing
from factorio_rl.config import Config
from factorio_rl.env_shape import env_shape
from factorio_rl.fp8_network import fp8_network, frozen_variables
from factorio_rl.network import Network, Params, ResidualBlock
from factorio_rl.tower_timing import (
    Tower,
    TowerTimes,
    cached_times,
    random_params,
    time_towers,
    tower_evaluations,
)

BATCH = 3


@pytest.fixture
def calls(monkeypatch):
    """Batch sizes that were measured, by a measurement that takes no time."""
    measured: list[int] = []

    def measure(network, shape, batch):
        measured.append(batch)
        return TowerTimes(1.0 + len(measured), 2.5)

    monkeypatch.setattr(tower_timing, "time_towers", measure)
    return measured


@pytest.fixture(scope="module")
def params(config: Config, network: Network) -> Params:
    return random_params(network, env_shape(config), jax.random.key(1))


@pytest.fixture(scope="module")
def features(network: Network) -> jax.Array:
    return jax.random.normal(jax.random.key(2), (BATCH, 7, 7, network.channels))


def changed(config: Config, section: str, **fields) -> Config:
    old = getattr(config, section)
    return config.model_copy(update={section: old.model_copy(update=fields)})


def test_times_of_both_arithmetics_are_positive(config, network, monkeypatch):
    monkeypatch.setattr(tower_timing, "TURNS", 1)
    times = time_towers(network, env_shape(config), BATCH)
    assert all(0 < ms < 1e4 for ms in times)


def test_no_parameter_is_zero(params):
    assert all(np.abs(leaf).min() > 0 for leaf in jax.tree.leaves(params))


@pytest.mark.parametrize("in_fp8", [False, True])
def test_loop_evaluates_the_batch_itself_in_the_arithmetic_asked_for(
    network, params, features, in_fp8
):
    variables = params
    if in_fp8:
        scales = jnp.full(2, 2.0**-5)
        network, variables = fp8_network(network), frozen_variables(network, params, scales)
    looped = jax.jit(lambda v, x: tower_evaluations(network, v, x, 3))
    once = jax.jit(Tower(network).apply)(variables, features)
    assert np.allclose(looped(variables, features), once, rtol=1e-5, atol=1e-5)
    text = looped.lower(variables, features).as_text()
    convolutions = [line for line in text.splitlines() if "stablehlo.convolution" in line]
    assert sum("f8E4M3FN" in line for line in convolutions) == (2 if in_fp8 else 0)
    assert len(convolutions) == 2


def test_evaluations_stay_in_the_compiled_loop(network, params, features):
    loop = jax.jit(lambda p, x: tower_evaluations(network, p, x, 5))
    text = loop.lower(params, features).compile().as_text() or ""
    before_entry, entry = text.split("\nENTRY")
    assert '"known_trip_count":{"n":"5"}' in entry
    assert len(re.findall(r" convolution\(", before_entry)) == 2
    assert " convolution(" not in entry


def test_tower_is_the_trunk_of_the_network(network, params, features):
    """Its blocks in a row, run by hand on the same parameters."""
    block = ResidualBlock(network.channels, True, network.dtype, network.conv)
    [own] = [params["params"][name] for name in params["params"] if "Residual" in name]
    expected = jax.jit(block.apply)({"params": own}, features)
    np.testing.assert_array_equal(jax.jit(Tower(network).apply)(params, features), expected)


def test_a_second_start_measures_nothing(config, calls, tmp_path):
    folder = tmp_path / "not" / "yet"
    first = cached_times(config, folder)
    assert cached_times(config, folder) == first
    assert calls == [config.actor.num_envs]
    (file,) = folder.iterdir()
    assert json.loads(file.read_text())["fp8_ms"] == 2.5


def test_without_a_folder_every_start_measures(config, calls):
    assert cached_times(config, None) != cached_times(config, None)
    assert len(calls) == 2


@pytest.mark.parametrize(
    ("section", "fields"),
    [
        ("network", {"channels": 16}),
        ("network", {"blocks": 2}),
        ("network", {"compute_dtype": "bfloat16"}),
        ("actor", {"num_envs": 5}),
        ("env", {"width": 8, "height": 8}),
    ],
)
def test_other_circumstances_are_measured_for_themselves(config, calls, tmp_path, section, fields):
    before = cached_times(config, tmp_path)
    assert cached_times(changed(config, section, **fields), tmp_path) != before
    assert cached_times(config, tmp_path) == before
    assert len(calls) == 2


def test_other_versions_are_measured_for_themselves(config, calls, tmp_path, monkeypatch):
    cached_times(config, tmp_path)
    monkeypatch.setattr(tower_timing, "version", lambda package: "99")
    cached_times(config, tmp_path)
    assert len(calls) == 2


def broken(text: str) -> str:
    return text[: len(text) // 2]


def of_another_device(text: str) -> str:
    return text.replace('"platform": "cpu"', '"platform": "tpu"')


def negative(text: str) -> str:
    return text.replace("2.5", "-2.5")


def without_times(text: str) -> str:
    return "[1, 2]"


@pytest.mark.parametrize("damage", [broken, of_another_device, negative, without_times])
def test_a_damaged_file_is_measured_and_written_anew(config, calls, tmp_path, damage):
    cached_times(config, tmp_path)
    (file,) = tmp_path.iterdir()
    whole = file.read_text()
    assert damage(whole) != whole
    file.write_text(damage(whole))
    again = cached_times(config, tmp_path)
    assert len(calls) == 2
    assert cached_times(config, tmp_path) == again
    assert len(calls) == 2
    assert len(list(tmp_path.iterdir())) == 1


def test_a_folder_that_cannot_be_written_costs_only_the_cache(config, calls, tmp_path):
    (tmp_path / "file").write_text("in the way")
    folder = tmp_path / "file" / "folder"
    assert cached_times(config, folder) != cached_times(config, folder)
    assert len(calls) == 2
