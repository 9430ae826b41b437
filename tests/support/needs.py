"""Skip a test on a machine that lacks something; in CI fail it instead."""

from __future__ import annotations

import os
import shutil
from typing import NoReturn

import pytest

STRICT = os.environ.get("CI") == "true"


def lacking(reason: str) -> NoReturn:
    """Skip the running test because the machine lacks something; fail it when CI=true."""
    if STRICT:
        pytest.fail(f"CI must have what this test needs: {reason}", pytrace=False)
    pytest.skip(reason)


def program(*names: str) -> str:
    """Return the path of the first of these programs on PATH, else skip the running test."""
    for name in names:
        if path := shutil.which(name):
            return path
    lacking(f"none of these programs is on PATH: {', '.join(names)}")
