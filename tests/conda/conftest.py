"""Our channel and that of the stand-ins, made once for each test run."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import channels


@pytest.fixture(scope="session")
def channel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the channel of the working tree."""
    out = tmp_path_factory.mktemp("conda") / "channel"
    channels.build_ours(out)
    return out


@pytest.fixture(scope="session")
def stand_ins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a channel of stand-ins for conda-forge's packages."""
    return channels.build_stand_ins(tmp_path_factory.mktemp("stand-ins"))
