"""Runs a layout in `factory-sim`, an independent simulator of belts, burner inserters and chests.

In: a layout of `peer_layouts`. Out: items delivered per sink and item name.

What the peer lacks is built around it. A source (R17) is preceded by a belt that is kept packed,
so that items come as from an endless belt. A sink (R18) is followed by a belt from which items are
taken once they no longer hold back what is behind them. Inserters start with energy for the whole
run, so that no drained buffer slows them down (R20). Inserters that take no part (R6) are not
built. Belts are built long before anything moves: the peer joins the lanes of new belts only by and
by, where R10 knows chains at once.

Like the game, the peer later parts a joined line again near arms and sideloads that work on it, and
then moves the pieces in an order that depends on the line's history (R14). `whole_lines` keeps
lines whole instead.
"""

from typing import Any

from fsim import ITEM_IDS, ITEM_NAMES, Sim, check_belt_delay, lib
from peer_layouts import active_arms, by_tile

from envs.layout import BELT_KINDS, DIRECTION_VECTORS, Entity, Layout

Delivered = dict[tuple[int, int, str], int]
"""Items counted, by x and y of the sink and item name."""

STEP_TICKS = 16
"""Ticks between two visits to the belts around sources and sinks, each 256 / 8 = 32 ticks long."""

MAX_TICKS = 20_000
"""Four arms of at least 60 ticks an item neither empty nor fill a chest of 1,600 items by then."""

_TILE, _GAP, _MOVE = 256, 64, 8
"""An item put on a free belt makes its first move at once."""

_FREE_FROM = _TILE - 72
"""Position on the belt behind a sink from which on an item holds nothing back (z = -72, R18)."""

_SETTLE_TICKS = 608
"""The peer joins new lanes within 600 ticks."""

_NO_DELAY = -1

_CHEST_ITEMS = 1_600
_ENERGY_J = 1e15
_KINDS = {
    "belt": lib.K_BELT,
    "source": lib.K_BELT,
    "sink": lib.K_BELT,
    "inserter": lib.K_INSERTER,
    "chest_src": lib.K_CHEST,
    "chest_sink": lib.K_CHEST,
}


class Peer:
    """A layout built in the peer, at tick 0."""

    def __init__(self, layout: Layout, whole_lines: bool = True) -> None:
        arms = active_arms(by_tile(layout))
        self.sim = Sim(water=[])
        self.sim.reset({})
        self.env: Any = self.sim.env
        self.feeds: list[tuple[int, int, int]] = []  # entity, lane, item
        self.drains: list[tuple[int, Entity]] = []
        self.chests: list[tuple[int, Entity]] = []
        self.delivered: Delivered = {}
        self.belts: dict[tuple[int, int], int] = {}
        # Inserters act from the last one built to the first one, which makes this order R34's.
        entities = sorted(layout.entities, key=lambda entity: (entity.y, entity.x))
        for entity in entities:
            if entity.kind != "inserter":
                self._build(entity)
        check_belt_delay(self.env)
        lib.fsim_advance(self.env, _SETTLE_TICKS)
        if whole_lines:
            self._stop_parting()
        for entity in entities:
            if entity.kind == "inserter" and (entity.x, entity.y) in arms:
                self._build(entity)

    def _stop_parting(self) -> None:
        """Clears the delays after which lines join and part; without a delay they do not part."""
        for index in range(self.env.entity_count):
            delay = self.env.entities[index].delay
            delay[0] = delay[1] = _NO_DELAY

    def _add(self, kind: int, x: int, y: int, direction: int) -> int:
        middle = _TILE // 2
        return lib.fsim_add_entity(
            self.env, kind, x * _TILE + middle, y * _TILE + middle, direction * 4
        )

    def _build(self, entity: Entity) -> None:
        direction = entity.direction or 0
        facing = (direction + 2) % 4 if entity.kind == "inserter" else direction
        index = self._add(_KINDS[entity.kind], entity.x, entity.y, facing)
        if entity.kind in BELT_KINDS:
            self.belts[entity.x, entity.y] = index
        dx, dy = DIRECTION_VECTORS[direction]
        if entity.kind == "inserter":
            self.env.entities[index].energy = _ENERGY_J
        elif entity.kind == "source":
            behind = self._add(lib.K_BELT, entity.x - dx, entity.y - dy, direction)
            items = (entity.left, entity.right)
            self.feeds += [(behind, lane, ITEM_IDS[i]) for lane, i in enumerate(items) if i]
        elif entity.kind == "sink":
            ahead = self._add(lib.K_BELT, entity.x + dx, entity.y + dy, direction)
            self.drains.append((ahead, entity))
        elif entity.kind == "chest_src" and entity.item is not None:
            lib.fsim_entity_insert(self.env, index, ITEM_IDS[entity.item], _CHEST_ITEMS)
        elif entity.kind == "chest_sink":
            self.chests.append((index, entity))

    def _count(self, sink: Entity, item: int, count: int = 1) -> None:
        key = sink.x, sink.y, ITEM_NAMES[item]
        self.delivered[key] = self.delivered.get(key, 0) + count

    def _feed(self) -> None:
        """Packs the belts behind the sources."""
        for index, lane, item in self.feeds:
            items = self.env.entities[index].lanes[lane]
            place = items.items[items.count - 1].pos + _GAP if items.count else _MOVE
            while place < _TILE:
                inserted = lib.fsim_belt_insert(self.env, index, lane, place, item)
                assert inserted, "the belt behind a source refuses an item"
                place = items.items[items.count - 1].pos + _GAP

    def _drain(self, free_from: int) -> None:
        """Takes and counts the items that have come as far as a position behind the sinks."""
        for index, sink in self.drains:
            for lane in range(2):
                items = self.env.entities[index].lanes[lane]
                while items.count and items.items[0].pos <= free_from:
                    self._count(sink, items.items[0].item)
                    lib.fsim_belt_remove(self.env, index, lane, 0)

    def run(self, ticks: int) -> Delivered:
        """Runs `ticks` ticks, a multiple of STEP_TICKS, and counts what every sink has got."""
        assert ticks % STEP_TICKS == 0, f"{ticks} ticks are no multiple of {STEP_TICKS}"
        assert ticks <= MAX_TICKS, f"{ticks} ticks may empty a chest"
        for _ in range(ticks // STEP_TICKS):
            self._feed()
            lib.fsim_advance(self.env, STEP_TICKS)
            self._drain(_FREE_FROM)
        self._drain(_TILE)
        for index, sink in self.chests:
            for slot in self.env.entities[index].chest:
                if slot.count:
                    self._count(sink, slot.item, slot.count)
        return self.delivered

    def items(self, x: int, y: int, lane: int) -> list[tuple[int, str]]:
        """(position, item) on a lane of a belt, source or sink, front first."""
        items = self.env.entities[self.belts[x, y]].lanes[lane]
        return [(i.pos, ITEM_NAMES[i.item]) for i in list(items.items)[: items.count]]
