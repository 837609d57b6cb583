"""The rules R11-R41 once more, slowly and word by word, to check the compiled engine against.

Works on Python objects and knows none of the engine's shortcuts: the geometry is that of
`literal_plan`, the layout is run as one piece, and only the target tables of R22 and R28 are
shared, whose hash the rules state.
"""

from dataclasses import dataclass, field

from literal_plan import BELTS, MACHINES, LaneKey, LiteralPlan, Tile, literal_plan

from envs.layout import Layout
from envs.verifier.targets import HALF, QUARTER, TURN, Targets

GONE = "gone"


@dataclass(eq=False)
class Item:
    name: str
    at: int


@dataclass(eq=False)
class Arm:
    angle: int
    length: int = 179_200
    phase: str = "RETURN"
    held: str | None = None
    chased: Item | str | None = None


@dataclass(eq=False)
class Machine:
    remaining: int = 0
    made: int = 0
    stock: dict[str, int] = field(default_factory=dict)


class Literal:
    """A running layout. `fed`: items that sources have let through, per chain."""

    def __init__(self, layout: Layout, targets: Targets) -> None:
        self.plan: LiteralPlan = literal_plan(layout)
        self.targets = targets
        self.chains: list[list[Item]] = [[] for _ in self.plan.chains]
        self.feed = [256] * len(self.chains)
        self.drained = [-72] * len(self.chains)
        self.arms = [Arm(hand.facing * QUARTER) for hand in self.plan.hands]
        self.machines = {
            tile: Machine(stock=dict.fromkeys(works.needs, 0))
            for tile, works in self.plan.works.items()
        }
        self.delivered: dict[tuple[Tile, str], int] = {}

    def tick(self) -> None:
        """R2."""
        for number in self.plan.order:
            self.move_chain(number)
        for number in range(len(self.arms)):
            self.act(number)
        for tile in self.machines:
            self.run_machine(tile)

    def count(self, sink: Tile, item: str) -> None:
        """R43."""
        self.delivered[sink, item] = self.delivered.get((sink, item), 0) + 1

    def put(self, key: LaneKey, judged: int, aimed: int, name: str) -> bool:
        """R11."""
        spot = self.plan.lanes[key]
        items, chain = self.chains[spot.chain], self.plan.chains[spot.chain]
        places = [item.at for item in items]
        if chain.is_loop:
            round_before = [p - chain.total for p in places]
            places = round_before + places + [p + chain.total for p in places]
        judged, aimed = judged + spot.offset, aimed + spot.offset
        q, a = judged, None
        ahead = [p for p in places if p <= judged]
        if ahead:
            a = max(ahead)
            q = max(q, a + 64)
        for p in sorted(p for p in places if p > judged):
            if p > q:
                break
            a = p
            q = max(q, a + 64)
        if q - judged >= 64:
            return False
        q = max(q, aimed)
        c = q - 8 if a is None else max(q - 8, a + 64)
        c = max(min(c, q), spot.offset)
        if c >= spot.offset + spot.length:
            return False
        items.append(Item(name, c))
        items.sort(key=lambda item: item.at)
        return True

    def put_front(self, number: int) -> bool:
        """R13."""
        front = self.plan.lanes[self.plan.chains[number].lanes[0]]
        assert front.target is not None
        item = self.chains[number].pop(0)
        if self.put(front.target, front.entry, front.entry + item.at, item.name):
            return True
        self.chains[number].insert(0, item)
        return False

    def move_chain(self, number: int) -> None:
        """R12-R18."""
        chain = self.plan.chains[number]
        if chain.is_loop:
            self.move_loop(number)
            return
        front = self.plan.lanes[chain.lanes[0]]
        link, ahead = front.link, None
        if link == "drain":
            if self.drained[number] > -72:
                self.drained[number] = max(self.drained[number] - 8, -72)
            ahead = self.drained[number]
        own = front.target is not None and self.plan.lanes[front.target].chain == number
        blocked = False
        while own and self.chains[number] and self.chains[number][0].at < 8 and not blocked:
            blocked = not self.put_front(number)
        for item in list(self.chains[number]):
            w = item.at - 8
            if ahead is not None:
                w = max(w, ahead + 64)
            w = min(w, item.at)
            if w < 0 and link == "drain":
                self.count(chain.lanes[0][:2], item.name)
                self.drained[number] = ahead = w
                self.chains[number].remove(item)
                continue
            if w < 0 and link == "sideload" and not own and self.put_front(number):
                continue
            item.at = ahead = max(w, 0)
        self.feed_chain(number)

    def feed_chain(self, number: int) -> None:
        """R17."""
        feed, v = self.plan.chains[number].feed, self.feed[number]
        if feed is None:
            return
        edge = self.plan.lanes[feed[0]].offset
        step = v - 8
        if self.chains[number]:
            step = max(step, self.chains[number][-1].at - edge + 64)
        v = min(v, step)
        if v < 256:
            self.chains[number].append(Item(feed[1], edge + v))
            v += 64
        self.feed[number] = v

    def move_loop(self, number: int) -> None:
        """R16."""
        items, total = self.chains[number], self.plan.chains[number].total
        moves = [8] * len(items)
        while True:
            before = list(moves)
            for i in range(len(items)):
                gap = (items[i].at - items[i - 1].at) % total if len(items) > 1 else total
                moves[i] = min(moves[i], max(0, gap + moves[i - 1] - 64))
            if moves == before:
                break
        for item, move in zip(items, moves, strict=True):
            item.at = (item.at - move) % total
        items.sort(key=lambda item: item.at)

    def step(self, number: int, angle: int, length: int) -> bool:
        """R23, R25."""
        hand, arm = self.plan.hands[number], self.arms[number]
        there = abs(length - arm.length) < 2 * hand.extension
        if there:
            arm.length = length
        else:
            arm.length += hand.extension if length > arm.length else -hand.extension
        d = angle - arm.angle
        if d >= HALF:
            d -= TURN
        elif d <= -HALF:
            d += TURN
        near = abs(d) < 2 * hand.rotation
        if hand.reach == 2 and arm.held is not None:
            near = abs(d) <= 2 * hand.rotation
        if abs(d) <= hand.rotation or (there and near):
            arm.angle = angle
            return there
        arm.angle = (arm.angle + (hand.rotation if d > 0 else -hand.rotation)) % TURN
        return False

    def step_to_pickup(self, number: int) -> bool:
        """R21, R26."""
        hand = self.plan.hands[number]
        return self.step(number, hand.facing * QUARTER, 256_000 * hand.reach)

    def wants(self, number: int, name: str) -> bool:
        """R30."""
        target = self.plan.hands[number].target
        if target.kind not in MACHINES:
            return True
        tile = target.x, target.y
        needs = self.plan.works[tile].needs
        return name in needs and self.machines[tile].stock[name] < needs[name][1]

    def on_tile(self, number: int) -> list[list[tuple[int, Item]]]:
        """(position, item) on each lane of an arm's pickup tile."""
        found = []
        for lane in range(2):
            spot = self.plan.lanes[(*self.plan.hands[number].pickup, lane)]
            places = [(item.at - spot.offset, item) for item in self.chains[spot.chain]]
            found.append([(p, item) for p, item in places if 0 <= p < spot.length])
        return found

    def choose(self, number: int) -> Item | None:
        """R27."""
        first = self.plan.hands[number].first_lane
        lanes = self.on_tile(number)
        for lane in (first, 1 - first):
            wanted = [(p, item) for p, item in lanes[lane] if self.wants(number, item.name)]
            if wanted:
                return max(wanted, key=lambda place: place[0])[1]
        return None

    def over_tile(self, number: int) -> bool:
        """R28."""
        hand, arm = self.plan.hands[number], self.arms[number]
        b = (arm.angle - hand.facing * QUARTER) % TURN
        at = hand.reach - 1, arm.length // 1000
        return self.targets.low[at] <= min(b, TURN - b) <= self.targets.high[at]

    def act_on_belt(self, number: int) -> None:
        """R27-R29."""
        hand, arm = self.plan.hands[number], self.arms[number]
        there = {item: (lane, p) for lane, on in enumerate(self.on_tile(number)) for p, item in on}
        if arm.chased is not None and arm.chased not in there and self.over_tile(number):
            arm.chased = None
            return
        if arm.chased is None or arm.chased not in there:
            arm.chased = self.choose(number)
        if arm.chased is None:
            if self.step_to_pickup(number):
                arm.phase = "WAITP"
            return
        arm.phase = "RETURN"
        assert isinstance(arm.chased, Item)
        lane, p = there[arm.chased]
        at = hand.reach - 1, hand.group, lane, p
        angle = (int(self.targets.angle[at]) + hand.facing * QUARTER) % TURN
        if self.step(number, angle, int(self.targets.length[at])):
            self.pick(number, arm.chased)

    def pick(self, number: int, item: Item) -> None:
        """R29."""
        for chain in self.chains:
            if item in chain:
                chain.remove(item)
        for other in self.arms:
            if other.chased is item:
                other.chased = GONE
        arm = self.arms[number]
        arm.held, arm.chased, arm.phase = item.name, None, "CARRY"

    def act(self, number: int) -> None:
        """R26."""
        hand, arm = self.plan.hands[number], self.arms[number]
        if arm.phase == "WAITD":
            self.drop(number)
        elif arm.phase == "CARRY":
            if self.step(number, hand.drop * QUARTER, 256_000 * hand.reach + 51_200):
                self.drop(number)
        elif hand.source.kind in BELTS:
            self.act_on_belt(number)
        elif arm.phase == "WAITP" or self.step_to_pickup(number):
            self.pick_product(number)

    def pick_product(self, number: int) -> None:
        """R31."""
        hand, arm = self.plan.hands[number], self.arms[number]
        item, there = hand.source.item, hand.source.item is not None
        machine = self.machines.get((hand.source.x, hand.source.y))
        if machine is not None:
            item = self.plan.works[hand.source.x, hand.source.y].product
            there = machine.made > 0
        if not there or item is None or not self.wants(number, item):
            arm.phase = "WAITP"
            return
        if machine is not None:
            machine.made -= 1
        arm.held, arm.phase = item, "CARRY"

    def drop(self, number: int) -> None:
        """R33."""
        hand, arm = self.plan.hands[number], self.arms[number]
        assert arm.held is not None
        tile = hand.target.x, hand.target.y
        if hand.target.kind in MACHINES:
            self.machines[tile].stock[arm.held] += 1
        elif hand.target.kind == "chest_sink":
            self.count(tile, arm.held)
        else:
            assert hand.lane is not None
            if not self.put(hand.lane, hand.position, hand.position, arm.held):
                arm.phase = "WAITD"
                return
        arm.held, arm.phase = None, "RETURN"

    def run_machine(self, tile: Tile) -> None:
        """R39-R41."""
        works, machine = self.plan.works[tile], self.machines[tile]
        if machine.remaining > 0:
            machine.remaining -= 1
            if machine.remaining == 0:
                machine.made += works.per_craft
        if machine.remaining > 0 or works.product is None or machine.made >= works.stop_level:
            return
        if all(machine.stock[item] >= amount for item, (amount, _) in works.needs.items()):
            for item, (amount, _) in works.needs.items():
                machine.stock[item] -= amount
            machine.remaining = works.craft_ticks

    def key(self) -> tuple:
        """The whole state (R44)."""
        arms = []
        for number, arm in enumerate(self.arms):
            chased = arm.chased
            if isinstance(chased, Item):
                on_lanes = enumerate(self.on_tile(number))
                chased = next((n, p) for n, on in on_lanes for p, item in on if item is chased)
            arms.append((arm.angle, arm.length, arm.phase, arm.held, chased))
        return (
            tuple(tuple((item.at, item.name) for item in chain) for chain in self.chains),
            tuple(self.feed),
            tuple(self.drained),
            tuple(arms),
            tuple((m.remaining, m.made, tuple(m.stock.values())) for m in self.machines.values()),
        )
