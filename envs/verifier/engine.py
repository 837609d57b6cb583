"""One tick of a layout (R2): belts, then arms, then machines. Compiled code only."""

from envs.verifier.arms import move_arms
from envs.verifier.belts import move_lanes
from envs.verifier.jit import inlined, outlined


@inlined
def _can_start(plan, state, number):
    """Whether a machine has room for its product and all ingredients of a craft."""
    machine = plan.machines[number]
    if machine.needs == 0 or state.machines[number].made >= machine.stop_level:
        return False
    for slot in range(machine.needs):
        if state.stock[number, slot] < plan.needs[number, slot].amount:
            return False
    return True


@inlined
def run_machines(plan, state):
    """Step (c) of a tick: every machine advances (R39-R41)."""
    for number in range(len(state.machines)):
        info, machine = plan.machines[number], state.machines[number]
        if machine.remaining > 0:
            machine.remaining -= 1
            if machine.remaining == 0:
                machine.made += info.per_craft
        if machine.remaining == 0 and _can_start(plan, state, number):
            for slot in range(info.needs):
                state.stock[number, slot] -= plan.needs[number, slot].amount
            machine.remaining = info.craft_ticks
            machine.crafts += 1


@outlined
def advance(plan, targets, state):
    """One tick."""
    move_lanes(plan, state)
    move_arms(plan, targets, state)
    run_machines(plan, state)
