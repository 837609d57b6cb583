"""The search benchmark measures both trees, in the rows that its result file promises."""

from benchmarks import search


def test_rows_hold_both_trees_with_the_lean_one_smaller():
    stock, lean = search.measure(batch=2, simulations=2, repeats=1)
    assert list(stock) == [
        "tree",
        "network",
        "policy",
        "batch",
        "simulations",
        "ms_per_move",
        "compile_s",
        "tree_bytes",
    ]
    assert (stock["tree"], lean["tree"]) == ("stock", "lean")
    assert lean["ms_per_move"] > 0
    assert lean["tree_bytes"] * 4 < stock["tree_bytes"]
