"""Cuts a plan into parts that share no belt, arm or machine, and takes one part out.

Parts never act on one another, so each is run until its own state recurs: the layout's period is
the least common multiple of theirs, its transient the longest of theirs (R45). Records are sorted
by part, their order within a part stays as R14 and R34 want it. Compiled code only.
"""

import numpy as np

from envs.verifier.jit import allocating
from envs.verifier.lanes import SPARE
from envs.verifier.records import NONE, PART, SIDELOAD, Plan


@allocating
def _root(parent, node):
    """The node that stands for a node's part."""
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@allocating
def _join(parent, one, other):
    """Makes two nodes' parts one; the lower node stands for it."""
    a, b = _root(parent, one), _root(parent, other)
    if a < b:
        parent[b] = a
    else:
        parent[a] = b


@allocating
def _label(lanes, chains, arms, machine_count):
    """The part of each chain, arm and machine, as consecutive numbers; and how many parts."""
    first_arm, first_machine = len(chains), len(chains) + len(arms)
    parent = np.arange(first_machine + machine_count)
    for number in range(len(chains)):
        front = lanes[chains[number].front]
        if front.link == SIDELOAD:
            _join(parent, number, lanes[front.target].chain)
    for number in range(len(arms)):
        arm, node = arms[number], first_arm + number
        if arm.from_lane != NONE:
            _join(parent, node, lanes[arm.from_lane].chain)
            _join(parent, node, lanes[arm.from_lane + 1].chain)
        if arm.to_lane != NONE:
            _join(parent, node, lanes[arm.to_lane].chain)
        if arm.from_machine != NONE:
            _join(parent, node, first_machine + arm.from_machine)
        if arm.to_machine != NONE:
            _join(parent, node, first_machine + arm.to_machine)
    label, count = np.empty(len(parent), np.int32), 0
    for node in range(len(parent)):
        root = _root(parent, node)
        if root == node:
            label[node], count = count, count + 1
        else:
            label[node] = label[root]
    return label, count


@allocating
def _sorted_by_part(labels, count):
    """Indices sorted by part and otherwise unchanged, each one's place in its part, ends."""
    ends = np.zeros(count + 1, np.int32)
    for label in labels:
        ends[label + 1] += 1
    ends = np.cumsum(ends).astype(np.int32)
    filled = ends[:-1].copy()
    order, place = np.empty(len(labels), np.int32), np.empty(len(labels), np.int32)
    for index in range(len(labels)):
        label = labels[index]
        order[filled[label]] = index
        place[index] = filled[label] - ends[label]
        filled[label] += 1
    return order, place, ends[1:]


@allocating
def _place_of(sinks, first, count, sink):
    """Place of a sink among those of its part, NONE for NONE."""
    for index in range(first, count):
        if sinks[index] == sink:
            return index - first
    return NONE


@allocating
def _number_sinks(chains, arms, parts):
    """Numbers the sinks of each part from 0 on; returns their numbers in the layout."""
    sinks = np.empty(len(chains) + len(arms), np.int32)
    count, first_chain, first_arm = 0, 0, 0
    for part in parts:
        first = count
        for index in range(first_chain, part.chains):
            sink = chains[index].sink
            if sink != NONE and _place_of(sinks, first, count, sink) == NONE:
                sinks[count] = sink
                count += 1
            chains[index].sink = _place_of(sinks, first, count, sink)
        for index in range(first_arm, part.arms):
            sink = arms[index].to_sink
            if sink != NONE and _place_of(sinks, first, count, sink) == NONE:
                sinks[count] = sink
                count += 1
            arms[index].to_sink = _place_of(sinks, first, count, sink)
        part.sinks = count
        first_chain, first_arm = part.chains, part.arms
    return sinks[:count].copy()


@allocating
def _list_pickers(lanes, chains, arms, arm_place):
    """For each chain the arms that pick from it, numbered in their part."""
    for arm in arms:
        if arm.from_lane != NONE:
            for lane in range(2):
                chains[lanes[arm.from_lane + lane].chain].picker_count += 1
    total = 0
    for chain in chains:
        chain.first_picker = total
        total += chain.picker_count
        chain.picker_count = 0
    pickers = np.empty(total, np.int32)
    for number in range(len(arms)):
        if arms[number].from_lane != NONE:
            for lane in range(2):
                chain = chains[lanes[arms[number].from_lane + lane].chain]
                pickers[chain.first_picker + chain.picker_count] = arm_place[number]
                chain.picker_count += 1
    return pickers


@allocating
def _permuted(records, order):
    """Records in another order."""
    result = np.empty_like(records)
    for index in range(len(order)):
        result[index] = records[order[index]]
    return result


@allocating
def _share_item_arrays(chains, parts):
    """Gives each chain its own stretch of its part's item arrays.

    Items of a chain have different coordinates, so a chain never holds more than its length.
    """
    first = 0
    for part in parts:
        base = 0
        for index in range(first, part.chains):
            chains[index].base = base
            base += chains[index].total + SPARE
        part.capacity, first = base, part.chains


@allocating
def _moving_order(order, labels, place, ends):
    """The moving order of each part, by the chains' numbers in it (R14)."""
    result = np.empty_like(order)
    filled = np.zeros(len(ends), np.int32)
    filled[1:] = ends[:-1]
    for chain in order:
        part = labels[chain]
        result[filled[part]] = place[chain]
        filled[part] += 1
    return result


@allocating
def cut(lanes, chains, order, arms, machines, needs, items):
    """The fields of a `Plan` from records that are numbered through the whole layout."""
    labels, count = _label(lanes, chains, arms, len(machines))
    last_arm = len(chains) + len(arms)
    by_part, place, chain_ends = _sorted_by_part(labels[: len(chains)], count)
    arms_by_part, arm_place, arm_ends = _sorted_by_part(labels[len(chains) : last_arm], count)
    machines_by_part, machine_place, machine_ends = _sorted_by_part(labels[last_arm:], count)
    parts = np.zeros(count, PART)
    for number in range(count):
        part = parts[number]
        part.chains, part.arms, part.machines = (
            chain_ends[number],
            arm_ends[number],
            machine_ends[number],
        )
    pickers = _list_pickers(lanes, chains, arms, arm_place)
    for lane in lanes:
        if lane.chain != NONE:
            lane.chain = place[lane.chain]
    for arm in arms:
        if arm.from_machine != NONE:
            arm.from_machine = machine_place[arm.from_machine]
        if arm.to_machine != NONE:
            arm.to_machine = machine_place[arm.to_machine]
    order = _moving_order(order, labels, place, chain_ends)
    chains, arms = _permuted(chains, by_part), _permuted(arms, arms_by_part)
    _share_item_arrays(chains, parts)
    sinks = _number_sinks(chains, arms, parts)
    return (
        lanes,
        chains,
        order,
        arms,
        pickers,
        _permuted(machines, machines_by_part),
        needs[machines_by_part],
        sinks,
        parts,
        np.array([items]),
    )


@allocating
def take_part(plan, number):
    """One part of a plan, as a plan of its own."""
    end = plan.parts[number]
    chains = arms = machines = sinks = 0
    if number > 0:
        before = plan.parts[number - 1]
        chains, arms, machines, sinks = before.chains, before.arms, before.machines, before.sinks
    return Plan(
        plan.lanes,
        plan.chains[chains : end.chains],
        plan.order[chains : end.chains],
        plan.arms[arms : end.arms],
        plan.pickers,
        plan.machines[machines : end.machines],
        plan.needs[machines : end.machines],
        plan.sinks[sinks : end.sinks],
        plan.parts[number : number + 1],
        plan.items,
    )
