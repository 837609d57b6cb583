"""Compiles the verifier before its first use, with a word about how long that takes. Jax-free."""

import sys


def compile_if_needed() -> None:
    """Compiles the verifier where no earlier use has left it on disk."""
    from envs.verifier.first_use import compile_verifier, must_compile

    if must_compile():
        print(
            "compiling the verifier, once for each installation; this takes about a minute",
            file=sys.stderr,
            flush=True,
        )
        compile_verifier()
