"""`python -m factorio_rl`: see --help."""

import signal

if __name__ == "__main__":
    # Compiled code does not look for Python's handler: without one Ctrl-C ends it at once, also
    # while the rest is imported.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

import sys

from factorio_rl.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
