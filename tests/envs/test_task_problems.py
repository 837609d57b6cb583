"""Problems of a user's task: impossible ones are told, all at once; sound ones pass."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from task_examples import SINK, SOURCE, source, spec

from envs.heldout import HELDOUT_SETS, load_heldout
from envs.task_checks import WARNING
from envs.task_problems import errors_of, problems

WALL = [[5, y] for y in range(12)]
CIRCUIT = {"target_item": "electronic-circuit", "recipes": ["copper-cable", "electronic-circuit"]}
MIXED = source(left="iron-plate", right="copper-plate")


@pytest.mark.parametrize("name", sorted(HELDOUT_SETS))
def test_held_out_tasks_have_no_problems(name: str) -> None:
    assert [found for solved in load_heldout(name).tasks for found in problems(solved.spec)] == []


def test_problems_of_cells_names_and_numbers_come_together_errors_first() -> None:
    ports = [source("iron-plat", direction="W"), SINK]
    found = problems(spec(ports=ports, blocked=[[11, 8], [40, 0]], target_rate=0))
    assert len(errors_of(found)) == 4
    assert found[: len(errors_of(found))] == errors_of(found)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"blocked": WALL}, "no way leads from the source at (0, 5) to the sink at (11, 8)"),
        (
            {"blocked": [[10, 8], [11, 7], [11, 9]]},
            "nothing can reach the sink at (11, 8): no cell behind or beside it is free",
        ),
        (
            {"blocked": [[1, 5], [0, 4], [0, 6]]},
            "nothing can take items from the source at (0, 5): it flows against the blocked cell",
        ),
        (
            {"blocked": [[x, y] for x in range(0, 12, 3) for y in range(1, 12, 3)]},
            "machines find 0 places on a way to the sink (3x3",
        ),
        (
            {**CIRCUIT, "ports": [MIXED, SINK], "target_rate": 5.5},
            "5.5 items/s (11/2) of electronic-circuit take 8.25 copper-plate per second, and",
        ),
        ({"placement_limit": 8}, "the placement limit is 8; a layout has at least 9 placements"),
        ({"target_rate": 15}, "the rate is 15 items/s; the machines and inserters that fit on"),
        (
            {"target_rate": 4, "placement_limit": 12},
            "the rate is 4 items/s; the machines and inserters that fit on",
        ),
    ],
)
def test_what_is_impossible_is_an_error(changes: dict[str, Any], message: str) -> None:
    found = errors_of(problems(spec(**changes)))
    assert [entry for entry in found if entry.startswith(message)]
    assert len(found) <= 2


def test_every_stage_needs_a_place() -> None:
    ports = [source(left="iron-plate", right="copper-plate", y=2), {**SINK, "x": 4, "y": 2}]
    (found,) = problems(spec(**CIRCUIT, ports=ports, width=5, height=5, target_rate="1/3"))
    assert found.startswith("machines find 1 places on a way to the sink")
    assert "and need 2 or more" in found


def test_a_source_against_the_border_is_doubtful_only() -> None:
    (found,) = problems(spec(ports=[source("iron-plate", direction="W"), SINK]))
    assert found == (
        f"{WARNING}the source at (0, 5) flows against the border: only inserters beside it can "
        "take from it"
    )


def test_a_useless_source_is_doubtful_where_another_gives_its_item() -> None:
    shut = source("iron-plate", x=0, y=0, direction="N")
    found = problems(spec(ports=[SOURCE, SINK, shut], blocked=[[1, 0], [0, 1]]))
    assert len(found) == 1
    assert found[0].startswith(f"{WARNING}nothing can take items from the source at (0, 0)")


def test_a_message_names_what_to_do() -> None:
    (found,) = problems(spec(placement_limit=8))
    assert found.endswith("raise it, to twice as many or more")


def test_a_source_that_flows_into_the_sink_is_doubtful() -> None:
    (found,) = problems(spec(ports=[source("iron-plate", x=10, y=8), SINK]))
    assert found.startswith(f"{WARNING}the source at (10, 8) flows straight into the sink at")


@st.composite
def any_task(draw: st.DrawFn) -> dict[str, Any]:
    """A task of the right form, mostly without sense, often on a small grid."""
    number = st.integers(-1, 7)
    item = st.sampled_from(["iron-plate", "copper-plate", "copper-cable", "stone", "gold", None])
    port = st.fixed_dictionaries(
        {
            "x": number,
            "y": number,
            "direction": st.sampled_from("NESW"),
            "role": st.sampled_from(["source", "source", "sink"]),
        },
        optional={"left": item, "right": item},
    )
    recipes = st.sampled_from(["copper-cable", "electronic-circuit", "iron-gear-wheel", "gear"])
    return {
        "width": draw(st.integers(3, 7)),
        "height": draw(st.integers(3, 7)),
        "blocked": draw(st.lists(st.lists(number, min_size=2, max_size=2), max_size=6)),
        "ports": draw(st.lists(port, max_size=5)),
        "recipes": draw(st.lists(recipes, max_size=5)),
        "target_item": draw(recipes),
        "target_rate": draw(st.sampled_from([-1, 0, "1/9", 1, 14, 99])),
        "placement_limit": draw(st.integers(-1, 30)),
    }


@given(any_task())
@settings(max_examples=200, deadline=None)
def test_any_task_of_the_right_form_gets_an_answer_in_lines(task: dict[str, Any]) -> None:
    for found in problems(spec(**task)):
        assert found.isprintable()
        assert len(found) < 400
