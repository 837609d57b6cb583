"""The split of tasks into training and held-out ones: by whole strata, and by geometry.

Flow: task -> stratum and canonical hash, equal for all eight symmetries of the square -> held out
or not. A stratum is a set of recipes with the borders on which the ports lie; some strata are held
out whole, so their combination is never trained on. Of the others one geometry in eight is held
out. Target, family and reference play no part. Jax-free; the same in every process.
"""

import hashlib
import json
from typing import Any

from envs.geometry import NUM_SYMMETRIES, transform_spec
from envs.task_spec import Port, TaskSpec

HELDOUT_ONE_IN = 8
"""One in so many geometries is held out."""

HELDOUT_STRATA_ONE_IN = 6
"""About one in so many strata is held out whole."""

_STRATA_SALT = 18_174
"""Chosen once among 20,000, so that most families have a stratum held out and none loses half."""


def canonical_hash(spec: TaskSpec) -> str:
    """SHA-256 (hex) of grid size, ports, recipes and blocked cells up to symmetry."""
    forms = (_form(transform_spec(spec, symmetry)) for symmetry in range(NUM_SYMMETRIES))
    return hashlib.sha256(min(forms).encode()).hexdigest()


def stratum(spec: TaskSpec) -> str:
    """Recipes, and how each source lies to the sink.

    A source is `inside`, or on the `same`, an `adjacent` or the `opposite` border as the sink
    (`same` wins in corners, then `adjacent`).
    """
    relations = sorted(_relation(spec, port) for port in spec.ports if not port.is_sink)
    return f"{'+'.join(sorted(spec.recipes))} {'+'.join(relations)}"


def in_heldout_stratum(spec: TaskSpec) -> bool:
    """Whether the task's stratum appears in held-out sets only."""
    digest = hashlib.sha256(f"{_STRATA_SALT} {stratum(spec)}".encode())
    return int(digest.hexdigest(), 16) % HELDOUT_STRATA_ONE_IN == 0


def is_heldout(spec: TaskSpec) -> bool:
    """Whether this task is kept for evaluation and never trained on."""
    return in_heldout_stratum(spec) or int(canonical_hash(spec), 16) % HELDOUT_ONE_IN == 0


def _relation(spec: TaskSpec, source: Port) -> str:
    at_source, at_sink = _borders(spec, source), _borders(spec, spec.sink)
    if not at_source or not at_sink:
        return "inside"
    if at_source & at_sink:
        return "same"
    is_adjacent = any((border + turn) % 4 in at_sink for border in at_source for turn in (1, 3))
    return "adjacent" if is_adjacent else "opposite"


def _borders(spec: TaskSpec, port: Port) -> set[int]:
    """Borders N, E, S, W (0 to 3) that a port lies on."""
    on = (port.y == 0, port.x == spec.width - 1, port.y == spec.height - 1, port.x == 0)
    return {border for border, lies in enumerate(on) if lies}


def _form(spec: TaskSpec) -> str:
    """Text of one orientation; the order of ports and of recipe slots carries no meaning."""
    ports = sorted(_port_form(port) for port in spec.ports)
    form = [spec.width, spec.height, sorted(spec.recipes), ports, spec.blocked]
    return json.dumps(form, separators=(",", ":"))


def _port_form(port: Port) -> list[Any]:
    lanes = [port.left or "", port.right or ""]
    return [port.x, port.y, port.direction, port.is_sink, *lanes]
