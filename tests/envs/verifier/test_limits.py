"""Why an output gets no more: each reason in the layout that shows it."""

import pytest
from diagnosis_layouts import (
    BURNER,
    FAST,
    all_public,
    dead_end_gear,
    diagnosed,
    gear_row,
    passing_copper,
)
from verifier_layouts import (
    COPPER,
    GEAR,
    IRON,
    arm,
    asm,
    chest,
    chest_sink,
    draw,
    furnace,
    sink,
    source,
)

from envs.catalogue import RECIPES, SMELTING
from envs.layout import EAST, SOUTH, Layout
from envs.verifier.limits import explain


def why(layout: Layout) -> str:
    """The reason at the last output, whose own item comes first."""
    diagnosis = diagnosed(layout)
    place = max((rate.y, rate.x) for rate in diagnosis.verified.rates)
    wanted = {(one.y, one.x): one.item for one in layout.entities if one.item is not None}
    output = next(
        rate
        for rate in diagnosis.verified.rates
        if (rate.y, rate.x) == place and rate.item == wanted[place]
    )
    return explain(layout, diagnosis, output)


def test_a_full_belt_passes_all_that_it_can() -> None:
    assert why(draw("S>K", S=source(EAST), K=sink(EAST))) == (
        "both lanes of the belt pass all that a belt can"
    )


def test_one_full_lane_is_not_a_full_belt() -> None:
    layout = draw("S>K", S=source(EAST, IRON, None), K=sink(EAST))
    assert why(layout) == "the left lane of the belt at (0, 0) passes all that a lane can"


def test_another_item_arrives() -> None:
    layout = draw("S>K", S=source(EAST, COPPER, "stone"), K=sink(EAST, IRON))
    assert why(layout) == "what arrives there is copper-plate and stone"


def test_busy_arms_fill_the_output() -> None:
    layout = draw("CAK", C=chest(), A=FAST, K=chest_sink())
    assert why(layout) == "the inserters that fill it are busy all the time"


def test_the_arm_that_should_fill_the_output_takes_no_part() -> None:
    assert why(draw(".AK", A=FAST, K=chest_sink())) == (
        "the fast-inserter at (1, 0) takes no part, for lack of a pickup or drop"
    )


def test_what_is_made_goes_elsewhere() -> None:
    layout = draw(
        "..M....\nCB...TL\n.......\n......K",
        C=chest(),
        B=FAST,
        M=asm(GEAR),
        T=FAST,
        L=chest_sink(None),
        K=chest_sink(GEAR),
    )
    assert why(layout) == "nothing leads iron-gear-wheel from (2, 0) to (6, 3)"


def test_every_machine_is_busy() -> None:
    assert why(gear_row(FAST, FAST)) == (
        "every machine that makes iron-gear-wheel is busy all the time"
    )


def test_nothing_takes_the_product_out() -> None:
    layout = draw("CBM...\n......\n.....K", C=chest(), B=FAST, M=asm(GEAR), K=chest_sink(GEAR))
    assert why(layout) == (
        "no inserter takes iron-gear-wheel out of the iron-gear-wheel machine at (2, 0)"
    )


def test_what_takes_the_product_out_leads_nowhere() -> None:
    layout = draw(
        "CBM..T.\n.......\n......K", C=chest(), B=FAST, M=asm(GEAR), T=FAST, K=chest_sink(GEAR)
    )
    assert why(layout) == (
        "no inserter takes iron-gear-wheel out of the iron-gear-wheel machine at (2, 0): "
        "the fast-inserter at (5, 0) takes no part, for lack of a pickup or drop"
    )


def test_the_arms_that_empty_a_machine_are_busy() -> None:
    layout = draw(
        "CBM..T>K\n........\n........",
        C=chest(),
        B=FAST,
        M=asm(GEAR, "assembling-machine-3"),
        T=BURNER,
        K=sink(EAST, GEAR),
    )
    assert why(layout) == (
        "the inserters that empty the iron-gear-wheel machine at (2, 0) are busy all the time"
    )


def test_what_takes_the_product_out_fills_a_belt_that_ends() -> None:
    layout = draw(
        "CBM..T>\n.......\n.......\n......K",
        C=chest(),
        B=FAST,
        M=asm(GEAR),
        T=FAST,
        K=chest_sink(GEAR),
    )
    assert why(layout) == (
        "nothing leads iron-gear-wheel from (2, 0) to (6, 3), for its belt ends at (6, 0)"
    )


def test_a_blocked_arm_is_named_beside_a_busy_one() -> None:
    layout = draw(
        "CBM..T>K\n........\n.....U>.",
        C=chest(),
        B=FAST,
        M=asm(GEAR, "assembling-machine-3"),
        T=BURNER,
        U=FAST,
        K=sink(EAST, GEAR),
    )
    assert why(layout) == (
        "the iron-gear-wheel machine at (2, 0) waits (output full): the fast-inserter at (5, 2) "
        "waits (no room to drop), for its belt ends at (6, 2)"
    )


def test_an_input_whose_belt_ends_before_the_output_leads_nowhere() -> None:
    layout = draw("S>v.K\n..>..", S=source(EAST), K=sink(EAST))
    assert (
        why(layout) == "nothing leads iron-plate from (0, 0) to (4, 0), for its belt ends at (2, 1)"
    )


def test_machines_whose_products_cannot_get_there_are_not_blamed() -> None:
    """Two rows: one makes gears for the output, the other, which starves, for nobody."""
    layout = draw(
        "..M....\nCB...TK\n.......\n..M....\n.......\n.......",
        C=chest(),
        B=FAST,
        M=asm(GEAR),
        T=FAST,
        K=chest_sink(GEAR),
    )
    assert why(layout) == "every machine that makes iron-gear-wheel is busy all the time"


def test_nothing_makes_or_brings_the_item() -> None:
    layout = draw("S>..K", S=source(EAST), K=chest_sink(GEAR))
    assert why(layout) == "no machine makes iron-gear-wheel and no input brings it"


def test_nothing_brings_the_ingredient() -> None:
    layout = draw("M..TK\n.....\n.....", M=asm(GEAR), T=FAST, K=chest_sink(GEAR))
    assert why(layout) == ("no inserter brings iron-plate to the iron-gear-wheel machine at (0, 0)")


def test_what_should_bring_the_ingredient_takes_no_part() -> None:
    layout = draw(".BM..TK\n.......\n.......", B=FAST, M=asm(GEAR), T=FAST, K=chest_sink(GEAR))
    assert why(layout) == (
        "no inserter brings iron-plate to the iron-gear-wheel machine at (2, 0): "
        "the fast-inserter at (1, 0) takes no part, for lack of a pickup or drop"
    )


def test_a_belt_that_stands_on_the_wrong_item_is_stuck() -> None:
    assert why(dead_end_gear(COPPER, None)) == (
        "the iron-gear-wheel machine at (4, 0) waits for iron-plate: the belt before the inserter "
        "at (3, 0) is stuck on copper-plate, which it does not want"
    )


@pytest.mark.parametrize("right", [COPPER, None])
def test_a_belt_that_flows_past_is_not_stuck(right: str | None) -> None:
    assert why(passing_copper(right)) == (
        "the iron-gear-wheel machine at (1, 2) waits for iron-plate: "
        "no machine makes iron-plate and no input brings it"
    )


def test_a_belt_that_another_arm_empties_is_not_stuck() -> None:
    layout = draw(
        """
        .....K.
        .....B.
        S>>>>>.
        .....A.
        ....M..
        .......
        .......
        .....T.
        .....L.
        """,
        S=source(EAST, COPPER, None),
        B=arm(0),
        K=chest_sink(COPPER),
        A=arm(SOUTH),
        M=asm(GEAR),
        T=arm(SOUTH),
        L=chest_sink(GEAR),
    )
    assert "stuck" not in why(layout)


def test_the_arm_that_brings_the_lacking_ingredient_is_busy() -> None:
    """A basic arm brings 6/7 plates a second, of which a magazine takes 4."""
    layout = draw(
        "CBM..TK\n.......\n.......",
        C=chest(),
        B=arm(EAST),
        M=asm("firearm-magazine", "assembling-machine-3"),
        T=FAST,
        K=chest_sink("firearm-magazine"),
    )
    assert why(layout) == (
        "the firearm-magazine machine at (2, 0) waits for iron-plate: "
        "its inserter at (1, 0) is busy all the time"
    )


def test_an_arm_that_is_busy_with_another_ingredient_is_not_blamed() -> None:
    """Plates and gears come equally slowly; of equals the first ingredient is named."""
    layout = draw(
        """
        ..G....
        ..B....
        CAM..TK
        .......
        .......
        """,
        C=chest(IRON),
        A=arm(EAST),
        G=chest(GEAR),
        B=arm(SOUTH),
        M=asm("transport-belt", "assembling-machine-3"),
        T=FAST,
        K=chest_sink("transport-belt"),
    )
    assert why(layout) == (
        "the transport-belt machine at (2, 2) waits for iron-plate: "
        "its inserter at (1, 2) is busy all the time"
    )


def test_the_reason_is_sought_upstream_through_machines() -> None:
    layout = draw(
        """
        CAF.BM..TK
        ..........
        ..........
        """,
        C=chest("iron-ore"),
        A=FAST,
        F=furnace(IRON, "steel-furnace"),
        B=FAST,
        M=asm(GEAR),
        T=FAST,
        K=chest_sink(GEAR),
    )
    assert why(layout) == (
        "the iron-gear-wheel machine at (5, 0) waits for iron-plate: "
        "every machine that makes iron-plate is busy all the time"
    )


def test_no_recipe_needs_what_is_made_from_it() -> None:
    """So the search upstream ends."""
    recipes = {**RECIPES, **SMELTING}

    def depth(item: str) -> int:
        parts = recipes[item].ingredients if item in recipes else ()
        return 1 + max((depth(part) for part, _ in parts), default=0)

    assert max(map(depth, recipes)) < len(recipes)


@pytest.mark.parametrize("layout", all_public().values(), ids=all_public().keys())
def test_every_output_has_a_reason_on_one_line(layout: Layout) -> None:
    diagnosis = diagnosed(layout)
    for rate in diagnosis.verified.rates:
        reason = explain(layout, diagnosis, rate)
        assert reason
        assert "\n" not in reason
