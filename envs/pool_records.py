"""Solved tasks as fixed-size numpy records: what a pool file holds, one record per task. Jax-free.

In: solved tasks with their incomplete layouts. Out: an array of records and the names that they
index, and tasks back, exactly. The sizes of a record are the largest that its tasks need.
"""

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from envs.actions import NUM_KINDS, NUM_ROTATIONS, decode, encode
from envs.solved import Difficulty, Solved, Variant, difficulty
from envs.task_spec import Port, TaskSpec

MAX_NAME = 100
"""Longest name, characters, as in a task file."""

_NO_NAME = 255
"""Index of an empty lane, an absent port's item, an absent recipe."""

_SINK_FLAG = NUM_ROTATIONS
"""Added to a port's direction where the port is a sink."""


@dataclass(frozen=True)
class Names:
    """Names that records index: items of ports, recipes, families.

    Raises ValueError for what is no name.
    """

    items: tuple[str, ...]
    recipes: tuple[str, ...]
    families: tuple[str, ...]

    def __post_init__(self) -> None:
        for name in (*self.items, *self.recipes, *self.families):
            if not isinstance(name, str) or len(name) > MAX_NAME or not name.isprintable():
                raise ValueError("a name of a pool is no printable text of moderate length")


@dataclass(frozen=True)
class RecordShape:
    """Sizes that all records of a file share.

    Attributes:
        width, height: of the grid, cells.
        ports, recipes, placements: most of one task.
        variants: incomplete layouts of every task, at least one.

    Raises ValueError for sizes that are not positive whole numbers.
    """

    width: int
    height: int
    ports: int
    recipes: int
    placements: int
    variants: int

    def __post_init__(self) -> None:
        if not all(type(size) is int and size > 0 for size in astuple(self)):
            raise ValueError(f"sizes of a pool are {self}; all of them must be 1 or more")

    @property
    def dtype(self) -> np.dtype:
        """The packed little-endian record."""
        port = np.dtype([("cell", "<u2"), ("way", "u1"), ("lanes", "u1", 2)])
        variant = np.dtype([("score", "<f8"), ("kept", "u1", -(-self.placements // 8))])
        return np.dtype(
            [
                ("rate", "<i8", 2),
                ("placement_limit", "<u2"),
                ("difficulty", "<u2", 4),
                ("family", "u1"),
                ("target", "u1"),
                ("num_ports", "u1"),
                ("recipes", "u1", self.recipes),
                ("ports", port, self.ports),
                ("blocked", "u1", -(-self.width * self.height // 8)),
                ("placements", "<u2", self.placements),
                ("variants", variant, self.variants),
            ]
        )


def pack(
    solved: Sequence[Solved], variants: Sequence[Sequence[Variant]]
) -> tuple[np.ndarray, RecordShape, Names]:
    """The records of tasks on one grid (at least one), with as many variants each.

    Raises OverflowError for a rate whose numerator or denominator is above 2^63.
    """
    names = _names([entry.spec for entry in solved])
    shape = RecordShape(
        solved[0].spec.width,
        solved[0].spec.height,
        max(len(entry.spec.ports) for entry in solved),
        max(len(entry.spec.recipes) for entry in solved),
        max(len(entry.placements) for entry in solved),
        len(variants[0]),
    )
    # A placement is an action number of 16 bits, a name one of 8.
    assert NUM_KINDS * shape.width * shape.height * NUM_ROTATIONS <= 1 << 16
    assert max(len(names.items), len(names.recipes), len(names.families)) <= _NO_NAME
    records = np.zeros(len(solved), shape.dtype)
    for record, entry, rows in zip(records, solved, variants, strict=True):
        _pack_spec(record, entry.spec, names)
        record["difficulty"] = _figures(difficulty(entry))
        actions = [encode(put, shape.height, shape.width) for put in entry.placements]
        record["placements"][: len(actions)] = actions
        for slot, (kept, score) in zip(record["variants"], rows, strict=True):
            assert len(kept) == len(actions)
            bits = np.packbits(kept)
            slot["kept"][: len(bits)] = bits
            slot["score"] = score
    return records, shape, names


def unpack(record: Any, shape: RecordShape, names: Names) -> Solved:
    """The solved task of a record."""
    numerator, denominator = record["rate"].tolist()
    spec = TaskSpec(
        width=shape.width,
        height=shape.height,
        blocked=_unpack_blocked(record["blocked"], shape),
        ports=_unpack_ports(record["ports"][: int(record["num_ports"])], shape, names),
        recipes=tuple(names.recipes[i] for i in record["recipes"].tolist() if i != _NO_NAME),
        target_item=names.items[int(record["target"])],
        target_rate=Fraction(numerator, denominator),
        placement_limit=int(record["placement_limit"]),
        family=names.families[int(record["family"])],
    )
    actions = record["placements"][: unpack_difficulty(record).placements].tolist()
    return Solved(spec, tuple(decode(action, shape.height, shape.width) for action in actions))


def unpack_difficulty(record: Any) -> Difficulty:
    """The figures of a record's reference."""
    return Difficulty(*record["difficulty"].tolist())


def unpack_variants(record: Any) -> list[Variant]:
    """The incomplete layouts of a record."""
    length = unpack_difficulty(record).placements
    kept = np.unpackbits(record["variants"]["kept"], axis=1, count=length).astype(bool)
    scores = record["variants"]["score"].tolist()
    return [(tuple(row), score) for row, score in zip(kept.tolist(), scores, strict=True)]


def _names(specs: Iterable[TaskSpec]) -> Names:
    """Every name of the tasks, sorted; families as they first come."""
    items: set[str] = set()
    recipes: set[str] = set()
    families: dict[str, None] = {}
    for spec in specs:
        items.add(spec.target_item)
        items.update(item for port in spec.ports for item in (port.left, port.right) if item)
        recipes.update(spec.recipes)
        families.setdefault(spec.family)
    return Names(tuple(sorted(items)), tuple(sorted(recipes)), tuple(families))


def _figures(found: Difficulty) -> tuple[int, int, int, int]:
    return found.placements, found.machines, found.depth, found.path_length


def _pack_spec(record: Any, spec: TaskSpec, names: Names) -> None:
    """Fills in all that describes the task; the record is zero before."""
    item = {name: number for number, name in enumerate(names.items)}
    record["rate"] = (spec.target_rate.numerator, spec.target_rate.denominator)
    record["placement_limit"] = spec.placement_limit
    record["family"] = names.families.index(spec.family)
    record["target"] = item[spec.target_item]
    record["num_ports"] = len(spec.ports)
    record["recipes"] = _NO_NAME
    record["recipes"][: len(spec.recipes)] = [names.recipes.index(name) for name in spec.recipes]
    for slot, port in zip(record["ports"], spec.ports, strict=False):
        slot["cell"] = port.y * spec.width + port.x
        slot["way"] = port.direction + _SINK_FLAG * port.is_sink
        slot["lanes"] = [
            _NO_NAME if lane is None else item[lane] for lane in (port.left, port.right)
        ]
    assert list(spec.blocked) == sorted(set(spec.blocked))
    blocked = np.zeros(spec.width * spec.height, bool)
    blocked[[y * spec.width + x for x, y in spec.blocked]] = True
    record["blocked"] = np.packbits(blocked)


def _unpack_ports(slots: Any, shape: RecordShape, names: Names) -> tuple[Port, ...]:
    ports = []
    for cell, way, lanes in slots.tolist():
        y, x = divmod(cell, shape.width)
        left, right = (None if lane == _NO_NAME else names.items[lane] for lane in lanes)
        ports.append(Port(x, y, way % _SINK_FLAG, way >= _SINK_FLAG, left, right))
    return tuple(ports)


def _unpack_blocked(bits: Any, shape: RecordShape) -> tuple[tuple[int, int], ...]:
    """(x, y) of the blocked cells, sorted."""
    flags = np.unpackbits(bits, count=shape.width * shape.height)
    cells = (divmod(int(cell), shape.width) for cell in np.flatnonzero(flags))
    return tuple(sorted((x, y) for y, x in cells))
