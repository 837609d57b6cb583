"""What a GPU did while it was watched, from the profiler of jax: its own record of kernels.

Out: printed shares of the time by program and by kind of kernel, and how busy the device was.
"""

import gzip
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SHOWN = 30


@contextmanager
def print_profile() -> Iterator[None]:
    """Watches the device while the block runs, then prints where its time went."""
    import jax

    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            yield
        for path in Path(folder).rglob("*.trace.json.gz"):
            with gzip.open(path, "rt", encoding="utf-8") as file:
                _print(json.load(file)["traceEvents"])


def _print(events: Iterable[dict[str, Any]]) -> None:
    events = list(events)
    names = {
        event["pid"]: event["args"]["name"]
        for event in events
        if event.get("name") == "process_name"
    }
    kernels = [
        event
        for event in events
        if event.get("ph") == "X"
        and "/device:GPU" in names.get(event["pid"], "")
        and "hlo_op" in event.get("args", {})
    ]
    if not kernels:
        print("the profiler saw no kernels on a GPU")
        return
    whole_us = max(event["ts"] + event["dur"] for event in kernels) - min(
        event["ts"] for event in kernels
    )
    print(f"device busy {busy_us(kernels) / whole_us:.3f} of {whole_us / 1e3:.1f} ms")
    for title, kind in (("program", _program), ("kernel", _kernel)):
        spent = Counter[str]()
        calls = Counter[str]()
        for event in kernels:
            spent[kind(event)] += event["dur"]
            calls[kind(event)] += 1
        print(title)
        for name, us in spent.most_common(SHOWN):
            print(f"  {us / whole_us:6.3f} {us / 1e3:9.2f} ms {calls[name]:7}  {name}")


def busy_us(kernels: Iterable[dict[str, Any]]) -> float:
    """Microseconds in which at least one kernel ran."""
    total = end = 0.0
    for event in sorted(kernels, key=lambda event: event["ts"]):
        start, stop = max(event["ts"], end), event["ts"] + event["dur"]
        total += max(stop - start, 0.0)
        end = max(end, stop)
    return total


def _program(event: dict[str, Any]) -> str:
    return str(event["args"].get("hlo_module", "?")).split("(")[0]


def _kernel(event: dict[str, Any]) -> str:
    """Program, and the kernel's name without its numbers."""
    return f"{_program(event)}: {re.sub(r'[0-9]+', '#', event['name'])[:90]}"
