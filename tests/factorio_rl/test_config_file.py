"""Reading, writing and comparing config files, and what errors say."""

from pathlib import Path

import pytest

from factorio_rl.config import Config
from factorio_rl.config_file import (
    architecture_differences,
    dump_config,
    load_config,
    tunable_differences,
)
from factorio_rl.overrides import ConfigError


def _written(folder: Path, text: str) -> Path:
    path = folder / "config.yaml"
    path.write_text(text)
    return path


def test_empty_file_and_empty_sections_give_the_defaults(tmp_path: Path) -> None:
    assert load_config(_written(tmp_path, "")) == Config()
    assert load_config(_written(tmp_path, "search:\nlearner: {}")) == Config()


def test_overrides_win_over_the_file(tmp_path: Path) -> None:
    path = _written(tmp_path, "search: {num_simulations: 20}\nlearner: {learning_rate: 1e-5}")
    config = load_config(
        path, ["--search.num-simulations=40", "--tasks.families", "pipe", "--search.max_depth=3"]
    )
    assert config.search.num_simulations == 40
    assert config.search.max_depth == 3
    assert config.learner.learning_rate == 1e-5
    assert config.tasks.families == ("pipe",)


def test_dumped_config_reads_back_equal(tmp_path: Path) -> None:
    config = Config.model_validate(
        {
            "learner": {"learning_rate": 1e-7, "weight_decay": 1e20},
            "tasks": {"families": ["pipe", "inserter"], "heldout": "null"},
            "run": {"compilation_cache": None},
            "logging": {"wandb_entity": "1e3", "wandb_project": "None"},
        }
    )
    assert load_config(_written(tmp_path, dump_config(config))) == config


ALL_WRONG = """
search: {num_simulatons: 3, learning_rate: 1e-3, max_depth: deep}
network: 3
env: {width: 2, growth_rule: maybe}
foo: 1
learner: {batch_size: 200000, learning_rate: -1e-3}
tasks: {families: [circut]}
logging: {wandb: off}
"""


def test_all_problems_come_in_one_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(_written(tmp_path, ALL_WRONG), ["--lr=3", "--train.num_chunks=true"])
    assert set(caught.value.problems) == {
        "search.num_simulatons: unknown key; did you mean num_simulations?",
        "search.learning_rate: unknown key; did you mean learner.learning_rate?",
        'search.max_depth: got "deep"; must be a whole number >= 1 or null',
        "network: got 3; must be a section of settings",
        "env.width: got 2; must be a whole number >= 4 and <= 32",
        'env.growth_rule: got "maybe"; must be true or false',
        "foo: unknown key; known are run, env, tasks, network, search, actor, replay, learner, "
        "train, eval, logging",
        "learner.learning_rate: got -0.001; must be a number > 0",
        'tasks.families[0]: got "circut"; no family of tasks; did you mean circuit?',
        "logging.wandb: got false; must be one of auto, online, offline, disabled",
        "lr: unknown option; known are run, env, tasks, network, search, actor, replay, learner, "
        "train, eval, logging",
        "train.num_chunks: got true; must be a whole number >= 1",
        "learner.batch_size: 200000 is more than replay.capacity, 100000",
    }
    assert all(problem in str(caught.value) for problem in caught.value.problems)


def test_rule_is_not_blamed_on_a_field_that_is_wrong_itself(tmp_path: Path) -> None:
    text = "replay: {capacity: 0}\nlearner: {batch_size: 200000}"
    with pytest.raises(ConfigError) as caught:
        load_config(_written(tmp_path, text))
    assert caught.value.problems == ("replay.capacity: got 0; must be a whole number >= 1",)


def test_override_of_something_that_is_no_field_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(_written(tmp_path, ""), ["--batch-size=3", "--networks.blocks=1", "--a.b.c=1"])
    text = "\n".join(caught.value.problems)
    assert "batch_size: unknown option; did you mean learner.batch_size?" in text
    assert "networks: unknown key; did you mean network?" in text
    assert "a.b.c: unknown option" in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a\n- b", "must be sections"),
        ("just text", "must be sections"),
        ("search: [", "not valid YAML"),
        ("env: {width: 5}\nenv: {width: 6}", "the key 'env' stands twice"),
    ],
)
def test_unusable_file_says_why(tmp_path: Path, text: str, message: str) -> None:
    path = _written(tmp_path, text)
    with pytest.raises(ConfigError, match=message) as caught:
        load_config(path)
    assert str(path) in str(caught.value)


def test_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        load_config(tmp_path / "none.yaml")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(tmp_path)


def test_differences_tell_fixed_fields_from_tunable_ones() -> None:
    old = Config.model_validate({"network": {"blocks": 3}})
    new = Config.model_validate(
        {"network": {"compute_dtype": "float32"}, "search": {"max_depth": 9}}
    )
    assert architecture_differences(old, new) == ["network.blocks: 3 in the run directory, 6 now"]
    assert tunable_differences(old, new) == [
        'network.compute_dtype: "auto" in the run directory, "float32" now',
        "search.max_depth: null in the run directory, 9 now",
    ]
    assert architecture_differences(new, new) == tunable_differences(new, new) == []
