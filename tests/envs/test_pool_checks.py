"""Pools that another program wrote, their hash right and their tasks impossible."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from envs.generate import GeneratorSettings
from envs.heldout import load_heldout
from envs.pool_file import PoolFileError, _sha256, open_pool, write_pool
from envs.pool_records import RecordShape

SETTINGS = GeneratorSettings(8, 8, ("gear", "cable", "pipe"), 24, 3)


@pytest.fixture
def pool_path(tmp_path: Path) -> Path:
    """A pool file of three tasks."""
    tasks = load_heldout("quickstart").tasks[:3]
    variants = [[((True,) * len(task.placements), 1.0)] for task in tasks]
    write_pool(tmp_path / "some.pool", tasks, variants, SETTINGS, seed=1)
    return tmp_path / "some.pool"


def forge(path: Path, change: Callable[[dict[str, Any], Any], Any]) -> None:
    """Writes a pool file again with a changed manifest and records, and its right hash."""
    line, _, rest = path.read_bytes().partition(b"\n")
    manifest = json.loads(line)
    records = np.frombuffer(rest, RecordShape(**manifest["shape"]).dtype).copy()
    change(manifest, records)
    data = records.tobytes()
    manifest["sha256"] = _sha256(manifest, [data])
    path.write_bytes(json.dumps(manifest).encode() + b"\n" + data)


def test_a_pool_that_is_written_again_unchanged_is_read(pool_path: Path) -> None:
    forge(pool_path, lambda manifest, records: None)
    assert len(list(open_pool(pool_path))) == 3


RECORDS = {
    "family": (lambda all_: all_["family"].__setitem__(1, 200), "a name or number is missing"),
    "target": (lambda all_: all_["target"].__setitem__(1, 200), "a name or number is missing"),
    "recipe": (lambda all_: all_["recipes"].__setitem__(1, 200), "a name or number is missing"),
    "lane": (
        lambda all_: all_["ports"]["lanes"].__setitem__((1, 0, 0), 200),
        "a name or number is missing",
    ),
    "no denominator": (
        lambda all_: all_["rate"].__setitem__(1, (1, 0)),
        "a name or number is missing",
    ),
    "negative rate": (lambda all_: all_["rate"].__setitem__(1, (-1, 5)), "the rate is -1/5"),
    "limit": (lambda all_: all_["placement_limit"].__setitem__(1, 0), "the placement limit is 0"),
    "action": (lambda all_: all_["placements"].__setitem__(1, 65_535), "is no placement"),
    "machine at the edge": (
        lambda all_: all_["placements"].__setitem__((1, 0), 0),
        "leaves the grid",
    ),
    "the same placement twice": (
        lambda all_: all_["placements"].__setitem__((1, 1), all_["placements"][1, 0]),
        "overlaps",
    ),
    "more placements than there are": (
        lambda all_: all_["difficulty"].__setitem__(1, 65_535),
        "has 65535 placements",
    ),
    "blocked": (lambda all_: all_["blocked"].__setitem__(1, 255), "are on one cell"),
    "port outside": (
        lambda all_: all_["ports"]["cell"].__setitem__((1, 0), 65_535),
        "outside the grid",
    ),
    "two sinks": (lambda all_: all_["ports"]["way"].__setitem__((1, 0), 255), "role sink"),
    "score that is no number": (
        lambda all_: all_["variants"]["score"].__setitem__((1, 0), np.nan),
        "has the score nan",
    ),
    "score above 1": (
        lambda all_: all_["variants"]["score"].__setitem__((1, 0), 2),
        "has the score 2.0",
    ),
}


@pytest.mark.parametrize("name", RECORDS)
def test_an_impossible_task_is_refused_and_the_others_are_read(name: str, pool_path: Path) -> None:
    change, said = RECORDS[name]
    forge(pool_path, lambda manifest, records: change(records))
    pool = open_pool(pool_path)
    assert pool[0].spec.family == "gear"
    with pytest.raises(PoolFileError, match=said) as caught:
        pool[1]
    assert f"task 1 of {pool_path} cannot be one" in str(caught.value)


MANIFESTS = {
    "numbers for names": {"names": {"items": [1, 2, 3, 4, 5]}},
    "objects for names": {"names": {"families": [{}, {}, {}]}},
    "names that cannot be printed": {"names": {"families": ["a", "b\x1b[31m", "c"]}},
    "names of any length": {"names": {"families": ["a", "b" * 99_999, "c"]}},
    "a number for names": {"names": {"families": 3}},
    "other kinds of names": {"names": {"more": []}},
    "no names": {"names": None},
    "no shape": {"shape": []},
    "shape with more": {"shape": {"depth": 3}},
    "many ports": {"shape": {"ports": 10**9}},
    "more ports than numbers": {"shape": {"ports": 10**12}},
    "wide": {"shape": {"width": 10**9}},
    "negative": {"shape": {"width": -8}},
    "half": {"shape": {"width": 7.5}},
    "true": {"shape": {"recipes": True}},
    "records of one byte": {"count": 228, "record_bytes": 1},
}


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_first_line_that_describes_other_records_is_refused(name: str, pool_path: Path) -> None:
    def change(manifest: dict[str, Any], records: Any) -> None:
        for key, value in MANIFESTS[name].items():
            manifest[key] = {**manifest[key], **value} if isinstance(value, dict) else value

    forge(pool_path, change)
    with pytest.raises(PoolFileError, match=r"does not describe its tasks") as caught:
        open_pool(pool_path)
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize("seed", [[1], "\x1b[31m", None, 1.5])
def test_a_seed_that_is_no_number_is_refused(seed: object, pool_path: Path) -> None:
    forge(pool_path, lambda manifest, records: manifest.update(seed=seed))
    with pytest.raises(PoolFileError, match="is damaged"):
        open_pool(pool_path)
