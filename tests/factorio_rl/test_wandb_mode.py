"""The mode of Weights & Biases follows the setting, a key and the environment."""

from pathlib import Path

import pytest

from factorio_rl.wandb_mode import resolve_mode


@pytest.mark.parametrize(
    ("mode", "environment", "resolved"),
    [
        ("auto", {}, "offline"),
        ("auto", {"WANDB_API_KEY": "k"}, "online"),
        ("auto", {"WANDB_API_KEY": "k", "WANDB_MODE": "offline"}, "offline"),
        ("auto", {"WANDB_MODE": "disabled"}, "disabled"),
        ("online", {"WANDB_API_KEY": "k", "WANDB_MODE": "offline"}, "online"),
        ("online", {}, "offline"),
        ("offline", {"WANDB_API_KEY": "k"}, "offline"),
        ("disabled", {"WANDB_API_KEY": "k"}, "disabled"),
    ],
)
def test_mode_follows_setting_key_and_environment(
    tmp_path: Path, mode: str, environment: dict[str, str], resolved: str
) -> None:
    assert resolve_mode(mode, {"NETRC": str(tmp_path / "none"), **environment}) == resolved


def test_key_in_netrc_counts(tmp_path: Path) -> None:
    path = tmp_path / "netrc"
    path.write_text("machine api.wandb.ai login user password k\n")
    path.chmod(0o600)
    environment = {"NETRC": str(path)}
    assert resolve_mode("auto", environment) == "online"
    environment["WANDB_BASE_URL"] = "https://elsewhere.example"
    assert resolve_mode("auto", environment) == "offline"
