"""Loads broken and sound configs in a process of its own: `python load_configs.py FOLDER`.

Out, as JSON: by name, the problems and the message of each ConfigError, null where none was
raised, and text where another error was; and whether jax was loaded. Memory is bounded, and so is
the time of each.
"""

import json
import resource
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

from broken_configs import all_broken
from broken_settings import Broken, sound_settings

from factorio_rl.config_file import load_config
from factorio_rl.overrides import ConfigError

MEMORY_BYTES = 1 << 30
EACH_S = 10


class TooSlowError(BaseException):
    """A config that takes too long."""


def _stop(*_: object) -> None:
    raise TooSlowError


def outcome(path: Path, broken: Broken) -> Any:
    """What loading a config comes to."""
    path.write_bytes(broken.file)
    signal.alarm(EACH_S)
    try:
        load_config(path, broken.options)
        return None
    except ConfigError as error:
        return {"problems": error.problems, "message": str(error), "code": error.exit_code}
    except BaseException as error:
        return "".join(traceback.format_exception_only(error))[:500]
    finally:
        signal.alarm(0)


def main() -> None:
    """Loads all of them."""
    path = Path(sys.argv[1]) / "config.yaml"
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    signal.signal(signal.SIGALRM, _stop)
    broken = {one.name: outcome(path, one) for one in all_broken()}
    sound = {one.name: outcome(path, one) for one in sound_settings()}
    print(json.dumps({"broken": broken, "sound": sound, "jax": "jax" in sys.modules}))


if __name__ == "__main__":
    main()
