"""A design as one self-contained HTML page, for who builds it. Jax-free.

In: a `DesignAnswer`. Out: the page: the plan with its build steps, use and bottleneck, ports,
materials, blueprint strings, how it was found.
"""

import io
from fractions import Fraction

from envs.blueprint.power import Power, plan_power
from envs.labels import rate_text
from envs.render_heat import render_heat_png
from envs.task_spec import TaskSpec
from factorio_rl.chart_axes import seconds_text
from factorio_rl.design_answer import DesignAnswer
from factorio_rl.design_page_plan import plan_svg
from factorio_rl.design_page_steps import Step, build_steps
from factorio_rl.design_page_tables import (
    inserter_table,
    machine_table,
    material_table,
    port_table,
)
from factorio_rl.html_page import (
    Section,
    Tile,
    data_script,
    details,
    embed_picture,
    escape,
    page,
    panels,
    paragraph,
    tiles,
)
from factorio_rl.verify_answer import uses

_HEAT_SCALE = 60
"""Pixels per tile of the heat map."""


def design_page(answer: DesignAnswer) -> str:
    """The page of a design."""
    power = plan_power(answer.report.loaded.layout)
    sections = [
        _build_section(answer, power),
        _use_section(answer),
        _port_section(answer),
        _material_section(answer, power),
        _blueprint_section(answer),
    ]
    title = f"{answer.spec.target_item}: {_reached_text(answer)}"
    subtitle = f"{answer.name}; {_wanted_text(answer)}"
    return page(title, subtitle, _head(answer), sections, ("build.js",))


def _reached_text(answer: DesignAnswer) -> str:
    return "no exact rate" if answer.rate is None else rate_text(answer.rate)


def _wanted_text(answer: DesignAnswer) -> str:
    target = rate_text(answer.spec.target_rate)
    if answer.target_is_bound:
        return f"no rate was asked for; ports and machines allow at most {target}"
    return f"asked for {target}, which is {'reached' if answer.reached else 'not reached'}"


def _head(answer: DesignAnswer) -> str:
    bound = "at most possible" if answer.target_is_bound else "asked for"
    share = f"{float(100 * answer.rate / answer.spec.target_rate):.1f} %" if answer.rate else "0 %"
    found = [
        _rate_tile("reached", answer.rate),
        _rate_tile(bound, answer.spec.target_rate),
        Tile("share of that", share),
        Tile("entities", str(len(answer.placements)), "without ports and poles"),
        Tile("attempts", f"{answer.attempts:,}", f"in {seconds_text(answer.seconds)}"),
        Tile("agent", answer.agent),
    ]
    return tiles(found) + paragraph(answer.limited_by, "good" if answer.reached else "bad")


def _rate_tile(name: str, rate: Fraction | None) -> Tile:
    """A rate as a decimal in large letters, exactly below."""
    if rate is None:
        return Tile(name, "-", "no exact rate")
    return Tile(name, f"{float(rate):.4g}/s", f"exactly {rate} items/s")


def _build_section(answer: DesignAnswer, power: Power) -> Section:
    """The plan, a player of its steps, and the steps as a list."""
    steps = build_steps(answer.spec, answer.placements, power.poles)
    plan = plan_svg(answer.spec, answer.placements, power)
    body = (
        f'<div class="build"><div>{plan}{_player(len(steps))}</div>{_step_list(steps)}</div>'
        f"{_power_note(power)}{data_script('steps', [step._asdict() for step in steps])}"
    )
    return Section("build", "Build it", body + _coordinates_note(answer.spec))


def _player(count: int) -> str:
    slider = (
        f'<input id="slider" type="range" min="0" max="{count}" value="{count}" '
        'aria-label="build step">'
    )
    return (
        '<div class="player"><button id="play">Play</button>'
        '<button id="back" aria-label="one step back">&#8249;</button>'
        f'<button id="next" aria-label="one step on">&#8250;</button>{slider}</div>'
        f'<p id="now" aria-live="polite">All {count} steps are done.</p>'
    )


def _step_list(steps: list[Step]) -> str:
    items = "".join(
        f'<li data-step="{number}">{escape(step.text)}</li>' for number, step in enumerate(steps, 1)
    )
    return f'<ol class="steps">{items}</ol>'


def _power_note(power: Power) -> str:
    if not power.complete:
        words = "No place for poles was found: bring electricity to the machines yourself."
        return paragraph(words, "bad")
    if not power.poles:
        return ""
    return paragraph("The last steps are the poles that the blueprints have; they need power.")


def _coordinates_note(spec: TaskSpec) -> str:
    return paragraph(
        f"The grid has {spec.width} x {spec.height} tiles; (x, y) count from the top left, from "
        "0. Green: inputs, orange: the output. Hatched tiles are blocked.",
        "note",
    )


def _use_section(answer: DesignAnswer) -> Section:
    """The bottleneck, a heat map of use, and tables."""
    report = answer.report
    bottleneck = report.bottleneck
    body = ""
    if bottleneck.sentence != answer.limited_by:
        body += paragraph(bottleneck.sentence)
    if bottleneck.change is not None and bottleneck.lifted_rate is not None:
        gain = rate_text(bottleneck.lifted_rate)
        body += paragraph(f"What lifts it: {bottleneck.change}, to {gain}.", "good")
    use, loads = uses(report)
    encoded = io.BytesIO()
    render_heat_png(report.loaded.layout, use, loads, scale=_HEAT_SCALE).save(encoded, "png")
    heat = embed_picture(encoded.getvalue(), "png", "How busy everything is")
    diagnosis = report.diagnosis
    hint = paragraph("A click on a row shows in the plan where it stands.", "note")
    tables = machine_table(diagnosis.machines) + inserter_table(diagnosis.inserters) + hint
    return Section("use", "Use and bottleneck", body + panels([heat, tables]))


def _port_section(answer: DesignAnswer) -> Section:
    found = port_table(answer.spec, answer.report.diagnosis)
    words = "Join belts with these items to the inputs; a full lane carries 7.5 items/s."
    return Section("ports", "Inputs and output", paragraph(words) + found)


def _material_section(answer: DesignAnswer, power: Power) -> Section:
    found = material_table(answer.report.loaded.layout, power)
    return Section("materials", "Materials", found)


def _blueprint_section(answer: DesignAnswer) -> Section:
    boxes = []
    for number, (game, text) in enumerate(answer.blueprints.items()):
        boxes.append(
            f"<h3>Factorio {escape(game)}</h3>"
            f'<textarea id="blueprint-{number}" readonly rows="4">{escape(text)}</textarea>'
            f'<button data-copy="blueprint-{number}">Copy</button>'
        )
    how = details(
        "How to use it",
        paragraph("In the game: Import string (beside the map), paste, Import; place it."),
    )
    return Section("blueprints", "Blueprint strings", panels(boxes) + how)
