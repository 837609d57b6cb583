"""Inserters: stepping, choosing, chasing, picking and dropping (R23-R34).

Each arm acts once per tick, on the belts and machines as earlier arms left them. Compiled code
only.
"""

from envs.verifier.belts import first_above, put, take
from envs.verifier.jit import inlined
from envs.verifier.records import (
    CARRY,
    CHASE_GONE,
    CHASE_LEFT,
    CHASE_NOTHING,
    NONE,
    RETURN,
    WAIT_DROP,
    WAIT_PICK,
)
from envs.verifier.targets import HALF, LENGTH_PER_POSITION, QUARTER, TURN


@inlined
def step(info, arm, angle, length, near):
    """R23, R25: one tick towards a point; whether the arm arrives."""
    reach = length - arm.length
    there = abs(reach) < 2 * info.extension
    if there:
        arm.length = length
    else:
        arm.length += info.extension if reach > 0 else -info.extension
    turn = angle - arm.angle
    if turn >= HALF:
        turn -= TURN
    elif turn <= -HALF:
        turn += TURN
    if abs(turn) <= info.rotation or (there and abs(turn) < near):
        arm.angle = angle
        return there
    moved = arm.angle + (info.rotation if turn > 0 else -info.rotation)
    arm.angle = moved + TURN if moved < 0 else (moved - TURN if moved >= TURN else moved)
    return False


@inlined
def wants(plan, state, machine, item):
    """R30, for a machine or, with NONE, for a belt."""
    if machine == NONE:
        return True
    for slot in range(plan.machines[machine].needs):
        need = plan.needs[machine, slot]
        if need.item == item:
            return state.stock[machine, slot] < need.limit
    return False


@inlined
def _wants_anything(plan, state, machine):
    """Whether any item is wanted, which saves looking at the belt."""
    if machine == NONE:
        return True
    for slot in range(plan.machines[machine].needs):
        if state.stock[machine, slot] < plan.needs[machine, slot].limit:
            return True
    return False


@inlined
def _choose(plan, state, info, arm):
    """R27: starts to chase the item preferred on the pickup tile, if any is wanted."""
    arm.chase = CHASE_NOTHING
    if not _wants_anything(plan, state, info.to_machine):
        return
    for turn in range(2):
        lane = info.first_lane if turn == 0 else 1 - info.first_lane
        spot = plan.lanes[info.from_lane + lane]
        chain = state.chains[spot.chain]
        low, high = chain.first, chain.first + chain.count
        index = first_above(state.position, low, high, spot.offset + spot.length - 1) - 1
        while index >= low and state.position[index] >= spot.offset:
            if wants(plan, state, info.to_machine, state.item[index]):
                arm.chase, arm.index = CHASE_LEFT + lane, index
                return
            index -= 1


@inlined
def _chased_position(plan, state, info, arm):
    """Position of the chased item on the pickup tile, NONE when it is no longer there."""
    if arm.chase == CHASE_GONE:
        return NONE
    spot = plan.lanes[info.from_lane + arm.chase - CHASE_LEFT]
    if arm.index < state.chains[spot.chain].first:
        return NONE
    position = state.position[arm.index] - spot.offset
    return position if 0 <= position < spot.length else NONE


@inlined
def _over_tile(targets, info, arm):
    """Whether the hand is over the pickup tile (R28)."""
    angle = abs(arm.angle - info.facing * QUARTER)
    angle = min(angle, TURN - angle)
    length = arm.length // LENGTH_PER_POSITION
    reach = info.reach - 1
    return targets.low[reach, length] <= angle <= targets.high[reach, length]


@inlined
def _act_on_belt(plan, targets, state, info, arm):
    """An empty arm whose pickup tile is a belt (R27-R29)."""
    position = NONE
    if arm.chase != CHASE_NOTHING:
        position = _chased_position(plan, state, info, arm)
        if position == NONE and _over_tile(targets, info, arm):
            arm.chase = CHASE_NOTHING
            return
    if position == NONE:
        _choose(plan, state, info, arm)
        if arm.chase == CHASE_NOTHING:
            if step(info, arm, info.pick_angle, info.pick_length, info.near):
                arm.phase = WAIT_PICK
            return
        position = _chased_position(plan, state, info, arm)
    arm.phase = RETURN
    lane = arm.chase - CHASE_LEFT
    angle = targets.angle[info.reach - 1, info.group, lane, position] + info.pick_angle
    length = targets.length[info.reach - 1, info.group, lane, position]
    if step(info, arm, angle - TURN if angle >= TURN else angle, length, info.near):
        chain = plan.lanes[info.from_lane + lane].chain
        arm.held = take(plan, state, chain, arm.index)
        arm.chase, arm.phase = CHASE_NOTHING, CARRY
        arm.picked += 1
        arm.picked_left += 1 - lane


@inlined
def _pick_product(plan, state, info, arm):
    """R31: from a machine or a chest."""
    item, there = info.from_item, info.from_item != NONE
    if info.from_machine != NONE:
        item = plan.machines[info.from_machine].product
        there = state.machines[info.from_machine].made > 0
    if not there or not wants(plan, state, info.to_machine, item):
        arm.phase = WAIT_PICK
        return
    if info.from_machine != NONE:
        state.machines[info.from_machine].made -= 1
    arm.held, arm.phase = item, CARRY
    arm.picked += 1


@inlined
def _drop(plan, state, info, arm):
    """R33."""
    done = True
    if info.to_lane != NONE:
        done = put(plan, state, info.to_lane, info.to_position, info.to_position, arm.held)
    elif info.to_sink != NONE:
        state.delivered[info.to_sink, arm.held] += 1
    else:
        for slot in range(plan.machines[info.to_machine].needs):
            if plan.needs[info.to_machine, slot].item == arm.held:
                state.stock[info.to_machine, slot] += 1
    if done:
        arm.held, arm.phase = NONE, RETURN
        arm.dropped += 1
    else:
        arm.phase = WAIT_DROP


@inlined
def _act(plan, targets, state, info, arm):
    """One arm's tick (R26)."""
    if arm.phase == WAIT_DROP:
        _drop(plan, state, info, arm)
    elif arm.phase == CARRY:
        if step(info, arm, info.drop_angle, info.drop_length, info.near_loaded):
            _drop(plan, state, info, arm)
    elif info.from_lane != NONE:
        _act_on_belt(plan, targets, state, info, arm)
    elif arm.phase == WAIT_PICK or step(info, arm, info.pick_angle, info.pick_length, info.near):
        _pick_product(plan, state, info, arm)


@inlined
def move_arms(plan, targets, state):
    """Step (b) of a tick: every arm acts, in the order of R34."""
    for number in range(len(state.arms)):
        _act(plan, targets, state, plan.arms[number], state.arms[number])
