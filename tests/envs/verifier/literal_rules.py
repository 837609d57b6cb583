"""The rules R11-R41 once more, slowly and word by word, to check the compiled engine against.

Works on Python objects and knows none of the engine's shortcuts; only the compiled plan (lanes,
chains, arms, machines) and the target tables are shared.
"""

from dataclasses import dataclass, field

from envs.verifier.records import CONTINUE, DRAIN, SIDELOAD, Plan
from envs.verifier.targets import TURN, Targets

GONE = "gone"


@dataclass(eq=False)
class Item:
    name: int
    at: int


@dataclass(eq=False)
class Arm:
    angle: int
    length: int
    phase: str = "RETURN"
    held: int = -1
    chased: "Item | str | None" = None


@dataclass(eq=False)
class Machine:
    remaining: int = 0
    made: int = 0
    stock: dict[int, int] = field(default_factory=dict)


class Literal:
    """A running layout."""

    def __init__(self, plan: Plan, targets: Targets) -> None:
        self.plan, self.targets = plan, targets
        self.chains: list[list[Item]] = [[] for _ in plan.chains]
        self.feed = [256] * len(plan.chains)
        self.drained = [-72] * len(plan.chains)
        self.arms = [Arm(int(arm["pick_angle"]), 179_200) for arm in plan.arms]
        self.machines = [
            Machine(stock={int(n["item"]): 0 for n in plan.needs[m][: plan.machines[m]["needs"]]})
            for m in range(len(plan.machines))
        ]
        self.delivered: dict[tuple[int, int], int] = {}

    def tick(self) -> None:
        for number in self.plan.order:
            self.move_chain(int(number))
        for number in range(len(self.arms)):
            self.act(number)
        for number in range(len(self.machines)):
            self.run_machine(number)

    def put(self, lane: int, judged: int, aimed: int, name: int) -> bool:
        """R11."""
        spot = self.plan.lanes[lane]
        number, offset = int(spot["chain"]), int(spot["offset"])
        items = self.chains[number]
        total = int(self.plan.chains[number]["total"])
        loop = bool(self.plan.chains[number]["is_loop"])
        places = [item.at for item in items]
        if loop:
            places = [p - total for p in places] + places + [p + total for p in places]
        judged, aimed = judged + offset, aimed + offset
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
        c = max(min(c, q), offset)
        if c >= offset + int(spot["length"]):
            return False
        items.append(Item(name, c))
        items.sort(key=lambda item: item.at)
        return True

    def put_front(self, number: int) -> bool:
        """R13."""
        front = self.plan.lanes[self.plan.chains[number]["front"]]
        item, entry = self.chains[number][0], int(front["entry"])
        self.chains[number].remove(item)
        if self.put(int(front["target"]), entry, entry + item.at, item.name):
            return True
        self.chains[number].insert(0, item)
        return False

    def move_chain(self, number: int) -> None:
        """R12-R18."""
        chain = self.plan.chains[number]
        link = int(self.plan.lanes[chain["front"]]["link"])
        if chain["is_loop"]:
            assert link == CONTINUE
            self.move_loop(number)
            return
        ahead = None
        blocked = link not in (DRAIN, SIDELOAD)
        if link == DRAIN:
            if self.drained[number] > -72:
                self.drained[number] = max(self.drained[number] - 8, -72)
            ahead = self.drained[number]
        own = (
            link == SIDELOAD
            and self.plan.lanes[self.plan.lanes[chain["front"]]["target"]]["chain"] == number
        )
        while own and self.chains[number] and self.chains[number][0].at < 8 and not blocked:
            blocked = not self.put_front(number)
        for item in list(self.chains[number]):
            w = item.at - 8
            if ahead is not None:
                w = max(w, ahead + 64)
            w = min(w, item.at)
            if w < 0 and link == DRAIN:
                key = int(chain["sink"]), item.name
                self.delivered[key] = self.delivered.get(key, 0) + 1
                self.drained[number] = ahead = w
                self.chains[number].remove(item)
                continue
            if w < 0 and link == SIDELOAD and not own and self.put_front(number):
                continue
            item.at = ahead = max(w, 0)
        self.feed_chain(number)

    def feed_chain(self, number: int) -> None:
        """R17."""
        chain, v = self.plan.chains[number], self.feed[number]
        if chain["source_item"] < 0:
            return
        edge = int(self.plan.lanes[chain["source_lane"]]["offset"])
        step = v - 8
        if self.chains[number]:
            step = max(step, self.chains[number][-1].at - edge + 64)
        v = min(v, step)
        if v < 256:
            self.chains[number].append(Item(int(chain["source_item"]), edge + v))
            v += 64
        self.feed[number] = v

    def move_loop(self, number: int) -> None:
        """R16."""
        items, total = self.chains[number], int(self.plan.chains[number]["total"])
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
        """R23."""
        info, arm = self.plan.arms[number], self.arms[number]
        rotation, extension = int(info["rotation"]), int(info["extension"])
        there = abs(length - arm.length) < 2 * extension
        if there:
            arm.length = length
        else:
            arm.length += extension if length > arm.length else -extension
        d = angle - arm.angle
        if d >= TURN // 2:
            d -= TURN
        elif d <= -TURN // 2:
            d += TURN
        if abs(d) <= rotation or (there and abs(d) < 2 * rotation):
            arm.angle = angle
            return there
        arm.angle = (arm.angle + (rotation if d > 0 else -rotation)) % TURN
        return False

    def wants(self, number: int, name: int) -> bool:
        """R30."""
        machine = int(self.plan.arms[number]["to_machine"])
        if machine < 0:
            return True
        limits = {
            int(n["item"]): int(n["limit"])
            for n in self.plan.needs[machine][: self.plan.machines[machine]["needs"]]
        }
        return name in limits and self.machines[machine].stock[name] < limits[name]

    def on_tile(self, number: int) -> list[list[tuple[int, Item]]]:
        """(position, item) on each lane of an arm's pickup tile."""
        found = []
        for lane in range(2):
            spot = self.plan.lanes[self.plan.arms[number]["from_lane"] + lane]
            places = [(item.at - int(spot["offset"]), item) for item in self.chains[spot["chain"]]]
            found.append([(p, item) for p, item in places if 0 <= p < spot["length"]])
        return found

    def choose(self, number: int) -> Item | None:
        """R27."""
        first = int(self.plan.arms[number]["first_lane"])
        lanes = self.on_tile(number)
        for lane in (first, 1 - first):
            wanted = [(p, item) for p, item in lanes[lane] if self.wants(number, item.name)]
            if wanted:
                return max(wanted, key=lambda place: place[0])[1]
        return None

    def over_tile(self, number: int) -> bool:
        """R28."""
        info, arm = self.plan.arms[number], self.arms[number]
        b = (arm.angle - int(info["pick_angle"])) % TURN
        at = int(info["reach"]) - 1, arm.length // 1000
        return self.targets.low[at] <= min(b, TURN - b) <= self.targets.high[at]

    def act_on_belt(self, number: int) -> None:
        """R27-R29."""
        info, arm = self.plan.arms[number], self.arms[number]
        there = {item: (lane, p) for lane, on in enumerate(self.on_tile(number)) for p, item in on}
        if arm.chased is not None and arm.chased not in there and self.over_tile(number):
            arm.chased = None
            return
        if arm.chased is None or arm.chased not in there:
            arm.chased = self.choose(number)
        if arm.chased is None:
            if self.step(number, int(info["pick_angle"]), int(info["pick_length"])):
                arm.phase = "WAITP"
            return
        arm.phase = "RETURN"
        assert isinstance(arm.chased, Item)
        lane, p = there[arm.chased]
        at = int(info["reach"]) - 1, int(info["group"]), lane, p
        angle = (int(self.targets.angle[at]) + int(info["pick_angle"])) % TURN
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
        info, arm = self.plan.arms[number], self.arms[number]
        if arm.phase == "WAITD":
            self.drop(number)
        elif arm.phase == "CARRY":
            if self.step(number, int(info["drop_angle"]), int(info["drop_length"])):
                self.drop(number)
        elif info["from_machine"] < 0:
            self.act_on_belt(number)
        elif arm.phase == "WAITP" or self.step(
            number, int(info["pick_angle"]), int(info["pick_length"])
        ):
            product = int(self.plan.machines[info["from_machine"]]["product"])
            if self.machines[info["from_machine"]].made > 0 and self.wants(number, product):
                self.machines[info["from_machine"]].made -= 1
                arm.held, arm.phase = product, "CARRY"
            else:
                arm.phase = "WAITP"

    def drop(self, number: int) -> None:
        """R33."""
        info, arm = self.plan.arms[number], self.arms[number]
        if info["to_machine"] >= 0:
            self.machines[info["to_machine"]].stock[arm.held] += 1
        elif not self.put(
            int(info["to_lane"]), int(info["to_position"]), int(info["to_position"]), arm.held
        ):
            arm.phase = "WAITD"
            return
        arm.held, arm.phase = -1, "RETURN"

    def run_machine(self, number: int) -> None:
        """R39."""
        info, machine = self.plan.machines[number], self.machines[number]
        if machine.remaining > 0:
            machine.remaining -= 1
            if machine.remaining == 0:
                machine.made += int(info["per_craft"])
        needs = {int(n["item"]): int(n["amount"]) for n in self.plan.needs[number][: info["needs"]]}
        ready = bool(needs) and machine.made < info["stop_level"]
        if (
            machine.remaining == 0
            and ready
            and all(machine.stock[i] >= n for i, n in needs.items())
        ):
            for item, amount in needs.items():
                machine.stock[item] -= amount
            machine.remaining = int(info["craft_ticks"])

    def key(self) -> tuple:
        """The whole state (R44)."""
        arms = []
        for number, arm in enumerate(self.arms):
            chased = arm.chased
            if isinstance(chased, Item):
                chased = next(
                    (lane, p)
                    for lane, on in enumerate(self.on_tile(number))
                    for p, item in on
                    if item is chased
                )
            arms.append((arm.angle, arm.length, arm.phase, arm.held, chased))
        return (
            tuple(tuple((item.at, item.name) for item in chain) for chain in self.chains),
            tuple(self.feed),
            tuple(self.drained),
            tuple(arms),
            tuple((m.remaining, m.made, tuple(m.stock.values())) for m in self.machines),
        )
