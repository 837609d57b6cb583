"""Drafted tasks: ports where the family wants them, and groups of arms that supply every stage."""

from collections.abc import Sequence

import numpy as np
import pytest
from random_drafts import random_draft

from envs.catalogue import RECIPES
from envs.families import FAMILIES, MAX_SOURCES, Family, Link
from envs.layout import DIRECTION_VECTORS
from envs.task_draw import Draft

WIDTH, HEIGHT = 12, 11
PLATE = "iron-plate"
every_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)


def drafts(family: Family, amount: int = 120, min_blocked: int = 0, max_blocked: int = 3):
    rng = np.random.default_rng(0)
    drawn = [
        random_draft(rng, WIDTH, HEIGHT, family, min_blocked, max_blocked) for _ in range(amount)
    ]
    found = [draft for draft in drawn if draft is not None]
    assert len(found) > amount / 2
    return found


def lanes(draft: Draft) -> list[tuple[str | None, str | None]]:
    return [(port.left, port.right) for port in draft.ports[:-1]]


def supplied(draft: Draft) -> set[str]:
    return {item for pair in lanes(draft) for item in pair if item is not None}


@every_family
def test_ports_lie_where_the_family_wants_them(family: Family) -> None:
    for draft in drafts(family):
        *sources, sink = draft.ports
        assert sink.is_sink
        assert not any(port.is_sink for port in sources)
        assert (sink.left, sink.right) == (family.product, family.product)
        for port in draft.ports:
            is_inside = 0 < port.x < WIDTH - 1 and 0 < port.y < HEIGHT - 1
            assert is_inside == family.inner_ports
        assert 2 <= len(draft.ports) <= family.max_ports


@every_family
def test_sources_flow_onto_a_free_cell_and_sinks_can_be_entered(family: Family) -> None:
    for draft in drafts(family):
        cells = {(port.x, port.y) for port in draft.ports}
        assert len(cells) == len(draft.ports)
        taken = cells | set(draft.blocked)
        assert len(taken) == len(draft.ports) + len(draft.blocked)
        fronts = []
        for port in draft.ports:
            dx, dy = DIRECTION_VECTORS[port.direction]
            if port.is_sink:
                assert 0 <= port.x - dx < WIDTH
                assert 0 <= port.y - dy < HEIGHT
                continue
            fronts.append((port.x + dx, port.y + dy))
            assert 0 <= fronts[-1][0] < WIDTH
            assert 0 <= fronts[-1][1] < HEIGHT
        assert not taken & set(fronts)
        assert len(set(fronts)) == len(fronts)


@every_family
def test_sources_supply_all_raw_items_and_nothing_that_is_made(family: Family) -> None:
    for draft in drafts(family):
        assert supplied(draft) == set(family.raw_items)
        assert len(draft.ports) - 1 <= MAX_SOURCES


@every_family
def test_all_numbers_of_machines_and_the_most_ports_come_up(family: Family) -> None:
    found = drafts(family, 200)
    stages = range(len(family.recipes))
    counts = {tuple(draft.machines.count(stage) for stage in stages) for draft in found}
    assert counts == set(family.machines)
    assert all(list(draft.machines) == sorted(draft.machines) for draft in found)
    assert max(len(draft.ports) for draft in found) == family.max_ports


def givers_of(draft: Draft, network: int | None) -> list[int]:
    """Machines that hand to a network."""
    return [
        group.giver
        for group in draft.groups
        if group.network == network and group.giver is not None
    ]


def items_reaching(draft: Draft, family: Family, machine: int) -> set[str]:
    """Items that the groups bring to a machine, each from a network or machine that has it."""
    found = set()
    for group in draft.groups:
        if group.taker != machine:
            continue
        if group.network is None:
            assert group.giver is not None
            available = {family.recipes[draft.machines[group.giver]]}
        elif group.network < len(draft.ports) - 1:
            available = {item for item in lanes(draft)[group.network] if item is not None}
        else:
            available = {
                family.recipes[draft.machines[giver]] for giver in givers_of(draft, group.network)
            }
        assert set(group.items) <= available
        found |= set(group.items)
    return found


@every_family
def test_groups_bring_every_ingredient_and_take_every_product(family: Family) -> None:
    for draft in drafts(family, 60):
        sink_network = draft.num_networks - 1
        assert sink_network >= len(draft.ports) - 1
        for machine, stage in enumerate(draft.machines):
            name = family.recipes[stage]
            assert items_reaching(draft, family, machine) == set(dict(RECIPES[name].ingredients))
            outputs = [group for group in draft.groups if group.giver == machine]
            assert outputs
            assert all(group.items == (name,) for group in outputs)
            to_sink = [group.network == sink_network for group in outputs]
            assert all(to_sink) if name == family.product else not any(to_sink)
        assert all(1 <= group.count <= 3 for group in draft.groups)
        used = {group.network for group in draft.groups} - {None}
        assert used == set(range(draft.num_networks))


@pytest.mark.parametrize("link", Link)
def test_stages_are_joined_as_the_family_says(link: Link) -> None:
    for family in FAMILIES.values():
        if family.link is not link:
            continue
        for draft in drafts(family, 30):
            joined = [group for group in draft.groups if None not in (group.giver, group.taker)]
            assert bool(joined) == (link is Link.DIRECT)
            assert all(group.network is None for group in joined)


def blocked_amounts(found: Sequence[Draft]) -> set[int]:
    return {len(draft.blocked) for draft in found}


def test_blocked_cells_take_every_number_within_the_limits() -> None:
    pipe = FAMILIES["pipe"]
    assert blocked_amounts(drafts(pipe)) == {0, 1, 2, 3}
    assert blocked_amounts(drafts(pipe, 120, 2, 5)) == {2, 3, 4, 5}
    assert blocked_amounts(drafts(pipe, 120, 4, 4)) == {4}
    rng = np.random.default_rng(0)
    full = [random_draft(rng, 4, 3, pipe, 40, 40) for _ in range(20)]
    # Everything but two ports and the cell that the source flows into.
    assert blocked_amounts([draft for draft in full if draft is not None]) == {9}


def test_single_items_fill_one_or_both_lanes() -> None:
    found = {lanes(draft)[0] for draft in drafts(FAMILIES["pipe"])}
    assert found == {(PLATE, PLATE), (PLATE, None), (None, PLATE)}


def test_two_inputs_come_from_two_sources_or_from_one_with_a_lane_each() -> None:
    circuits = drafts(FAMILIES["circuit"])
    assert {len(draft.ports) for draft in circuits} == {2, 3}
    shared = {lanes(draft)[0] for draft in circuits if len(draft.ports) == 2}
    assert shared == {(PLATE, "copper-cable"), ("copper-cable", PLATE)}


def test_stages_that_use_the_same_item_share_a_source_or_have_their_own() -> None:
    found = drafts(FAMILIES["belt-own-gear-belt"])
    assert {len(draft.ports) for draft in found} == {2, 3}
    for draft in found:
        networks = [{group.network for group in draft.groups if group.taker == of} for of in (0, 1)]
        # The belt machine also takes gears from the network between the stages.
        common = networks[0] & networks[1]
        assert len(common) == (1 if len(draft.ports) == 2 else 0)


def test_ports_that_come_too_close_give_no_draft() -> None:
    rng = np.random.default_rng(0)
    drawn = [random_draft(rng, 2, 2, FAMILIES["circuit"], 0, 0) for _ in range(60)]
    assert None in drawn
