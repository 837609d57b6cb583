"""The kernel tree is used where it runs and agrees; where not, one line says why."""

import logging
from dataclasses import replace

import jax
import numpy as np
import pytest

from envs import kernel_check
from factorio_rl.search import KernelTreeError, SearchSettings, choice, choose_tree

SETTINGS = SearchSettings(32)
ACTIONS = 50


def choose(wanted):
    return choose_tree(wanted, SETTINGS, ACTIONS)


@pytest.fixture(autouse=True)
def fresh_choice():
    caches = choice._obstacle, kernel_check._log_once
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


@pytest.fixture(scope="module")
def lean_tree():
    return choice.probe("lean", SETTINGS, ACTIONS)


@pytest.mark.parametrize(
    "settings",
    [SETTINGS, SearchSettings(7, 2, max_depth=2, rescale_values=True, value_scale=0.1)],
)
def test_probe_does_not_reject_a_sound_kernel(settings):
    """On a CPU the kernel is interpreted."""
    trees = [choice.probe(tree, settings, ACTIONS) for tree in ("lean", "kernel")]
    assert choice._same(*trees)


def test_probe_goes_deep(lean_tree):
    assert (lean_tree.parents > 8).any(axis=1).all()
    assert (lean_tree.visits[:, 0] == 33).all()


def test_automatic_choice_without_a_gpu_is_the_lean_tree():
    assert choose("auto") == "lean"
    assert choose("lean") == "lean"


def test_kernel_without_a_gpu_is_refused_with_what_to_do():
    with pytest.raises(KernelTreeError, match="needs a GPU, and jax computes on cpu; set it to"):
        choose("kernel")


@pytest.fixture
def on_gpu(monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")


def pretend(monkeypatch, **trees):
    monkeypatch.setattr(choice, "probe", lambda tree, settings, num_actions: trees[tree])


def test_kernel_that_agrees_is_used(monkeypatch, on_gpu, lean_tree, caplog):
    pretend(monkeypatch, lean=lean_tree, kernel=lean_tree)
    assert choose("auto") == "kernel"
    assert choose("kernel") == "kernel"
    assert not caplog.records


def test_kernel_is_tried_with_the_settings_of_the_run(monkeypatch, on_gpu, lean_tree):
    tried = []

    def probe(tree, settings, num_actions):
        tried.append((tree, settings, num_actions))
        return lean_tree

    monkeypatch.setattr(choice, "probe", probe)
    choose("auto")
    assert tried == [("lean", SETTINGS, ACTIONS), ("kernel", SETTINGS, ACTIONS)]


def test_kernel_that_does_not_compile_is_replaced_with_one_line(monkeypatch, on_gpu, caplog):
    def probe(tree, settings, num_actions):
        raise NotImplementedError("no Triton for this device\nmore\nlines")

    monkeypatch.setattr(choice, "probe", probe)
    with caplog.at_level(logging.WARNING):
        assert choose("auto") == "lean"
        assert choose_tree("auto", SearchSettings(64), ACTIONS) == "lean"
    assert [record.getMessage() for record in caplog.records] == [
        "the search does without its kernel: the kernel does not run here "
        "(NotImplementedError: no Triton for this device)"
    ]
    with pytest.raises(KernelTreeError, match="no Triton for this device"):
        choose("kernel")


@pytest.mark.parametrize("statistic", ["visits", "parents", "actions", "values"])
def test_kernel_that_finds_something_else_is_not_used(
    statistic, monkeypatch, on_gpu, lean_tree, caplog
):
    def with_changes(rows):
        wrong = getattr(lean_tree, statistic).copy()
        wrong[rows, 7] += 1
        return replace(lean_tree, **{statistic: wrong})

    pretend(monkeypatch, lean=lean_tree, kernel=with_changes(np.arange(3)))
    assert choose("auto") == "lean"
    assert "gave another result than plain JAX" in caplog.text
    choice._obstacle.cache_clear()
    pretend(monkeypatch, lean=lean_tree, kernel=with_changes(np.arange(2)))
    assert choose("auto") == "kernel"
