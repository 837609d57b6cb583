"""Checks the array annotations of the packages whenever the suite calls an annotated function.

`install` puts jaxtyping's import hook on every module that has shape annotations. Constructors
are left out: jax rebuilds registered dataclasses with whatever leaves a transformation makes
(flags, batched arrays, shape structs), so their annotations hold for what the code builds and not
for every value that passes through `jax.tree.map`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from beartype import BeartypeConf, beartype
from jaxtyping import install_import_hook

PACKAGES = ("envs", "factorio_rl")
ROOT = Path(__file__).parents[1]

# An int stands for a float, as in PEP 484.
_CONFIGURED = beartype(conf=BeartypeConf(is_pep484_tower=True))


def check(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its annotations checked at every call; a constructor as it is."""
    return function if function.__name__ == "__init__" else _CONFIGURED(function)


def annotated_modules() -> list[str]:
    """Names of the modules of both packages that import jaxtyping."""
    return sorted(
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if "from jaxtyping import" in path.read_text(encoding="utf-8")
    )


def install() -> None:
    """Puts the hook on all annotated modules; before any of them is imported."""
    install_import_hook(annotated_modules(), f"{__name__}.{check.__name__}")
