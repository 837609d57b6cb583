"""Entry points stay usable where nothing can be cached, and old cache files are never used."""

from numba.core import caching

from envs.verifier import jit


def test_entry_point_compiles_where_no_cache_folder_is_writable(monkeypatch):
    monkeypatch.setattr(caching.CompileResultCacheImpl, "_locator_classes", [])
    twice = jit.entry(lambda number: 2 * number)
    assert twice(21) == 42


def test_source_stamp_is_part_of_the_cache_key():
    """numba keys its cache by the closure of the entry point, where the stamp must be."""
    from envs.verifier.compile import _build
    from envs.verifier.recurrence import run, run_sink

    for function in (_build, run, run_sink):
        cells = [cell.cell_contents for cell in function.py_func.__closure__]
        assert jit.source_stamp() in cells
