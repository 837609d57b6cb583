"""Every rule of `docs/rules.md` has a test named after it and is cited where it is implemented."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]

NOT_OFFERED = {49: "a shortcut that an implementation may offer; ours skips filling time exactly"}
"""Rules without code and tests, and why."""


def rule_numbers() -> set[int]:
    """Numbers of the rules."""
    text = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    return {int(number) for number in re.findall(r"^\*\*R(\d+)\b", text, re.MULTILINE)}


def numbers_in_test_names() -> set[int]:
    """Numbers in the names of all test functions."""
    found = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                found |= {int(number) for number in re.findall(r"^test_r(\d+)_", node.name)}
    return found


def numbers_in_code() -> set[int]:
    """Numbers cited in the code of the environment, one by one."""
    text = [path.read_text(encoding="utf-8") for path in (ROOT / "envs").rglob("*.py")]
    return {int(number) for number in re.findall(r"\bR(\d+)\b", "\n".join(text))}


def test_rules_are_found():
    assert rule_numbers() == {*range(1, 51)} - {19, 36}


def test_every_rule_has_a_test_named_after_it():
    assert rule_numbers() - numbers_in_test_names() - NOT_OFFERED.keys() == set()
    assert numbers_in_test_names() - rule_numbers() == set()


def test_every_rule_is_cited_in_the_code_and_no_other():
    assert rule_numbers() - numbers_in_code() - NOT_OFFERED.keys() == set()
    assert numbers_in_code() - rule_numbers() == set()


def test_rules_that_are_not_offered_are_not_in_the_code():
    assert not NOT_OFFERED.keys() & (numbers_in_test_names() | numbers_in_code())
