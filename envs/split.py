"""The split of tasks into training and held-out ones, by a canonical hash of their geometry.

Flow: task -> hash of ports, recipes and blocked cells, equal for all eight symmetries of the
square -> held out or not. Target and reference play no part, so that no held-out geometry is
trained on with another target. Jax-free; the same in every process.
"""

import hashlib
import json
from typing import Any

from envs.geometry import NUM_SYMMETRIES, transform_spec
from envs.task_spec import Port, TaskSpec

HELDOUT_ONE_IN = 8
"""One in so many geometries is held out."""


def canonical_hash(spec: TaskSpec) -> str:
    """SHA-256 (hex) of grid size, ports, recipes and blocked cells up to symmetry."""
    forms = (_form(transform_spec(spec, symmetry)) for symmetry in range(NUM_SYMMETRIES))
    return hashlib.sha256(min(forms).encode()).hexdigest()


def is_heldout(spec: TaskSpec) -> bool:
    """Whether this geometry is kept for evaluation and never trained on."""
    return int(canonical_hash(spec), 16) % HELDOUT_ONE_IN == 0


def _form(spec: TaskSpec) -> str:
    """Text of one orientation; the order of ports and of recipe slots carries no meaning."""
    ports = sorted(_port_form(port) for port in spec.ports)
    form = [spec.width, spec.height, sorted(spec.recipes), ports, spec.blocked]
    return json.dumps(form, separators=(",", ":"))


def _port_form(port: Port) -> list[Any]:
    lanes = [port.left or "", port.right or ""]
    return [port.x, port.y, port.direction, port.is_sink, *lanes]
