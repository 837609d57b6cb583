"""Train an agent: `python train.py --config configs/quickstart.yaml`. See --help."""

import sys

from factorio_rl.cli import train_main

if __name__ == "__main__":
    sys.exit(train_main(sys.argv[1:]))
