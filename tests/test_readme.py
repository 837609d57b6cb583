"""The README keeps its word: its Python runs, its links and paths lead somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PYTHON_BLOCKS = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
LINKS = re.findall(r"\]\(([^)\s]+)", README)


def test_the_readme_shows_python() -> None:
    assert PYTHON_BLOCKS


@pytest.mark.parametrize("block", PYTHON_BLOCKS)
def test_python_of_the_readme_runs(block: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    exec(compile(block, "README.md", "exec"), {"__name__": "readme"})


@pytest.mark.parametrize("link", [link for link in LINKS if "://" not in link])
def test_relative_links_and_pictures_exist(link: str) -> None:
    assert (ROOT / link.partition("#")[0]).exists()


def test_paths_named_in_the_readme_exist() -> None:
    named = re.findall(r"`((?:envs|factorio_rl|configs|benchmarks|docs|tests)/[\w./]*)`", README)
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []
