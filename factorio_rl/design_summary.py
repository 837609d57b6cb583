"""How far a design came and what limits it, in words. Jax-free."""

from fractions import Fraction

from envs.labels import rate_text
from factorio_rl.design_answer import DesignAnswer
from factorio_rl.printing import counted


def summary(answer: DesignAnswer) -> list[str]:
    """What was asked for, what was reached, and the cost, in a few sentences."""
    target = rate_text(answer.spec.target_rate)
    item = answer.spec.target_item
    effort = (
        f"{counted(answer.attempts, 'attempt')} in {answer.seconds:.1f} s by {answer.agent}; "
        f"{counted(len(answer.placements), 'piece')} of at most {answer.spec.placement_limit}"
    )
    return [_outcome(answer, item, target), effort]


def _outcome(answer: DesignAnswer, item: str, target: str) -> str:
    rate = answer.rate
    if rate is None:
        return f"no exact rate was found for the best layout; the target is {target} of {item}"
    reached = f"{rate_text(rate)} of {item}"
    share = _percent(rate / answer.spec.target_rate)
    if answer.target_is_bound:
        if answer.reached:
            return f"{reached}, which is all that ports and room allow"
        return f"{reached}; ports and room allow {target} at most, which may be out of reach"
    if answer.reached:
        return f"target reached: {reached}, asked for {target}"
    if rate == 0:
        return f"target missed: no {item} arrives, asked for {target}"
    return f"target missed: {reached}, {share} of the {target} asked for"


def _percent(share: Fraction) -> str:
    """A share below 1 that is not rounded up to the whole."""
    return f"{min(99, round(100 * share))} %" if share < 1 else "all"
