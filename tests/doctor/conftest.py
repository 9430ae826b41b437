"""What the doctor's tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.machines import Layout


@pytest.fixture
def linux(tmp_path: Path) -> Layout:
    return Layout(tmp_path, windows=False)


@pytest.fixture
def windows(tmp_path: Path) -> Layout:
    return Layout(tmp_path, windows=True)
