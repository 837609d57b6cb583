"""`python -m factorio_rl`: see --help."""

import signal
import sys

from factorio_rl.cli import main

if __name__ == "__main__":
    # Compiled code does not look for Python's handler: without one Ctrl-C ends it at once.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(main(sys.argv[1:]))
