"""States of a running layout: start, packing into words, and a cheap signature (R17-R18, R35, R44).

Packed words hold exactly the state of R44: two states are equal when their words are. The word of
a chased item is its place in its chain, which with equal chains is the same as its coordinate.
Compiled code only.
"""

import numpy as np

from envs.verifier.jit import allocating, inlined
from envs.verifier.records import (
    ARM_STATE,
    CHAIN_STATE,
    CHASE_LEFT,
    CHASE_RIGHT,
    MACHINE_STATE,
    NONE,
    RETURN,
    State,
)

FEED_START = 256
"""v of R17 at the start."""

DRAINED_START = -72
"""z of R18 at the start, and its least value."""

ARM_START_LENGTH = 179_200
"""Arm length at the start (R35) [S1]."""


@allocating
def start(plan):
    """The state of a part before the first tick."""
    capacity = plan.parts[0].capacity
    chains = np.zeros(len(plan.chains), CHAIN_STATE)
    for number in range(len(chains)):
        chain = chains[number]
        chain.first = plan.chains[number].base
        chain.feed, chain.drained, chain.squeezed = FEED_START, DRAINED_START, NONE
    arms = np.zeros(len(plan.arms), ARM_STATE)
    for number in range(len(arms)):
        arm = arms[number]
        arm.angle, arm.length = plan.arms[number].pick_angle, ARM_START_LENGTH
        arm.phase, arm.held = RETURN, NONE
    return State(
        chains,
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        arms,
        np.zeros(len(plan.machines), MACHINE_STATE),
        np.zeros(plan.needs.shape, np.int32),
        np.zeros((len(plan.sinks), plan.items[0]), np.int64),
    )


@allocating
def packed_size(state):
    """Number of words of a state."""
    size = 3 * len(state.chains) + 6 * len(state.arms)
    size += 2 * len(state.machines) + state.stock.size
    for number in range(len(state.chains)):
        size += 2 * state.chains[number].count
    return size


@allocating
def _chased_chain(plan, number, chase):
    """Number of the chain of a chased item."""
    return plan.lanes[plan.arms[number].from_lane + chase - CHASE_LEFT].chain


@allocating
def pack(plan, state):
    """The state as int32 words."""
    words = np.empty(packed_size(state), np.int32)
    at = 0
    for number in range(len(state.chains)):
        chain = state.chains[number]
        words[at], words[at + 1], words[at + 2] = chain.count, chain.feed, chain.drained
        at += 3
        for index in range(chain.first, chain.first + chain.count):
            words[at], words[at + 1] = state.position[index], state.item[index]
            at += 2
    for number in range(len(state.arms)):
        arm = state.arms[number]
        words[at], words[at + 1], words[at + 2] = arm.angle, arm.length, arm.phase
        words[at + 3], words[at + 4], words[at + 5] = arm.held, arm.chase, 0
        if arm.chase == CHASE_LEFT or arm.chase == CHASE_RIGHT:
            first = state.chains[_chased_chain(plan, number, arm.chase)].first
            words[at + 5] = arm.index - first
        at += 6
    for number in range(len(state.machines)):
        machine = state.machines[number]
        words[at], words[at + 1] = machine.remaining, machine.made
        at += 2
        for slot in range(state.stock.shape[1]):
            words[at] = state.stock[number, slot]
            at += 1
    return words


@allocating
def unpack(plan, words, at):
    """The state that was packed into words from index `at` on."""
    state = start(plan)
    for number in range(len(state.chains)):
        chain = state.chains[number]
        chain.count, chain.feed, chain.drained = words[at], words[at + 1], words[at + 2]
        at += 3
        for index in range(chain.first, chain.first + chain.count):
            state.position[index], state.item[index] = words[at], words[at + 1]
            at += 2
        chain.squeezed = chain.first + chain.count
    for number in range(len(state.arms)):
        arm = state.arms[number]
        arm.angle, arm.length, arm.phase = words[at], words[at + 1], words[at + 2]
        arm.held, arm.chase = words[at + 3], words[at + 4]
        if arm.chase == CHASE_LEFT or arm.chase == CHASE_RIGHT:
            first = state.chains[_chased_chain(plan, number, arm.chase)].first
            arm.index = words[at + 5] + first
        at += 6
    for number in range(len(state.machines)):
        machine = state.machines[number]
        machine.remaining, machine.made = words[at], words[at + 1]
        at += 2
        for slot in range(state.stock.shape[1]):
            state.stock[number, slot] = words[at]
            at += 1
    return state


PRODUCT_WEIGHT = np.uint64(0xA24BAED4963EE407)
"""Odd factor of product counts in a signature."""


@inlined
def signature(state):
    """A number that is equal for equal states and nearly always differs for others."""
    return signature_but_products(state) + products_signature(state)


@inlined
def products_signature(state):
    """The part of the signature that the product counts of machines make up."""
    mixed, weight = np.uint64(0), PRODUCT_WEIGHT
    for number in range(len(state.machines)):
        mixed += weight * np.uint64(state.machines[number].made)
        weight *= PRODUCT_WEIGHT
    return mixed


@inlined
def signature_but_products(state):
    """The part of the signature that everything else makes up."""
    mixed = np.uint64(0)
    weight = np.uint64(0x9E3779B97F4A7C15)
    step = np.uint64(0xD1342543DE82EF95)
    for number in range(len(state.arms)):
        arm = state.arms[number]
        mixed += weight * np.uint64(arm.angle * 1_000_003 + arm.length + arm.held * 15_485_863)
        weight *= step
    for number in range(len(state.machines)):
        summary = np.int64(state.machines[number].remaining)
        for slot in range(state.stock.shape[1]):
            summary = summary * 1_009 + state.stock[number, slot]
        mixed += weight * np.uint64(summary)
        weight *= step
    for number in range(len(state.chains)):
        chain = state.chains[number]
        summary = np.int64(chain.count)
        if chain.count:
            last = state.position[chain.first + chain.count - 1]
            summary += 1_009 * (state.position[chain.first] + np.int64(last) * 100_003)
        mixed += weight * np.uint64(summary)
        weight *= step
    return mixed
