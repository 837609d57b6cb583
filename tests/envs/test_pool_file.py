"""Pool files: what is written comes back exactly, and nothing else is read as a pool."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envs.actions import decode, finish_action
from envs.catalogue import RECIPES
from envs.generate import GENERATOR_VERSION, GeneratorSettings
from envs.pool_file import (
    ALIGNMENT,
    FORMAT_VERSION,
    PoolFileError,
    is_pool_file,
    open_pool,
    write_pool,
)
from envs.pool_records import RecordShape, pack, unpack, unpack_difficulty, unpack_variants
from envs.solved import Solved, Variant, difficulty
from envs.task_spec import MACHINE, Port, TaskSpec

WIDTH, HEIGHT = 6, 5
SETTINGS = GeneratorSettings(WIDTH, HEIGHT, ("gear", "pipe"), 48, 2)
ITEMS = ("iron-plate", "copper-plate", "pipe")
CELLS = st.tuples(st.integers(0, WIDTH - 1), st.integers(0, HEIGHT - 1))
ACTIONS = st.integers(0, finish_action(HEIGHT, WIDTH) - 1)


@st.composite
def ports(draw: st.DrawFn) -> Port:
    lanes = st.sampled_from((*ITEMS, None))
    x, y = draw(CELLS)
    return Port(x, y, draw(st.integers(0, 3)), draw(st.booleans()), draw(lanes), draw(lanes))


def _recipe_slot(action: int) -> int:
    """Of a machine; 0 for other placements."""
    put = decode(action, HEIGHT, WIDTH)
    return put.rotation if put.kind == MACHINE else 0


@st.composite
def entries(draw: st.DrawFn) -> tuple[Solved, list[Variant]]:
    """A task of any content, sensible or not, with two variants."""
    recipes = draw(st.lists(st.sampled_from(sorted(RECIPES)), min_size=1, max_size=4, unique=True))
    has_slot = ACTIONS.filter(lambda action: _recipe_slot(action) < len(recipes))
    actions = draw(st.lists(has_slot, min_size=1, max_size=20))
    spec = TaskSpec(
        WIDTH,
        HEIGHT,
        tuple(sorted(draw(st.sets(CELLS, max_size=9)))),
        tuple(draw(st.lists(ports(), min_size=1, max_size=4))),
        tuple(recipes),
        draw(st.sampled_from(recipes)),
        draw(st.fractions(0, 15, max_denominator=10**9)),
        draw(st.integers(1, 999)),
        draw(st.sampled_from(["gear", "pipe", "ünïcode"])),
    )
    flags = st.lists(st.booleans(), min_size=len(actions), max_size=len(actions)).map(tuple)
    variants = draw(st.lists(st.tuples(flags, st.floats(0, 1)), min_size=2, max_size=2))
    return Solved(spec, tuple(decode(action, HEIGHT, WIDTH) for action in actions)), variants


def some_entry(rate: Fraction = Fraction(15, 16)) -> tuple[Solved, list[Variant]]:
    source = Port(0, 1, 1, False, None, "iron-plate")
    sink = Port(5, 1, 1, True, "pipe", "pipe")
    spec = TaskSpec(WIDTH, HEIGHT, (), (source, sink), ("pipe",), "pipe", rate, 48, "pipe")
    return Solved(spec, (decode(130, HEIGHT, WIDTH),)), [((False,), 0.25)]


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A pool file with three tasks."""
    solved, variants = zip(*(some_entry(Fraction(n, 7)) for n in (1, 2, 3)), strict=True)
    write_pool(tmp_path / "some.pool", solved, variants, SETTINGS, seed=5)
    return tmp_path / "some.pool"


@given(st.lists(entries(), min_size=1, max_size=5))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_tasks_references_and_variants_come_back_exactly(
    made: list[tuple[Solved, list[Variant]]],
) -> None:
    solved, variants = [entry for entry, _ in made], [rows for _, rows in made]
    records, shape, names = pack(solved, variants)
    assert (shape.width, shape.height) == (WIDTH, HEIGHT)
    assert [unpack(record, shape, names) for record in records] == solved
    assert [unpack_variants(record) for record in records] == variants
    assert [unpack_difficulty(one) for one in records] == [difficulty(one) for one in solved]


def test_first_line_says_what_is_in_the_file_and_records_are_aligned(written: Path) -> None:
    line, _, records = written.read_bytes().partition(b"\n")
    manifest = json.loads(line)
    assert manifest["count"] == 3
    assert manifest["families"] == {"pipe": 3}
    assert manifest["generator_version"] == GENERATOR_VERSION
    assert manifest["generator"]["families"] == ["gear", "pipe"]
    assert manifest["seed"] == 5
    assert (len(line) + 1) % ALIGNMENT == 0
    assert len(records) == 3 * manifest["record_bytes"]
    assert open_pool(written).manifest == manifest


def test_iterating_ends_after_the_last_task(written: Path) -> None:
    assert [entry.spec.target_rate for entry in open_pool(written)] == [
        Fraction(1, 7),
        Fraction(2, 7),
        Fraction(3, 7),
    ]


def test_a_task_of_twelve_by_twelve_takes_at_most_350_bytes() -> None:
    shape = RecordShape(width=12, height=12, ports=4, recipes=4, placements=96, variants=4)
    assert shape.dtype.itemsize <= 350


def test_a_pool_that_is_written_again_is_replaced_and_leaves_no_other_file(written: Path) -> None:
    solved, variants = some_entry()
    before = open_pool(written)
    write_pool(written, [solved], [variants], SETTINGS, seed=5)
    assert len(open_pool(written)) == 1
    assert before[2].spec.target_rate == Fraction(3, 7)
    assert [path.name for path in written.parent.iterdir()] == [written.name]


def test_a_folder_that_cannot_take_the_file_is_named(tmp_path: Path) -> None:
    solved, variants = some_entry()
    with pytest.raises(PoolFileError, match=r"cannot write pool file .*No such file"):
        write_pool(tmp_path / "no" / "x.pool", [solved], [variants], SETTINGS, seed=0)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(PoolFileError, match=r"cannot read pool file .*none\.pool"):
        open_pool(tmp_path / "none.pool")


@pytest.mark.parametrize("content", [b"", b"{}\n", b"\x00\xff" * 99, b"[1]\n", b'{"format": 1}\n'])
def test_other_files_are_no_pools(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    assert not is_pool_file(path)
    with pytest.raises(PoolFileError, match="is no pool file"):
        open_pool(path)


def test_a_pool_is_told_from_other_files(written: Path) -> None:
    assert is_pool_file(written)


@pytest.mark.parametrize("change", [lambda data: data[:-1], lambda data: data + b"x"])
def test_a_file_that_was_cut_off_or_added_to_is_refused(written: Path, change) -> None:
    written.write_bytes(change(written.read_bytes()))
    with pytest.raises(PoolFileError, match="cut off or added to"):
        open_pool(written)


@pytest.mark.parametrize("place", [-1, -200])
def test_changed_records_are_refused(written: Path, place: int) -> None:
    data = bytearray(written.read_bytes())
    data[place] ^= 1
    written.write_bytes(data)
    with pytest.raises(PoolFileError, match=r"was changed: its SHA-256"):
        open_pool(written)


def test_a_changed_first_line_is_refused(written: Path) -> None:
    data = written.read_bytes()
    written.write_bytes(data.replace(b'"pipe"', b'"gear"', 1))
    with pytest.raises(PoolFileError, match=r"was changed: its SHA-256"):
        open_pool(written)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (f'"format_version": {FORMAT_VERSION}', f'"format_version": {FORMAT_VERSION + 1}'),
        ('"rules_version": "fv-1"', '"rules_version": "fv-2"'),
    ],
)
def test_other_versions_are_refused_with_both_named(written: Path, old: str, new: str) -> None:
    written.write_bytes(written.read_bytes().replace(old.encode(), new.encode(), 1))
    field, _, version = new.partition(": ")
    expected = f"has {json.loads(field)} {json.loads(version)!r}, this program reads"
    with pytest.raises(PoolFileError, match=expected):
        open_pool(written)


def test_a_damaged_first_line_is_refused(written: Path) -> None:
    written.write_bytes(written.read_bytes().replace(b'"count": 3', b'"count": -', 1))
    with pytest.raises(PoolFileError, match="no pool file"):
        open_pool(written)
    written.write_bytes(written.read_bytes().replace(b'"count": -', b'"count": 0', 1))
    with pytest.raises(PoolFileError, match="is damaged"):
        open_pool(written)
