"""The arm target tables against the check values and the hash that the rules state (R22, R28)."""

import hashlib

import pytest

from envs.verifier.targets import targets


@pytest.mark.parametrize(
    ("reach", "group", "lane", "position", "angle", "length"),
    [
        (1, 1, 1, 128, 0, 196000),
        (1, 1, 0, 128, 0, 316000),
        (1, 0, 0, 0, 9753315, 388659),
        (1, 2, 1, 0, 9302366, 141365),
        (2, 1, 1, 192, 9776136, 456508),
        (1, 4, 0, 147, 9968426, 252050),
        (1, 4, 1, 53, 375417, 346598),
        (2, 11, 1, 294, 246054, 389647),
    ],
)
def test_r22_targets_have_the_stated_check_values(reach, group, lane, position, angle, length):
    at = reach - 1, group, lane, position
    assert (targets().angle[at], targets().length[at]) == (angle, length)


def test_r28_tables_have_the_stated_hash():
    data = b"".join(table.astype("<i4").tobytes() for table in targets())
    digest = hashlib.sha256(data).hexdigest()
    assert digest == "10cca2f67df70d36ae90d53f1d5efa0df8b838527a162912f4e2aacf4e097ec3"
