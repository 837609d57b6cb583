"""The rules of `Config`: defaults hold, bounds and rules between fields are enforced."""

from typing import Any

import pytest
from pydantic import ValidationError

from factorio_rl.config import Config, broken_rules
from factorio_rl.config_fields import SECTIONS

BROKEN: list[tuple[dict[str, Any], str]] = [
    ({"env": {"width": 4, "height": 4}}, "env.width: a grid of 4 x 4 has no room"),
    ({"env": {"width": 5, "height": 5}, "tasks": {"max_blocked": 11}}, "must be <= 10"),
    ({"tasks": {"families": ["pipe", "pipe"]}}, "tasks.families: named more than once: pipe"),
    (
        {"env": {"item_slots": 3}, "tasks": {"families": ["inserter"]}},
        "tasks.families: tasks of inserter have up to 4 items, env.item_slots is 3",
    ),
    (
        {"env": {"max_ports": 2}, "tasks": {"families": ["inserter"]}},
        "tasks.families: tasks of inserter have up to 4 ports, env.max_ports is 2",
    ),
    (
        {"env": {"recipe_slots": 2}, "tasks": {"families": ["inserter-own-circuit"]}},
        "tasks.families: tasks of inserter-own-circuit have up to 3 recipes",
    ),
    ({"search": {"num_simulations": 8}}, "search.max_num_considered_actions: 16 actions"),
    ({"eval": {"max_num_considered_actions": 33}}, "eval.max_num_considered_actions: 33 actions"),
    (
        {
            "env": {"width": 4, "height": 5},
            "search": {"num_simulations": 300, "max_num_considered_actions": 242},
        },
        "search.max_num_considered_actions: 242 is more than the 241 actions",
    ),
    (
        {"replay": {"capacity": 4000}, "learner": {"batch_size": 4001}},
        "learner.batch_size: 4001 is more than replay.capacity, 4000",
    ),
    (
        {"replay": {"capacity": 32_767}},
        "replay.capacity: 32767 rows are overwritten before their scores arrive",
    ),
    (
        {"learner": {"demonstration_share_end": 0.9}},
        "learner.demonstration_share_end: with learner.incomplete_share it is 1.05",
    ),
    (
        {"actor": {"precision": "fp8"}, "network": {"channels": 40}},
        "network.channels: 40 channels; FP8 convolutions need a multiple of 16",
    ),
    (
        {"search": {"root_precision": "fp8"}},
        "search.root_precision: fp8 at the root of a search in bf16",
    ),
    (
        {"learner": {"qat": True}},
        "learner.qat: the learner would train for an FP8 actor, and actor.precision is bf16",
    ),
    (
        {"learner": {"qat": True}, "actor": {"precision": "auto"}},
        "learner.qat: the learner would train for an FP8 actor, and actor.precision is auto",
    ),
    (
        {
            "actor": {"precision": "fp8"},
            "search": {"num_simulations": 1, "max_num_considered_actions": 1},
        },
        "search.max_num_considered_actions: the gate measures value errors by the spread",
    ),
]


def test_defaults_break_no_rule() -> None:
    assert list(broken_rules(Config())) == []


@pytest.mark.parametrize(
    "sections",
    [
        {"network": {"channels": 40}},
        {"actor": {"precision": "auto"}, "network": {"channels": 48}},
        {"actor": {"precision": "auto"}, "search": {"root_precision": "fp8"}},
        {"actor": {"precision": "fp8"}, "learner": {"qat": True}},
    ],
)
def test_precision_that_fits_its_other_settings_is_taken(sections: dict[str, Any]) -> None:
    assert list(broken_rules(Config.model_validate(sections))) == []


@pytest.mark.parametrize(("sections", "message"), BROKEN)
def test_rule_between_fields_is_enforced(sections: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Config.model_validate(sections)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "sections",
    [
        {"actor": {"empty_share": 0.24}},
        {"env": {"recipe_slots": 5}},
        {"learner": {"learning_rate": float("nan")}},
        {"learner": {"learning_rate": float("inf")}},
        {"run": {"seed": True}},
        {"search": {"num_simulations": 2.5}},
        {"tasks": {"families": []}},
        {"actor": {"precision": "mxfp8"}},
        {"actor": {"switch": {"slack": 0.9}}},
        {"actor": {"switch": {"passes": True}}},
        {"actor": {"switch": {"gate": "maybe"}}},
    ],
)
def test_value_outside_its_bounds_is_refused(sections: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Config.model_validate(sections)


def test_config_is_frozen() -> None:
    config = Config()
    with pytest.raises(ValidationError):
        config.search.num_simulations = 3  # pyright: ignore[reportAttributeAccessIssue]


def test_every_field_says_what_it_means() -> None:
    silent = [
        f"{path}.{name}"
        for path, section in SECTIONS.items()
        if path
        for name, field in section.model_fields.items()
        if not field.description
    ]
    assert silent == []
    assert all(section.__doc__ for section in SECTIONS.values())
