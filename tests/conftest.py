"""For the whole suite: array annotations are checked, and signals are as on a terminal."""

import signal

import runtime_typing

runtime_typing.install()

# A shell starts a background job with SIGINT ignored and `nohup` one with SIGHUP, processes inherit
# that, and the trainer respects it: tests that send signals would wait for ever.
for number in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(number) is signal.SIG_IGN:
        usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        signal.signal(number, usual)
