"""Sections of a run's page on training itself: curriculum, search, learning, time.

In: a `RunRecord`. Out: `Section`s. Jax-free.
"""

from collections.abc import Mapping, Sequence

from factorio_rl.chart_axes import figure, short
from factorio_rl.chart_grid import Cell, evenly, heat_chart
from factorio_rl.chart_lines import stack_chart
from factorio_rl.html_page import Section, panels, paragraph, table
from factorio_rl.run_charts import (
    ENV_STEPS,
    UPDATES,
    Wanted,
    charts_of,
    not_recorded,
    points_of,
)
from factorio_rl.run_pictures import shown_picture
from factorio_rl.run_record import Record, RunRecord, number

NO_CHUNKS = "This run has no chunk of self-play yet."

_SELF_PLAY = (
    Wanted(
        "Lately, from empty",
        {"empty_score": "score", "empty_functional": "functional"},
        (0.0, 1.0),
    ),
    Wanted(
        "Lately, starts with some of the reference standing",
        {"solved": "solved, all levels", "solved_up_to_3_removed": "solved, up to 3 missing"},
        (0.0, 1.0),
    ),
    Wanted("Placements of an episode from empty", {"empty_placements": "placements"}, (0.0, 0.0)),
)

_SEARCH = (
    Wanted("Entropy of the search's policy", {"target_entropy": "entropy, nats"}, (0.0, 0.0)),
    Wanted(
        "KL of the search's policy to the network's",
        {"target_divergence": "KL of target to prior, nats"},
        (0.0, 0.0),
    ),
    Wanted("Range of Q at the root", {"root_q_range": "largest less smallest Q"}, (0.0, 0.0)),
    Wanted("Depth of the tree", {"search_depth": "moves from the root"}, (0.0, 0.0)),
    Wanted("Value of the root", {"root_value": "value of the root"}, (0.0, 1.0)),
)

_LEARNING = (
    Wanted("Losses", {"policy_loss": "policy", "value_loss": "value"}, (0.0, 0.0)),
    Wanted(
        "Error of the value",
        {"value_error": "all positions", "finished_value_error": "finished layouts"},
        (0.0, 0.0),
    ),
    Wanted("Policy picks the target's move", {"policy_accuracy": "accuracy"}, (0.0, 1.0)),
    Wanted("Norm of the gradient", {"gradient_norm": "norm of the gradient"}, (0.0, 0.0)),
    Wanted("Learning rate", {"learning_rate": "learning rate"}, (0.0, 0.0)),
)

_SPEED = (
    Wanted("Episodes per second", {"episodes_per_s": "episodes/s"}, (0.0, 0.0)),
    Wanted("Environment steps per second", {"env_steps_per_s": "steps/s"}, (0.0, 0.0)),
    Wanted("Share of time that the device works", {"device_busy": "device busy"}, (0.0, 1.0)),
)

_TIMES = {
    "search_s": "search",
    "network_s": "network",
    "learner_s": "learner",
    "verification_s": "waiting for the verifier",
    "host_s": "host",
}


def curriculum_section(run: RunRecord) -> Section:
    """Success by family, by what is missing at the start, and from empty."""
    records = run.of_event("train")
    file = run.path / "layouts" / "curriculum.png"
    picture = shown_picture(file, "The curriculum at the last evaluation", is_large=True)
    body = charts_of(_SELF_PLAY, records, ENV_STEPS) if records else paragraph(NO_CHUNKS)
    heats = [
        _family_heat(records, "empty_solved_", "Solved from empty, by family", is_share=True),
        _family_heat(records, "frontier_", "Placements missing that half are solved with"),
    ]
    made = [one for one in heats if one]
    return Section("curriculum", "Curriculum", body + (panels(made) if made else "") + picture)


def _family_heat(
    records: Sequence[Record], prefix: str, title: str, *, is_share: bool = False
) -> str:
    """A heat map of one figure by family over training; nothing where it was not recorded."""
    fields = dict.fromkeys(
        name for record in records for name in record if name[: len(prefix)] == prefix
    )
    if not fields:
        return ""
    shown = [records[place] for place in evenly(len(records))]
    found = {name: [number(record, name) for record in shown] for name in fields}
    most = max((one for values in found.values() for one in values if one is not None), default=1)
    top = 1.0 if is_share else max(most, 1.0)
    rows = {
        name.removeprefix(prefix): [
            None if value is None else _heat_cell(value, top, name.removeprefix(prefix), record)
            for value, record in zip(values, shown, strict=True)
        ]
        for name, values in found.items()
    }
    steps = [short(number(record, "env_steps") or 0.0) for record in shown]
    return heat_chart(title, steps, rows, "environment steps")


def _heat_cell(value: float, top: float, family: str, record: Record) -> Cell:
    text = f"{value:.2f}" if top == 1.0 else f"{value:.0f}"
    steps = figure(number(record, "env_steps"))
    return Cell(value / top, text, f"{family}, {steps} environment steps: {figure(value)}")


def search_section(run: RunRecord) -> Section:
    """Whether the search improves on the network, and how deep it looks."""
    records = run.of_event("train")
    body = charts_of(_SEARCH, records, ENV_STEPS) if records else paragraph(NO_CHUNKS)
    return Section("search", "Search", body)


def learning_section(run: RunRecord) -> Section:
    """Losses and errors over updates, imitation first."""
    records = [*run.of_event("imitation"), *run.of_event("train")]
    body = charts_of(_LEARNING, records, UPDATES) if records else paragraph("No update yet.")
    return Section("learning", "Learning", body)


def time_section(run: RunRecord) -> Section:
    """Where the time of a chunk goes, and speeds."""
    records = without_compiling(run)
    if not records:
        return Section("time", "Time", paragraph(NO_CHUNKS))
    note = "The first line of each start, whose chunks compile, is left out where there are others."
    body = _breakdown(records) + charts_of(_SPEED, records, ENV_STEPS)
    return Section("time", "Time", body + paragraph(note, "note"))


def _breakdown(records: Sequence[Record]) -> str:
    points = points_of(records, list(_TIMES), "chunk")
    recorded = {name for point in points for name in point.values}
    names = {name: words for name, words in _TIMES.items() if name in recorded}
    missing = not_recorded([words for name, words in _TIMES.items() if name not in recorded])
    if not names:
        return not_recorded(["seconds of a chunk by what was done"])
    chart = stack_chart("Seconds of a chunk", "chunk", names, points)
    return panels([chart, _mean_shares(names, records)]) + missing


def _mean_shares(names: Mapping[str, str], records: Sequence[Record]) -> str:
    """Means over the run."""
    means = {}
    for name in names:
        values = [value for one in records if (value := number(one, name)) is not None]
        means[name] = sum(values) / len(values)
    whole = sum(means.values()) or 1.0
    rows = [
        (names[name], f"{seconds:.3g}", f"{100 * seconds / whole:.0f} %")
        for name, seconds in means.items()
    ]
    rows.append(("together", f"{whole:.3g}", "100 %"))
    return "<h3>Mean of a chunk</h3>" + table(("", "seconds", "share"), rows)


def without_compiling(run: RunRecord) -> list[Record]:
    """The records of chunks without the first one of each start, which compiles."""
    records = run.of_event("train")
    firsts = []
    for start in run.starts:
        after = (record for record in run.records[start:] if record.get("event") == "train")
        firsts.append(next(after, None))
    kept = [record for record in records if not any(record is first for first in firsts)]
    return kept or records
