"""Text of a user on one short, printable line, for a message. Jax-free; nothing is imported."""


def one_line(text: str, length: int) -> str:
    """At most `length` characters of a text, then dots; what cannot be printed becomes `?`."""
    start = " ".join(text[: length + 1].split())
    shown = "".join(letter if letter.isprintable() else "?" for letter in start)
    return shown if len(text) <= length else f"{shown[:length]}..."
