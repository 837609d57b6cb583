"""Train an agent: `python train.py --config configs/quickstart.yaml`. See --help."""

import signal
import sys

if __name__ == "__main__":
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Ctrl-C while modules are loaded ends the process without a traceback.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from factorio_rl.cli import train_main

    sys.exit(train_main(sys.argv[1:]))
