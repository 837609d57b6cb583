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
from factorio_rl.config_sections import SwitchConfig
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
        "search.num_simulatons: unknown key; did you mean search.num_simulations?",
        "search.learning_rate: unknown key; did you mean learner.learning_rate?",
        'search.max_depth: got "deep"; must be a whole number >= 1 and <= 2147483647 or null',
        "network: got 3; must be a section of settings",
        "env.width: got 2; must be a whole number >= 4 and <= 32",
        'env.growth_rule: got "maybe"; must be true or false',
        "foo: unknown key; known are run, env, tasks, network, search, actor, replay, learner, "
        "train, eval, logging",
        "learner.learning_rate: got -0.001; must be a number > 0 and <= 1e+30",
        'tasks.families[0]: got "circut"; no family of tasks; did you mean circuit?',
        "logging.wandb: got false; must be one of auto, online, offline, disabled",
        "lr: unknown option; known are run, env, tasks, network, search, actor, replay, learner, "
        "train, eval, logging",
        "train.num_chunks: got true; must be a whole number >= 1 and <= 2147483647",
        "learner.batch_size: 200000 is more than replay.capacity, 100000",
    }
    assert all(problem in str(caught.value) for problem in caught.value.problems)


def test_rule_is_not_blamed_on_a_field_that_is_wrong_itself(tmp_path: Path) -> None:
    text = "replay: {capacity: 0}\nlearner: {batch_size: 200000}"
    with pytest.raises(ConfigError) as caught:
        load_config(_written(tmp_path, text))
    assert caught.value.problems == (
        "replay.capacity: got 0; must be a whole number >= 1 and <= 2147483647",
    )


def test_override_of_something_that_is_no_field_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(_written(tmp_path, ""), ["--batch-size=3", "--networks.blocks=1", "--a.b.c=1"])
    assert caught.value.problems == (
        "batch_size: unknown option; did you mean learner.batch_size?",
        "networks.blocks: unknown option; did you mean network.blocks?",
        "a.b.c: unknown option; known are run, env, tasks, network, search, actor, replay, "
        "learner, train, eval, logging",
    )


def test_section_within_a_section_is_set_in_file_and_overrides(tmp_path: Path) -> None:
    path = _written(tmp_path, "actor: {precision: fp8, switch: {passes: 5, slack: 2}}")
    config = load_config(path, ["--actor.switch.gate=false", "--actor.switch.passes", "7"])
    assert config.actor.precision == "fp8"
    assert config.actor.switch == SwitchConfig(passes=7, slack=2, gate=False)
    assert load_config(_written(tmp_path, dump_config(config))) == config


def test_override_reaches_a_section_that_is_empty_in_the_file(tmp_path: Path) -> None:
    config = load_config(_written(tmp_path, "search:"), ["--search.max_depth=3"])
    assert config.search.max_depth == 3


NESTED_WRONG = """
actor:
  precision: mxfp8
  swich: {gate: false}
  switch: {gat: 1, max_value_error: -1, probe_positions: many, min_policy_agreement: 2}
replay: {capacity: 10}
"""


def test_problems_in_a_section_within_a_section_name_the_whole_path(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(_written(tmp_path, NESTED_WRONG), ["--actor.switch.gate=maybe"])
    assert set(caught.value.problems) == {
        'actor.precision: got "mxfp8"; XLA and cuDNN have no MX convolution, only MX matrix '
        "products, which GPUs before Blackwell emulate; give bf16, fp8 or auto",
        "actor.swich: unknown key; did you mean actor.switch?",
        "actor.switch.gat: unknown key; did you mean actor.switch.gate?",
        'actor.switch.gate: got "maybe"; must be true or false',
        "actor.switch.max_value_error: got -1; must be a number > 0 and <= 1e+30",
        'actor.switch.probe_positions: got "many"; must be a whole number >= 1 and <= 4096',
        "actor.switch.min_policy_agreement: got 2; must be a number >= 0 and <= 1",
        "learner.batch_size: 256 is more than replay.capacity, 10",
        "replay.capacity: 10 rows are overwritten before their scores arrive; must be >= "
        "28 * actor.num_envs * actor.chunk_moves = 57344",
    }


@pytest.mark.parametrize("value", ["null", "3", "true", "[gate]"])
def test_something_else_in_the_place_of_a_nested_section_is_refused(
    tmp_path: Path, value: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(_written(tmp_path, f"actor: {{switch: {value}}}"), ["--actor.switch.gate=no"])
    shown = value.replace("gate", '"gate"')
    assert caught.value.problems == (f"actor.switch: got {shown}; must be a section of settings",)


PRECISION_WRONG = """
network: {channels: 20}
search: {root_precision: fp8}
actor: {precision: auto, switch: {slack: 0}}
learner: {qat: true}
"""


def test_rules_of_precision_are_reported_beside_a_wrong_nested_field(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(_written(tmp_path, PRECISION_WRONG))
    assert caught.value.problems == (
        "actor.switch.slack: got 0; must be a number >= 1 and <= 100",
        "network.channels: 20 channels; FP8 convolutions need a multiple of 16",
        "learner.qat: the learner would train for an FP8 actor, and actor.precision is auto; "
        "set it to fp8, or qat to false",
    )


@pytest.mark.parametrize("precision", ["mxfp8", "int8"])
def test_rules_are_not_blamed_on_a_wrong_precision(tmp_path: Path, precision: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(_written(tmp_path, PRECISION_WRONG), [f"--actor.precision={precision}"])
    assert [problem.partition(":")[0] for problem in caught.value.problems] == [
        "actor.switch.slack",
        "actor.precision",
    ]


def test_values_beside_a_wrong_nested_field_still_count(tmp_path: Path) -> None:
    text = "actor: {num_envs: 1000, switch: {passes: 0, slack: 3}}"
    with pytest.raises(ConfigError, match=r"actor\.chunk_moves = 224000"):
        load_config(_written(tmp_path, text))


@pytest.mark.parametrize(
    ("override", "problem"),
    [
        ("--actor.switch.gat=1", "unknown option; did you mean actor.switch.gate?"),
        ("--actor.swich.gatte=1", "unknown option; did you mean actor.switch?"),
        ("--switch.gate=1", "unknown option; did you mean actor.switch.gate?"),
        ("--actor.switch.gate.x=1", "unknown option; did you mean actor.switch.gate?"),
        ("--search.max_depth.max=1", "unknown option; did you mean search.max_depth?"),
        (
            "--actor.switch=null",
            "a section of settings; name one of them, such as --actor.switch.after_env_steps=VALUE",
        ),
        ("--search=3", "a section of settings; name one of them, such as --search.num_sim"),
        ("--=3", "unknown option; known are run"),
    ],
)
def test_override_that_names_no_setting_is_told_the_nearest(
    tmp_path: Path, override: str, problem: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(_written(tmp_path, ""), [override])
    (line,) = caught.value.problems
    assert line.startswith(f"{override[2:].partition('=')[0]}: {problem}")


def test_dotted_key_in_a_file_is_told_how_to_write_it(tmp_path: Path) -> None:
    text = "search.max_depth: 3\nactor: {switch.gate: false}\nactor.switch: {}"
    with pytest.raises(ConfigError) as caught:
        load_config(_written(tmp_path, text))
    advice = "a dotted key; in a file, put a setting below the name of its section"
    assert set(caught.value.problems) == {
        f"search.max_depth: {advice}",
        f"actor.switch.gate: {advice}",
        f"actor.switch: {advice}",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a\n- b", "must be sections"),
        ("just text", "must be sections"),
        ("search: [", "not valid YAML"),
        ("env: {width: 5}\nenv: {width: 6}", "env: stands twice, in lines 1 and 2"),
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


def test_difference_in_a_nested_section_names_the_setting_alone() -> None:
    old = Config.model_validate({"actor": {"switch": {"gate": False, "passes": 4}}})
    new = Config.model_validate({"actor": {"switch": {"gate": False}, "num_envs": 128}})
    assert tunable_differences(old, new) == [
        "actor.switch.passes: 4 in the run directory, 3 now",
    ]
    assert architecture_differences(old, new) == [
        "actor.num_envs: 256 in the run directory, 128 now"
    ]
