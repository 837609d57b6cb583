"""Reads hostile files with the commands, in a process of little memory: `... FOLDER`.

Out, as JSON: for each, its name, the exit code and what was printed; an error that is no message
is text.
"""

import contextlib
import io
import json
import resource
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

from hostile_files import hostile_files, written

from factorio_rl import cli

MEMORY_BYTES = 3 << 29
EACH_S = 30


class TooSlowError(BaseException):
    """A file that takes too long."""


def _stop(*_: object) -> None:
    raise TooSlowError


def outcome(arguments: tuple[str, ...]) -> Any:
    """[exit code, standard output, standard error] of a command."""
    out, err = io.StringIO(), io.StringIO()
    signal.alarm(EACH_S)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = cli.main(arguments)
        return [code, out.getvalue(), err.getvalue()]
    except BaseException as error:
        return "".join(traceback.format_exception(error))[-1500:]
    finally:
        signal.alarm(0)


def main() -> None:
    """Reads all of them."""
    folder = Path(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    signal.signal(signal.SIGALRM, _stop)
    print(json.dumps([outcome(written(folder, hostile)) for hostile in hostile_files()]))


if __name__ == "__main__":
    main()
