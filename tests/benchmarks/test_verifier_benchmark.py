"""The verifier's benchmark: which layouts it times, and the rows it writes."""

from benchmarks.verifier import measure, reference_cases, single_sink, substituted_layouts


def test_sets_hold_only_what_this_version_can_verify():
    assert len(reference_cases()) == 21
    layouts = substituted_layouts()
    assert 20 < len(layouts) < 90
    assert {layout.width for layout in layouts} == {12}


def test_rows_name_the_set_and_hold_speeds():
    layouts = reference_cases()[:2]
    rows = measure("two", layouts, repeats=1)
    assert [row["call"] for row in rows] == ["verify", "verify_many", "score_rate"]
    assert {row["layouts"] for row in rows} == {"two"}
    assert rows[0]["ticks_per_s_core"] > 0
    assert all(row["layouts_per_s"] > 0 for row in rows)


def test_scores_are_timed_on_layouts_with_one_sink():
    layouts = single_sink(reference_cases())
    assert len(layouts) == 20
