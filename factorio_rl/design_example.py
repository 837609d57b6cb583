"""The example of a task file that `design --example` gives. Jax-free.

In: a path, or nothing. Out: the file, or the text on standard output.
"""

from pathlib import Path

from envs.errors import UserError

EXAMPLE = """\
# A task for: python -m factorio_rl design --task THIS_FILE --out FOLDER
# All that is possible here is in docs/tasks.md; `tasks validate FILE` checks a file.

# What to make, and how much of it: items per second, such as 0.8, 15/16 or 45/min.
# Without a rate as much is made as ports and machines allow.
product: iron-gear-wheel
rate: 0.8

# Width x height of the building site in tiles.
grid: 12x12

# Belts that bring items, already there: at which edge (north, east, south, west), and at which
# position along it, counted from 0 at the left or at the top. `item` is on both lanes; instead of
# it, `left` and `right` name the items of one lane each.
inputs:
  - {edge: west, position: 3, item: iron-plate}

# The belt that takes the product away.
output: {edge: east, position: 8}

# Tiles where nothing can be built, [x, y] counted from 0 at the top left, and rectangles.
obstacles:
  - [5, 0]
  - {from: [6, 10], to: [8, 11]}

# What stands already and stays: a layout or blueprint file, seen from this file.
# start: my-half-built-module.txt
"""


def give_example(path: Path | None) -> int:
    """Writes the example, or prints it; the exit code.

    Raises UserError where there is a file already, or none can be written.
    """
    if path is None:
        print(EXAMPLE, end="")
        return 0
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(EXAMPLE)
    except FileExistsError:
        raise UserError(f"{path} is there already; name a file that is not") from None
    except OSError as error:
        raise UserError(
            f"cannot write {path}: {error.strerror}; give a path that can be written"
        ) from None
    print(f"wrote {path}; next: python -m factorio_rl design --task {path} --out FOLDER")
    return 0
