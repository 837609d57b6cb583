"""An upper bound on what a layout can deliver, by linear programming over flows of items.

In: a layout, a sink's tile and an item. Out: items per second that no exact rate exceeds.

Counts over one period of the recurrent part obey, divided by its ticks, all constraints here:

- Each lane of a tile: what enters it of an item (from behind, by sideloads, drops, its source)
  leaves it, ahead or into arms. Each machine: ingredients and products match its crafts.
- A source lane feeds at most one item in 8 ticks: v falls by at most 8 per tick and grows by 64
  with each item (R17). A sink lane passes at most one in 8 ticks, by the same argument for z (R18).
- Past the edge between two tiles of a lane goes at most one item in 8 ticks, plus the items that
  arms take from the lane ahead. For an item moves only onto a place 64 behind the item ahead
  (R12, R16), which itself has moved 8 per tick at most, so 8 ticks lie between two items unless the
  first of them was taken away in between. The allowance is left out on lanes onto which nothing
  is ever put: there all gaps are 64 or more at all times.
- A machine begins a craft at most once in its craft time (R39).
- An arm swings from its drop point to the place of a pick and back. It turns by at most ROT per
  tick, and by less than 2 ROT in the tick of its arrival (R23; R25: or by just as much). Hence
  n ticks turn it by less than (n + 1) ROT. For picks from belts the nearest target of all positions
  of the lane counts (R22). An arm that arrives at its pickup point in between, which also ends with
  a long step, has turned by half a turn by then, further than to any item. Lengths are ignored.
"""

from collections import defaultdict

import numpy as np
from literal_plan import BELTS, MACHINES, Hand, LaneKey, LiteralPlan, Tile, literal_plan
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

from envs.layout import Layout
from envs.verifier.targets import HALF, QUARTER, TURN, targets

LANE_PER_TICK = 1 / 8

Row = dict[int, float]
"""Coefficients of one constraint by variable."""


def swing_ticks(hand: Hand, turn: int) -> int:
    """Least ticks from the drop point over an angle to a pick, and back with the item."""
    out = max(1, turn // hand.rotation)
    back = out
    if hand.reach == 2:
        back = max(1, -(-turn // hand.rotation) - 1)
    return out + back


def cycle_ticks(hand: Hand, lane: int | None, length: int = 0) -> int:
    """Least ticks per item for picks from a lane of the pickup tile, or from elsewhere (None)."""
    if lane is None:
        return swing_ticks(hand, HALF)
    angles = targets().angle[hand.reach - 1, hand.group, lane, :length].astype(int)
    angles = (angles + hand.facing * QUARTER - hand.drop * QUARTER) % TURN
    return swing_ticks(hand, int(np.minimum(angles, TURN - angles).min()))


class Flows:
    """The constraints of a layout; `bound` maximizes one delivery."""

    def __init__(self, layout: Layout) -> None:
        self.plan: LiteralPlan = literal_plan(layout)
        self.count = 0
        self.equal: dict[object, Row] = defaultdict(dict)
        self.at_most: list[tuple[Row, float]] = []
        self.deliveries: dict[tuple[Tile, str], list[int]] = defaultdict(list)
        self.taken: dict[LaneKey, list[int]] = defaultdict(list)
        self.items = self._items()
        self._add_machines()
        for hand in self.plan.hands:
            self._add_arm(hand)
        self._add_lanes()

    def _items(self) -> list[str]:
        """Every item that can be on a belt."""
        found = {chain.feed[1] for chain in self.plan.chains if chain.feed}
        found |= {works.product for works in self.plan.works.values() if works.product}
        found |= {hand.source.item for hand in self.plan.hands if hand.source.item}
        return sorted(found)

    def _variable(self) -> int:
        self.count += 1
        return self.count - 1

    def _add_machines(self) -> None:
        for tile, works in self.plan.works.items():
            if works.product is None:
                continue
            crafts = self._variable()
            self.at_most.append(({crafts: works.craft_ticks}, 1))
            self.equal[tile, "out"][crafts] = works.per_craft
            for item, (amount, _) in works.needs.items():
                self.equal[tile, item][crafts] = -amount

    def _wanted(self, hand: Hand) -> list[str]:
        """Items that an arm's source may give and its target want (R30, R31)."""
        items = self.items
        if hand.source.kind in MACHINES:
            product = self.plan.works[hand.source.x, hand.source.y].product
            items = [] if product is None else [product]
        elif hand.source.kind not in BELTS:
            items = [] if hand.source.item is None else [hand.source.item]
        if hand.target.kind in MACHINES:
            needs = self.plan.works[hand.target.x, hand.target.y].needs
            items = [item for item in items if item in needs]
        return items

    def _add_arm(self, hand: Hand) -> None:
        busy: Row = {}
        for lane in (0, 1) if hand.source.kind in BELTS else (None,):
            length = 0
            if lane is not None:
                length = self.plan.lanes[(*hand.pickup, lane)].length
            ticks = cycle_ticks(hand, lane, length)
            for item in self._wanted(hand):
                carried = self._variable()
                busy[carried] = ticks
                self._take(hand, lane, item, carried)
                self._bring(hand, item, carried)
        self.at_most.append((busy, 1))

    def _take(self, hand: Hand, lane: int | None, item: str, carried: int) -> None:
        if lane is not None:
            self.equal[(*hand.pickup, lane), item][carried] = -1
            self.taken[(*hand.pickup, lane)].append(carried)
        elif hand.source.kind in MACHINES:
            self.equal[(hand.source.x, hand.source.y), "out"][carried] = -1

    def _bring(self, hand: Hand, item: str, carried: int) -> None:
        tile = hand.target.x, hand.target.y
        key: object = (hand.lane, item) if hand.lane is not None else (tile, item)
        if hand.target.kind == "chest_sink":
            self.deliveries[tile, item].append(carried)
        else:
            self.equal[key][carried] = self.equal[key].get(carried, 0) + 1

    def _add_lanes(self) -> None:
        put_on = {self.plan.lanes[hand.lane].chain for hand in self.plan.hands if hand.lane}
        for lane in self.plan.lanes.values():
            if lane.link == "sideload" and lane.target is not None:
                put_on.add(self.plan.lanes[lane.target].chain)
        for chain in self.plan.chains:
            if chain.feed:
                fed = self._variable()
                self.equal[chain.feed][fed] = 1
                self.at_most.append(({fed: 1}, LANE_PER_TICK))
        for key, lane in self.plan.lanes.items():
            passed: Row = {}
            for item in self.items if lane.link != "dead" else ():
                leaving = self._variable()
                passed[leaving] = 1
                self.equal[key, item][leaving] = -1
                if lane.link == "drain":
                    self.deliveries[key[:2], item].append(leaving)
                else:
                    self.equal[lane.target, item][leaving] = 1
            if lane.link == "continue" and lane.target is not None and lane.chain in put_on:
                passed |= dict.fromkeys(self.taken[lane.target], -1)
            if lane.link != "sideload":
                self.at_most.append((passed, LANE_PER_TICK))

    def bound(self, sink: Tile, item: str) -> float:
        """Items per second of an item that a sink can get at most."""
        goal = np.zeros(self.count)
        goal[self.deliveries.get((sink, item), [])] = -1
        if not goal.any():
            return 0.0
        rows = list(self.equal.values())
        result = linprog(
            goal,
            A_ub=_matrix([row for row, _ in self.at_most], self.count),
            b_ub=[limit for _, limit in self.at_most],
            A_eq=_matrix(rows, self.count),
            b_eq=np.zeros(len(rows)),
            method="highs",
        )
        assert result.status == 0, result.message
        return -60 * result.fun


def _matrix(rows: list[Row], columns: int) -> coo_matrix:
    entries = [(r, c, value) for r, row in enumerate(rows) for c, value in row.items()]
    at_row, at_column, values = zip(*entries, strict=True) if entries else ((), (), ())
    return coo_matrix((values, (at_row, at_column)), shape=(len(rows), columns))
