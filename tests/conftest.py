"""Turns the run-time check of array annotations on for the whole suite."""

import runtime_typing

runtime_typing.install()
