"""A run without FP8 has the programs of a build whose quantisation cannot even be touched."""

from lowered_programs import lowered


def test_programs_are_the_same_bytes_when_quantisation_raises_on_touch() -> None:
    usual, untouchable = lowered(), lowered("--untouchable")
    assert usual.returncode == 0, usual.stderr
    assert untouchable.returncode == 0, untouchable.stderr
    assert usual.stdout.count("module @jit_") == 3
    assert "f8E4M3FN" not in usual.stdout
    assert untouchable.stdout == usual.stdout


def test_a_learner_that_trains_for_fp8_does_touch_it() -> None:
    fp8 = ("--network.channels=16", "--actor.precision=fp8", "--learner.qat=true")
    touching = lowered("--untouchable", *fp8)
    assert touching.returncode == 1
    assert "RuntimeError: touched factorio_rl." in touching.stderr
    assert "f8E4M3FN" in lowered(*fp8).stdout
