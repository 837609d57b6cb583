"""A program that reports as a training run does, and measures how long reporting held it up.

Arguments: a run directory and a folder. Every 10 ms stand for a chunk, every tenth is reported
under a marker of its own. With LEAVE_FILES in the environment every fifth report comes with a
picture and an agent. It goes on until the file `stop` is in the folder, then writes `result.json`
there and leaves with exit code 7.
"""

import json
import os
import sys
import time
from pathlib import Path

from PIL import Image

from factorio_rl.config import Config
from factorio_rl.reporter import Reporter, open_reporter
from factorio_rl.safe_output import safe_output

CHUNK_S = 0.01
CHUNKS_PER_REPORT = 10
REPORTS_PER_FILES = 5
EXIT_CODE = 7


def main(run_dir: Path, folder: Path) -> int:
    chunk, longest_gap_s = 0, 0.0
    with open_reporter(Config(), run_dir) as reporter:
        reporter.exit_code = EXIT_CODE
        last_s = time.monotonic()
        while not (folder / "stop").exists():
            time.sleep(CHUNK_S)
            chunk += 1
            if chunk % CHUNKS_PER_REPORT == 0:
                number = chunk // CHUNKS_PER_REPORT
                fields = {"chunk": chunk, "env_steps": chunk, "learner_updates": chunk}
                reporter.report("train", {**fields, "marker": f"marker-{number:04d}"})
                if "LEAVE_FILES" in os.environ and number % REPORTS_PER_FILES == 0:
                    _leave_files(run_dir, number, fields, reporter)
            now_s = time.monotonic()
            longest_gap_s, last_s = max(longest_gap_s, now_s - last_s), now_s
    result = {
        "longest_gap_s": longest_gap_s,
        "close_s": time.monotonic() - last_s,
        "reports": chunk // CHUNKS_PER_REPORT,
        "loaded_wandb": "wandb" in sys.modules,
    }
    (folder / "result.json").write_text(json.dumps(result))
    return EXIT_CODE


def _leave_files(run_dir: Path, number: int, fields: dict[str, int], reporter: Reporter) -> None:
    """Files that take the place of those before; not forced to the disk, which is not measured."""
    fresh, picture, agent = (run_dir / name for name in ("fresh", "a.png", "best.safetensors"))
    Image.new("RGB", (16, 8), (number % 256, 0, 0)).save(fresh, "png")
    fresh.replace(picture)
    fresh.write_text(f"agent {number}")
    fresh.replace(agent)
    reporter.show({"a": picture}, fields)
    reporter.offer_agent(agent, {"number": number})


if __name__ == "__main__":
    with safe_output():
        code = main(Path(sys.argv[1]), Path(sys.argv[2]))
    sys.exit(code)
