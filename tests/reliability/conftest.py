"""A run without a stop, which the drills compare theirs with."""

from pathlib import Path

import pytest
from training import trained


@pytest.fixture(scope="session")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of six chunks; copy it before anything is changed in it."""
    run_dir = tmp_path_factory.mktemp("runs") / "straight"
    ended = trained(run_dir)
    assert ended.code == 0, ended.output
    return run_dir
