"""Damaged checkpoints: every kind is noticed, set aside and told; links and bombs are refused."""

import gc
import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
import tensorstore

from factorio_rl import checkpoint
from factorio_rl.checkpoint import CheckpointStore
from factorio_rl.checkpoint_check import CheckpointError
from factorio_rl.checkpoint_manifest import (
    MANIFEST_FILE,
    Manifest,
    _own_digest,
    read_manifest,
    write_manifest,
)

# What Orbax leaves behind when a load fails half-way.
pytestmark = pytest.mark.filterwarnings(
    "ignore::RuntimeWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)

LIKE = {
    "numbers": {"a": np.zeros(2_000), "b": jnp.zeros((3, 4), jnp.float32)},
    "state": (jnp.zeros(5, jnp.int32), np.zeros((), np.int64)),
}


def parts(step: int) -> dict[str, Any]:
    random_numbers = np.random.default_rng(step)
    return {
        "numbers": {
            "a": random_numbers.random(2_000),
            "b": jnp.asarray(random_numbers.random((3, 4)), jnp.float32),
        },
        "state": (jnp.arange(5, dtype=jnp.int32) + step, np.asarray(step)),
    }


@pytest.fixture(autouse=True, scope="module")
def _nothing_left_behind() -> Iterator[None]:
    """Collects Orbax's failed tasks: Python 3.11 fails where they end in the middle of `ast`."""
    yield
    gc.collect()


@pytest.fixture
def store(tmp_path: Path) -> CheckpointStore:
    """A folder with the steps 4 and 5."""
    made = CheckpointStore(tmp_path / "checkpoints", {})
    for step in (4, 5):
        made.save(Manifest(step, step, None, {}, {}, {}), parts(step))
    return made


def files(folder: Path) -> list[Path]:
    """Files with anything in them, largest first."""
    found = [path for path in folder.rglob("*") if path.is_file() and path.stat().st_size]
    return sorted(found, key=lambda path: (-path.stat().st_size, path))


def flip_a_bit(folder: Path) -> None:
    """Of the file that holds most of the numbers."""
    data = bytearray(files(folder)[0].read_bytes())
    data[len(data) // 2] ^= 1
    files(folder)[0].write_bytes(data)


def cut_off(folder: Path) -> None:
    os.truncate(files(folder)[0], files(folder)[0].stat().st_size // 2)


def delete_data(folder: Path) -> None:
    files(folder)[0].unlink()


def delete_part(folder: Path) -> None:
    shutil.rmtree(folder / "state")


def pipe_for_manifest(folder: Path) -> None:
    """Whoever opens it as a file waits for ever."""
    (folder / MANIFEST_FILE).unlink()
    os.mkfifo(folder / MANIFEST_FILE)


def delete_manifest(folder: Path) -> None:
    (folder / MANIFEST_FILE).unlink()


def change_manifest(folder: Path) -> None:
    file = folder / MANIFEST_FILE
    file.write_text(file.read_text().replace('"score": null', '"score": 1.0'))


def cut_manifest(folder: Path) -> None:
    os.truncate(folder / MANIFEST_FILE, 100)


def cut_description(folder: Path) -> None:
    os.truncate(folder / "numbers" / "_METADATA", 20)


def other_shape(folder: Path) -> None:
    replace_parts(
        folder, {**parts(5), "numbers": {"a": np.zeros(7), "b": parts(5)["numbers"]["b"]}}
    )


def other_numbers(folder: Path) -> None:
    """Well-formed arrays of another state below the manifest of this one."""
    replace_parts(folder, parts(6))


def replace_parts(folder: Path, content: dict[str, Any]) -> None:
    manifest = read_manifest(folder)
    shutil.rmtree(folder)
    CheckpointStore(folder.parent, {}).save(Manifest(5, 5, None, {}, {}, {}), content)
    write_manifest(folder, manifest)


DAMAGES = [
    flip_a_bit,
    cut_off,
    delete_data,
    delete_part,
    delete_manifest,
    pipe_for_manifest,
    change_manifest,
    cut_manifest,
    cut_description,
    other_shape,
    other_numbers,
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_newest_is_set_aside_and_the_one_before_is_used(
    store: CheckpointStore, damage: Callable[[Path], None]
) -> None:
    damage(store.directory / "5")
    told: list[str] = []
    found = store.load_newest(LIKE, told.append)
    assert found is not None
    manifest, loaded = found
    assert manifest.step == 4
    np.testing.assert_array_equal(loaded["numbers"]["a"], parts(4)["numbers"]["a"])
    assert len(told) == 1
    assert str(store.directory / "5") in told[0]
    assert str(store.directory / "corrupt-5") in told[0]
    assert sorted(path.name for path in store.directory.iterdir()) == ["4", "corrupt-5"]


@pytest.mark.parametrize("damage", DAMAGES)
def test_folder_of_damaged_checkpoints_is_an_error_that_names_them(
    store: CheckpointStore, damage: Callable[[Path], None]
) -> None:
    shutil.rmtree(store.directory / "4")
    shutil.copytree(store.directory / "5", store.directory / "4")  # whose manifest is of step 5
    damage(store.directory / "5")
    for _ in range(2):  # a second start must not begin anew either
        with pytest.raises(CheckpointError) as caught:
            store.load_newest(LIKE, print)
        assert all(str(store.directory / str(step)) in str(caught.value) for step in (4, 5))
        assert "restore one from a copy" in str(caught.value)
        assert caught.value.exit_code == 4
    # Nothing was moved: the user may mend them.
    assert store.steps() == [5, 4]


def test_folder_with_nothing_but_what_was_set_aside_is_not_begun_anew(
    store: CheckpointStore,
) -> None:
    flip_a_bit(store.directory / "5")
    assert store.load_newest(LIKE, print) is not None
    shutil.rmtree(store.directory / "4")
    with pytest.raises(CheckpointError, match="corrupt-5: set aside before"):
        store.load_newest(LIKE, print)


def test_run_that_fell_back_saves_the_damaged_step_again(store: CheckpointStore) -> None:
    cut_off(store.directory / "5")
    assert store.load_newest(LIKE, print) is not None
    store.save(Manifest(5, 5, None, {}, {}, {}), parts(50))
    found = CheckpointStore(store.directory, {}).load_newest(LIKE, print)
    assert found is not None
    np.testing.assert_array_equal(found[1]["numbers"]["a"], parts(50)["numbers"]["a"])


def test_any_flipped_bit_is_noticed_or_harmless(store: CheckpointStore) -> None:
    """Some bits mean nothing, such as those of times: then all numbers must be the same."""
    folder, random_bits = store.directory / "5", random.Random(0)
    noticed = 0
    for _ in range(60):
        path = random_bits.choice(files(folder))
        intact = path.read_bytes()
        data = bytearray(intact)
        data[random_bits.randrange(len(data))] ^= 1 << random_bits.randrange(8)
        path.write_bytes(data)
        try:
            loaded = store.load(5, LIKE)
        except CheckpointError:
            noticed += 1
        else:
            np.testing.assert_array_equal(loaded["numbers"]["a"], parts(5)["numbers"]["a"])
            np.testing.assert_array_equal(loaded["state"][0], parts(5)["state"][0])
        path.write_bytes(intact)
    assert noticed > 20


@pytest.mark.parametrize("kind", [ValueError, RuntimeError, KeyError, FileNotFoundError])
def test_whatever_orbax_raises_is_an_error_in_words(
    store: CheckpointStore, monkeypatch: pytest.MonkeyPatch, kind: type[Exception]
) -> None:
    def load(*_: object) -> None:
        raise kind("chunk 3 is odd")

    monkeypatch.setattr(checkpoint.ocp, "load_checkpointables", load)
    with pytest.raises(CheckpointError, match=r"cannot load checkpoint .*chunk 3 is odd"):
        store.load(5, LIKE)


@pytest.mark.parametrize(
    ("like", "reason"),
    [
        ({"numbers": {**LIKE["numbers"], "b": jnp.zeros(4)}}, r"numbers.b is .*\[3, 4\].*\[4\]"),
        (
            {"numbers": {**LIKE["numbers"], "a": np.zeros(2_000, np.float32)}},
            r"numbers.a is float64\[2000\] there, float32\[2000\] is expected",
        ),
        ({"numbers": {**LIKE["numbers"], "c": jnp.zeros(3)}}, "numbers.c is missing"),
        ({"numbers": {"a": LIKE["numbers"]["a"]}}, "numbers.b is not expected"),
        ({"letters": jnp.zeros(3)}, "part letters is missing"),
    ],
)
def test_other_shape_is_an_error_that_names_the_leaf(
    store: CheckpointStore, like: dict[str, Any], reason: str
) -> None:
    with pytest.raises(CheckpointError, match=reason):
        store.load(5, like)


def test_links_out_of_the_folder_are_refused(store: CheckpointStore, tmp_path: Path) -> None:
    inside = files(store.directory / "5")[0]
    outside = tmp_path / "elsewhere"
    inside.rename(outside)
    inside.symlink_to(outside)
    with pytest.raises(CheckpointError, match="is a link or no file"):
        store.load(5, LIKE)


def test_far_too_large_a_checkpoint_is_not_read(store: CheckpointStore) -> None:
    with (store.directory / "5" / "numbers" / "d" / "0").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(CheckpointError, match="bytes, its arrays are to have 16,0"):
        store.load(5, LIKE)


def test_chunk_that_unpacks_to_more_than_its_array_is_not_read(store: CheckpointStore) -> None:
    """A chunk of gigabytes of zeros would have some kilobytes."""
    base = f"file://{store.directory / '5' / 'numbers'}/"
    spec = {"driver": "zarr3", "kvstore": {"driver": "ocdbt", "base": base, "path": "a/"}}
    metadata = tensorstore.open(spec).result().spec().to_json()["metadata"]
    metadata["chunk_grid"]["configuration"]["chunk_shape"] = [1 << 30]
    metadata["codecs"] = [{"name": "bytes", "configuration": {"endian": "little"}}]
    tensorstore.open({**spec, "metadata": metadata}, create=True, delete_existing=True).result()
    with pytest.raises(CheckpointError, match=r"numbers\.a is stored in chunks larger than itself"):
        store.load(5, LIKE)


@pytest.mark.parametrize(
    "change",
    [
        {"step": 4},
        {"step": "5"},
        {"score": float("nan")},
        {"score": 2.0},
        {"digests": ["numbers"]},
        {"unknown": 1},
    ],
)
def test_manifest_with_a_right_digest_and_wrong_content_is_refused(
    store: CheckpointStore, change: dict[str, Any]
) -> None:
    """Anybody can compute the digest."""
    file = store.directory / "5" / MANIFEST_FILE
    content = {**json.loads(file.read_text()), **change}
    del content["digest"]
    file.write_text(json.dumps({**content, "digest": _own_digest(content)}))
    with pytest.raises(CheckpointError, match="manifest"):
        store.load(5, LIKE)


def test_manifest_of_many_megabytes_is_not_read(store: CheckpointStore) -> None:
    (store.directory / "5" / MANIFEST_FILE).write_text("[" * (4 << 20))
    with pytest.raises(CheckpointError, match="more than"):
        store.load(5, LIKE)
