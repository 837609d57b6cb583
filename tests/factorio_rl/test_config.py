"""The rules of `Config`: defaults hold, bounds and rules between fields are enforced."""

from typing import Any

import pytest
from pydantic import ValidationError

from factorio_rl.config import Config, broken_rules

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
]


def test_defaults_break_no_rule() -> None:
    assert list(broken_rules(Config())) == []


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
        f"{section}.{name}"
        for section, info in Config.model_fields.items()
        for name, field in info.annotation.model_fields.items()  # type: ignore[union-attr]
        if not field.description
    ]
    assert silent == []
