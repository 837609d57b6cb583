"""Small blueprints for tests, written as pictures."""

import json
from pathlib import Path
from typing import Any

from envs.catalogue import MACHINES

DATA = Path(__file__).parents[2] / "data"
REAL = {path.stem: path for path in sorted((DATA / "blueprints").glob("*.json"))}

VERSION_1_1 = 1 << 48 | 1 << 32 | 110 << 16
VERSION_2_0 = 2 << 48 | 76 << 16


def real(name: str) -> dict[str, Any]:
    return json.loads(REAL[name].read_text())


def entity(name: str, x: int, y: int, direction: int = 0, **fields: Any) -> dict[str, Any]:
    """An entity whose top-left tile is (x, y), of 2.0."""
    width, height = fields.pop("size", (MACHINES[name].size,) * 2 if name in MACHINES else (1, 1))
    return {
        "name": name,
        "position": {"x": x + width / 2, "y": y + height / 2},
        "direction": 4 * direction,
        **fields,
    }


def blueprint(*entities: dict[str, Any], version: object = VERSION_2_0) -> dict[str, Any]:
    inner: dict[str, Any] = {"item": "blueprint", "entities": list(entities)}
    if version is not None:
        inner["version"] = version
    return {"blueprint": inner}


def picture(text: str, *others: dict[str, Any], **named: dict[str, Any]) -> dict[str, Any]:
    """A blueprint from rows of tiles.

    `^>v<` are belts, `nesw` inserters that drop that way, `NESW` the same with long arms, `.` is
    free. A letter in `named` is the top-left tile of that entity: its name and other fields.
    """
    found = list(others)
    for y, row in enumerate(text.split()):
        for x, letter in enumerate(row):
            if letter in "^>v<":
                found.append(entity("transport-belt", x, y, "^>v<".index(letter)))
            elif letter in "nesw":
                found.append(entity("inserter", x, y, ("nesw".index(letter) + 2) % 4))
            elif letter in "NESW":
                direction = ("NESW".index(letter) + 2) % 4
                found.append(entity("long-handed-inserter", x, y, direction))
            elif letter != ".":
                found.append(entity(x=x, y=y, **named[letter]))
    return blueprint(*found)


def asm(recipe: str | None = None, tier: int = 1, **fields: Any) -> dict[str, Any]:
    recipes = {"recipe": recipe} if recipe else {}
    return {"name": f"assembling-machine-{tier}", **recipes, **fields}


FURNACE = {"name": "stone-furnace"}
CHEST = {"name": "iron-chest"}
