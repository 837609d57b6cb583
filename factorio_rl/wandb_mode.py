"""Whether a run goes to Weights & Biases online, offline or not at all.

In: the setting and the environment. Out: a mode. Never asks and never imports wandb. No jax.
"""

import netrc
from collections.abc import Mapping
from urllib.parse import urlparse


def resolve_mode(mode: str, environment: Mapping[str, str]) -> str:
    """online, offline or disabled, from the setting and the environment; never asks.

    auto follows WANDB_MODE if that is set. Without a key, online becomes offline.
    """
    if mode == "auto":
        wanted = environment.get("WANDB_MODE", "online")
        mode = wanted if wanted in ("offline", "disabled") else "online"
    if mode == "online" and not _has_key(environment):
        return "offline"
    return mode


def _has_key(environment: Mapping[str, str]) -> bool:
    if environment.get("WANDB_API_KEY"):
        return True
    host = urlparse(environment.get("WANDB_BASE_URL", "")).hostname or "api.wandb.ai"
    try:
        return netrc.netrc(environment.get("NETRC")).authenticators(host) is not None
    except (OSError, netrc.NetrcParseError):
        return False
