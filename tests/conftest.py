"""Fixtures that tests in several folders use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import wheels
from tests.windows import prefix
from tests.windows.wine import Wine


@pytest.fixture(scope="session")
def wine() -> Iterator[Wine]:
    """Return the Wine prefix with the Windows Pythons, its services running until the tests end."""
    wine = prefix.prefix()
    with wine.started(prefix.python(wine, "3.11").executable):
        yield wine


@pytest.fixture(scope="session")
def wheelhouse() -> Path:
    """Return the folder of all wheels of the working tree."""
    return wheels.built()
