"""Whether the actor of a run may compute in FP8 on this device: a setting, or a measurement.

Where it may, what the run computes in FP8 is audited before training begins.
"""

from collections.abc import Callable

from factorio_rl.config import Config
from factorio_rl.home_folder import expanded


def choose_fp8(config: Config, tell: Callable[[str], None]) -> bool:
    """`actor.precision` as it is, or for `auto` whether FP8 is the faster one here.

    The first measurement on a device takes a minute on a GPU; it is kept beside the compiled
    programs (`run.compilation_cache`).

    Args:
        tell: gets what the user should know of it.

    Raises:
        AuditError: a convolution that is to be in FP8 is not.
    """
    precision = config.actor.precision
    if precision == "bf16" or (precision == "auto" and not _is_faster(config, tell)):
        return False
    # Loaded where it is used: other runs touch nothing of FP8.
    import jax

    from factorio_rl.audit_run import EMULATED, is_emulated, require_fp8

    if is_emulated(jax.default_backend()):
        tell(EMULATED)
        return True
    tell("compiling for FP8 (first time on a GPU: some minutes in all)")
    tell(f"audit: {require_fp8(config).verdict}")
    return True


def _is_faster(config: Config, tell: Callable[[str], None]) -> bool:
    from factorio_rl.tower_timing import cached_times

    cache = config.run.compilation_cache
    times = cached_times(config, None if cache is None else expanded(cache))
    ratio = times.fp8_ms / times.bf16_ms
    measured = (
        f"the residual blocks take {times.fp8_ms:.3g} ms in FP8, {times.bf16_ms:.3g} ms in bf16 "
        f"(ratio {ratio:.2f}) for {config.actor.num_envs} positions"
    )
    if ratio >= 1:
        tell(f"the actor stays in bf16, which is not slower here: {measured}")
        return False
    tell(f"the actor may use FP8, which is faster here: {measured}")
    return True
