"""A disk that is truly full: reporting goes on, and is complete once there is room again."""

import json
from pathlib import Path

import pytest
from PIL import Image
from reporting import fill, markers, reporting, small_disk

from envs.atomic_file import write_text_atomically
from factorio_rl.evaluation_files import write_picture
from factorio_rl.metrics import MetricsLog

pytestmark = pytest.mark.drill


@pytest.mark.parametrize("when", ["at the start", "later"])
def test_metrics_are_complete_after_there_is_room_again(tmp_path: Path, when: str) -> None:
    with small_disk(tmp_path / "disk", "400k") as run_dir:
        filler = run_dir / "filler"
        if when == "at the start":
            fill(filler)
        with reporting(run_dir, tmp_path) as run:
            if when == "later":
                run.wandb_service()
                run.wait_for_reports(5)
                fill(filler)
            run.wait_for_text("cannot write")
            run.wait_for_text("8 lines wait in memory")
            filler.unlink()
            run.wait_for_text("is written again")
            result = run.end()
        lines = (run_dir / "metrics.jsonl").read_text().splitlines()
        assert [json.loads(line)["marker"] for line in lines] == markers(result["reports"])


@pytest.mark.parametrize("room", [1, 3])
def test_line_is_whole_or_absent_where_the_disk_ends_inside_it(tmp_path: Path, room: int) -> None:
    with small_disk(tmp_path / "disk", "256k") as disk:
        path, filler = disk / "metrics.jsonl", disk / "filler"
        log = MetricsLog(path, lambda text: None)
        path.write_bytes(b" " * (4096 * room - 50) + b"\n")
        fill(filler)
        for number in range(5):
            log.write("train", {"marker": f"marker-{number}", "text": "x" * 2000})
        assert len(path.read_bytes()) < 4096 * room
        filler.unlink()
        log.close()
        lines = path.read_text().splitlines()[1:]
        assert [json.loads(line)["marker"][-1] for line in lines] == list("01234")


def test_file_that_has_no_room_leaves_the_old_one(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "256k") as disk:
        noise = Image.effect_noise((300, 300), 80.0)
        for write in (
            lambda path: write_picture(path, noise),
            lambda path: write_text_atomically(path, "x" * 100_000),
        ):
            path, filler = disk / "file", disk / "filler"
            path.write_bytes(b"old")
            fill(filler)
            with pytest.raises(OSError, match="No space left"):
                write(path)
            assert path.read_bytes() == b"old"
            assert sorted(entry.name for entry in disk.iterdir()) == ["file", "filler"]
            filler.unlink()
            write(path)
            assert len(path.read_bytes()) > 10_000
