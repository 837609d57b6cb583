"""Belt lanes in motion: put, take, move, sources and sinks (R11-R18).

Each chain keeps its items front first in its own part of `State.position` and `State.item`. Two
notes per chain save work without changing a result: `settled` items at the front stand packed
against a blocked end, and behind index `squeezed` every gap is at least 64, so that once an item
there moves the full 8, all items behind it do. Compiled code only.
"""

from envs.catalogue import BELT_ITEM_GAP as GAP
from envs.catalogue import BELT_SPEED_PER_TICK as SPEED
from envs.verifier.jit import inlined, outlined
from envs.verifier.lanes import SPARE
from envs.verifier.records import (
    CHASE_GONE,
    CHASE_LEFT,
    CHASE_NOTHING,
    DRAIN,
    NONE,
    SIDELOAD,
)
from envs.verifier.state import DRAINED_START, FEED_START

FREE = -(1 << 28)
"""Coordinate of the item ahead when there is none."""

BLOCKED = -GAP
"""Coordinate of an item ahead that stops the next one at 0 (R12)."""


@inlined
def first_above(position, low, high, coordinate):
    """The first index in low..high whose item lies behind a coordinate."""
    while low < high:
        middle = (low + high) >> 1
        if position[middle] > coordinate:
            high = middle
        else:
            low = middle + 1
    return low


@inlined
def _shift_chases(plan, state, number, index, by):
    """Keeps arms on their items when indices of a chain from `index` on change."""
    first = plan.chains[number].first_picker
    for at in range(first, first + plan.chains[number].picker_count):
        a = plan.pickers[at]
        arm = state.arms[a]
        if arm.chase == CHASE_NOTHING or arm.chase == CHASE_GONE or arm.index < index:
            continue
        if plan.lanes[plan.arms[a].from_lane + arm.chase - CHASE_LEFT].chain == number:
            arm.index += by


@inlined
def _insert(plan, state, number, index, coordinate, item):
    """Puts an item at an index of a chain's part."""
    chain = state.chains[number]
    position, items = state.position, state.item
    end = chain.first + chain.count
    if index < end:
        for i in range(end, index, -1):
            position[i], items[i] = position[i - 1], items[i - 1]
        _shift_chases(plan, state, number, index, 1)
        if chain.squeezed >= index:
            chain.squeezed += 1
        if position[index + 1] - coordinate < GAP:
            chain.squeezed = max(chain.squeezed, index + 1)
    position[index], items[index] = coordinate, item
    chain.settled = min(chain.settled, index - chain.first)
    chain.count += 1


@inlined
def _pop_front(plan, state, number):
    """Removes the front item of a chain; moves the rest back when its part has drifted."""
    chain = state.chains[number]
    chain.first += 1
    chain.count -= 1
    chain.left += 1
    chain.settled = 0
    base = plan.chains[number].base
    if chain.first - base < SPARE:
        return
    for i in range(chain.count):
        state.position[base + i] = state.position[chain.first + i]
        state.item[base + i] = state.item[chain.first + i]
    _shift_chases(plan, state, number, base, base - chain.first)
    chain.squeezed = max(chain.squeezed - SPARE, NONE)
    chain.first = base


@outlined
def take(plan, state, number, index):
    """Removes the item at an index of a chain and returns it (R29)."""
    chain = state.chains[number]
    item = state.item[index]
    first = plan.chains[number].first_picker
    for at in range(first, first + plan.chains[number].picker_count):
        a = plan.pickers[at]
        arm = state.arms[a]
        if arm.chase == CHASE_NOTHING or arm.chase == CHASE_GONE or arm.index != index:
            continue
        if plan.lanes[plan.arms[a].from_lane + arm.chase - CHASE_LEFT].chain == number:
            arm.chase = CHASE_GONE
    end = chain.first + chain.count
    for i in range(index, end - 1):
        state.position[i], state.item[i] = state.position[i + 1], state.item[i + 1]
    _shift_chases(plan, state, number, index + 1, -1)
    if chain.squeezed > index:
        chain.squeezed -= 1
    chain.settled = min(chain.settled, index - chain.first)
    chain.count -= 1
    return item


@outlined
def put(plan, state, lane, judged, aimed, item):
    """R11: whether an item found room on a lane. `judged`, `aimed` are positions on its tile."""
    spot = plan.lanes[lane]
    chain = state.chains[spot.chain]
    position = state.position
    end = chain.first + chain.count
    judged += spot.offset
    index = first_above(position, chain.first, end, judged)
    ahead = FREE
    if index > chain.first:
        ahead = position[index - 1]
    elif chain.count and plan.chains[spot.chain].is_loop:
        ahead = position[end - 1] - plan.chains[spot.chain].total
    room = max(judged, ahead + GAP)
    # Round a loop the next item would be index `first` again, but it lies beyond this tile, where
    # a put is refused in any case.
    while index < end and position[index] <= room and room - judged < GAP:
        ahead = position[index]
        room = max(room, ahead + GAP)
        index += 1
    if room - judged >= GAP:
        return False
    room = max(room, aimed + spot.offset)
    place = max(min(max(room - SPEED, ahead + GAP), room), spot.offset)
    if place >= spot.offset + spot.length:
        return False
    _insert(plan, state, spot.chain, index, place, item)
    if index == end and plan.chains[spot.chain].is_loop:
        next_round = position[chain.first] + plan.chains[spot.chain].total
        if next_round - place < GAP:
            chain.squeezed = end
    return True


@inlined
def _follow(state, number, ahead):
    """R12 for all items of an open chain, the front one behind `ahead`."""
    chain = state.chains[number]
    position = state.position
    first, end = chain.first, chain.first + chain.count
    index, squeezed, behind = first, chain.squeezed, NONE
    if ahead == BLOCKED:
        index += chain.settled
        ahead += GAP * chain.settled
    else:
        chain.settled = 0
    while index < end:
        old = position[index]
        new = min(old, max(old - SPEED, ahead + GAP))
        if new - ahead < GAP:
            behind = index
        position[index] = new
        ahead = new
        index += 1
        if new == old - SPEED and index > squeezed:
            break
    for i in range(index, end):
        position[i] -= SPEED
    chain.squeezed = behind


@inlined
def _settle(state, number):
    """Notes items that have come to stand packed against a blocked end."""
    chain = state.chains[number]
    while (
        chain.settled < chain.count
        and state.position[chain.first + chain.settled] == GAP * chain.settled
    ):
        chain.settled += 1


@inlined
def _move_draining(plan, state, number):
    """A chain that ends in a sink (R18)."""
    chain = state.chains[number]
    chain.drained = max(chain.drained - SPEED, DRAINED_START)
    if chain.count:
        old = state.position[chain.first]
        new = min(old, max(old - SPEED, chain.drained + GAP))
        if new < 0:
            state.delivered[plan.chains[number].sink, state.item[chain.first]] += 1
            chain.drained = new
            _pop_front(plan, state, number)
    _follow(state, number, chain.drained)


@inlined
def _move_blocked(plan, state, number, front):
    """A chain that sideloads (R13, R15) or dead-ends.

    The put comes before the chain's other items move. Only a chain that feeds itself could tell,
    and for it R15 asks for this.
    """
    chain = state.chains[number]
    blocked = front.link != SIDELOAD
    while not blocked and chain.count and state.position[chain.first] < SPEED:
        aimed = front.entry + state.position[chain.first]
        item = state.item[chain.first]
        if put(plan, state, front.target, front.entry, aimed, item):
            _pop_front(plan, state, number)
        else:
            blocked = True
    _follow(state, number, BLOCKED if blocked else FREE)
    if blocked:
        _settle(state, number)


@outlined
def _squeeze(state, number, total):
    """Moves of a loop in which some gap is below 64 (R16)."""
    chain = state.chains[number]
    position, moves = state.position, state.moves
    first, end = chain.first, chain.first + chain.count
    for i in range(first, end):
        moves[i] = SPEED
    changed = True
    while changed:
        changed = False
        for i in range(first, end):
            ahead = i - 1 if i > first else end - 1
            gap = position[i] - position[ahead] + (0 if i > first else total)
            limit = max(0, gap + moves[ahead] - GAP)
            if chain.count > 1 and moves[i] > limit:
                moves[i] = limit
                changed = True
    chain.squeezed = NONE
    for i in range(first, end):
        position[i] -= moves[i]
        if i > first and position[i] - position[i - 1] < GAP:
            chain.squeezed = i
    if position[first] + total - position[end - 1] < GAP:
        chain.squeezed = end


@inlined
def _move_loop(plan, state, number):
    """R16."""
    chain = state.chains[number]
    position = state.position
    if chain.count == 0:
        return
    total = plan.chains[number].total
    if chain.squeezed == NONE:
        for i in range(chain.first, chain.first + chain.count):
            position[i] -= SPEED
    else:
        _squeeze(state, number, total)
    while position[chain.first] < 0:
        coordinate, item = position[chain.first] + total, state.item[chain.first]
        _pop_front(plan, state, number)
        _insert(plan, state, number, chain.first + chain.count, coordinate, item)


@inlined
def _feed(plan, state, number):
    """R17, after the chain has moved."""
    info, chain = plan.chains[number], state.chains[number]
    if info.source_item == NONE:
        return
    end = chain.first + chain.count
    edge = plan.lanes[info.source_lane].offset
    feed = chain.feed - SPEED
    if chain.count:
        feed = max(feed, state.position[end - 1] - edge + GAP)
    feed = min(chain.feed, feed)
    if feed < FEED_START:
        _insert(plan, state, number, end, feed + edge, info.source_item)
        chain.fed += 1
        feed += GAP
    chain.feed = feed


@inlined
def move_lanes(plan, state):
    """Step (a) of a tick: every lane moves, in the order of R14."""
    for number in plan.order:
        info = plan.chains[number]
        front = plan.lanes[info.front]
        if info.is_loop:
            _move_loop(plan, state, number)
        elif front.link == DRAIN:
            _move_draining(plan, state, number)
        elif state.chains[number].count:
            _move_blocked(plan, state, number, front)
        _feed(plan, state, number)
