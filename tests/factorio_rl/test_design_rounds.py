"""What the attempts of a round are told and begin with, and whose turn it is."""

from fractions import Fraction

from tiny_setup import SOLVED

from factorio_rl.design_judge import Found
from factorio_rl.design_play import Round
from factorio_rl.design_rounds import REBUILD_EVERY, TimeUse, plan_round
from factorio_rl.scoring import Outcome

REFERENCE = SOLVED[1].placements
TARGET = Fraction(15, 16)
NOTHING = Found((), Outcome(Fraction(0), TARGET))
HALF = Found(REFERENCE, Outcome(Fraction(1, 2), TARGET))


def planned(number: int, best: Found, target_is_bound: bool = False, start: int = 0) -> Round:
    return plan_round(
        number,
        use_search=False,
        num_boards=16,
        start=REFERENCE[:start],
        best=best,
        target=TARGET,
        target_is_bound=target_is_bound,
        seed=0,
    )


def test_the_first_round_is_greedy_on_every_turn_and_told_the_target() -> None:
    played = planned(0, NOTHING)
    assert played.noise[:4] == (0.0,) * 4
    assert min(played.noise[4:]) > 0
    assert set(played.rates) == {TARGET}
    assert set(played.starts) == {()}


def test_few_boards_are_all_greedy() -> None:
    played = plan_round(
        0,
        use_search=True,
        num_boards=2,
        start=(),
        best=NOTHING,
        target=TARGET,
        target_is_bound=False,
        seed=0,
    )
    assert played.noise == (0.0, 0.0)


def test_later_rounds_have_noise_everywhere() -> None:
    assert all(min(planned(number, NOTHING).noise) > 0 for number in range(1, 5))


def test_half_of_the_boards_are_told_a_target_close_to_the_best_rate() -> None:
    rates = planned(1, HALF).rates
    assert rates.count(TARGET) >= 8
    assert set(rates) <= {TARGET, Fraction(1, 2), Fraction(5, 8), Fraction(3, 4)}
    assert min(rates) < TARGET


def test_a_single_board_is_told_other_targets_too() -> None:
    told = {
        plan_round(
            number,
            use_search=False,
            num_boards=1,
            start=(),
            best=NOTHING,
            target=TARGET,
            target_is_bound=False,
            seed=0,
        ).rates[0]
        for number in range(4)
    }
    assert TARGET in told
    assert min(told) <= TARGET / 4


def test_a_bound_is_not_all_that_boards_are_told() -> None:
    rates = planned(0, NOTHING, target_is_bound=True).rates
    assert TARGET in rates
    assert min(rates) <= TARGET / 2
    toward = planned(1, HALF, target_is_bound=True).rates
    assert min(toward) >= Fraction(1, 2)
    assert max(toward) <= TARGET
    assert len(set(toward)) > 1


def test_some_rounds_begin_from_parts_of_the_best_layout_that_hold_the_start() -> None:
    starts = planned(REBUILD_EVERY - 1, HALF, start=2).starts
    assert len(set(starts)) > 1
    assert all(REFERENCE[: len(start)] == start for start in starts)
    assert all(2 <= len(start) < len(REFERENCE) for start in starts)


def test_the_same_seed_plans_the_same() -> None:
    assert planned(2, HALF) == planned(2, HALF)


def test_the_policy_comes_first_and_then_both_get_the_same_time() -> None:
    use = TimeUse()
    assert not use.turn_of_search(60.0)
    use = use.after(use_search=False, seconds=30.0)
    assert not use.turn_of_search(60.0)
    use = use.after(use_search=False, seconds=1.0)
    assert use.turn_of_search(60.0)
    use = use.after(use_search=True, seconds=40.0)
    assert not use.turn_of_search(60.0)
    use = use.after(use_search=False, seconds=10.0)
    assert use.turn_of_search(60.0)
    assert (use.policy_rounds, use.search_rounds) == (3, 1)
