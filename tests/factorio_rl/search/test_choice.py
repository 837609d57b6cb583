"""The kernel tree is used where it runs and agrees; where not, one line says why."""

import logging
from dataclasses import replace

import jax
import pytest

from factorio_rl.search import KernelTreeError, choice, choose_tree


@pytest.fixture(autouse=True)
def fresh_choice():
    choice._obstacle.cache_clear()
    yield
    choice._obstacle.cache_clear()


@pytest.fixture(scope="module")
def lean_tree():
    return choice._probe("lean")


def test_both_trees_find_the_same_in_the_test_game(lean_tree):
    """On a CPU the kernel is interpreted; so the test game does not reject a sound kernel."""
    assert choice._same(lean_tree, choice._probe("kernel"))


def test_test_game_goes_deep(lean_tree):
    assert (lean_tree.parents > 8).any(axis=1).all()
    assert lean_tree.visits[:, 0].max() == 33


def test_automatic_choice_without_a_gpu_is_the_lean_tree():
    assert choose_tree("auto") == "lean"
    assert choose_tree("lean") == "lean"


def test_kernel_without_a_gpu_is_refused_with_what_to_do():
    with pytest.raises(KernelTreeError, match="needs a GPU, and jax computes on cpu; set it to"):
        choose_tree("kernel")


@pytest.fixture
def on_gpu(monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")


def test_kernel_that_agrees_is_used(monkeypatch, on_gpu, lean_tree, caplog):
    monkeypatch.setattr(choice, "_probe", lambda tree: lean_tree)
    assert choose_tree("auto") == "kernel"
    assert choose_tree("kernel") == "kernel"
    assert not caplog.records


def test_kernel_that_does_not_compile_is_replaced_with_one_line(monkeypatch, on_gpu, caplog):
    def probe(tree):
        raise NotImplementedError("no Triton for this device\nmore\nlines")

    monkeypatch.setattr(choice, "_probe", probe)
    with caplog.at_level(logging.WARNING):
        assert [choose_tree("auto"), choose_tree("auto")] == ["lean", "lean"]
    assert [record.getMessage() for record in caplog.records] == [
        "the search does without its kernel: the kernel does not run here "
        "(NotImplementedError: no Triton for this device)"
    ]
    with pytest.raises(KernelTreeError, match="no Triton for this device"):
        choose_tree("kernel")


@pytest.mark.parametrize("statistic", ["visits", "parents", "actions", "values"])
def test_kernel_that_finds_something_else_is_not_used(
    statistic, monkeypatch, on_gpu, lean_tree, caplog
):
    wrong = getattr(lean_tree, statistic).copy()
    wrong[5, 7] += 1
    trees = {"lean": lean_tree, "kernel": replace(lean_tree, **{statistic: wrong})}
    monkeypatch.setattr(choice, "_probe", trees.__getitem__)
    assert choose_tree("auto") == "lean"
    assert "gave another result than plain JAX" in caplog.text
