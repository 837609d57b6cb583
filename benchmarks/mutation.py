"""One protection that is taken away: what of the program is replaced, and the test that minds.

In: a copy of the tree. Out: whether the test went red. Imports no jax.
"""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

KILLED, SURVIVED, BROKEN = "killed", "survived", "broken"

PATIENCE_S = 300.0
"""A drill trains up to four times, ten seconds each."""

GRACE_S = 20.0
"""For pytest to end the processes that its tests began."""

_FAILED = re.compile(r"^(=+ )?\d+ failed\b.* in \d", re.MULTILINE)
"""Of pytest's summary, after which libraries may still print."""

_TIMEOUT = re.compile(r"Failed: Timeout \(")


class Mutation(NamedTuple):
    """A protection and how to remove it.

    Attributes:
        protection: what is promised, in words.
        file: where, from the root of the project.
        old: source text that is the protection; it stands once in the file.
        new: what takes its place.
        test: pytest's name of the test that has to fail then.
        quick: whether the short form for CI has it.
    """

    protection: str
    file: str
    old: str
    new: str
    test: str
    quick: bool = False

    @property
    def test_file(self) -> str:
        """The file of the test, from the root of the project."""
        return self.test.partition("::")[0]


class MutationError(Exception):
    """A mutation that does not fit the program any more."""


class Verdict(NamedTuple):
    """What became of a run of tests: `why` is of a broken one, `seconds` its whole time."""

    result: str
    why: str
    seconds: float


def removed(mutation: Mutation, text: str) -> str:
    """The file's text without the protection. Raises MutationError unless it is there once."""
    found = text.count(mutation.old)
    if found != 1:
        raise MutationError(
            f"{mutation.file} holds the text of this mutation {found} times, not once: "
            f"{mutation.protection!r}; mend the list"
        )
    return text.replace(mutation.old, mutation.new)


@contextmanager
def mutated(mutation: Mutation, tree: Path) -> Iterator[None]:
    """The tree is without the protection while this is entered."""
    file = tree / mutation.file
    text = file.read_text(encoding="utf-8")
    file.write_text(removed(mutation, text), encoding="utf-8")
    try:
        yield
    finally:
        file.write_text(text, encoding="utf-8")


def verdict(mutation: Mutation, tree: Path, patience_s: float = PATIENCE_S) -> Verdict:
    """What the test says in a tree without the protection.

    Killed is only a test that fails. One that cannot be collected or set up, or that waits without
    an end, says nothing on the protection, so the mutation is broken.
    """
    with mutated(mutation, tree):
        code, output, seconds = run_tests([mutation.test], tree, patience_s)
    if code == 0:
        return Verdict(SURVIVED, "", seconds)
    if code is None or _TIMEOUT.search(output):
        return Verdict(BROKEN, f"no end within {patience_s:g} s", seconds)
    if code != 1:
        return Verdict(BROKEN, f"pytest ended with {code}: {last_line(output)}", seconds)
    if not _FAILED.search(output):
        return Verdict(BROKEN, f"failed before the test itself: {last_line(output)}", seconds)
    return Verdict(KILLED, "", seconds)


def run_tests(tests: list[str], tree: Path, patience_s: float) -> tuple[int | None, str, float]:
    """Runs tests of a tree: pytest's exit code, None if it took too long; output; seconds."""
    # Time runs out here and not in pytest, which would call it a failure.
    options = ["-q", "-x", "-m", "", "-p", "no:cacheprovider", "--timeout=0", "--tb=short"]
    # A file that is changed twice in a second must not be taken from its bytecode.
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    began_s = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", *options, *tests],
        cwd=tree,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=patience_s)
        code = process.returncode
    except subprocess.TimeoutExpired:
        code, output = None, _end(process)
    except BaseException:
        _end(process)
        raise
    return code, output, time.monotonic() - began_s


def last_line(output: str) -> str:
    """The line in which pytest sums up."""
    lines = output.strip().splitlines()
    return lines[-1] if lines else "nothing was printed"


def _end(process: subprocess.Popen[str]) -> str:
    """Interrupts pytest, so that its tests end their processes; then kills; what it printed."""
    process.send_signal(signal.SIGINT)
    try:
        return process.communicate(timeout=GRACE_S)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.communicate()[0]
