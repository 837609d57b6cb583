"""What tests of several benchmarks share."""

import jax
import pytest

from benchmarks import results


@pytest.fixture
def results_in(monkeypatch, tmp_path):
    """The folder that results go to; the compilation cache is put back as it was."""
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    enabled = jax.config.jax_enable_compilation_cache
    yield tmp_path
    jax.config.update("jax_enable_compilation_cache", enabled)
