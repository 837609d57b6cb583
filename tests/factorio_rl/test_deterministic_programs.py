"""What XLA's deterministic operations do not cover: scatters, whose rewriting is switched off."""

import re

from lowered_programs import lowered


def test_every_scatter_writes_to_places_of_its_own() -> None:
    """Two threads that write to one place end in either order on a GPU."""
    programs = lowered()
    assert programs.returncode == 0, programs.stderr
    scatters = re.findall(r'"stablehlo.scatter".*', programs.stdout)
    assert len(scatters) > 20
    assert [text for text in scatters if "unique_indices = true" not in text] == []
