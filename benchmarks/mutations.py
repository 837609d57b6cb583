"""Takes one protection of the program away at a time, and expects its test to go red.

    python -m benchmarks.mutations                  # all, about half an hour
    python -m benchmarks.mutations --quick          # a handful, for CI: under a minute
    python -m benchmarks.mutations --only wandb     # those with this in their name, file or test
    python -m benchmarks.mutations --budget-s 540   # what of it begins within nine minutes
    python -m benchmarks.mutations --resume FILE    # all but what was killed in an earlier part
    python -m benchmarks.mutations --markdown       # the table of docs/reliability.md

Flow: the list of `mutation_list.py` -> copies of the tree, one for each job -> the named tests as
they are, which must pass -> each test without its protection (`mutation.py`) -> a table and
`docs/results/mutations.json`, written anew after each. The exit code is 1 if a test did not mind.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from benchmarks.mutation import (
    KILLED,
    PATIENCE_S,
    Mutation,
    MutationError,
    Verdict,
    last_line,
    removed,
    run_tests,
    verdict,
)
from benchmarks.mutation_list import MUTATIONS
from benchmarks.results import RESULTS, command_line, write_results

ROOT = Path(__file__).resolve().parents[1]

COMPILED = Path("envs", "verifier", "__pycache__")
"""Machine code of the verifier, which no mutation changes: a minute's work for each copy."""

Row = dict[str, Any]


def main(arguments: Sequence[str]) -> int:
    """Does what the command line asks for; the exit code."""
    args = _parse(arguments)
    ends_s = time.monotonic() + args.budget_s
    if args.markdown:
        print(markdown(json.loads((args.out or RESULTS / "mutations.json").read_text())["rows"]))
        return 0
    wanted = [mutation for mutation in MUTATIONS if _is_wanted(mutation, args)]
    try:
        for mutation in wanted:
            removed(mutation, (ROOT / mutation.file).read_text(encoding="utf-8"))
    except (MutationError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    rows = _killed_rows(args.resume, wanted) if args.resume else []
    known = {_key(row) for row in rows}
    left = [mutation for mutation in wanted if _key(row_of(mutation)) not in known]
    with _copies(args.jobs) as trees:
        red = "" if args.no_baseline else red_without_mutation(left, trees)
        if red:
            print(f"error: red without any mutation: {red}", file=sys.stderr)
            return 2
        return _run(left, rows, trees, args, ends_s, _command(arguments, args.resume))


def _run(
    left: Sequence[Mutation],
    rows: list[Row],
    trees: Sequence[Path],
    args: argparse.Namespace,
    ends_s: float,
    command: str,
) -> int:
    """Runs what is left, adds its rows to those there are, and writes them after each."""
    place = {_key(row_of(mutation)): number for number, mutation in enumerate(MUTATIONS)}
    left_out = {mutation.protection: "not begun" for mutation in left}

    def write() -> None:
        if args.out or _is_whole(args):
            rows.sort(key=lambda row: place[_key(row)])
            write_results("mutations", rows, command, args.out, _lines(left_out))

    for mutation, outcome in _verdicts(left, trees, ends_s):
        if outcome is None:
            left_out[mutation.protection] = f"the budget of {args.budget_s:g} s was used"
            continue
        del left_out[mutation.protection]
        rows.append(row_of(mutation, outcome))
        print(_line(rows[-1], outcome.why), flush=True)
        write()
    write()
    for line in _lines(left_out):
        print(f"left out: {line}")
    missed = [row for row in rows if row["result"] != KILLED]
    print(f"{len(rows) - len(missed)} of {len(rows)} protections are held by their tests")
    return 1 if missed else 0


def _verdicts(
    mutations: Sequence[Mutation], trees: Sequence[Path], ends_s: float
) -> Iterator[tuple[Mutation, Verdict | None]]:
    """Each mutation with what its test said, as they end; None for one that
    would begin too late."""
    free: SimpleQueue[Path] = SimpleQueue()
    for tree in trees:
        free.put(tree)

    def judge(mutation: Mutation) -> Verdict | None:
        if time.monotonic() > ends_s:
            return None
        tree = free.get()
        try:
            return verdict(mutation, tree)
        finally:
            free.put(tree)

    with ThreadPoolExecutor(len(trees)) as pool:
        jobs = {pool.submit(judge, mutation): mutation for mutation in mutations}
        try:
            for job in as_completed(jobs):
                yield jobs[job], job.result()
        finally:
            pool.shutdown(cancel_futures=True)


def red_without_mutation(mutations: Sequence[Mutation], trees: Sequence[Path]) -> str:
    """What of the tests fails in the tree as it is, and how; empty if all pass."""
    files: dict[str, dict[str, None]] = {}
    for mutation in mutations:
        files.setdefault(mutation.test_file, {})[mutation.test] = None
    for tests in files.values():
        patience_s = PATIENCE_S * len(tests)
        code, output, _ = run_tests([*tests], trees[0], patience_s)
        if code != 0:
            failed = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
            return "; ".join([", ".join(tests), *failed, last_line(output)])
    return ""


@contextmanager
def _copies(jobs: int) -> Iterator[list[Path]]:
    with tempfile.TemporaryDirectory(prefix="mutations-") as folder:
        trees = [Path(folder, str(number)) for number in range(jobs)]
        for tree in trees:
            copy_tree(ROOT, tree)
        yield trees


def copy_tree(root: Path, tree: Path) -> None:
    """Copies what git knows or does not ignore, as it is in the working tree."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=root, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (root / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            # numba and Python look at the time of a source file.
            shutil.copy2(root / name, tree / name)
    if (root / COMPILED).is_dir():
        os.symlink(root / COMPILED, tree / COMPILED)


def row_of(mutation: Mutation, outcome: Verdict | None = None) -> Row:
    """The row of the result file."""
    row = {name: getattr(mutation, name) for name in ("protection", "file", "test")}
    if outcome is None:
        return row
    return {**row, "result": outcome.result, "seconds": round(outcome.seconds, 1)}


def markdown(rows: Sequence[Row]) -> str:
    """The table for the documentation, a line for each protection."""
    lines = ["| Protection | In | Test that goes red without it |", "|---|---|---|"]
    for row in rows:
        result = "" if row["result"] == KILLED else f" ({row['result']})"
        name = row["test"].removeprefix("tests/")
        lines.append(f"| {row['protection']} | `{row['file']}` | `{name}`{result} |")
    return "\n".join(lines)


def _line(row: Row, why: str) -> str:
    reason = f": {why}" if why else ""
    return (
        f"{row['result']:<8} {row['seconds']:6.1f} s  {row['file']}: {row['protection']}{reason}"
        + ("" if row["result"] == KILLED else f"\n{'':18} {row['test']}")
    )


def _killed_rows(path: Path, wanted: Sequence[Mutation]) -> list[Row]:
    """Rows of an earlier part whose mutations are still asked for and need not run again."""
    keys = {_key(row_of(mutation)) for mutation in wanted}
    rows = json.loads(path.read_text())["rows"]
    return [row for row in rows if _key(row) in keys and row["result"] == KILLED]


def _command(arguments: Sequence[str], resume: Path | None) -> str:
    """What was typed, without the place of an earlier part on this machine."""
    if resume is not None:
        arguments = [argument.replace(str(resume), resume.name) for argument in arguments]
    return command_line("mutations", arguments)


def _key(row: Row) -> tuple[str, ...]:
    return row["protection"], row["file"], row["test"]


def _lines(left_out: dict[str, str]) -> list[str]:
    return [f"{name}: {why}" for name, why in left_out.items()]


def _is_wanted(mutation: Mutation, args: argparse.Namespace) -> bool:
    text = f"{mutation.protection} {mutation.file} {mutation.test}"
    return (mutation.quick or not args.quick) and (args.only or "") in text


def _is_whole(args: argparse.Namespace) -> bool:
    """Whether the whole list is asked for, so that the rows may replace the project's."""
    return not (args.quick or args.only)


def _jobs(text: str) -> int:
    jobs = int(text)
    if jobs < 1:
        raise argparse.ArgumentTypeError(f"{jobs} is no number of jobs")
    return jobs


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Remove protections; expect tests to go red.")
    parser.add_argument("--quick", action="store_true", help="the cheapest few, printed only")
    parser.add_argument("--only", metavar="SUBSTRING", help="of the name, the file or the test")
    parser.add_argument("--jobs", type=_jobs, default=1, help="copies of the tree at work")
    parser.add_argument(
        "--no-baseline",
        action="store_true",
        help="do not run the tests unmutated first: one that is red anyway counts as killed",
    )
    parser.add_argument(
        "--budget-s",
        type=float,
        default=float("inf"),
        help="mutations that would begin after so many seconds are left out and named",
    )
    parser.add_argument(
        "--resume", type=Path, help="a result file whose killed mutations are not run again"
    )
    parser.add_argument(
        "--out",
        type=Path,
        help="result file (default: docs/results/mutations.json for the whole list, else none)",
    )
    parser.add_argument("--markdown", action="store_true", help="print the table of a result file")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
