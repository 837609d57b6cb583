"""`python -m factorio_rl`: see --help."""

import sys

from factorio_rl.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
