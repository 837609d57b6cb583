"""The public layouts and reference cases, for tests of the export."""

import json
from pathlib import Path
from typing import Any

from envs.layout import Layout
from envs.layout_json import layout_from_json

DATA = Path(__file__).parents[2] / "data"

PUBLIC: dict[str, dict[str, Any]] = {
    obj["name"]: obj
    for name in ("cases_public.json", "layouts_public.json")
    for obj in json.loads((DATA / name).read_text())
}
"""JSON of the layouts by name."""


def public_layout(name: str) -> Layout:
    return layout_from_json(PUBLIC[name])
