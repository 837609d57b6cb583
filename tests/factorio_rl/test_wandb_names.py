"""Figures are in the sections of panels where one looks for them, over the axis that they have."""

import pytest

from factorio_rl.wandb_names import step_metric, wandb_name


@pytest.mark.parametrize(
    ("event", "field", "name"),
    [
        ("train", "env_steps", "env_steps"),
        ("eval", "learner_updates", "learner_updates"),
        ("eval", "score", "eval/score"),
        ("eval", "score_gear-inside", "eval/family/gear-inside/score"),
        ("eval", "solved_gear", "eval/family/gear/solved"),
        ("eval", "solved", "eval/solved"),
        ("eval", "raw_score", "eval/raw_score"),
        ("eval_untrained", "score_gear", "eval_untrained/family/gear/score"),
        ("train", "empty_score", "curriculum/empty_score"),
        ("train", "empty_score_gear", "curriculum/family/gear/empty_score"),
        ("train", "empty_solved_gear", "curriculum/family/gear/empty_solved"),
        ("train", "frontier_gear", "curriculum/family/gear/frontier"),
        ("train", "solved", "curriculum/solved"),
        ("train", "solved_up_to_3_removed", "curriculum/solved_up_to_3_removed"),
        ("train", "target_entropy", "search/target_entropy"),
        ("train", "target_divergence", "search/target_divergence"),
        ("train", "root_q_range", "search/root_q_range"),
        ("train", "search_depth", "search/search_depth"),
        ("train", "verification_s", "time/verification_s"),
        ("train", "episodes_per_s", "time/episodes_per_s"),
        ("train", "device_busy", "time/device_busy"),
        ("eval", "elapsed_s", "time/elapsed_s"),
        ("train", "loss", "train/loss"),
        ("imitation", "loss", "imitation/loss"),
        ("switch", "reason", "switch/reason"),
    ],
)
def test_fields_have_a_section(event: str, field: str, name: str) -> None:
    assert wandb_name(event, field) == name


def test_everything_but_imitation_is_drawn_over_environment_steps() -> None:
    assert step_metric("eval/family/gear/score") == "env_steps"
    assert step_metric("learner_updates") == "env_steps"
    assert step_metric("env_steps") is None
    assert step_metric("imitation/loss") == "learner_updates"
