"""The files of a design: layout, picture, blueprint strings, page, result. Jax-free.

In: a `DesignAnswer`. Out: files in a folder, each whole or not at all; those of an earlier design
in it are replaced.
"""

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from envs.atomic_file import make_writable_folder, write_atomically
from envs.blueprint.exporting import GAME_VERSIONS, export_blueprint
from envs.errors import UserError
from envs.labels import rate_text
from envs.layout import Layout
from envs.layout_json import layout_to_json
from envs.render import render_png
from envs.verifier import RULES_VERSION
from factorio_rl import __version__
from factorio_rl.design_answer import DesignAnswer
from factorio_rl.design_page import design_page
from factorio_rl.verify_answer import answer_to_json

RESULT = "result.json"


class DesignFolderError(UserError):
    """A folder that results cannot be written into."""

    def __init__(self, folder: Path, error: OSError) -> None:
        super().__init__(
            f"cannot write into {folder}: {error.strerror}; give another folder with --out"
        )


def require_folder(folder: Path) -> None:
    """Makes the folder before the work whose results it takes. Raises DesignFolderError."""
    try:
        make_writable_folder(folder)
    except OSError as error:
        raise DesignFolderError(folder, error) from None


def make_blueprints(layout: Layout, label: str) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """The blueprint string for each game version, and what a player must know about them."""
    exported = {game: export_blueprint(layout, game, label) for game in GAME_VERSIONS}
    notes = dict.fromkeys(note for one in exported.values() for note in one.notes)
    return {game: one.text for game, one in exported.items()}, tuple(notes)


def write_files(folder: Path, answer: DesignAnswer, more: Mapping[str, Any]) -> dict[str, Any]:
    """Writes everything, the result last; returns the result. Raises DesignFolderError.

    `more` is put into the result as it is.
    """
    contents = {
        "layout.json": _layout_json(answer),
        "layout.png": _picture(answer),
        **{
            f"blueprint-{game}.txt": f"{text}\n".encode()
            for game, text in answer.blueprints.items()
        },
        "report.html": design_page(answer).encode(),
    }
    result = result_json(answer, more, list(contents))
    contents[RESULT] = (json.dumps(result, indent=1, allow_nan=False) + "\n").encode()
    try:
        for name, content in contents.items():
            write_atomically(folder / name, [content])
    except OSError as error:
        raise DesignFolderError(folder, error) from None
    return result


def result_json(answer: DesignAnswer, more: Mapping[str, Any], files: list[str]) -> dict[str, Any]:
    """The result as JSON: rates as fractions in text and as numbers."""
    rate, target = answer.rate, answer.spec.target_rate
    return {
        "task": answer.name,
        "item": answer.spec.target_item,
        "rate": None if rate is None else str(rate),
        "items_per_s": None if rate is None else float(rate),
        "target": str(target),
        "target_items_per_s": float(target),
        "target_is_bound": answer.target_is_bound,
        "reached": answer.reached,
        "limited_by": answer.limited_by,
        "placements": len(answer.placements),
        "attempts": answer.attempts,
        "seconds": round(answer.seconds, 3),
        "agent": answer.agent,
        **more,
        "version": __version__,
        "rules_version": RULES_VERSION,
        "files": [*files, RESULT],
        "report": answer_to_json(answer.report),
    }


def _layout_json(answer: DesignAnswer) -> bytes:
    layout = layout_to_json(answer.report.loaded.layout)
    return (json.dumps({"name": answer.name, **layout}, indent=1) + "\n").encode()


def _picture(answer: DesignAnswer) -> bytes:
    rate = "no exact rate" if answer.rate is None else rate_text(answer.rate)
    buffer = io.BytesIO()
    render_png(
        answer.report.loaded.layout,
        blocked=answer.spec.blocked,
        title=answer.name,
        caption=f"{answer.spec.target_item}: {rate}",
    ).save(buffer, "PNG")
    return buffer.getvalue()
