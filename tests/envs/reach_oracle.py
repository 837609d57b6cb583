"""Which items can reach which lane, in plain Python sets by the wording of the game rules."""

from collections import defaultdict
from collections.abc import Sequence

from envs.catalogue import RECIPES
from envs.layout import DIRECTION_VECTORS
from envs.task_spec import BELT, MACHINE, Placement, TaskSpec

Cell = tuple[int, int]
LEFT, RIGHT = 0, 1


def ahead(cell: Cell, direction: int) -> Cell:
    dx, dy = DIRECTION_VECTORS[direction]
    return cell[0] + dx, cell[1] + dy


class ReachOracle:
    """`lanes[x, y, lane]` and `inside[centre]`: sets of item names."""

    def __init__(self, spec: TaskSpec, placements: Sequence[Placement]) -> None:
        self.belts = {(put.x, put.y): put.rotation for put in placements if put.kind == BELT}
        self.sources = {(port.x, port.y): port.direction for port in spec.ports if not port.is_sink}
        self.sinks = {(port.x, port.y): port.direction for port in spec.ports if port.is_sink}
        self.flow = self.belts | self.sources | self.sinks
        self.arms = {(put.x, put.y): put.rotation for put in placements if put.kind > BELT}
        self.recipe: dict[Cell, str] = {}
        self.centre: dict[Cell, Cell] = {}
        for put in placements:
            if put.kind == MACHINE:
                self.recipe[put.x, put.y] = spec.recipes[put.rotation]
                self.centre.update(dict.fromkeys(put.cells(), (put.x, put.y)))
        self.lanes: dict[tuple[int, int, int], set[str]] = defaultdict(set)
        self.inside: dict[Cell, set[str]] = defaultdict(set)
        for port in spec.ports:
            for lane, item in enumerate((port.left, port.right)):
                if item and not port.is_sink:
                    self.lanes[port.x, port.y, lane].add(item)
        while self._advance():
            pass

    def _advance(self) -> bool:
        """One round of everything; whether a set has grown."""
        before = self._size()
        for cell, direction in (self.belts | self.sources).items():
            self._flow(cell, direction)
        for cell, name in self.recipe.items():
            if {item for item, _ in RECIPES[name].ingredients} <= self.inside[cell]:
                self.inside[cell].add(name)
        for cell, drop in self.arms.items():
            self._carry(cell, drop)
        return self._size() > before

    def _size(self) -> int:
        return sum(map(len, [*self.lanes.values(), *self.inside.values()]))

    def turn(self, cell: Cell) -> str:
        """R7: straight, right or left."""
        if cell in self.sources:
            return "straight"
        feeders = {
            (self.flow[behind] - self.flow[cell]) % 4
            for direction in range(4)
            if (behind := ahead(cell, (direction + 2) % 4)) in self.flow
            and behind not in self.sinks
            and self.flow[behind] == direction
        }
        # A feeder behind has the belt's direction; one on the left flows to the right, so +1.
        sides = feeders & {1, 3}
        if 0 in feeders or len(sides) != 1:
            return "straight"
        return "left" if 1 in sides else "right"

    def _flow(self, cell: Cell, direction: int) -> None:
        """R9."""
        target = ahead(cell, direction)
        if target not in self.belts and target not in self.sinks:
            return
        relative = (direction - self.flow[target]) % 4
        if relative == 2:
            return
        for lane in (LEFT, RIGHT):
            onto = lane
            if relative != 0 and self.turn(target) == "straight":
                onto = LEFT if relative == 1 else RIGHT
            self.lanes[*target, onto] |= self.lanes[*cell, lane]

    def _carry(self, cell: Cell, drop: int) -> None:
        """R30 to R33."""
        hand, target = ahead(cell, (drop + 2) % 4), ahead(cell, drop)
        items = self.lanes[*hand, LEFT] | self.lanes[*hand, RIGHT]
        if hand in self.centre:
            centre = self.centre[hand]
            items = self.inside[centre] & {self.recipe[centre]}
        if target in self.centre:
            centre = self.centre[target]
            wanted = {item for item, _ in RECIPES[self.recipe[centre]].ingredients}
            self.inside[centre] |= items & wanted
        elif target in self.belts or target in self.sinks:
            self.lanes[*target, self._drop_lane(target, drop)] |= items

    def _drop_lane(self, target: Cell, drop: int) -> int:
        """R32."""
        ex, ey = DIRECTION_VECTORS[drop]
        ux, uy = DIRECTION_VECTORS[self.flow[target]]
        turn = self.turn(target)
        if turn == "straight":
            return LEFT if -ex * uy + ey * ux < 0 else RIGHT
        s = 1 if turn == "right" else -1
        is_inner = ex * (ux - s * uy) + ey * (uy + s * ux) > 0
        inner, outer = (RIGHT, LEFT) if turn == "right" else (LEFT, RIGHT)
        return inner if is_inner else outer

    def shown(self, x: int, y: int, lane: int) -> set[str]:
        """What the environment shows for a lane: of a machine, what is in it."""
        return self.inside[self.centre[x, y]] if (x, y) in self.centre else self.lanes[x, y, lane]
