"""Paths that may begin with `~`."""

from pathlib import Path

import pytest

from envs.errors import UserError
from factorio_rl.home_folder import expanded


def test_home_is_put_in_the_place_of_its_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/somewhere")
    assert expanded("~/x") == Path("/somewhere/x")
    assert expanded("a/~/x") == Path("a/~/x")


def test_an_unknown_home_is_an_error_of_the_user() -> None:
    with pytest.raises(UserError, match="the home folder in ~no-such-user/x is not known"):
        expanded("~no-such-user/x")
