#!/usr/bin/env python3
"""Check that the variables of `xpu-dev env` have arrived in this process as the locator has them."""

from __future__ import annotations

import os
import sys

from intel_xpu_runtime_dev import find_sdk

VARIABLES = ("LEVEL_ZERO_V1_SDK_PATH", "ZE_PATH", "LEVEL_ZERO_ROOT", "LEVEL_ZERO_ROOT_DIR", "LEVEL_ZERO_DIR")


def main() -> int:
    """Compare each variable with the root of Level Zero."""
    root = str(find_sdk("level-zero").root)
    wrong = {name: os.environ.get(name) for name in VARIABLES if os.environ.get(name) != root}
    for name, value in wrong.items():
        print(f"error: {name} is {value!r}, not {root!r}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
